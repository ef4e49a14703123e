"""Turn texts into vectors, once: they are kept on disk under a name made from model and texts."""

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers._cache import default_cache
from helpers._progress import progress_bar
from helpers.embeddings.encoding import TokenVectors, compared_tokens, count_truncated, encode_batch, encode_shard
from helpers.embeddings.shards import Manifest, Shards, fill
from helpers.embeddings.store import Store
from helpers.models import Model, Pooling, Precomputed

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
]

SHARD_SIZE = 1024  # texts a shard: what a killed run loses at most
BATCH_SIZE = 32  # on a few CPU cores faster than the 256 that FlagEmbedding takes by default


def encode(
    model: Model,
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
        cache_dir: where finished shards are kept; by default :func:`default_cache`.
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
    texts = [text for batch in text_batches(texts, SHARD_SIZE) for text in batch]  # all are checked before the first
    stream = encode_shards(model, texts, kind=kind, batch_size=batch_size, cache_dir=cache_dir, progress=progress)
    if not (shards := list(stream)):
        raise ValueError("No texts to encode: give at least one.")
    return np.concatenate(shards)


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
    check_options(kind, batch_size, shard_size)
    if folder is not None and cache_dir is not None:
        raise ValueError("folder and cache_dir were both given: vectors are kept in folder, and nowhere else.")
    store = Store(folder or cache_dir)
    batches, total = text_batches(texts, shard_size), len(texts) if isinstance(texts, Sized) else None

    def shards() -> Iterator[tuple[list[str], np.ndarray]]:
        with progress_bar(total, f"Encode {kind}", "text", show=progress) as bar:
            for batch in batches:
                yield batch, encode_shard(model, batch, kind, batch_size, store, keep=folder is not None)
                bar.update(len(batch))

    if folder is None:
        return (shard for _, shard in shards())
    manifest = Manifest.begin(model, kind, batch_size, shard_size, total)
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
    """Run a network over texts once, and pool in several ways.

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
    check_options(kind, batch_size)
    if isinstance(model, Precomputed):
        raise ValueError(f"{model.info.name} holds embeddings, which cannot be pooled another way: give a model.")
    texts = [text for batch in text_batches(texts, SHARD_SIZE) for text in batch]  # all are checked before the first
    store, shards = Store(cache_dir), []
    with progress_bar(len(texts), f"Encode {kind}", "text", show=progress) as bar:
        for batch in text_batches(texts, SHARD_SIZE):
            shards.append(encode_batch(model, batch, wanted, kind, batch_size, store))
            bar.update(len(batch))
    if not shards or not wanted:
        raise ValueError("Nothing to encode: give at least one text and one pooling.")
    pooled: dict[Pooling, np.ndarray | TokenVectors] = {}
    for pooling in wanted:
        vectors = np.concatenate([shard[pooling].vectors for shard in shards])
        if pooling is Pooling.MAXSIM:
            pooled[pooling] = TokenVectors(vectors, np.concatenate([shard[pooling].lengths for shard in shards]))
        else:
            pooled[pooling] = vectors
    return pooled


def check_options(kind: str, batch_size: int, shard_size: int = SHARD_SIZE) -> None:
    """Raise for a kind of text that does not exist, and for a batch or a shard of no texts."""
    if kind not in ("passage", "query"):
        raise ValueError(f"kind={kind!r}: expected 'passage' or 'query'.")
    for name, size in {"batch_size": batch_size, "shard_size": shard_size}.items():
        if size < 1:
            raise ValueError(f"{name}={size!r}: expected at least 1.")


def text_batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Divide texts into lists of at most ``size``.

    Raises:
        ValueError: one string, a text that is blank or no string.
    """
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
