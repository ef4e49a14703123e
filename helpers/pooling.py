"""From token vectors to text vectors: pooling, right and wrong, and MaxSim, which keeps every token.

A transformer gives one vector a token. :func:`encode_pooled` runs it once over a set of texts and pools the same
token vectors in as many ways as asked; what it returns goes to :func:`helpers.index.build_index`, or to :func:`maxsim`.
"""

from __future__ import annotations

import hashlib
import inspect
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors
import torch
import transformers
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from helpers.embeddings import (
    BATCH_SIZE,
    SHARD_SIZE,
    cache_folder,
    checked_text,
    padded_batches,
    read_shard,
    shard_path,
    warn_of_cut,
    write_shard,
)
from helpers.models import (
    OFFLINE_DEFAULT,
    ModelInfo,
    digests,
    find_model,
    longest_input,
    model_name,
    quiet_transformers,
)
from helpers.progress import progress_bar

UNBOUNDED = 1 << 20  # tokenizers that state no limit give a number larger than any input
PROJECTION = "linear.weight"  # the layer that ColBERT puts behind BERT
COLBERT_QUERY_LENGTH = 32  # tokens; what colbertv2.0 was trained with
_COSINES = 1 << 23  # computed at a time by MaxSim, 32 MiB of them


class Pooling(StrEnum):
    """How the token vectors of a text become what is compared.

    Of one vector a text: the vector of [CLS]; the mean of the tokens' vectors; their maximum in each dimension; their
    mean weighted by the attention each token receives in the last layer; and the mistake of taking the mean over
    padding too. MAXSIM keeps a vector a token, for :func:`maxsim`.
    """

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    ATTENTION = "attention"
    UNMASKED_MEAN = "unmasked_mean"
    MAXSIM = "maxsim"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise ValueError(f"Unknown pooling {value!r}: expected one of {', '.join(cls)}.")


class TokenBatch(NamedTuple):
    """What a network gave for b texts padded to t tokens, and what pooling needs to know about them.

    ``hidden`` (b, t, dim) holds the token vectors, ``mask`` (b, t) is 1 at tokens of the text ([CLS] and [SEP] among
    them) and 0 at padding, ``is_cls`` (b, t) is true at [CLS] alone, ``attention`` (b, heads, t, t) is that of the
    last layer: row i, column j is how much token i looks at token j.
    """

    hidden: Tensor
    mask: Tensor
    is_cls: Tensor
    attention: Tensor | None = None


class TokenVectors(NamedTuple):
    """Token vectors of n texts, stacked: ``vectors`` (t, dim) of length one, ``lengths`` (n,) tokens a text."""

    vectors: np.ndarray
    lengths: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """The row at which each text begins, (n,)."""
        return np.cumsum(self.lengths) - self.lengths

    def text(self, row: int) -> np.ndarray:
        """Return the token vectors of one text, (tokens, dim)."""
        start = self.starts[row]
        return self.vectors[start : start + self.lengths[row]]


@dataclass(frozen=True)
class Encoder:
    """A checkpoint ready to give token vectors; ``load_encoder`` makes one.

    Attributes:
        info: name, longest input and digests, as :func:`helpers.models.load_model` has them.
        tokenizer, network: what transformers loaded.
        projection: (dim out, dim in) of a ColBERT checkpoint, which puts it behind the network; else None.
        target_devices: the one device it computes on.
    """

    info: ModelInfo
    tokenizer: object = field(repr=False)
    network: torch.nn.Module = field(repr=False)
    projection: Tensor | None = field(default=None, repr=False)
    target_devices: tuple[str, ...] = ("cpu",)


# --- pooling ---------------------------------------------------------------------------------------------


def cls_pooling(batch: TokenBatch) -> Tensor:
    """Take the vector of [CLS], wherever the tokenizer puts it: BERT first, XLNet last. (b, dim)."""
    if not batch.is_cls.any(dim=1).all():
        raise ValueError("The tokenizer puts no [CLS] into a text, so there is no such vector: take another pooling.")
    return batch.hidden[range(len(batch.hidden)), batch.is_cls.int().argmax(dim=1)]


def weighted_mean(hidden: Tensor, weights: Tensor) -> Tensor:
    """Average (b, t, dim) over t with weights (b, t)."""
    weights = weights.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def mean_pooling(batch: TokenBatch) -> Tensor:
    """Average the vectors of the text's own tokens; padding counts 0. (b, dim)."""
    return weighted_mean(batch.hidden, batch.mask)


