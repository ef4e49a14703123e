"""Indexes of vectors that rank by inner product: FAISS's, blocks of vectors on disk, and signs, one bit a dimension."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from helpers._optional import Later, progress_bar
from helpers.index.order import merge, ordered

if TYPE_CHECKING:
    import faiss
else:
    faiss = Later("faiss", "report")

BLAS_FROM = 1 << 24  # inner products a call
BLAS_QUERIES = 20  # a call; for a few, one after the other is faster
MOST_TRAINED = 1 << 18  # vectors
# Vectors a block. From 4,096 on the product of matrices takes nearly all of the time; with a multiple of the 1,024 that
# FAISS multiplies at a time, the same numbers are multiplied together as in a flat index, and round alike.
BLOCK = 1 << 15
_faiss: Any = faiss  # its type stubs lack some names


class Index(Protocol):
    """The form of an index of ``ntotal`` passages that is not FAISS's; a further back end is a class of this form."""

    ntotal: int

    def search(self, queries: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return scores (q, k) and ids (q, k), best first, equal scores by ascending id."""


def build(embeddings: np.ndarray | Iterable[np.ndarray], factory: str, settings: Mapping[str, float]) -> faiss.Index:
    """Build the index that a factory string describes; trained, if need be, on a sample of all shards.

    Settings of its search have the names of FAISS's ``ParameterSpace``.
    """
    shards = [embeddings] if isinstance(embeddings, np.ndarray) else embeddings
    remaining = iter(shards)
    first = next(remaining, None)
    if first is None:
        raise ValueError("No embeddings to index: give at least one shard.")
    dim = checked_vectors("embeddings", first).shape[1]
    try:
        index = faiss.index_factory(dim, factory, faiss.METRIC_INNER_PRODUCT)
    except RuntimeError as error:
        raise ValueError(f"FAISS knows no index {factory!r}; try 'Flat', 'IVF64,Flat' or 'HNSW32'.") from error
    if not index.is_trained:
        if (total := count(embeddings)) is None:
            raise ValueError(
                f"{factory!r} is trained on a sample of all vectors before they are added, so they are gone through "
                "twice, and a generator can be once. Give an array, list(shards) if all fit into memory, or what "
                "encode_shards(model, texts, folder=…) returns."
            )
        vectors = sample(shards, total, training_size(index))
        try:
            index.train(vectors)
        except RuntimeError as error:
            raise ValueError(
                f"{factory!r} cannot be trained on {len(vectors)} vectors; give more, or use 'Flat'."
            ) from error
    reserve(index, count(embeddings) or 0)
    for shard in itertools.chain([first], remaining):
        index.add(checked_vectors("embeddings", shard, index.d))
    for name, value in settings.items():
        try:
            _faiss.ParameterSpace().set_index_parameter(index, name, value)
        except RuntimeError as error:
            raise ValueError(f"{type(index).__name__} has no setting {name!r}; see FAISS's ParameterSpace.") from error
    return index


def count(embeddings: np.ndarray | Iterable[np.ndarray]) -> int | None:
    """Count the vectors of an array, of a list of arrays, or of shards whose length is that of all; else None."""
    if isinstance(embeddings, Sequence):
        return sum(len(shard) for shard in embeddings)
    return len(embeddings) if isinstance(embeddings, Sized) else None


def training_size(index: faiss.Index) -> int:
    """Return on how many vectors an index is trained at most.

    FAISS's clustering takes up to 256 a centroid, and warns below 39. There are as many centroids as an IVF index has
    lists, and 256 in a product quantizer of 8 bits. Above 262,144 vectors no more are taken than those 39.
    """
    lists = _faiss.try_extract_index_ivf(index)  # behind a transformation, below a refinement
    centroids = max(256, lists.nlist) if lists else 256
    return max(min(256 * centroids, MOST_TRAINED), 39 * centroids)


def sample(shards: Iterable[np.ndarray], total: int, size: int) -> np.ndarray:
    """Draw vectors, float32 (at most ``size``, dim), from shards with ``total``, each as likely as any other.

    They come in the order of the shards, and are the same each time, however the vectors are divided.
    """
    rows = np.sort(np.random.default_rng(0).choice(total, min(size, total), replace=False))
    drawn, first = list[np.ndarray](), 0
    for shard in shards:
        inside = rows[slice(*np.searchsorted(rows, [first, first + len(shard)]))]
        drawn.append(checked_vectors("embeddings", shard, drawn[0].shape[1] if drawn else None)[inside - first])
        first += len(shard)
    return np.concatenate(drawn)


def reserve(index: faiss.Index, count: int) -> None:
    """Reserve memory in an empty flat index, which otherwise copies itself whenever it is full; others stay as is."""
    if isinstance(index, faiss.IndexFlatCodes) and not index.ntotal:
        index.codes.resize(count * index.code_size)
        index.codes.resize(0)  # FAISS keeps the room


def search(
    index: Any, queries: np.ndarray, k: int, batch_size: int, progress: bool = False, corpus_size: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k best vectors of each query, batch by batch; ``index`` is all of a corpus or, of so many, a part."""
    if index.metric_type != faiss.METRIC_INNER_PRODUCT:  # not of ours
        raise ValueError(
            f"{type(index).__name__} ranks by another metric than the inner product. Build it anew with "
            "faiss.METRIC_INNER_PRODUCT; vectors of length one rank alike by Euclidean distance."
        )
    queries = checked_vectors("queries", queries, index.d)
    scores = np.empty((len(queries), k), np.float32)
    ids = np.empty((len(queries), k), np.int64)
    with progress_bar(len(queries), "Search", "query", show=progress) as bar:
        for start in range(0, len(queries), batch_size):
            rows = slice(start, start + batch_size)
            with by_blas(len(ids[rows]), corpus_size or index.ntotal):
                scores[rows], ids[rows] = search_batch(index, queries[rows], k)
            bar.update(len(ids[rows]))
    return scores, ids


def search_batch(index: Any, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Search, and look further for the queries whose last place is tied with the next one, to settle the tie."""
    best_scores, best_ids = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
    rows, depth = np.arange(len(queries)), min(k + 1, index.ntotal)
    while len(rows):
        scores, ids = ordered(*index.search(queries[rows], depth))
        best_scores[rows], best_ids[rows] = scores[:, :k], ids[:, :k]
        tied = scores[:, k - 1] == scores[:, -1]
        rows, depth = rows[tied & (depth < index.ntotal)], min(2 * depth, index.ntotal)
    if (best_ids < 0).any():
        short = int((best_ids < 0).any(axis=1).sum())
        raise ValueError(
            f"The index found fewer than k={k} passages for {short} of {len(queries)} queries; "
            "raise its nprobe or efSearch, or lower k."
        )
    return best_scores, best_ids


@contextlib.contextmanager
def by_blas(queries: int, vectors: int) -> Iterator[None]:
    """Make FAISS multiply matrices where it has many inner products to compute, several times faster.

    Since 1.15 it does so from 128,000 queries a call only. Small searches stay as they are: BLAS rounds otherwise.
    """
    settings = _faiss.cvar
    before = settings.distance_compute_blas_threshold
    if queries >= BLAS_QUERIES and queries * vectors >= BLAS_FROM:
        settings.distance_compute_blas_threshold = BLAS_QUERIES
    try:
        yield
    finally:
        settings.distance_compute_blas_threshold = before


def checked_vectors(side: str, array: np.ndarray, dim: int | None = None) -> np.ndarray:
    """Return a contiguous float32 (n, dim) array, or raise ValueError naming the array."""
    array = np.asarray(array)
    if array.ndim != 2 or not np.issubdtype(array.dtype, np.floating):
        raise ValueError(f"{side}: expected a float array (n, dim), got {array.dtype} of shape {array.shape}.")
    if not len(array):
        raise ValueError(f"{side}: no rows; give at least one vector.")
    if dim not in (None, array.shape[1]):
        raise ValueError(
            f"{side} have {array.shape[1]} dimensions, the index {dim}; embed both sides with the same model."
        )
    array = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise ValueError(f"{side}: row {bad} holds NaN or infinite values; look at the text it came from.")
    return array


class BlockIndex:
    """The vectors of a corpus, read anew for each search; the results are those of a flat index.

    Ids are equal to those of a flat index, and scores to the last bit, for the same ``batch_size``: FAISS computes
    the same products in the same order. (With another BLAS than the one FAISS's packages bring, the last bit of a
    score may depend on where in a block a vector lies.) Of a part of a corpus ``corpus_size`` is how many vectors the
    whole has; it decides by how FAISS multiplies, so that a part gives the very scores that the whole would.
    """

    def __init__(self, shards: Iterable[np.ndarray], corpus_size: int | None = None) -> None:
        """Keep the shards and count their vectors."""
        self.shards = [shards] if isinstance(shards, np.ndarray) else shards
        self.ntotal = count(shards) or 0
        if not self.ntotal:
            raise ValueError("No embeddings to search in blocks: give an array, a list of arrays, or Shards.")
        self.corpus_size = corpus_size or self.ntotal
        self._all_finite = False  # True after a search, which reads all blocks

    def search(
        self, queries: np.ndarray, k: int, batch_size: int = 256, progress: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best vectors of each query: the best of each block, merged; a bar counts vectors."""
        queries = checked_vectors("queries", queries)
        best, first = (np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)), 0
        with progress_bar(self.ntotal, "Search", "passage", show=progress) as bar:
            for vectors in self._blocks(queries.shape[1]):
                if not self._all_finite:
                    checked_vectors("embeddings", vectors)
                depth = min(k, len(vectors))
                scores, ids = search(_Block(vectors), queries, depth, batch_size, corpus_size=self.corpus_size)
                best = merge([best, (scores, ids + first)], k)
                first += len(vectors)
                bar.update(len(vectors))
        self._all_finite = True
        return best

    def _blocks(self, dim: int) -> Iterator[np.ndarray]:
        """Yield blocks: parts of a large shard, else a copy of several small ones, overwritten by the next."""
        block, filled = np.empty((min(BLOCK, self.ntotal), dim), np.float32), 0
        for shard in self.shards:
            if shard.shape[1] != dim:
                checked_vectors("embeddings", shard, dim)  # raises
            taken, readable = 0, shard.dtype == np.float32 and shard.flags.c_contiguous  # by FAISS, without a copy
            while taken < len(shard):
                if readable and not filled and len(shard) - taken >= len(block):
                    yield shard[taken : taken + len(block)]
                    taken += len(block)
                    continue
                count = min(len(block) - filled, len(shard) - taken)
                block[filled : filled + count] = shard[taken : taken + count]
                filled, taken = filled + count, taken + count
                if filled == len(block):
                    yield block
                    filled = 0
        if filled:
            yield block[:filled]


class _Block:
    """Vectors in memory, searched as a flat index searches its own."""

    metric_type = 0  # faiss.METRIC_INNER_PRODUCT

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors
        self.ntotal, self.d = vectors.shape

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        scores, ids = faiss.knn(queries, self.vectors, k, metric=self.metric_type)
        return scores, ids


class BinaryIndex:
    """The signs of a corpus's vectors (n, dim), dim a multiple of 8, in memory; the vectors stay where they are.

    A search takes the ``rescore × k`` passages whose signs differ least from the query's (Hamming distance), and puts
    them in order by the inner product of the vectors themselves, of which it reads no others. With ``rescore=0`` the
    distance decides alone, and the score is its negative.
    """

    def __init__(self, passages: np.ndarray, rescore: float = 10) -> None:
        """Pack the signs of the passages, block by block."""
        if not (rescore >= 0 and float(rescore).is_integer()):
            raise ValueError(f"rescore={rescore!r}: expected a whole number of at least 0.")
        if not count(passages):
            raise ValueError("No embeddings to index: give at least one vector.")
        passages = passages if hasattr(passages, "shape") else np.concatenate(list(passages))  # shards in memory
        self.ntotal: int = passages.shape[0]
        self.d: int = passages.shape[1]
        if self.d % 8:
            raise ValueError(f"The signs of {self.d} dimensions fill no whole bytes; give a multiple of 8.")
        self._passages, self._rescore = passages, int(rescore)
        self._codes = faiss.IndexBinaryFlat(self.d)
        for start in range(0, self.ntotal, BLOCK):
            block = checked_vectors("embeddings", passages[start : start + BLOCK])
            self._codes.add(np.packbits(block > 0, axis=1))  # a bit is 1 where the value is above 0

    def sa_code_size(self) -> int:
        """Bytes that a passage takes in memory."""
        return self.d // 8

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query among the candidates: scores and ids, both (q, k)."""
        queries = checked_vectors("queries", queries, self.d)
        size = min(self.ntotal, k * max(1, self._rescore))
        distances, ids = self._codes.search(np.packbits(queries > 0, axis=1), size)
        if not self._rescore:
            return ordered(-distances.astype(np.float32), ids)
        # A product by BLAS rounds by the place of a row, so that equal passages would get unequal scores.
        products = [np.einsum("ij,j->i", self._passages[rows], query) for rows, query in zip(ids, queries, strict=True)]
        scores, ids = ordered(np.array(products, np.float32), ids)
        return scores[:, :k], ids[:, :k]
