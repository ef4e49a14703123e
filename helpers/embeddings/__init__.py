"""Turn texts into vectors, once: what was computed is kept on disk under a name made from its content."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from helpers._progress import progress_bar
from helpers.embeddings.cache import SHARD_SIZE, ShardCache, default_cache
from helpers.embeddings.inputs import check_text, compared_tokens, count_truncated
from helpers.embeddings.job import Job, TokenVectors, made_with, shard_encoder
from helpers.embeddings.keeping import ShardFolder, shard_file
from helpers.embeddings.shards import Shards
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
        the order of the texts. With it all of them are computed first, and what is returned is one array (rows, dim)
        that is read as it is needed, :class:`~helpers.embeddings.shards.Shards`.

    Raises:
        ValueError: what :func:`encode` raises; a folder that was made with another model, recipe, kind, instruction
            or shard size; ``folder`` and ``cache_dir`` both.
        OSError: a shard cannot be written; the message names file and folder, and how many bytes are missing on a
            full disk. Shards that were written before stay.
    """
    check_kind(kind)
    if folder is not None and cache_dir is not None:
        raise ValueError("folder and cache_dir were both given: vectors are kept in folder, and nowhere else.")
    total = len(texts) if isinstance(texts, Sized) else None
    batches = text_batches(texts, shard_size)
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
            not finite, embeddings that were computed elsewhere.

    Warns:
        UserWarning: texts were longer than the model takes, and truncated.
    """
    wanted = tuple(dict.fromkeys(Pooling(name) for name in poolings))
    check_kind(kind)
    if isinstance(model, Precomputed):
        raise ValueError(f"{model.info.name} holds embeddings, which cannot be pooled another way: give a model.")
    texts = _checked_texts(texts)
    if not wanted:
        raise ValueError("Nothing to encode: give at least one pooling.")
    job = Job(model, wanted, kind, batch_size, ShardCache(cache_dir))
    shards = []
    with progress_bar(len(texts), f"Encode {kind}", "text", show=progress) as bar:
        for batch in text_batches(texts, SHARD_SIZE):
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
    job = Job(model, (pooling,), "passage", batch_size, ShardCache())
    first = [(model.info.passage_instruction or "") + text for text in texts[:SHARD_SIZE]]
    side = "passage" if model.projection is not None and pooling == Pooling.MAXSIM else ""
    return job.cache.read(job.recipe(pooling, side).shard_name(first)) is not None


def check_kind(kind: str) -> None:
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


def text_batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Divide texts into lists of at most ``size``, each text checked."""
    if isinstance(texts, str):
        raise ValueError(f"texts is one string, {texts[:60]!r}: put it into a list, [text].")
    if size < 1:
        raise ValueError(f"shard_size={size!r}: expected at least 1.")
    return _batches(texts, size)


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Go through texts, each checked."""
    coming, first = iter(texts), 0
    while batch := list(itertools.islice(coming, size)):
        if not all([isinstance(text, str) and text.strip() for text in batch]):
            for row, text in enumerate(batch, first):
                check_text(row, text)
        yield batch
        first += len(batch)
