"""Build a FAISS index from embeddings, keep it, and search it with a fixed order among equal scores."""

from collections.abc import Iterable
from pathlib import Path

import faiss
import numpy as np

from helpers.files import whole_file
from helpers.progress import progress_bar


def build_index(embeddings: np.ndarray | Iterable[np.ndarray], factory: str = "Flat") -> faiss.Index:
    """Build an index that ranks by inner product.

    Args:
        embeddings: float array (n, dim), or shards of one in order, as :func:`helpers.embeddings.encode_shards`
            gives them. An index that has to be trained learns from the first shard.
        factory: a FAISS ``index_factory`` string. ``"Flat"`` compares with every vector and is exact; others, such
            as ``"IVF64,Flat"`` or ``"HNSW32"``, trade exactness for speed.

    Returns:
        The index; vector number i is row i of the embeddings.

    Raises:
        ValueError: no vectors, vectors that are not finite, an unknown factory string, too few vectors to train on.
    """
    shards = [embeddings] if isinstance(embeddings, np.ndarray) else embeddings
    index = None
    for shard in shards:
        shard = _vectors("embeddings", shard)
        if index is None:
            index = _empty_index(shard, factory)
        _require_dim("embeddings", shard, index)
        index.add(shard)
    if index is None:
        raise ValueError("No embeddings to index: give at least one shard.")
    return index


def search(
    index: faiss.Index, queries: np.ndarray, k: int = 10, *, batch_size: int = 256, progress: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k best passages of each query.

    Equal scores are ordered by ascending id, also across the end of the list: which of several equal passages
    makes it into the top k does not depend on FAISS, the batch or the machine.

    Args:
        index: what :func:`build_index` or :func:`load_index` returned.
        queries: float array (q, dim).
        k: how many passages a query; no more than the index holds.
        batch_size: queries a call of FAISS.
        progress: draw a bar.

    Returns:
        scores: float32 (q, k), the best first.
        ids: int64 (q, k), row numbers of the embeddings; never -1.

    Raises:
        ValueError: k out of range, another dimension than the index, values that are not finite, or an
            approximate index that found fewer than k (raise its ``nprobe`` or ``efSearch``).
    """
    queries = _vectors("queries", queries)
    _require_dim("queries", queries, index)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= index.ntotal:
        raise ValueError(f"k={k!r}: expected a whole number from 1 to {index.ntotal}, the passages in the index.")
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size!r}: expected at least 1.")
    scores = np.empty((len(queries), k), np.float32)
    ids = np.empty((len(queries), k), np.int64)
    with progress_bar(len(queries), "Search", "query", show=progress) as bar:
        for start in range(0, len(queries), batch_size):
            rows = slice(start, start + batch_size)
            scores[rows], ids[rows] = _search_batch(index, queries[rows], k)
            bar.update(len(ids[rows]))
    return scores, ids


def save_index(index: faiss.Index, path: str | Path) -> None:
    """Write an index to a file, whole or not at all.

    Raises:
        OSError: the folder does not exist or cannot be written.
    """
    with whole_file(path) as temporary:
        faiss.write_index(index, str(temporary))


def load_index(path: str | Path) -> faiss.Index:
    """Read an index that :func:`save_index` wrote.

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


def _search_batch(index: faiss.Index, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Search, and look further for the queries whose last place is tied with the next one, to settle the tie."""
    scores, ids = _ranked(index, queries, min(k + 1, index.ntotal))
    depth = scores.shape[1]
    best_scores, best_ids = scores[:, :k].copy(), ids[:, :k].copy()
    open_rows = np.flatnonzero(scores[:, k - 1] == scores[:, -1]) if depth > k else np.empty(0, int)
    while len(open_rows):
        depth = min(2 * depth, index.ntotal)
        scores, ids = _ranked(index, queries[open_rows], depth)
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


def _ranked(index: faiss.Index, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Search to a depth; each row by descending score, equal scores by ascending id, padding (-1) last."""
    scores, ids = index.search(queries, depth)
    order = np.lexsort((ids, -scores, ids < 0), axis=-1)
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1)


def _vectors(what: str, array: np.ndarray) -> np.ndarray:
    """Return a contiguous float32 (n, dim) array, or say what was given instead."""
    array = np.asarray(array)
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.floating):
        raise ValueError(f"{what}: expected a float array (n, dim), got {array.dtype} of shape {array.shape}.")
    if not len(array):
        raise ValueError(f"{what}: no rows; give at least one vector.")
    array = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise ValueError(f"{what}: row {bad} holds NaN or infinite values; look at the text it came from.")
    return array


def _require_dim(what: str, array: np.ndarray, index: faiss.Index) -> None:
    """Raise unless vectors have the dimension of the index."""
    if array.shape[1] != index.d:
        raise ValueError(
            f"{what} have {array.shape[1]} dimensions, the index {index.d}; embed both sides with the same model."
        )
