"""Where a ranking has its first relevant passage; needs no pandas, so that a report can do without."""

import numpy as np

from helpers.data import RetrievalDataset


def first_relevant_ranks(data: RetrievalDataset, ids: np.ndarray) -> list[int | None]:
    """Return for each query the rank of its first relevant passage, None where none was retrieved; ids is (q, k)."""
    hits = (np.flatnonzero(np.isin(retrieved, data.relevant(row))) for row, retrieved in enumerate(ids))
    return [int(places[0]) + 1 if len(places) else None for places in hits]


def failures(data: RetrievalDataset, ids: np.ndarray) -> dict[int, int | None]:
    """Return the rows of the queries whose first passage is not relevant, those answered last first.

    The value is the rank of the first relevant passage, None where none was retrieved; ids is (q, k).
    """
    failed = [(row, rank) for row, rank in enumerate(first_relevant_ranks(data, ids)) if rank != 1]
    return dict(sorted(failed, key=lambda item: -(item[1] or np.inf)))
