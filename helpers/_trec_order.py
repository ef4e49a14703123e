"""The one order of rankings that have scores, trec_eval's: score in single precision descending, then id descending."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

Doc = TypeVar("Doc")


def trec_order(docs: Sequence[Doc], scores: Sequence[float], text_of: Callable[[Doc], str]) -> list[Doc]:
    """Put documents in trec_eval's order: score descending, among equal scores the id as text descending."""
    by_id = sorted(range(len(docs)), key=lambda row: text_of(docs[row]), reverse=True)
    return [docs[row] for row in sorted(by_id, key=scores.__getitem__, reverse=True)]


def single_precision(scores: ArrayLike) -> np.ndarray:
    """Return a copy of scores as trec_eval keeps them, float32; what is too large for that becomes infinite."""
    import numpy as np  # files are read without it

    with np.errstate(over="ignore"):
        return np.array(scores, dtype=np.float32)
