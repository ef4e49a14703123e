"""Exact search over vectors that stay where they are, block by block: memory for one block, whatever the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Protocol

import faiss
import numpy as np

from helpers._progress import progress_bar
from helpers.index import dense
from helpers.index.order import merge

# Vectors a block. From 4,096 on the product of matrices takes nearly all of the time; with a multiple of the 1,024 that
# FAISS multiplies at a time, the same numbers are multiplied together as in a flat index, and round alike.
BLOCK = 1 << 14


class Shards(Sized, Iterable[np.ndarray], Protocol):
    """Arrays (·, dim) that can be gone through more than once; the length is that of all of them together."""


class BlockIndex:
    """The vectors of a corpus, read anew for each search; the results are those of a flat index.

    Ids are equal to those of a flat index, and scores to the last bit, for the same ``batch_size``: FAISS computes
    the same products in the same order. (With another BLAS than the one FAISS's packages bring, the last bit of a
    score may depend on where in a block a vector lies.)

    Args:
        shards: vectors as :class:`helpers.embeddings.Shards` gives them, an array (n, dim), or a list of arrays.
        corpus_size: of a part of a corpus, how many vectors the whole has; it decides by how FAISS multiplies, so
            that a part gives the very scores that the whole would.

    Raises:
        ValueError: no vectors; when searching, vectors of another dimension or that are not finite.
    """

    def __init__(self, shards: Shards | np.ndarray | Sequence[np.ndarray], corpus_size: int | None = None) -> None:
        """Keep where the vectors come from."""
        self.shards: Iterable[np.ndarray] = [shards] if isinstance(shards, np.ndarray) else shards
        self.ntotal = dense.count(shards) or 0
        if not self.ntotal:
            raise ValueError("No embeddings to search in blocks: give an array, a list of arrays, or Shards.")
        self.corpus_size = corpus_size or self.ntotal

    def search(
        self, queries: np.ndarray, k: int, batch_size: int = 256, progress: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best vectors of each query: the best of each block, merged; a bar counts vectors."""
        queries = dense.checked_vectors("queries", queries)
        batches = [queries[start : start + batch_size] for start in range(0, len(queries), batch_size)]
        best = [(np.empty((len(batch), 0), np.float32), np.empty((len(batch), 0), np.int64)) for batch in batches]
        first = 0
        with progress_bar(self.ntotal, "Search", "passage", show=progress) as bar:
            for vectors in self._blocks(queries.shape[1]):
                block = _Block(dense.checked_vectors("embeddings", vectors))
                for number, batch in enumerate(batches):
                    with dense.by_blas(len(batch) * self.corpus_size):
                        scores, ids = dense.search_batch(block, batch, min(k, block.ntotal))
                    best[number] = merge([best[number], (scores, ids + first)], k)
                first += block.ntotal
                bar.update(block.ntotal)
        return np.concatenate([scores for scores, _ in best]), np.concatenate([ids for _, ids in best])

    def _blocks(self, dim: int) -> Iterator[np.ndarray]:
        """Fill blocks with shards; each is overwritten by the next."""
        block, filled = np.empty((min(BLOCK, self.ntotal), dim), np.float32), 0
        for shard in self.shards:
            dense.require_dim("embeddings", shard, dim)
            taken = 0
            while taken < len(shard):
                count = min(len(block) - filled, len(shard) - taken)
                block[filled : filled + count] = shard[taken : taken + count]
                filled, taken = filled + count, taken + count
                if filled == len(block):
                    yield block
                    filled = 0
        if filled:
            yield block[:filled]


class _Block:
    """Vectors in memory, searched where they lie as a flat index searches its own."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors
        self.ntotal, self.d = vectors.shape

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Search as a FAISS index does."""
        found: Any = faiss.knn(queries, self.vectors, k, metric=faiss.METRIC_INNER_PRODUCT)
        return found[0], found[1]
