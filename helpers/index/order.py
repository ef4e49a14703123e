"""The one order of results: score descending, then row number ascending; also across the end of a list."""

import numpy as np


def ordered(scores: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order each row of retrieved scores and ids, both (q, k); padding (-1) comes last."""
    order = np.lexsort((ids, -scores, ids < 0), axis=-1)
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1)


def top_k(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Take the k best of each row of a whole score matrix (q, n): scores and ids, both (q, k)."""
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, ids, axis=1), ids


def check_k(k: int, size: int) -> None:
    """Raise unless k is a whole number of passages that an index of ``size`` passages can give."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= size:
        raise ValueError(f"k={k!r}: expected a whole number from 1 to {size}, the passages in the index.")
