"""One bit a dimension: vectors compared by their signs, the best candidates then by inner product."""

from __future__ import annotations

import numpy as np

from helpers.index.dense import checked_vectors
from helpers.index.order import ordered

BLOCK = 1 << 16  # vectors whose signs are taken at once
RESCORE = 10


class BinaryIndex:
    """The signs of a corpus's vectors (n, dim), dim a multiple of 8, in memory; the vectors stay where they are.

    A search takes the ``rescore × k`` passages whose signs differ least from the query's (Hamming distance), and puts
    them in order by the inner product of the vectors themselves, of which it reads no others. With ``rescore=0`` the
    distance decides alone, and the score is its negative.
    """

    def __init__(self, passages: np.ndarray, rescore: float = RESCORE) -> None:
        """Pack the signs of the passages, block by block."""
        if not (rescore >= 0 and float(rescore).is_integer()):
            raise ValueError(f"rescore={rescore!r}: expected a whole number of at least 0.")
        import faiss

        passages = passages if hasattr(passages, "shape") else np.concatenate(list(passages))  # shards in memory
        self.ntotal: int = passages.shape[0]
        self.d: int = passages.shape[1]
        if self.d % 8:
            raise ValueError(f"The signs of {self.d} dimensions fill no whole bytes; give a multiple of 8.")
        self._passages, self._rescore = passages, int(rescore)
        self._codes = faiss.IndexBinaryFlat(self.d)
        for start in range(0, self.ntotal, BLOCK):
            self._codes.add(_signs(checked_vectors("embeddings", passages[start : start + BLOCK])))

    def sa_code_size(self) -> int:
        """Bytes that a passage takes in memory."""
        return self.d // 8

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k best passages of each query among the candidates: scores and ids, both (q, k)."""
        queries = checked_vectors("queries", queries, self.d)
        count = min(self.ntotal, k * max(1, self._rescore))
        distances, ids = self._codes.search(_signs(queries), count)
        if not self._rescore:
            return ordered(-distances.astype(np.float32), ids)
        # A product by BLAS rounds by the place of a row, so that equal passages would get unequal scores.
        products = [np.einsum("ij,j->i", self._passages[rows], query) for rows, query in zip(ids, queries, strict=True)]
        scores, ids = ordered(np.array(products, np.float32), ids)
        return scores[:, :k], ids[:, :k]


def _signs(vectors: np.ndarray) -> np.ndarray:
    """Pack the signs of vectors (n, dim) into bytes, (n, dim / 8): a bit is 1 where the value is above 0."""
    return np.packbits(np.asarray(vectors) > 0, axis=1)
