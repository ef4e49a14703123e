"""Tables for the lessons: plain pandas frames, so that what is shown can also be computed with."""

import textwrap
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from helpers.data import RetrievalDataset
from helpers.metrics import Evaluation
from helpers.significance import bootstrap_interval, proportion_interval

WIDTH = 60  # characters of a text that a cell shows


def score_table(results: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Put the means of several evaluations under one another: a row each, a column a metric."""
    return pd.DataFrame({name: result.mean for name, result in results.items()}).T


def interval_table(evaluation: Evaluation, metrics: Iterable[str], *, seed: int = 0) -> pd.DataFrame:
    """Give each metric's mean and 95 % interval: Wilson's where all values are 0 or 1, else the bootstrap's."""
    rows = {}
    for metric in metrics:
        values = evaluation.per_query[metric]
        binary = np.isin(values, (0, 1)).all()
        found = proportion_interval(values) if binary else bootstrap_interval(values, seed=seed)
        rows[metric] = {"mean": found.mean, "low": found.low, "high": found.high}
    return pd.DataFrame(rows).T


def answer_table(data: RetrievalDataset, row: int, scores: np.ndarray, ids: np.ndarray) -> pd.DataFrame:
    """Show what was retrieved for one query: rank, score, grade ("not judged" where nobody looked), passage."""
    judged = data.qrels[row]
    return pd.DataFrame(
        {
            "score": scores[row],
            "grade": [str(judged.get(int(passage), "not judged")) for passage in ids[row]],
            "passage": [_short(data.corpus[passage]) for passage in ids[row]],
        },
        index=pd.RangeIndex(1, len(ids[row]) + 1, name="rank"),
    )


def failure_table(data: RetrievalDataset, ids: np.ndarray) -> pd.DataFrame:
    """List the queries whose first passage is not relevant, those answered last at the top.

    ``first relevant at`` is a rank, or "beyond k" where the k retrieved hold no relevant passage.
    """
    ranks = first_relevant_ranks(data, ids)
    failed = sorted(
        (row for row, rank in enumerate(ranks) if rank != 1), key=lambda row: (-(ranks[row] or np.inf), row)
    )
    frame = pd.DataFrame(
        {
            "query": [data.queries[row] for row in failed],
            "first relevant at": [str(ranks[row] or f"beyond {ids.shape[1]}") for row in failed],
            "ranked first instead": [_short(data.corpus[ids[row, 0]]) for row in failed],
        },
        index=pd.Index(failed, name="row"),
    )
    return frame


def first_relevant_ranks(data: RetrievalDataset, ids: np.ndarray) -> list[int | None]:
    """Return for each query the rank of its first relevant passage, None where none was retrieved; ids is (q, k)."""
    found = []
    for row, retrieved in enumerate(ids):
        relevant = set(data.relevant(row))
        found.append(next((rank for rank, passage in enumerate(retrieved, 1) if int(passage) in relevant), None))
    return found


def _short(text: str) -> str:
    """Cut a text to the width of a cell."""
    return textwrap.shorten(text, WIDTH, placeholder=" …") if " " in text[:WIDTH] else text[:WIDTH] + " …"
