"""Encode a batch of texts: tokenize, run the network once, pool; or read the vectors from a store."""

from __future__ import annotations

import itertools
import string
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from helpers._optional import Note
from helpers.embeddings.store import Recipe, Store
from helpers.models import Model, Pooling, Precomputed
from helpers.models.pooling import POOLINGS

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BatchEncoding

    from helpers.models.pooling import TokenBatch
    from helpers.models.transformer import TransformerModel

UNBOUNDED = 1 << 20  # tokenizers without a limit report a larger number
COLBERT_QUERY_LENGTH = 32  # tokens, as in the training of colbertv2.0
COUNTED_AT_ONCE = 1024  # texts

Tokens = dict[str, list[list[int]]]  # "input_ids" and, where needed, further columns: a list of integers per text


class TokenVectors(NamedTuple):
    """Token vectors of n texts, stacked: ``vectors`` (t, dim) of length one, ``lengths`` (n,) tokens per text."""

    vectors: np.ndarray
    lengths: np.ndarray

    def text(self, row: int) -> np.ndarray:
        """Return the token vectors of one text, (tokens, dim)."""
        start = self.lengths[:row].sum()
        return self.vectors[start : start + self.lengths[row]]


def instruction_of(model: Model, kind: str) -> str:
    """Return the instruction that a model puts before each text of a kind; "" if none."""
    return (model.info.query_instruction if kind == "query" else model.info.passage_instruction) or ""


def recipe_of(model: Model, kind: str, batch_size: int, pooling: Pooling | None = None) -> Recipe:
    """Return the settings that, with a text, determine its vector; ``pooling`` defaults to the model's own."""
    if isinstance(model, Precomputed):
        return Recipe(model.info.sha256, f"{kind}: {model.info.pooling}", None, model.device, "float32")
    if (chosen := pooling or model.info.pooling) is None:
        raise ValueError(f"{model.info.name} does not say how it pools: load it with pooling='cls' or 'mean'.")
    return Recipe(
        model=model.info.sha256,
        pooling=str(chosen),
        max_length=model.info.length(kind),
        device=model.device.partition(":")[0],
        dtype=model.dtype,
        dim=model.info.dim,
        colbert_side=kind if chosen == Pooling.MAXSIM and model.projection is not None else "",
        batch_size=batch_size if chosen == Pooling.UNMASKED_MEAN else None,
        lower_case=bool(model.info.lower_case),
    )


def encode_shard(
    model: Model, texts: list[str], kind: str, batch_size: int, store: Store, *, keep: bool = False
) -> np.ndarray:
    """Return the vectors of texts, given without their instruction, under the model's own pooling, (n, dim).

    ``keep`` writes precomputed vectors to the store too; by default they are only looked up.
    """
    recipe = recipe_of(model, kind, batch_size)
    if not isinstance(model, Precomputed):
        pooling = Pooling(recipe.pooling)
        return encode_batch(model, texts, [pooling], kind, batch_size, store)[pooling].vectors
    if not keep:
        return model.look_up(texts, kind)
    name = recipe.shard_name(texts)
    shard = store.read(name)
    return store.write(name, model.look_up(texts, kind)) if shard is None else shard