def max_pooling(batch: TokenBatch) -> Tensor:
    """Take in each dimension the largest value of any of the text's own tokens. (b, dim)."""
    return batch.hidden.masked_fill(batch.mask.unsqueeze(-1) == 0, float("-inf")).amax(dim=1)


def attention_pooling(batch: TokenBatch) -> Tensor:
    """Average with weights: the attention a token receives, over all heads and tokens of the last layer. (b, dim)."""
    if batch.attention is None:
        raise ValueError("The network has no attention to weight by (a static model): take another pooling.")
    looking = batch.mask.unsqueeze(-1) * batch.attention.mean(dim=1)
    return weighted_mean(batch.hidden, batch.mask * looking.sum(dim=1))


def unmasked_mean_pooling(batch: TokenBatch) -> Tensor:
    """Average over padding too. Wrong: a text's vector then depends on what it was batched with. (b, dim)."""
    return batch.hidden.mean(dim=1)


POOLINGS = {
    Pooling.CLS: cls_pooling,
    Pooling.MEAN: mean_pooling,
    Pooling.MAX: max_pooling,
    Pooling.ATTENTION: attention_pooling,
    Pooling.UNMASKED_MEAN: unmasked_mean_pooling,
}


def maxsim(queries: TokenVectors, passages: TokenVectors) -> np.ndarray:
    """Score by late interaction: for each query token its best cosine with any passage token, summed.

    Khattab and Zaharia, ColBERT (2020), equation 3. A score grows with the number of query tokens, so scores of
    different queries cannot be compared; rankings can.

    Returns:
        float32 (q, n).
    """
    scores = np.empty((len(queries.lengths), len(passages.lengths)), np.float32)
    step = max(1, _COSINES // (len(queries.vectors) * int(passages.lengths.max())))
    for first in range(0, scores.shape[1], step):  # some passages for all queries: one large product of matrices
        some = slice(first, first + step)
        starts = passages.starts[some]
        end = starts[-1] + passages.lengths[some][-1]
        cosines = queries.vectors @ passages.vectors[starts[0] : end].T
        best = np.maximum.reduceat(cosines, starts - starts[0], axis=1)
        scores[:, some] = np.add.reduceat(best, queries.starts, axis=0)
    return scores


# --- encoding --------------------------------------------------------------------------------------------


def encode_pooled(
    encoder: Encoder,
    texts: Sequence[str],
    poolings: Iterable[str] = (Pooling.MEAN,),
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    progress: bool = True,
) -> dict[Pooling, np.ndarray | TokenVectors]:
    """Run an encoder over texts once, the longest first, and pool in each of the ways asked.

    Args:
        encoder: what :func:`load_encoder`, :func:`static` or :func:`untrained` returned.
        texts: n strings.
        poolings: members of :class:`Pooling`, or their values.
        kind: ``"passage"`` or ``"query"``; of importance to ColBERT alone, under MAXSIM.
        batch_size: texts a forward pass. Changes nothing but rounding, except under UNMASKED_MEAN.
        cache_dir: where results are kept, the cache of :mod:`helpers.embeddings`.
        progress: draw a bar while computing.

    Returns:
        For each pooling float32 (n, dim), rows of length one; for MAXSIM :class:`TokenVectors`.

    Raises:
        ValueError: an unknown pooling or kind, no texts, a text that is blank or without a token, values that are
            not finite.

    Warns:
        UserWarning: texts were longer than the model takes, and cut.
    """
    wanted = list(dict.fromkeys(Pooling(name) for name in poolings))
    if kind not in ("passage", "query"):
        raise ValueError(f"kind={kind!r}: expected 'passage' or 'query'.")
    texts = [checked_text(row, text) for row, text in enumerate(texts)]
    if not texts or not wanted:
        raise ValueError("Nothing to encode: give at least one text and one pooling.")
    folder = cache_folder(cache_dir)
    late = {Pooling.MAXSIM} if encoder.projection is not None else set()
    passes = [({p for p in wanted if p not in late}, False), (late.intersection(wanted), True)]
    found: dict[Pooling, np.ndarray | TokenVectors] = {}
    for names, marked in passes:
        if names:
            job = _Job(encoder, tuple(sorted(names)), kind if marked else "", batch_size, folder, progress)
            found |= job.run(texts)
    return {pooling: found[pooling] for pooling in wanted}


def compared_tokens(encoder: Encoder, text: str, kind: str = "passage") -> list[str]:
    """Return the tokens of a text whose vectors MAXSIM gives, in their order."""
    tokens = _inputs(encoder, [text], kind if encoder.projection is not None else "")
    kept = [token for token, keep in zip(tokens["input_ids"][0], tokens["keep"][0], strict=True) if keep]
    return encoder.tokenizer.convert_ids_to_tokens(kept)


class _Job(NamedTuple):
    """One pass over texts: who encodes, into what, and where the results are kept."""

    encoder: Encoder
    poolings: tuple[Pooling, ...]
    colbert_kind: str  # "query" or "passage" for ColBERT's own input, "" for that of every other model
    batch_size: int
    folder: Path
    progress: bool

    def run(self, texts: list[str]) -> dict[Pooling, np.ndarray | TokenVectors]:
        """Encode texts, shard by shard."""
        tokens = _inputs(self.encoder, texts, self.colbert_kind)
        lengths = np.array([int(np.sum(keep)) for keep in tokens["keep"]])
        shards = []
        for start in range(0, len(texts), SHARD_SIZE):
            rows = slice(start, start + SHARD_SIZE)
            part = {name: column[rows] for name, column in tokens.items()}
            shards.append(self._shard(texts[rows], part, int(lengths[rows].sum())))
        whole = {pooling: np.concatenate([shard[pooling] for shard in shards]) for pooling in self.poolings}
        if Pooling.MAXSIM in whole:
            whole[Pooling.MAXSIM] = TokenVectors(whole[Pooling.MAXSIM], lengths)
        return whole

    def _shard(self, texts: list[str], tokens: Mapping[str, list], kept: int) -> dict[Pooling, np.ndarray]:
        """Read what the cache holds of a shard, compute the rest in one pass and put it there."""
        rows = {pooling: kept if pooling is Pooling.MAXSIM else len(texts) for pooling in self.poolings}
        paths = {pooling: shard_path(self.folder, self._how(pooling), texts) for pooling in self.poolings}
        found = {pooling: read_shard(paths[pooling], rows[pooling]) for pooling in self.poolings}
        missing = [pooling for pooling in self.poolings if found[pooling] is None]
        if missing:
            found |= _forward(self.encoder, tokens, missing, self.batch_size, self.progress)
            for pooling in missing:
                write_shard(paths[pooling], found[pooling])
        return found

    def _how(self, pooling: Pooling) -> list:
        """All that decides a result, beside the texts."""
        info, device = self.encoder.info, self.encoder.target_devices[0]
        how = [info.sha256, str(pooling), info.max_length, device, str(self.encoder.network.dtype)]
        if pooling is Pooling.UNMASKED_MEAN:
            how.append(self.batch_size)
        return [*how, self.colbert_kind] if self.colbert_kind else how


def _forward(
    encoder: Encoder, tokens: Mapping[str, list], poolings: list[Pooling], batch_size: int, progress: bool
) -> dict[Pooling, np.ndarray]:
    """Run the network over tokens and pool each batch in every way; unit rows, (n, dim) or (tokens, dim)."""
    found = {pooling: [None] * len(tokens["input_ids"]) for pooling in poolings}
    inputs = {name: column for name, column in tokens.items() if name != "keep"}
    bar = progress_bar(len(tokens["input_ids"]), f"Encode by {encoder.info.name}", "text", show=progress)
    with torch.inference_mode(), bar:
        for rows, padded in padded_batches(encoder.tokenizer, inputs, batch_size, encoder.target_devices[0]):
            batch = _run(encoder, padded, Pooling.ATTENTION in poolings)
            for pooling in poolings:
                for row, vectors in zip(rows, _pooled(encoder, batch, pooling, tokens["keep"], rows), strict=True):
                    found[pooling][row] = vectors
            bar.update(len(rows))
    whole = {pooling: np.concatenate(parts) for pooling, parts in found.items()}
    for pooling, vectors in whole.items():
        if not np.isfinite(vectors).all():
            raise ValueError(f"{encoder.info.name} gave NaN or infinite values under {pooling} pooling.")
    return whole


def _run(encoder: Encoder, padded: Mapping[str, Tensor], attention: bool) -> TokenBatch:
    """Run the network over one padded batch."""
    accepted = inspect.signature(encoder.network.forward).parameters
    inputs = {name: tensor for name, tensor in padded.items() if name in accepted}
    output = encoder.network(**inputs, output_attentions=attention, return_dict=True)
    last = output.attentions[-1] if attention and output.attentions else None
    is_cls = (padded["input_ids"] == encoder.tokenizer.cls_token_id) & (padded["attention_mask"] == 1)
    return TokenBatch(output.last_hidden_state, padded["attention_mask"], is_cls, last)


def _pooled(encoder: Encoder, batch: TokenBatch, pooling: Pooling, keep: list, rows: np.ndarray) -> list[np.ndarray]:
    """Pool a batch; for each text a float32 array of unit rows, (1, dim), or (tokens kept, dim) under MAXSIM."""
    if pooling is not Pooling.MAXSIM:
        return list(_unit(POOLINGS[pooling](batch).unsqueeze(1)))
    hidden = batch.hidden if encoder.projection is None else batch.hidden @ encoder.projection.T
    left = encoder.tokenizer.padding_side == "left"
    texts = []
    for vectors, row in zip(hidden, rows, strict=True):
        kept = torch.as_tensor(keep[row], device=vectors.device)
        own = vectors[-len(kept) :] if left else vectors[: len(kept)]
        texts.append(_unit(own[kept]))
    return texts


def _unit(vectors: Tensor) -> np.ndarray:
    """Scale vectors to length one, as float32."""
    return torch.nn.functional.normalize(vectors.float(), dim=-1).cpu().numpy()


def _inputs(encoder: Encoder, texts: list[str], colbert_kind: str) -> dict[str, list]:
    """Tokenize texts for a pass: as ColBERT reads them where a kind is named, else as every other model does."""
    if colbert_kind:
        return _colbert_tokens(encoder, texts, colbert_kind)
    return _tokens(encoder, texts, encoder.info.max_length)


def _tokens(encoder: Encoder, texts: list[str], limit: int) -> dict[str, list]:
    """Tokenize texts to at most ``limit`` tokens each; "keep" says which of them MaxSim compares (here all)."""
    bounded = limit < UNBOUNDED
    tokens = dict(encoder.tokenizer(texts, truncation=bounded, max_length=limit if bounded else None))
    lengths = [len(ids) for ids in tokens["input_ids"]]
    if 0 in lengths:
        raise ValueError(f"Text {lengths.index(0)}, {texts[lengths.index(0)]!r}, has no token that the model knows.")
    warn_of_cut(encoder, texts, tokens["input_ids"], limit)
    tokens["keep"] = [[True] * length for length in lengths]
    return tokens


def _colbert_tokens(encoder: Encoder, texts: list[str], kind: str) -> dict[str, list]:
    """Prepare texts as ColBERT (2020, section 3.2) reads them.

    A marker after [CLS] tells queries from passages ([unused0], [unused1]). A query is filled up with [MASK] to 32
    tokens, which nobody attends to but which are compared; punctuation in passages is not compared.
    """
    vocabulary, query = encoder.tokenizer.get_vocab(), kind == "query"
    marker = [vocabulary[name] for name in ["[unused0]" if query else "[unused1]"] if name in vocabulary]
    limit = min(encoder.info.max_length, COLBERT_QUERY_LENGTH) if query else encoder.info.max_length
    plain = _tokens(encoder, texts, limit - len(marker))["input_ids"]
    marked = [[*ids[:1], *marker, *ids[1:]] for ids in plain]
    fill = [[encoder.tokenizer.mask_token_id] * (limit - len(ids) if query else 0) for ids in marked]
    punctuation = {vocabulary[sign] for sign in string.punctuation if sign in vocabulary and not query}
    filled = [ids + masks for ids, masks in zip(marked, fill, strict=True)]
    return {
        "input_ids": filled,
        "attention_mask": [[1] * len(ids) + [0] * len(masks) for ids, masks in zip(marked, fill, strict=True)],
        "keep": [[token not in punctuation for token in ids] for ids in filled],
    }


# --- loading ---------------------------------------------------------------------------------------------


def load_encoder(
    name_or_path: str | Path = OFFLINE_DEFAULT, *, device: str | None = None, allow_pickle: bool = False
) -> Encoder:
    """Load a checkpoint through transformers' ``AutoTokenizer`` and ``AutoModel``.

    Args:
        name_or_path: a hub id or a folder, found as by :func:`helpers.models.load_model`.
        device: ``"cpu"``, ``"cuda:0"`` …; by default a GPU where there is one.
        allow_pickle: accept pickled weights; a pickle can run code.

    Raises:
        FileNotFoundError, ConnectionError: no such folder; a hub id, no network and no earlier download.
        ValueError: no checkpoint, no usable tokenizer, weights missing from it, or a model that is no text encoder.
    """
    folder = find_model(name_or_path, allow_pickle=allow_pickle)
    name = model_name(name_or_path, folder)
    with quiet_transformers():
        tokenizer = _load_tokenizer(folder, name)
        network, unused = _load_network(folder, name)
    _require_encoder(network, name)
    if (getattr(network.config, "max_position_embeddings", None) or 0) > 0:  # XLNet says -1
        tokenizer.padding_side = "right"  # positions are counted from the first place, be it padding or not
    device = device or ("cuda:0" if torch.cuda.is_available() else "cpu")
    projection = _read_weight(folder, PROJECTION).to(device) if PROJECTION in unused else None
    info = ModelInfo(name, "", "", longest_input(tokenizer, network), *digests(folder))
    return Encoder(info, tokenizer, network.to(device), projection, (device,))


def static(encoder: Encoder) -> Encoder:
    """Make a model of an encoder's input embeddings alone: a token has one vector, whatever stands around it."""
    return _variant(encoder, "static", _Lookup(encoder.network))


def untrained(encoder: Encoder, seed: int = 0) -> Encoder:
    """Make a twin of the same architecture, with the same tokenizer, and weights as they are before any training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = transformers.AutoModel.from_config(encoder.network.config, attn_implementation="eager")
    return _variant(encoder, "untrained", network.eval().to(encoder.target_devices[0]))


class _Lookup(torch.nn.Module):
    """Gives each token its input embedding, in the form in which a network gives its last layer."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.config = network.config
        self.dtype = network.dtype
        self.embeddings = network.get_input_embeddings()

    def forward(self, input_ids: Tensor, **_: object) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=self.embeddings(input_ids))


