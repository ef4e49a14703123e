"""trec_eval's order of scored documents: score in single precision descending, then id as text descending."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike


def single_precision(scores: ArrayLike) -> np.ndarray:
    """Return scores as float32, like trec_eval; values out of range become infinite."""
    with np.errstate(over="ignore"):
        return np.array(scores, dtype=np.float32)


def trec_rows(
    queries: np.ndarray, scores: np.ndarray, documents: np.ndarray, text_of: Callable[[int], str]
) -> np.ndarray:
    """Return the order of the rows of several queries, (n,) each: by query, within each best first.

    Scores are in single precision; the id of a document is asked for where scores are equal alone.
    """
    order: np.ndarray = np.lexsort((-scores, queries))
    equal = np.flatnonzero((queries[order][1:] == queries[order][:-1]) & (scores[order][1:] == scores[order][:-1]))
    tied = np.unique(documents[order[np.concatenate([equal, equal + 1])]])
    if len(tied):
        names = [text_of(document) for document in tied.tolist()]
        place = np.zeros(documents.max() + 1, np.int64)
        place[tied[sorted(range(len(tied)), key=names.__getitem__)]] = np.arange(len(tied))
        order = np.lexsort((-place[documents], -scores, queries))
    return order
