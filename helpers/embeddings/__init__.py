"""Encode texts as vectors, with a cache on disk whose keys are digests of model and texts."""

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers._io import default_cache
from helpers._optional import progress_bar
from helpers.embeddings.encoding import TokenVectors, count_truncated, encode_batch, encode_shard
from helpers.embeddings.shards import Manifest, Shards, fill
from helpers.embeddings.store import Store
from helpers.models import Model, Pooling, Precomputed

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

__all__ = [
    "Shards", "TokenVectors", "count_truncated", "default_cache", "encode", "encode_pooled",
    "encode_shards",
]  # fmt: skip

SHARD_SIZE = 1024  # texts per shard; a killed run loses at most this many
BATCH_SIZE = 32  # on a few CPU cores faster than FlagEmbedding's default of 256


def encode(
    model: Model,
    texts: Sequence[str],
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    progress: bool = True,
) -> np.ndarray:
    """Embed texts with the model's own pooling: float32 (n, dim), rows of length one (inner product = cosine).

    Args:
        model: a model from :func:`helpers.models.load_model`; precomputed vectors are looked up by text.
        texts: n strings.
        kind: ``"passage"`` or ``"query"``; selects the model's instruction to put before each text.
        batch_size: texts per forward pass; affects speed and, by rounding, the seventh digit of a value.
        cache_dir: folder of finished shards; by default :func:`default_cache`.
        progress: show a progress bar while computing.

    Warns:
        UserWarning: texts to compute are longer than the model's maximum length and were truncated.

    Raises:
        ValueError: there are no texts; ``texts`` is a string; a text is not a string, blank, or without precomputed
            vector; the kind is unknown; the model states no pooling; a vector is not finite.
        OSError: the cache folder, which the message names, cannot be written.
    """
    texts = [text for batch in text_batches(texts, SHARD_SIZE) for text in batch]  # check all before encoding any
    stream = encode_shards(model, texts, kind=kind, batch_size=batch_size, cache_dir=cache_dir, progress=progress)
    return np.concatenate(list(stream))


def encode_shards(
    model: Model,
    texts: Iterable[str],
    *,
    kind: str = "passage",
    batch_size: int = BATCH_SIZE,
    cache_dir: str | Path | None = None,
    shard_size: int = SHARD_SIZE,
    progress: bool = False,
    folder: str | Path | None = None,
) -> Iterator[np.ndarray] | Shards:
    """Embed a stream of texts shard by shard, with memory for one shard.

    A shard is a file named by a digest of the model and its texts. A restarted run reads the shards that were finished
    and computes the rest; two simultaneous runs share the work, one shard at a time. A shard that is unreadable, or
    whose checksum does not match, is computed again, and a warning says how many were.

    Args:
        model, kind, batch_size, progress: as for :func:`encode`, with its errors.
        texts: any iterable of strings: a list, a generator, a column of a ``datasets`` stream.
        cache_dir: folder of finished shards, as for :func:`encode`; only without ``folder``.
        shard_size: texts per shard; a killed run loses at most this many.
        folder: store the vectors permanently in this folder, with a manifest of model, settings and files. A later
            run computes only new texts; shards of removed texts stay on disk and are not listed in the manifest.

    Returns:
        Without ``folder`` an iterator of read-only, memory-mapped float32 arrays (at most ``shard_size``, dim), in
        the order of the texts. With ``folder``, after all are computed, one array (rows, dim) that is read on demand,
        :class:`~helpers.embeddings.shards.Shards`.
    """
    check_options(kind, batch_size, shard_size)
    if folder is not None and cache_dir is not None:
        raise ValueError("folder and cache_dir were both given: vectors are kept in folder, and nowhere else.")
    store = Store(folder or cache_dir)
    batches, total = text_batches(texts, shard_size), len(texts) if isinstance(texts, Sized) else None

    def shards() -> Iterator[tuple[list[str], np.ndarray]]:
        done = 0
        with progress_bar(total, f"Encode {kind}", "text", show=progress) as bar:
            for batch in batches:
                yield batch, encode_shard(model, batch, kind, batch_size, store, keep=folder is not None)
                bar.update(len(batch))
                done += 1
        store.tell_damaged(done)

    if folder is None:
        return (shard for _, shard in shards())
    manifest = Manifest.begin(model, kind, batch_size, shard_size)
    files = ((batch, manifest.shard_file(store, batch, shard), shard.shape[1]) for batch, shard in shards())
    return fill(store, manifest, files)


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
    """Run a network over n texts once and apply several poolings.

    For each pooling float32 (n, dim), rows of length one; for MAXSIM :class:`TokenVectors`. The model is a network from
    :func:`helpers.models.load_model`, :func:`~helpers.models.transformer.static` or
    :func:`~helpers.models.transformer.untrained`; the kind selects the instruction and ColBERT's marker and padding;
    all else, and the errors, are as for :func:`encode`.
    """
    unique = tuple(dict.fromkeys(Pooling(name) for name in poolings))
    check_options(kind, batch_size)
    if isinstance(model, Precomputed):
        raise ValueError(f"{model.info.name} holds embeddings, which cannot be pooled another way: give a model.")
    texts = [text for batch in text_batches(texts, SHARD_SIZE) for text in batch]  # check all before encoding any
    store, shards = Store(cache_dir), []
    with progress_bar(len(texts), f"Encode {kind}", "text", show=progress) as bar:
        for batch in text_batches(texts, SHARD_SIZE):
            shards.append(encode_batch(model, batch, unique, kind, batch_size, store))
            bar.update(len(batch))
    store.tell_damaged(len(shards))
    sides = {pooling: zip(*(shard[pooling] for shard in shards), strict=True) for pooling in unique}
    pooled = {pooling: TokenVectors(*map(np.concatenate, both)) for pooling, both in sides.items()}
    return {pooling: each if pooling is Pooling.MAXSIM else each.vectors for pooling, each in pooled.items()}


def check_options(kind: str, batch_size: int, shard_size: int = SHARD_SIZE) -> None:
    """Raise ValueError for an unknown kind of text, or a batch or shard size below 1."""
    if kind not in ("passage", "query"):
        raise ValueError(f"kind={kind!r}: expected 'passage' or 'query'.")
    for name, size in {"batch_size": batch_size, "shard_size": shard_size}.items():
        if size < 1:
            raise ValueError(f"{name}={size!r}: expected at least 1.")


def text_batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Divide texts into lists of at most ``size``."""
    if isinstance(texts, str):
        raise ValueError(f"texts is one string, {texts[:60]!r}: put it into a list, [text].")
    rest, first = iter(texts), 0
    while batch := list(itertools.islice(rest, size)):
        for row, text in enumerate(batch, first):
            if not isinstance(text, str):
                raise ValueError(f"Text {row} is of type {type(text).__name__}, {text!r}; expected a string.")
            if not text.strip():
                raise ValueError(f"Text {row} is blank; drop it, a model would still give it a vector.")
        yield batch
        first += len(batch)
    if not first:
        raise ValueError("No texts to encode: give at least one.")
