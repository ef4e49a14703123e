"""Tokenize texts into padded batches."""

import itertools
import string
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from helpers._notes import Note
from helpers.models import Model, Precomputed
from helpers.models.files import one_line_errors

if TYPE_CHECKING:
    from transformers import BatchEncoding

    from helpers.models.transformer import TransformerModel

UNBOUNDED = 1 << 20  # tokenizers that state no limit give a number larger than any input
COLBERT_QUERY_LENGTH = 32  # tokens; what colbertv2.0 was trained with
COUNTED_AT_ONCE = 1024  # texts

Tokens = dict[str, list[list[int]]]  # "input_ids" and, where they matter, further columns: integers for each text


def tokenize(model: "TransformerModel", texts: list[str], colbert_side: str = "") -> Tokens:
    """Tokenize texts as the model reads them; ``colbert_side``, "query" or "passage", as ColBERT does.

    ColBERT (2020, section 3.2) puts a marker after [CLS] that tells queries from passages ([unused0], [unused1]). A
    query is filled up with [MASK] to 32 tokens, which nobody attends to but which are compared; punctuation in passages
    is not compared.
    """
    limit = model.info.max_length or UNBOUNDED
    if not colbert_side:
        return _plain_tokens(model, texts, limit)
    vocabulary, is_query = model.tokenizer.get_vocab(), colbert_side == "query"
    if is_query:
        limit = min(limit, COLBERT_QUERY_LENGTH)
    marker = [vocabulary[name] for name in ["[unused0]" if is_query else "[unused1]"] if name in vocabulary]
    plain = _plain_tokens(model, texts, limit - len(marker))["input_ids"]
    punctuation = set() if is_query else {vocabulary[sign] for sign in string.punctuation if sign in vocabulary}
    tokens: Tokens = {"input_ids": [], "attention_mask": [], "compared": []}
    for ids in plain:
        marked = [*ids[:1], *marker, *ids[1:]]
        masks = [model.tokenizer.mask_token_id] * (limit - len(marked)) if is_query else []
        tokens["input_ids"].append(marked + masks)
        tokens["attention_mask"].append([1] * len(marked) + [0] * len(masks))
        tokens["compared"].append([token not in punctuation for token in marked + masks])
    return tokens


def compared_tokens(model: "TransformerModel", text: str, kind: str = "passage") -> list[str]:
    """Return the tokens of a text whose vectors MAXSIM gives, in their order."""
    tokens = tokenize(model, [text], kind if model.projection is not None else "")
    names: list[str] = list(model.tokenizer.convert_ids_to_tokens(tokens["input_ids"][0]))
    return list(itertools.compress(names, comparison_masks(tokens)[0]))


def comparison_masks(tokens: Tokens) -> list[list[int]]:
    """Return for each token of each text whether MaxSim compares it: all are, unless ColBERT leaves some out."""
    return tokens.get("compared") or [[True] * len(ids) for ids in tokens["input_ids"]]


def padded_batches(
    model: "TransformerModel", tokens: Tokens, batch_size: int
) -> Iterator[tuple[np.ndarray, "BatchEncoding"]]:
    """Divide tokenized texts into batches, the longest first so that little padding is computed.

    Yields:
        The rows of a batch, an int array, and its padded tensors ("input_ids", "attention_mask" …) on the device.
    """
    columns = {name: column for name, column in tokens.items() if name != "compared"}
    order = np.argsort([-len(ids) for ids in tokens["input_ids"]], kind="stable")
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        batch = {name: [column[row] for row in rows] for name, column in columns.items()}
        yield rows, model.tokenizer.pad(batch, return_tensors="pt").to(model.device)


def count_truncated(model: Model, passages: Sequence[str]) -> int | None:
    """Count the passages longer than the model reads, which are truncated; None for precomputed vectors."""
    if isinstance(model, Precomputed):
        return None
    limit, count = model.info.max_length or UNBOUNDED, 0
    room = limit - model.tokenizer.num_special_tokens_to_add() - 1
    texts = ((model.info.passage_instruction or "") + passage for passage in passages)
    # An ASCII character never makes more than one token, so that short texts need not be tokenized.
    doubtful = (text for text in texts if len(text) > room or not text.isascii())
    while batch := list(itertools.islice(doubtful, COUNTED_AT_ONCE)):
        count += sum(len(ids) > limit for ids in _tokenized(model, batch, verbose=False)["input_ids"])
    return count


def _tokenized(model: "TransformerModel", texts: list[str], **options: object) -> "BatchEncoding":
    """Call a model's tokenizer; a fault of its files may show first here, in a panic that no caller would catch."""
    with one_line_errors(f"{model.info.name}: its tokenizer fails on these texts"):
        tokens: BatchEncoding = model.tokenizer(texts, **options)
        return tokens


def _plain_tokens(model: "TransformerModel", texts: list[str], limit: int) -> Tokens:
    """Tokenize texts to at most ``limit`` tokens each; the mask of padding is left to the padding of batches."""
    bounded = limit < UNBOUNDED
    columns = _tokenized(model, texts, truncation=bounded, max_length=limit if bounded else None)
    tokens: Tokens = {"input_ids": columns["input_ids"]}
    if any(columns.get("token_type_ids", [[]])[0]):  # zeros are what a network takes without them; XLNet has others
        tokens["token_type_ids"] = columns["token_type_ids"]
    lengths = [len(ids) for ids in tokens["input_ids"]]
    if 0 in lengths:
        raise ValueError(f"Text {lengths.index(0)}, {texts[lengths.index(0)]!r}, has no token that the model knows.")
    full = [text for text, length in zip(texts, lengths, strict=True) if length == limit]
    if full and any(len(ids) > limit for ids in _tokenized(model, full, verbose=False)["input_ids"]):
        text = (
            f"Texts are longer than the {limit} tokens that {model.info.name} takes: what lies beyond was truncated. "
            "Split them into passages; helpers.embeddings.count_truncated counts them."
        )
        warnings.warn(Note(text, "truncated", limit=limit, model=model.info.name), stacklevel=2)
    return tokens
