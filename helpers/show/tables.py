"""Tables for the lessons: plain pandas frames, so that the numbers shown can also be computed with.

A ranking, ``ids``, holds rows of the corpus, (q, k), best first and padded with -1. A metric is named with its cutoff,
such as ``"ndcg@10"``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from helpers._optional import Later
from helpers.data import RetrievalDataset
from helpers.metrics import Evaluation
from helpers.show.ranks import failures

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Later("pandas", "report")

WIDTH = 60  # characters of a text that a cell shows


def score_table(results: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Put the means of several evaluations under one another: a row each, a column a metric."""
    return pd.DataFrame({name: result.mean for name, result in results.items()}).T


def interval_table(evaluation: Evaluation, metrics: Iterable[str]) -> pd.DataFrame:
    """Give each metric's mean and 95 % interval: Wilson's where all values are 0 or 1, else the bootstrap's."""
    return _intervals({metric: evaluation.per_query[metric] for metric in metrics})


def system_table(results: Mapping[str, Evaluation], metric: str) -> pd.DataFrame:
    """Give each system's mean of one metric and its 95 % interval, as :func:`interval_table` does, the best first."""
    table = _intervals({name: result.per_query[metric] for name, result in results.items()})
    return table.sort_values("mean", ascending=False, kind="stable")


def paired_table(results: Mapping[str, Evaluation], reference: str, metric: str) -> pd.DataFrame:
    """Compare every other system with ``reference`` on the same queries: ``pairs_table`` of reference and system."""
    values = {name: result.per_query[metric] for name, result in results.items()}
    return pairs_table({name: (values[reference], other) for name, other in values.items() if name != reference})


def pairs_table(pairs: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """Test pairs of systems, a family of tests that was named in advance, on the queries of each, (n,) each.

    ``difference`` is the mean of first minus second, with its 95 % interval (bootstrap over the queries); ``better``
    and ``worse`` count the queries on which the first scored above and below the second; ``p`` comes from the paired
    randomisation test, ``adjusted p`` is Holm's (1979) for that many tests.
    """
    from helpers.significance import PValue, holm, paired_rows

    rows = {name: paired_rows(first, {name: second})[name] for name, (first, second) in pairs.items()}
    columns = ["difference", "low", "high", "better", "worse", "p"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns).astype({"better": int, "worse": int})
    tested = {"p": frame["p"], "adjusted p": holm(frame["p"]) if rows else []}
    return frame.assign(**{k: pd.Series([*map(PValue, v)], frame.index, dtype=object) for k, v in tested.items()})


def cited_table(
    measured: Mapping[str, Evaluation], cited: Mapping[str, Evaluation], metrics: Iterable[str]
) -> pd.DataFrame:
    """Show measured beside published means, in columns of their own; "–" where there is none."""
    columns = {}
    for metric in metrics:
        for kind, results in (("measured", measured), ("published", cited)):
            values = {name: f"{result.mean[metric]:.3f}" for name, result in results.items()}
            columns[f"{metric} {kind}"] = pd.Series(values, dtype=str)
    return pd.DataFrame(columns, index=list(dict.fromkeys([*measured, *cited]))).fillna("–")


def answer_table(data: RetrievalDataset, row: int, scores: np.ndarray, ids: np.ndarray) -> pd.DataFrame:
    """Show the passages retrieved for the query at ``row``: rank, score, grade, the start of the passage."""
    judged, retrieved = data.qrels[row], ids[row][ids[row] >= 0]  # -1 is padding
    return pd.DataFrame(
        {
            "score": scores[row][: len(retrieved)],
            "grade": [str(judged.get(int(passage), "not judged")) for passage in retrieved],
            "passage": [_short(data.corpus[passage]) for passage in retrieved],
        },
        index=pd.RangeIndex(1, len(retrieved) + 1, name="rank"),
    )


def failure_table(data: RetrievalDataset, ids: np.ndarray) -> pd.DataFrame:
    """List the queries whose first passage is not relevant, those answered last at the top.

    ``first relevant at`` is a rank, or "beyond k" where the k retrieved hold no relevant passage.
    """
    failed = failures(data, ids)
    return pd.DataFrame(
        {
            "query": [data.queries[row] for row in failed],
            "first relevant at": [str(rank or f"beyond {ids.shape[1]}") for rank in failed.values()],
            "ranked first instead": [
                _short(data.corpus[p]) if (p := ids[row, 0]) >= 0 else "nothing" for row in failed
            ],
        },
        index=pd.Index(failed, name="row"),
    )


def _intervals(values: Mapping[str, np.ndarray]) -> pd.DataFrame:
    from helpers.significance import interval  # SciPy takes seconds to import

    return pd.DataFrame({name: interval(each)[:3] for name, each in values.items()}, ["mean", "low", "high"]).T


def _short(text: str) -> str:
    line = text.strip().splitlines()[0]
    if len(line) <= WIDTH:
        return line
    return textwrap.shorten(line, WIDTH, placeholder=" …") if " " in line[:WIDTH] else line[:WIDTH] + " …"
