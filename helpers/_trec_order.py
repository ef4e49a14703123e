"""trec_eval's order of scored documents: score in single precision descending, then id as text descending."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

Doc = TypeVar("Doc")


def trec_order(docs: Sequence[Doc], scores: Sequence[float], text_of: Callable[[Doc], str]) -> list[Doc]:
    """Return documents in trec_eval's order: score descending, then id as text descending."""
    by_id = sorted(range(len(docs)), key=lambda row: text_of(docs[row]), reverse=True)
    return [docs[row] for row in sorted(by_id, key=scores.__getitem__, reverse=True)]


def single_precision(scores: ArrayLike) -> np.ndarray:
    """Return scores as float32, like trec_eval; values out of range become infinite."""
    import numpy as np  # not needed to read files

    with np.errstate(over="ignore"):
        return np.array(scores, dtype=np.float32)
