"""Late interaction: an index of token vectors, searched by MaxSim."""

from typing import Protocol

import numpy as np

from helpers.index.order import top_k

_COSINES_AT_ONCE = 1 << 23  # 32 MiB of them


class TokenVectors(Protocol):
    """Token vectors of n texts, stacked; :class:`helpers.embeddings.job.TokenVectors` is one."""

    @property
    def vectors(self) -> np.ndarray:
        """Vectors of length one, (t, dim)."""

    @property
    def lengths(self) -> np.ndarray:
        """How many of them belong to each text, (n,)."""

    @property
    def starts(self) -> np.ndarray:
        """The row at which each text begins, (n,)."""


class MaxSimIndex:
    """The token vectors of a corpus."""

    def __init__(self, passages: TokenVectors) -> None:
        """Keep the vectors."""
        self.passages = passages
        self.ntotal = len(passages.lengths)

    def search(self, queries: TokenVectors, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query."""
        return top_k(maxsim(queries, self.passages), k)


def maxsim(queries: TokenVectors, passages: TokenVectors) -> np.ndarray:
    """Score by late interaction: for each query token its best cosine with any passage token, summed.

    Khattab and Zaharia, ColBERT (2020), equation 3. A score grows with the number of query tokens, so scores of
    different queries cannot be compared; rankings can.

    Returns:
        float32 (q, n).
    """
    scores = np.empty((len(queries.lengths), len(passages.lengths)), np.float32)
    step = max(1, _COSINES_AT_ONCE // (len(queries.vectors) * int(passages.lengths.max())))
    for first in range(0, scores.shape[1], step):  # several passages for all queries: one large product of matrices
        block = slice(first, first + step)
        starts = passages.starts[block]
        end = starts[-1] + passages.lengths[block][-1]
        cosines = queries.vectors @ passages.vectors[starts[0] : end].T
        best = np.maximum.reduceat(cosines, starts - starts[0], axis=1)
        scores[:, block] = np.add.reduceat(best, queries.starts, axis=0)
    return scores
