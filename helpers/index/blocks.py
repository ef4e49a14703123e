"""Exact search over vectors on disk, block by block: the memory of one block, whatever the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from helpers._optional import progress_bar
from helpers.index import dense
from helpers.index.order import merge

# Vectors a block. From 4,096 on the product of matrices takes nearly all of the time; with a multiple of the 1,024 that
# FAISS multiplies at a time, the same numbers are multiplied together as in a flat index, and round alike.
BLOCK = 1 << 15


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
        self.ntotal = dense.count(shards) or 0
        if not self.ntotal:
            raise ValueError("No embeddings to search in blocks: give an array, a list of arrays, or Shards.")
        self.corpus_size = corpus_size or self.ntotal
        self._all_finite = False  # True after a search, which reads all blocks

    def search(
        self, queries: np.ndarray, k: int, batch_size: int = 256, progress: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best vectors of each query: the best of each block, merged; a bar counts vectors."""
        queries = dense.checked_vectors("queries", queries)
        best, first = (np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)), 0
        with progress_bar(self.ntotal, "Search", "passage", show=progress) as bar:
            for vectors in self._blocks(queries.shape[1]):
                flat = vectors.reshape(-1)
                if not self._all_finite and not np.isfinite(np.dot(flat, flat)):  # one product shows that quickly
                    dense.checked_vectors("embeddings", vectors)
                depth = min(k, len(vectors))
                scores, ids = dense.search(_Block(vectors), queries, depth, batch_size, corpus_size=self.corpus_size)
                best = _merged(best, (scores, ids + first), k)
                first += len(vectors)
                bar.update(len(vectors))
        self._all_finite = True
        return best

    def _blocks(self, dim: int) -> Iterator[np.ndarray]:
        """Yield blocks: parts of a large shard, else a copy of several small ones, overwritten by the next."""
        block, filled = np.empty((min(BLOCK, self.ntotal), dim), np.float32), 0
        for shard in self.shards:
            if shard.shape[1] != dim:
                dense.checked_vectors("embeddings", shard, dim)  # raises
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


def _merged(
    best: tuple[np.ndarray, np.ndarray], new: tuple[np.ndarray, np.ndarray], k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the results of the next block, whose ids are higher than all before, into the rows that it improves."""
    if best[0].shape[1] < k:
        return merge([best, new], k)
    rows = np.flatnonzero(new[0][:, 0] > best[0][:, -1])
    if len(rows):
        best[0][rows], best[1][rows] = merge([(best[0][rows], best[1][rows]), (new[0][rows], new[1][rows])], k)
    return best


class _Block:
    """Vectors in memory, searched as a flat index searches its own."""

    metric_type = 0  # faiss.METRIC_INNER_PRODUCT

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors
        self.ntotal, self.d = vectors.shape

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        import faiss

        scores, ids = faiss.knn(queries, self.vectors, k, metric=self.metric_type)
        return scores, ids
