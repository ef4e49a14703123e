"""Turn texts into vectors, once: what was computed is kept on disk under a name made from its content."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from helpers._progress import progress_bar
from helpers.embeddings.cache import SHARD_SIZE, Recipe, ShardCache, default_cache
from helpers.embeddings.inputs import checked_text, compared_tokens, count_truncated, kept_tokens, tokenize
from helpers.models import Pooling, Precomputed

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

__all__ = [
    "TokenVectors",
    "compared_tokens",
    "count_truncated",
    "default_cache",
    "encode",
    "encode_pooled",
    "encode_shards",
    "is_cached",
]

BATCH_SIZE = 32  # on a few CPU cores faster than the 256 that FlagEmbedding takes by default


class TokenVectors(NamedTuple):
    """Token vectors of n texts, stacked: ``vectors`` (t, dim) of length one, ``lengths`` (n,) tokens a text."""

    vectors: np.ndarray
    lengths: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """The row at which each text begins, (n,)."""
        starts: np.ndarray = np.cumsum(self.lengths) - self.lengths
        return starts

    def text(self, row: int) -> np.ndarray:
        """Return the token vectors of one text, (tokens, dim)."""
        start = self.starts[row]
        return self.vectors[start : start + self.lengths[row]]


def encode(
    model: "TransformerModel | Precomputed",
    texts: Sequence[str],
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    progress: bool = True,
) -> np.ndarray:
    """Embed texts with the model's own pooling.

    Args:
        model: what :func:`helpers.models.load_model` returned; precomputed vectors are looked up by their text.
        texts: n strings.
        kind: ``"passage"`` or ``"query"``; each gets the model's instruction for its kind put before it.
        batch_size: texts a forward pass; changes the speed and, by rounding, the seventh digit of a value.
        cache_dir: where finished shards are kept; by default :func:`~helpers.embeddings.cache.default_cache`.
        progress: draw a bar while computing.

    Returns:
        float32 array (n, dim), row i for text i, each of length one: an inner product of two is their cosine.

    Warns:
        when texts that it computes are longer than the model takes: what lies beyond is truncated.

    Raises:
        ValueError: no texts, one string where a list belongs, a text that is not a string or is blank or has no
            precomputed vector, an unknown kind, a model without a pooling of its own, vectors that are not finite.
        OSError: the cache folder cannot be written; the message names it.
    """
    texts = _checked_texts(texts)
    embeddings, end = np.empty((0, 0), np.float32), 0
    for shard in encode_shards(model, texts, kind=kind, batch_size=batch_size, cache_dir=cache_dir, progress=progress):
        if not end:
            embeddings = np.empty((len(texts), shard.shape[1]), np.float32)
        embeddings[end : end + len(shard)] = shard
        end += len(shard)
    return embeddings


def encode_shards(
    model: "TransformerModel | Precomputed",
    texts: Iterable[str],
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    shard_size: int = SHARD_SIZE,
    progress: bool = False,
) -> Iterator[np.ndarray]:
    """Embed a stream of texts of any length, giving memory-mapped shards as they are finished.

    A shard is a file named by a digest of the model and of its texts. A run that was killed finds the shards it
    finished and computes the rest; two runs at once may compute a shard twice, and write the same file. A shard
    that cannot be read, or whose checksum is not that of its name and content, is computed again.

    Yields:
        Read-only float32 arrays (at most ``shard_size``, dim), in the order of the texts.
    """
    _check_kind(kind)
    encode_batch = _batch_encoder(model, kind, batch_size, cache_dir)
    total = len(texts) if isinstance(texts, Sized) else None
    with progress_bar(total, f"Encode {kind}", "text", show=progress) as bar:
        for batch in _batches(texts, shard_size):
            yield encode_batch(batch)
            bar.update(len(batch))


def _batch_encoder(
    model: "TransformerModel | Precomputed", kind: str, batch_size: int, cache_dir: str | Path | None
) -> Callable[[list[str]], np.ndarray]:
    """Return what turns a list of texts into a shard of vectors."""
    if isinstance(model, Precomputed):
        return lambda batch: model.look_up(batch, kind)
    if model.info.pooling is None:
        raise ValueError(f"{model.info.name} does not say how it pools: load it with pooling='cls' or 'mean'.")
    pooling = Pooling(model.info.pooling)
    job = _Job(model, (pooling,), kind, batch_size, ShardCache(cache_dir))
    return lambda batch: job.shard(batch)[pooling].vectors


def encode_pooled(
    model: "TransformerModel",
    texts: Sequence[str],
    poolings: Iterable[str] = (Pooling.MEAN,),
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    progress: bool = True,
) -> dict[Pooling, np.ndarray | TokenVectors]:
    """Run a network over texts once, and pool in each of the ways asked.

    Args:
        model: what :func:`helpers.models.load_model` returned, :func:`~helpers.models.transformer.static` or
            :func:`~helpers.models.transformer.untrained`.
        texts: n strings.
        poolings: members of :class:`~helpers.models.model.Pooling`, or their values.
        kind: ``"passage"`` or ``"query"``: which instruction is put before a text, and how ColBERT reads it.
        batch_size: texts a forward pass. Changes nothing but rounding, except under UNMASKED_MEAN.
        cache_dir: where results are kept, as for :func:`encode`.
        progress: draw a bar while computing.

    Returns:
        For each pooling float32 (n, dim), rows of length one; for MAXSIM :class:`TokenVectors`.

    Raises:
        ValueError: an unknown pooling or kind, no texts, a text that is blank or without a token, values that are
            not finite.

    Warns:
        UserWarning: texts were longer than the model takes, and truncated.
    """
    wanted = tuple(dict.fromkeys(Pooling(name) for name in poolings))
    _check_kind(kind)
    texts = _checked_texts(texts)
    if not wanted:
        raise ValueError("Nothing to encode: give at least one pooling.")
    job = _Job(model, wanted, kind, batch_size, ShardCache(cache_dir))
    shards = []
    with progress_bar(len(texts), f"Encode {kind}", "text", show=progress) as bar:
        for batch in _batches(texts, SHARD_SIZE):
            shards.append(job.shard(batch))
            bar.update(len(batch))
    pooled: dict[Pooling, np.ndarray | TokenVectors] = {}
    for pooling in wanted:
        vectors = np.concatenate([shard[pooling].vectors for shard in shards])
        if pooling is Pooling.MAXSIM:
            pooled[pooling] = TokenVectors(vectors, np.concatenate([shard[pooling].lengths for shard in shards]))
        else:
            pooled[pooling] = vectors
    return pooled


def is_cached(
    model: "TransformerModel", texts: Sequence[str], pooling: Pooling, *, batch_size: int = BATCH_SIZE
) -> bool:
    """Tell whether an earlier run left the first shard of some passages in the default cache."""
    job = _Job(model, (pooling,), "passage", batch_size, ShardCache())
    first = [(model.info.passage_instruction or "") + text for text in texts[:SHARD_SIZE]]
    side = "passage" if model.projection is not None and pooling == Pooling.MAXSIM else ""
    return job.cache.read(job._recipe(pooling, side).shard_name(first)) is not None


@dataclass(frozen=True)
class _Job:
    """One way of encoding: which model, into what, and where the results are kept."""

    model: "TransformerModel"
    poolings: tuple[Pooling, ...]
    kind: str
    batch_size: int
    cache: ShardCache

    def shard(self, texts: list[str]) -> dict[Pooling, TokenVectors]:
        """Read what the cache holds of some texts, compute the rest, and put it there; ColBERT reads texts its way."""
        info = self.model.info
        instruction = info.query_instruction if self.kind == "query" else info.passage_instruction
        texts = [(instruction or "") + text for text in texts]
        reads_apart = self.model.projection is not None
        late: list[Pooling] = [p for p in self.poolings if reads_apart and p == Pooling.MAXSIM]
        plain = [pooling for pooling in self.poolings if pooling not in late]
        return self._pass(texts, plain, "") | self._pass(texts, late, self.kind)

    def _pass(self, texts: list[str], poolings: list[Pooling], colbert_side: str) -> dict[Pooling, TokenVectors]:
        """Give the vectors of texts under poolings that read them alike, in one forward pass at most."""
        names = {pooling: self._recipe(pooling, colbert_side).shard_name(texts) for pooling in poolings}
        cached = {pooling: self.cache.read(name) for pooling, name in names.items()}
        missing = [pooling for pooling in poolings if cached[pooling] is None]
        tokens = tokenize(self.model, texts, colbert_side) if missing or Pooling.MAXSIM in poolings else {}
        vectors = {pooling: shard for pooling, shard in cached.items() if shard is not None}
        if missing:
            from helpers.embeddings import network

            computed = network.forward(self.model, texts, tokens, missing, self.batch_size)
            for pooling, shard in computed.items():
                vectors[pooling] = self.cache.write(names[pooling], shard)
        lengths = {pooling: np.ones(len(texts), int) for pooling in poolings}
        if Pooling.MAXSIM in poolings:
            lengths[Pooling.MAXSIM] = np.array([sum(kept) for kept in kept_tokens(tokens)])
        return {pooling: TokenVectors(vectors[pooling], lengths[pooling]) for pooling in poolings}

    def _recipe(self, pooling: Pooling, colbert_side: str) -> Recipe:
        """Name all that decides a result, beside the texts."""
        return Recipe(
            model=self.model.info.sha256,
            pooling=str(pooling),
            max_length=self.model.info.max_length,
            device=self.model.device.partition(":")[0],
            dtype=self.model.dtype,
            dim=self.model.info.dim,
            colbert_side=colbert_side,
            batch_size=self.batch_size if pooling is Pooling.UNMASKED_MEAN else None,
        )


def _check_kind(kind: str) -> None:
    """Raise for a kind of text that there is none of."""
    if kind not in ("passage", "query"):
        raise ValueError(f"kind={kind!r}: expected 'passage' or 'query'.")


def _checked_texts(texts: Sequence[str]) -> list[str]:
    """Return texts as a list, or raise if there is none."""
    if isinstance(texts, str):
        raise ValueError(f"texts is one string, {texts[:60]!r}: put it into a list, [text].")
    texts = list(texts)
    if not texts:
        raise ValueError("No texts to encode: give at least one.")
    return texts


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Divide texts into lists of at most ``size``, each text checked."""
    if isinstance(texts, str):
        raise ValueError(f"texts is one string, {texts[:60]!r}: put it into a list, [text].")
    numbered = iter(enumerate(texts))
    while batch := list(itertools.islice(numbered, size)):
        yield [checked_text(row, text) for row, text in batch]
