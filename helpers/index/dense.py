"""FAISS: indexes of vectors that rank by inner product."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from helpers._atomic import whole_file
from helpers._progress import progress_bar
from helpers.index.order import ordered
from helpers.index.part import PartialIndex

BLAS_FROM = 1 << 24  # inner products a call


def build(embeddings: np.ndarray | Iterable[np.ndarray], factory: str) -> faiss.Index:
    """Build the index that a factory string describes; trained, if need be, on the first shard."""
    shards = [embeddings] if isinstance(embeddings, np.ndarray) else embeddings
    index = None
    for shard in shards:
        vectors = checked_vectors("embeddings", shard)
        if index is None:
            index = _empty_index(vectors, factory)
            reserve(index, len(embeddings) if isinstance(embeddings, Sized) else 0)
        _require_dim("embeddings", vectors, index)
        index.add(vectors)
    if index is None:
        raise ValueError("No embeddings to index: give at least one shard.")
    return index


def reserve(index: faiss.Index, count: int) -> None:
    """Make room in an empty index for so many vectors; a flat one, as it grows, is else copied whenever it is full.

    Other kinds than flat ones are left as they are.
    """
    if isinstance(index, faiss.IndexFlatCodes) and not index.ntotal:
        codes: Any = index.codes
        codes.resize(count * index.code_size)
        codes.resize(0)  # FAISS keeps the room


def set_parameters(index: faiss.Index, settings: Mapping[str, float]) -> None:
    """Set what the search of an index can be told, by the names of FAISS's ``ParameterSpace``.

    Raises:
        ValueError: a setting that this kind of index does not have.
    """
    space: Any = faiss
    for name, value in settings.items():
        try:
            space.ParameterSpace().set_index_parameter(index, name, value)
        except RuntimeError as error:
            raise ValueError(f"{type(index).__name__} has no setting {name!r}; see FAISS's ParameterSpace.") from error


def search(
    index: faiss.Index | PartialIndex, queries: np.ndarray, k: int, batch_size: int, progress: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k best vectors of each query, batch by batch."""
    queries = checked_vectors("queries", queries)
    _require_dim("queries", queries, index)
    scores = np.empty((len(queries), k), np.float32)
    ids = np.empty((len(queries), k), np.int64)
    with progress_bar(len(queries), "Search", "query", show=progress) as bar:
        for start in range(0, len(queries), batch_size):
            rows = slice(start, start + batch_size)
            scores[rows], ids[rows] = _search_batch(index, queries[rows], k)
            bar.update(len(ids[rows]))
    return scores, ids


def _empty_index(shard: np.ndarray, factory: str) -> faiss.Index:
    """Make the index that a factory string describes, trained on the first vectors if it needs that."""
    try:
        index = faiss.index_factory(shard.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
    except RuntimeError as error:
        raise ValueError(f"FAISS knows no index {factory!r}; try 'Flat', 'IVF64,Flat' or 'HNSW32'.") from error
    if not index.is_trained:
        try:
            index.train(shard)
        except RuntimeError as error:
            raise ValueError(
                f"{factory!r} cannot be trained on {len(shard)} vectors; give more, or use 'Flat'."
            ) from error
    return index


def _search_batch(index: faiss.Index | PartialIndex, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Search, and look further for the queries whose last place is tied with the next one, to settle the tie."""
    scores, ids = _search_ordered(index, queries, min(k + 1, index.ntotal))
    depth = scores.shape[1]
    best_scores, best_ids = scores[:, :k].copy(), ids[:, :k].copy()
    open_rows = np.flatnonzero(scores[:, k - 1] == scores[:, -1]) if depth > k else np.empty(0, int)
    while len(open_rows):
        depth = min(2 * depth, index.ntotal)
        scores, ids = _search_ordered(index, queries[open_rows], depth)
        best_scores[open_rows], best_ids[open_rows] = scores[:, :k], ids[:, :k]
        settled = scores[:, k - 1] != scores[:, -1]
        open_rows = open_rows[~settled] if depth < index.ntotal else open_rows[:0]
    if (best_ids < 0).any():
        short = int((best_ids < 0).any(axis=1).sum())
        raise ValueError(
            f"The index found fewer than k={k} passages for {short} of {len(queries)} queries; "
            "raise its nprobe or efSearch, or lower k."
        )
    return best_scores, best_ids


def _search_ordered(
    index: faiss.Index | PartialIndex, queries: np.ndarray, depth: int
) -> tuple[np.ndarray, np.ndarray]:
    """Search to a depth, in the one order of results."""
    with _by_blas(len(queries) * index.ntotal):
        scores, ids = index.search(queries, depth)
    return ordered(scores, ids)


@contextlib.contextmanager
def _by_blas(products: int) -> Iterator[None]:
    """Let FAISS multiply matrices where it has many inner products to compute, several times faster.

    Since 1.15 it does so from 128,000 queries a call only. Small searches stay as they are: BLAS rounds otherwise.
    """
    settings: Any = faiss.cvar
    before = settings.distance_compute_blas_threshold
    if products >= BLAS_FROM:
        settings.distance_compute_blas_threshold = 20
    try:
        yield
    finally:
        settings.distance_compute_blas_threshold = before


def checked_vectors(side: str, array: np.ndarray) -> np.ndarray:
    """Return a contiguous float32 (n, dim) array, or say what was given instead."""
    array = np.asarray(array)
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.floating):
        raise ValueError(f"{side}: expected a float array (n, dim), got {array.dtype} of shape {array.shape}.")
    if not len(array):
        raise ValueError(f"{side}: no rows; give at least one vector.")
    array = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise ValueError(f"{side}: row {bad} holds NaN or infinite values; look at the text it came from.")
    return array


def _require_dim(side: str, array: np.ndarray, index: faiss.Index | PartialIndex) -> None:
    """Raise unless vectors have the dimension of the index."""
    if array.shape[1] != index.d:
        raise ValueError(
            f"{side} have {array.shape[1]} dimensions, the index {index.d}; embed both sides with the same model."
        )


def save(index: faiss.Index, path: str | Path) -> None:
    """Write an index to a file, whole or not at all.

    Raises:
        OSError: the folder does not exist or cannot be written.
    """
    with whole_file(path) as temporary:
        faiss.write_index(index, str(temporary))


def load(path: str | Path) -> faiss.Index:
    """Read an index that :func:`save` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is cut short or no FAISS index.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"No index file {str(path)!r}; build the index and save it first.")
    try:
        return faiss.read_index(str(path))
    except RuntimeError as error:
        raise ValueError(f"{Path(path).name} is cut short or no FAISS index; build it again and save it.") from error