def _variant(encoder: Encoder, what: str, network: torch.nn.Module) -> Encoder:
    """Put another network behind an encoder's tokenizer, under a digest of its own."""
    digest = hashlib.sha256(f"{encoder.info.sha256} {what}".encode())
    for name, tensor in network.state_dict().items():
        digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
    sha256 = digest.hexdigest()
    info = replace(encoder.info, name=f"{encoder.info.name} ({what})", sha256=sha256, weights_sha256=sha256)
    return replace(encoder, info=info, network=network, projection=None)


def _load_tokenizer(folder: Path, name: str) -> transformers.PreTrainedTokenizerBase:
    """Load a tokenizer that can pad: one without a pad token gets another token in its place, which is masked."""
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{name}: its tokenizer cannot be loaded ({error}); save it beside the model.") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(0)
    return tokenizer


def _load_network(folder: Path, name: str) -> tuple[torch.nn.Module, set[str]]:
    """Load a network, and the names of weights it did not use; raise where it would be left with random ones."""
    try:
        network, report = transformers.AutoModel.from_pretrained(
            folder, attn_implementation="eager", output_loading_info=True
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ValueError(f"{name} cannot be loaded as a transformers model: {error}") from error
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)  # the pooler is not used here
    if missing:
        raise ValueError(
            f"{name} lacks {len(missing)} weights of its architecture, the first {missing[0]}; they would be random. "
            "Load the checkpoint they belong to."
        )
    return network.eval().float(), set(report["unexpected_keys"])


