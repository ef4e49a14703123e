"""Late interaction: an index of token vectors, searched by MaxSim."""

import numpy as np

from helpers.index.order import best_first

_COSINES_AT_ONCE = 1 << 23  # 32 MiB of them

#: Token vectors of n texts: vectors of length one (t, dim), stacked, and how many of them belong to each text (n,).
#: :class:`helpers.embeddings.TokenVectors` is such a pair.
TokenVectors = tuple[np.ndarray, np.ndarray]


class MaxSimIndex:
    """The token vectors of a corpus."""

    def __init__(self, passages: TokenVectors) -> None:
        """Keep the vectors."""
        self.passages = passages
        self.ntotal = len(passages[1])

    def search(self, queries: TokenVectors, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query."""
        scores = maxsim(queries, self.passages)
        ids = np.array([best_first(row, k) for row in scores]).reshape(len(scores), -1)
        return np.take_along_axis(scores, ids, axis=1), ids


def maxsim(queries: TokenVectors, passages: TokenVectors) -> np.ndarray:
    """Score by late interaction, float32 (q, n): for each query token its best cosine with a passage token, summed.

    Khattab and Zaharia, ColBERT (2020), equation 3. A score grows with the number of query tokens, so scores of
    different queries cannot be compared; rankings can. Both sides are :class:`helpers.embeddings.TokenVectors`, or any
    pair of all token vectors, (t, dim) and of length one, and the number of tokens of each text.
    """
    (vectors, lengths), (passage_vectors, counts) = queries, passages
    query_starts, starts = np.cumsum(lengths) - lengths, np.cumsum(counts) - counts
    scores = np.empty((len(lengths), len(counts)), np.float32)
    step = max(1, _COSINES_AT_ONCE // (len(vectors) * int(counts.max())))
    for first in range(0, len(counts), step):  # several passages for all queries: one large product of matrices
        block = slice(first, first + step)
        begin, end = starts[block][0], starts[block][-1] + counts[block][-1]
        cosines = vectors @ passage_vectors[begin:end].T
        best = np.maximum.reduceat(cosines, starts[block] - begin, axis=1)
        scores[:, block] = np.add.reduceat(best, query_starts, axis=0)
    return scores
