"""Exact search over vectors that stay where they are, block by block: memory for one block, whatever the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Protocol

import numpy as np

from helpers.index import dense
from helpers.index.order import ordered

BLOCK = 1 << 16  # vectors


class Shards(Sized, Iterable[np.ndarray], Protocol):
    """Arrays (·, dim) that can be gone through more than once; the length is that of all of them together."""


class BlockIndex:
    """The vectors of a corpus, read anew for each search; the order of results is that of a flat index."""

    def __init__(self, shards: Shards) -> None:
        """Keep where the vectors come from."""
        self.shards = shards
        self.ntotal = len(shards)

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best vectors of each query: the best of each block, merged."""
        scores, ids = np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)
        start = 0
        for block in self._blocks():
            index = dense.build(block, "Flat")
            found, rows = dense.search(index, queries, min(k, len(block)), len(queries), False)
            scores, ids = ordered(np.hstack([scores, found]), np.hstack([ids, rows + start]))
            scores, ids = scores[:, :k], ids[:, :k]
            start += len(block)
        return scores, ids

    def _blocks(self) -> Iterator[np.ndarray]:
        """Join shards to blocks."""
        waiting: list[np.ndarray] = []
        count = 0
        for shard in self.shards:
            waiting.append(shard)
            count += len(shard)
            if count >= BLOCK:
                yield np.concatenate(waiting)
                waiting, count = [], 0
        if waiting:
            yield np.concatenate(waiting)
