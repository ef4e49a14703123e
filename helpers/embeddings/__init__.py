"""Turn texts into vectors, once: what was computed is kept on disk under a name made from its content."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from helpers._progress import progress_bar
from helpers.embeddings.cache import SHARD_SIZE, Recipe, ShardCache, default_cache
from helpers.embeddings.inputs import Tokens, checked_text, compared_tokens, count_truncated, kept_tokens, tokenize
from helpers.embeddings.keeping import ShardFolder, shard_file
from helpers.embeddings.shards import MadeWith, ModelName, Shards
from helpers.models import Pooling, Precomputed

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

__all__ = [
    "Shards",
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


@overload
def encode_shards(
    model: "TransformerModel | Precomputed",
    texts: Iterable[str],
    *,
    kind: str = ...,
    batch_size: int = ...,
    cache_dir: str | Path | None = ...,
    shard_size: int = ...,
    progress: bool = ...,
    folder: None = ...,
) -> Iterator[np.ndarray]: ...
@overload
def encode_shards(
    model: "TransformerModel | Precomputed",
    texts: Iterable[str],
    *,
    kind: str = ...,
    batch_size: int = ...,
    cache_dir: None = ...,
    shard_size: int = ...,
    progress: bool = ...,
    folder: str | Path,
) -> Shards: ...
def encode_shards(
    model: "TransformerModel | Precomputed",
    texts: Iterable[str],
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    shard_size: int = SHARD_SIZE,
    progress: bool = False,
    folder: str | Path | None = None,
) -> Iterator[np.ndarray] | Shards:
    """Embed a stream of texts of any length, shard by shard: memory for one shard, however many texts.

    A shard is a file named by a digest of the model and of its texts. A run that was killed finds the shards it
    finished and computes the rest; of two runs at once each computes what the other has not, one shard at a time. A
    shard that cannot be read, or whose checksum is not that of its name and content, is computed again.

    Args:
        model: as for :func:`encode`.
        texts: any iterable of strings: a list, a generator, a column of a ``datasets`` stream.
        kind, batch_size, progress: as for :func:`encode`.
        cache_dir: where finished shards are kept, as for :func:`encode`, if there is no ``folder``.
        shard_size: texts a shard: what a killed run loses at most.
        folder: keep the vectors in this folder, for good, with a manifest that says what they are of. Texts that
            were added since an earlier run are computed; shards of texts that are gone stay as files nobody lists.

    Returns:
        Without ``folder`` an iterator of read-only float32 arrays (at most ``shard_size``, dim), memory-mapped, in
        the order of the texts. With it all of them are computed first, and a :class:`~helpers.embeddings.Shards` is
        returned, which is one array (rows, dim) that is read as it is needed.

    Raises:
        ValueError: what :func:`encode` raises; a folder that was made with another model, recipe, kind, instruction
            or shard size; ``folder`` and ``cache_dir`` both.
        OSError: a shard cannot be written; the message names file and folder, and how many bytes are missing on a
            full disk. Shards that were written before stay.
    """
    _check_kind(kind)
    if shard_size < 1:
        raise ValueError(f"shard_size={shard_size!r}: expected at least 1.")
    if folder is not None and cache_dir is not None:
        raise ValueError("folder and cache_dir were both given: vectors are kept in folder, and nowhere else.")
    total = len(texts) if isinstance(texts, Sized) else None
    batches = _batches(texts, shard_size)
    if folder is None:
        shards = _encoded(shard_encoder(model, kind, batch_size, ShardCache(cache_dir)), batches)
        return (shard for _, shard in _with_bar(shards, total, kind, progress))
    kept = ShardFolder(folder, made_with(model, kind, batch_size, shard_size), total)
    shards = _encoded(shard_encoder(model, kind, batch_size, kept.cache, keep=True), batches)
    for batch, shard in _with_bar(shards, total, kind, progress):
        kept.add(batch, shard_file(kept.cache, shard), shard.shape[1])
    return kept.finish()


def _encoded(
    encode_batch: Callable[[list[str]], np.ndarray], batches: Iterator[list[str]]
) -> Iterator[tuple[list[str], np.ndarray]]:
    """Give each batch of texts and its shard."""
    return ((batch, encode_batch(batch)) for batch in batches)


def _with_bar(
    shards: Iterator[tuple[list[str], np.ndarray]], total: int | None, kind: str, show: bool
) -> Iterator[tuple[list[str], np.ndarray]]:
    """Draw a bar of texts while shards are made."""
    with progress_bar(total, f"Encode {kind}", "text", show=show) as bar:
        for batch, shard in shards:
            yield batch, shard
            bar.update(len(batch))


def shard_encoder(
    model: "TransformerModel | Precomputed", kind: str, batch_size: int, cache: ShardCache, *, keep: bool = False
) -> Callable[[list[str]], np.ndarray]:
    """Return what turns a list of texts into a shard of vectors, read from a cache or computed and put there.

    Args:
        model, kind, batch_size: as for :func:`encode`.
        cache: where shards are looked for and written.
        keep: write vectors that were precomputed too; else they are looked up and not written anywhere.
    """
    if isinstance(model, Precomputed):
        look_up = partial(model.look_up, kind=kind)
        return partial(_looked_up, look_up, _recipe(model, kind, batch_size), cache) if keep else look_up
    pooling = _own_pooling(model)
    job = _Job(model, (pooling,), kind, batch_size, cache)
    return lambda batch: job.shard(batch)[pooling].vectors


def made_with(model: "TransformerModel | Precomputed", kind: str, batch_size: int, shard_size: int) -> MadeWith:
    """Say what the vectors of a run have in common, for the manifest of a folder."""
    info = model.info
    instruction = (info.query_instruction if kind == "query" else info.passage_instruction) or ""
    recipe = _recipe(model, kind, batch_size)
    return MadeWith(ModelName(info.name, info.sha256), recipe, kind, instruction, shard_size)


def _looked_up(
    look_up: Callable[[list[str]], np.ndarray], recipe: Recipe, cache: ShardCache, batch: list[str]
) -> np.ndarray:
    """Copy the precomputed vectors of a batch into a shard, if it is not there."""
    name = recipe.shard_name(batch)
    shard = cache.read(name)
    return cache.write(name, look_up(batch)) if shard is None else shard


def _own_pooling(model: "TransformerModel") -> Pooling:
    """Return how a model pools by itself, or say that it does not."""
    if model.info.pooling is None:
        raise ValueError(f"{model.info.name} does not say how it pools: load it with pooling='cls' or 'mean'.")
    return Pooling(model.info.pooling)


def _recipe(model: "TransformerModel | Precomputed", kind: str, batch_size: int) -> Recipe:
    """Return what decides the vectors of a model under its own pooling."""
    if isinstance(model, Precomputed):
        return Recipe(model.info.sha256, f"{kind}: {model.info.pooling}", None, model.device, "float32")
    pooling = _own_pooling(model)
    late = model.projection is not None and pooling == Pooling.MAXSIM
    return _Job(model, (pooling,), kind, batch_size, ShardCache())._recipe(pooling, kind if late else "")


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
            vectors |= self._computed(texts, tokens, {pooling: names[pooling] for pooling in missing})
        lengths = {pooling: np.ones(len(texts), int) for pooling in poolings}
        if Pooling.MAXSIM in poolings:
            lengths[Pooling.MAXSIM] = np.array([sum(kept) for kept in kept_tokens(tokens)])
        return {pooling: TokenVectors(vectors[pooling], lengths[pooling]) for pooling in poolings}

    def _computed(self, texts: list[str], tokens: Tokens, names: dict[Pooling, str]) -> dict[Pooling, np.ndarray]:
        """Compute shards and write them, unless another run, which had begun, wrote them meanwhile."""
        with self.cache.alone(min(names.values())):
            found = {pooling: self.cache.read(name) for pooling, name in names.items()}
            shards = {pooling: shard for pooling, shard in found.items() if shard is not None}
            if missing := [pooling for pooling in names if pooling not in shards]:
                from helpers.embeddings import network

                computed = network.forward(self.model, texts, tokens, missing, self.batch_size)
                shards |= {pooling: self.cache.write(names[pooling], shard) for pooling, shard in computed.items()}
        return shards

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