def encode_batch(
    model: TransformerModel, texts: list[str], poolings: Sequence[Pooling], kind: str, batch_size: int, store: Store
) -> dict[Pooling, TokenVectors]:
    """Return the vectors of texts, given without their instruction, under several poolings.

    All poolings share one forward pass, except MAXSIM of a ColBERT checkpoint, which tokenizes differently.
    """
    texts = [instruction_of(model, kind) + text for text in texts]
    recipes = {pooling: recipe_of(model, kind, batch_size, pooling) for pooling in poolings}
    vectors: dict[Pooling, TokenVectors] = {}
    for side in dict.fromkeys(recipe.colbert_side for recipe in recipes.values()):
        names = {pooling: one.shard_name(texts) for pooling, one in recipes.items() if one.colbert_side == side}
        shards = _read_shards(store, names)
        tokens: Tokens = {}
        if len(shards) < len(names) or Pooling.MAXSIM in names:
            tokens = tokenize(model, texts, side, model.info.length(kind))
        if len(shards) < len(names):
            with store.lock(min(names.values())):
                shards = _read_shards(store, names)  # another process may have written them meanwhile
                if missing := [pooling for pooling in names if pooling not in shards]:
                    computed = forward(model, texts, tokens, missing, batch_size)
                    shards |= {pooling: store.write(names[pooling], array) for pooling, array in computed.items()}
        for pooling, shard in shards.items():
            counts = [sum(mask) for mask in comparison_masks(tokens)] if pooling is Pooling.MAXSIM else [1] * len(texts)
            vectors[pooling] = TokenVectors(shard, np.array(counts))
    return vectors


def _read_shards(store: Store, names: dict[Pooling, str]) -> dict[Pooling, np.ndarray]:
    return {pooling: shard for pooling, name in names.items() if (shard := store.read(name)) is not None}


def forward(
    model: TransformerModel, texts: list[str], tokens: Tokens, poolings: Sequence[Pooling], batch_size: int
) -> dict[Pooling, np.ndarray]:
    """Run the network once over the ``tokens`` of texts, the longest first, and apply all poolings.

    For each pooling float32 rows of length one: (n, dim), or under MAXSIM (tokens compared, dim).
    """
    import torch

    rows_of: dict[Pooling, list[np.ndarray]] = {pooling: [np.empty(0)] * len(texts) for pooling in poolings}
    masks = comparison_masks(tokens) if Pooling.MAXSIM in poolings else []
    with torch.inference_mode():
        for rows, padded in padded_batches(model, tokens, batch_size):
            batch = model.token_vectors(padded, attention=Pooling.ATTENTION in poolings)
            for pooling in poolings:
                if pooling is Pooling.MAXSIM:
                    pooled = _compared_vectors(model, batch, [masks[row] for row in rows])
                else:
                    features = {"sentence_embedding": POOLINGS[pooling](batch)}
                    for layer in model.layers:
                        features = layer({"sentence_embedding": features["sentence_embedding"].float()})
                    pooled = list(_unit(features["sentence_embedding"][:, : model.info.dim])[:, None])
                for row, vectors in zip(rows, pooled, strict=True):
                    rows_of[pooling][row] = vectors
    stacked = {pooling: np.concatenate(parts) for pooling, parts in rows_of.items()}
    for pooling, vectors in stacked.items():
        if not np.isfinite(vectors).all():
            bad = next(row for row, part in enumerate(rows_of[pooling]) if not np.isfinite(part).all())
            raise ValueError(
                f"{model.info.name} gave a vector with NaN or infinite values for {texts[bad][:60]!r} under {pooling} "
                "pooling; try half=False."
            )
    return stacked


def _compared_vectors(model: TransformerModel, batch: TokenBatch, masks: list[list[int]]) -> list[np.ndarray]:
    """Return the vectors that MaxSim compares, for each text (tokens compared, dim)."""
    padded_left = model.tokenizer.padding_side == "left"
    hidden = batch.hidden if model.projection is None else batch.hidden @ model.projection.T
    return [
        _unit((vectors[-len(mask) :] if padded_left else vectors[: len(mask)])[np.flatnonzero(mask)])
        for vectors, mask in zip(hidden, masks, strict=True)
    ]


def _unit(vectors: Tensor) -> np.ndarray:
    from torch.nn.functional import normalize

    unit: np.ndarray = normalize(vectors.float(), dim=-1).cpu().numpy()
    return unit


