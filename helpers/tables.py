"""Tables for the lessons: plain pandas frames, so that what is shown can also be computed with."""

import textwrap
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from helpers.data import RetrievalDataset
from helpers.metrics import Evaluation
from helpers.significance import bootstrap_interval, paired_test, proportion_interval

WIDTH = 60  # characters of a text that a cell shows


def collection_table(collections: Mapping[str, RetrievalDataset]) -> pd.DataFrame:
    """Compare collections by size: a row each; judgements and relevant passages are means over the queries."""
    return pd.DataFrame(
        {
            name: {
                "queries": len(data.queries),
                "passages": len(data.corpus),
                "judged per query": sum(map(len, data.qrels)) / len(data.queries),
                "relevant per query": sum(len(data.relevant(row)) for row in range(len(data.queries)))
                / len(data.queries),
            }
            for name, data in collections.items()
        }
    ).T.astype({"queries": int, "passages": int})


def score_table(results: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Put the means of several evaluations under one another: a row each, a column a metric."""
    return pd.DataFrame({name: result.mean for name, result in results.items()}).T


def interval_table(evaluation: Evaluation, metrics: Iterable[str], *, seed: int = 0) -> pd.DataFrame:
    """Give each metric's mean and 95 % interval: Wilson's where all values are 0 or 1, else the bootstrap's."""
    return pd.DataFrame({metric: _interval(evaluation.per_query[metric], seed) for metric in metrics}).T


def system_table(results: Mapping[str, Evaluation], metric: str, *, seed: int = 0) -> pd.DataFrame:
    """Give each system's mean of one metric and its 95 % interval, as :func:`interval_table` does, the best first."""
    rows = {name: _interval(result.per_query[metric], seed) for name, result in results.items()}
    return pd.DataFrame(rows).T.sort_values("mean", ascending=False, kind="stable")


def paired_table(results: Mapping[str, Evaluation], reference: str, metric: str, *, seed: int = 0) -> pd.DataFrame:
    """Compare every other system with ``reference`` on the same queries.

    ``difference`` is the mean of reference minus system, with its 95 % interval (bootstrap over the queries);
    ``p`` comes from the paired randomisation test, ``adjusted p`` is Holm's (1979) for that many tests. Columns
    ``better`` and ``worse`` count the queries on which the reference scored above and below the system.
    """
    own = results[reference].per_query[metric]
    rows = {}
    for name, result in results.items():
        if name != reference:
            other = result.per_query[metric]
            interval = bootstrap_interval(own - other, seed=seed)
            rows[name] = {
                "difference": interval.mean, "low": interval.low, "high": interval.high,
                "better": int((own > other).sum()), "worse": int((own < other).sum()),
                "p": paired_test(own, other, seed=seed).p_value,
            }  # fmt: skip
    frame = pd.DataFrame(rows).T.astype({"better": int, "worse": int})
    return frame.assign(**{"adjusted p": _holm(frame["p"].to_numpy())})


def cited_table(
    measured: Mapping[str, Evaluation], cited: Mapping[str, Evaluation], metrics: Iterable[str]
) -> pd.DataFrame:
    """Set what was measured here beside what others published, in columns of their own; "–" where there is none."""
    columns = {}
    for metric in metrics:
        for kind, results in (("measured", measured), ("published", cited)):
            values = {name: f"{result.mean[metric]:.3f}" for name, result in results.items()}
            columns[f"{metric} {kind}"] = pd.Series(values, dtype=str)
    return pd.DataFrame(columns, index=list(dict.fromkeys([*measured, *cited]))).fillna("–")


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


def reciprocal_rank_table(data: RetrievalDataset, ids: np.ndarray) -> pd.DataFrame:
    """Show for each query what is relevant and what was retrieved (rows), the rank of the first hit, and 1 / rank."""
    ranks = first_relevant_ranks(data, ids)
    return pd.DataFrame(
        {
            "query": data.queries,
            "relevant": [", ".join(map(str, data.relevant(row))) for row in range(len(ids))],
            "retrieved": [", ".join(map(str, retrieved)) for retrieved in ids],
            "rank": [str(rank or "none") for rank in ranks],
            "1/rank": [1 / rank if rank else 0.0 for rank in ranks],
        }
    )


def first_relevant_ranks(data: RetrievalDataset, ids: np.ndarray) -> list[int | None]:
    """Return for each query the rank of its first relevant passage, None where none was retrieved; ids is (q, k)."""
    found = []
    for row, retrieved in enumerate(ids):
        relevant = set(data.relevant(row))
        found.append(next((rank for rank, passage in enumerate(retrieved, 1) if int(passage) in relevant), None))
    return found


def _interval(values: np.ndarray, seed: int) -> dict[str, float]:
    """Mean and 95 % interval of per-query values: Wilson's where all are 0 or 1, else the bootstrap's."""
    binary = np.isin(values, (0, 1)).all()
    found = proportion_interval(values) if binary else bootstrap_interval(values, seed=seed)
    return {"mean": found.mean, "low": found.low, "high": found.high}


def _holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values for their number: the smallest times n, the next times n - 1 …, never falling, at most 1."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(np.minimum(1, p_values[order] * np.arange(len(p_values), 0, -1)))
    return adjusted


def _short(text: str) -> str:
    """Return the first line of a text, which in the bundled collection is its title, cut to the width of a cell."""
    line = text.strip().splitlines()[0]
    if len(line) <= WIDTH:
        return line
    return textwrap.shorten(line, WIDTH, placeholder=" …") if " " in line[:WIDTH] else line[:WIDTH] + " …"
