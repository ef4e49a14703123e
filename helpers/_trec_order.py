"""trec_eval's order of scored documents: score in single precision descending, then id as text descending."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

Doc = TypeVar("Doc")


def trec_order(docs: Sequence[Doc], scores: ArrayLike, text_of: Callable[[Doc], str]) -> list[Doc]:
    """Return documents in trec_eval's order; ids are compared as text only where scores are equal."""
    import numpy as np  # not needed to read files

    values = np.asarray(scores)
    best_first = np.argsort(-values, kind="stable")
    ordered, values = [docs[row] for row in best_first.tolist()], values[best_first]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
    ends = np.append(starts[1:], len(values))
    tied = ends - starts > 1
    for start, end in zip(starts[tied].tolist(), ends[tied].tolist(), strict=True):
        ordered[start:end] = sorted(ordered[start:end], key=text_of, reverse=True)
    return ordered


def single_precision(scores: ArrayLike) -> np.ndarray:
    """Return scores as float32, like trec_eval; values out of range become infinite."""
    import numpy as np

    with np.errstate(over="ignore"):
        return np.array(scores, dtype=np.float32)


def trec_rows(
    queries: np.ndarray, scores: np.ndarray, documents: np.ndarray, text_of: Callable[[int], str]
) -> np.ndarray:
    """Return the order of the rows of several queries, (n,) each: by query, within each as :func:`trec_order`.

    Scores are in single precision; the id of a document is asked for where scores are equal alone.
    """
    import numpy as np

    order: np.ndarray = np.lexsort((-scores, queries))
    equal = np.flatnonzero((queries[order][1:] == queries[order][:-1]) & (scores[order][1:] == scores[order][:-1]))
    tied = np.unique(documents[order[np.concatenate([equal, equal + 1])]])
    if len(tied):
        names = [text_of(document) for document in tied.tolist()]
        place = np.zeros(documents.max() + 1, np.int64)
        place[tied[sorted(range(len(tied)), key=names.__getitem__)]] = np.arange(len(tied))
        order = np.lexsort((-place[documents], -scores, queries))
    return order