def tokenize(
    model: TransformerModel, texts: list[str], colbert_side: str = "", max_length: int | None = None
) -> Tokens:
    """Tokenize texts, at most ``max_length`` tokens of each; with ``colbert_side`` in the way of ColBERT.

    ColBERT (2020, section 3.2) inserts a marker after [CLS]: [unused0] in queries, [unused1] in passages. A query is
    padded with [MASK] to 32 tokens; the padding is not attended to, but is compared. Punctuation in passages is not
    compared.
    """
    is_query, limit = colbert_side == "query", max_length or model.info.max_length or UNBOUNDED
    vocabulary = model.tokenizer.get_vocab() if colbert_side else {}
    marker = [vocabulary[name] for name in ["[unused0]" if is_query else "[unused1]"] if name in vocabulary]
    limit = (min(limit, COLBERT_QUERY_LENGTH) if is_query else limit) - len(marker)
    bounded = limit < UNBOUNDED - 1
    columns = model.tokenizer(texts, truncation=bounded, max_length=limit if bounded else None)
    lengths = [len(ids) for ids in columns["input_ids"]]
    if 0 in lengths:
        raise ValueError(f"Text {lengths.index(0)}, {texts[lengths.index(0)]!r}, has no token that the model knows.")
    full = [text for text, length in zip(texts, lengths, strict=True) if length == limit]
    if full and any(len(ids) > limit for ids in model.tokenizer(full, verbose=False)["input_ids"]):
        text = (
            "Texts are longer than the {limit} tokens that {model} takes: what lies beyond was truncated. "
            "Split them into passages; helpers.embeddings.count_truncated counts them."
        )
        warnings.warn(Note(text, limit=limit, model=model.info.name), stacklevel=2)
    if not colbert_side:  # token types of zero are a network's default; those of XLNet are not all zero
        has_types = any(columns.get("token_type_ids", [[]])[0])
        return {name: columns[name] for name in ("input_ids", *(["token_type_ids"] if has_types else []))}
    punctuation = set() if is_query else {vocabulary[sign] for sign in string.punctuation if sign in vocabulary}
    tokens: Tokens = {"input_ids": [], "attention_mask": [], "compared": []}
    for ids in columns["input_ids"]:
        marked = [*ids[:1], *marker, *ids[1:]]
        masks = [model.tokenizer.mask_token_id] * (limit + len(marker) - len(marked)) if is_query else []
        tokens["input_ids"].append(marked + masks)
        tokens["attention_mask"].append([1] * len(marked) + [0] * len(masks))
        tokens["compared"].append([token not in punctuation for token in marked + masks])
    return tokens


def padded_batches(
    model: TransformerModel, tokens: Tokens, batch_size: int
) -> Iterator[tuple[np.ndarray, BatchEncoding]]:
    """Divide tokenized texts into padded batches on the model's device, the longest first; yield rows and tensors."""
    order = np.argsort([-len(ids) for ids in tokens["input_ids"]], kind="stable")
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        batch = {name: [column[row] for row in rows] for name, column in tokens.items() if name != "compared"}
        yield rows, model.tokenizer.pad(batch, return_tensors="pt").to(model.device)


def comparison_masks(tokens: Tokens) -> list[list[int]]:
    """Return for each token of each text whether MaxSim compares it: ColBERT leaves some out, other models none."""
    return tokens.get("compared") or [[True] * len(ids) for ids in tokens["input_ids"]]


def count_truncated(model: Model, passages: Sequence[str]) -> int | None:
    """Count the passages that exceed the model's maximum length and are truncated; None for precomputed vectors."""
    if isinstance(model, Precomputed):
        return None
    limit, count = model.info.max_length or UNBOUNDED, 0
    room = limit - model.tokenizer.num_special_tokens_to_add() - 1
    texts = ((model.info.passage_instruction or "") + passage for passage in passages)
    # An ASCII character yields at most one token, so short ASCII texts need not be tokenized.
    candidates = (text for text in texts if len(text) > room or not text.isascii())
    while batch := list(itertools.islice(candidates, COUNTED_AT_ONCE)):
        count += sum(len(ids) > limit for ids in model.tokenizer(batch, verbose=False)["input_ids"])
    return count
