"""Settings behind a colon, and the order of results, for all kinds of index.

The order is score descending, then row number ascending; also across the end of a list.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np


def ordered(scores: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order each row of retrieved scores and ids, both (q, k); padding (-1) comes last."""
    order = np.lexsort((ids, -scores, ids < 0), axis=-1)
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1)


def best_first(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the rows of the k best of n scores, (k,) int64, the best first and equal ones by row."""
    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    rows = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
    best: np.ndarray = rows[np.argsort(-scores[rows], kind="stable")[:k]]
    return best


def top_k(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Take the k best of each row of a whole score matrix (q, n): scores and ids, both (q, k)."""
    ids = np.array([best_first(row, k) for row in scores]).reshape(len(scores), -1)
    return np.take_along_axis(scores, ids, axis=1), ids


def merge(results: Sequence[tuple[np.ndarray, np.ndarray]], k: int) -> tuple[np.ndarray, np.ndarray]:
    """Merge rankings of the same queries over different passages into one: scores and ids of the k best, (q, k) each.

    Each part has scores and ids (q, ·), the ids those of the whole corpus; -1 is padding.
    """
    scores, ids = ordered(*(np.hstack(column) for column in zip(*results, strict=True)))
    return scores[:, :k], ids[:, :k]


def check_k(k: int, size: int) -> None:
    """Raise unless k is a whole number of passages that an index of ``size`` passages can give."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= size:
        raise ValueError(f"k={k!r}: expected a whole number from 1 to {size}, the passages in the index.")


def parse_settings(text: str) -> tuple[list[str], dict[str, Any]]:
    """Read ``"characters,k1=0.9,stem=english"`` as the names ``["characters"]`` and the values behind the others."""
    names: list[str] = []
    values: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            names.append(name)
            continue
        try:
            values[name] = value if name == "stem" else float(value)
        except ValueError:
            raise ValueError(f"Setting {part!r}: expected name=number, such as nprobe=8.") from None
    return names, values