def _require_encoder(network: torch.nn.Module, name: str) -> None:
    """Raise unless a network turns tokens into vectors that know what stands before and behind them."""
    wrong = f"{name} ({network.config.model_type}) is not a text encoder such as BERT: "
    if getattr(network.config, "is_encoder_decoder", False):
        raise ValueError(wrong + "it has an encoder and a decoder. Take a model that has an encoder alone.")
    two_ends = torch.tensor([[1, 2, 3], [1, 2, 4]])
    try:
        with torch.inference_mode():
            first, second = network(input_ids=two_ends, attention_mask=torch.ones_like(two_ends)).last_hidden_state
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(wrong + f"given tokens alone it fails ({error}).") from error
    if torch.allclose(first[0], second[0], atol=1e-6):
        raise ValueError(wrong + "its first token does not see the last one, as in a generator such as GPT.")


def _read_weight(folder: Path, name: str) -> Tensor:
    """Read one weight out of a checkpoint's files."""
    for path in folder.glob("*.safetensors"):
        with safetensors.safe_open(path, "pt") as file:
            if name in set(file.keys()):
                return file.get_tensor(name).float()
    for path in folder.glob("*.bin"):
        weights = torch.load(path, map_location="cpu", weights_only=True)
        if name in weights:
            return weights[name].float()
    raise ValueError(f"{folder.name}: no file holds the weight {name}.")
