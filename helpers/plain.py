"""The evaluation of retrieval in one file: copy it into any project. It needs NumPy, and nothing else of this package.

    values = per_query(run, qrels, "ndcg@10")  # a value for each judged query
    interval(values)                           # the mean, and how far other queries may move it
    paired_test(values, others)                # do two systems differ?

`run` is `{query: {doc: score}}` or `{query: [doc, …]}`, best first; `qrels` is `{query: {doc: grade}}`. The conventions
are trec_eval's: a mean over all judged queries, 0 for one that the run lacks or that has nothing relevant; R is the
number of relevant documents, judged and retrieved or not. Every number here equals that of `helpers.metrics` and
`helpers.significance` to the last bit; those also read arrays and files, know more metrics, and are faster.
MIT licence, from https://github.com/retrieval-evaluation-tutorial/retrieval-evaluation-tutorial.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["METRICS", "Interval", "PairedTest", "evaluate", "interval", "paired_test", "per_query", "ranked"]

Grades = Mapping[Any, int]  # of the judged documents of one query
Ranking = Mapping[Any, float] | Iterable[Any]  # of one query: {doc: score}, or documents, best first


# --- a ranking -----------------------------------------------------------------------------------------------------


def ranked(ranking: Ranking) -> list[Any]:
    """Documents, best first, in trec_eval's order: score in single precision descending, then id as text descending.

    A list stays as it is. Raises ValueError for a document that stands in it twice, and for a score that is NaN.
    """
    if not isinstance(ranking, Mapping):
        docs = list(ranking)
        if len(set(docs)) < len(docs):
            raise ValueError(f"a document stands twice in {docs}: list each once.")
        return docs
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        scores = np.array(list(ranking.values()), dtype=np.float32)
    if np.isnan(scores).any():
        raise ValueError("a score is not a number (NaN): remove the document or give it a score.")
    last_first = sorted(zip(ranking, scores.tolist(), strict=True), key=lambda pair: str(pair[0]), reverse=True)
    return [doc for doc, _ in sorted(last_first, key=lambda pair: -pair[1])]


# --- metrics: of the documents of one query, best first, its grades, and a cutoff -----------------------------------


def hits(docs: list[Any], grades: Grades, k: int) -> list[int]:
    """The ranks, from 1, at which relevant documents (grade 1 and above) stand in the top k."""
    return [rank for rank, doc in enumerate(docs[:k], 1) if grades.get(doc, 0) > 0]


def relevant(grades: Grades) -> int:
    """R, the number of relevant documents."""
    return sum(grade > 0 for grade in grades.values())


def divide(part: float, whole: float) -> float:
    """part / whole, and 0 where whole is 0."""
    return part / whole if whole else 0.0


def recall(docs: list[Any], grades: Grades, k: int) -> float:
    """Relevant documents in the top k / R: at k below R it stays under 1 however good the ranking is."""
    return divide(len(hits(docs, grades, k)), relevant(grades))


def capped_recall(docs: list[Any], grades: Grades, k: int) -> float:
    """Relevant documents in the top k / min(k, R): a perfect top k scores 1. Elsewhere often called recall."""
    return divide(len(hits(docs, grades, k)), min(k, relevant(grades)))


def precision(docs: list[Any], grades: Grades, k: int) -> float:
    """Relevant documents in the top k / k, even where fewer were retrieved."""
    return len(hits(docs, grades, k)) / k


def success(docs: list[Any], grades: Grades, k: int) -> float:
    """1 if the top k holds a relevant document, else 0. Elsewhere called hit rate, top-k accuracy, or recall."""
    return float(bool(hits(docs, grades, k)))


def reciprocal_rank(docs: list[Any], grades: Grades, k: int) -> float:
    """1 / rank of the first relevant document, 0 if it stands below k."""
    return divide(1, next(iter(hits(docs, grades, k)), 0))


def average_precision(docs: list[Any], grades: Grades, k: int) -> float:
    """The precision at each relevant rank of the top k, summed, / R: never / the hits found."""
    total = sum(found / rank for found, rank in enumerate(hits(docs, grades, k), 1))
    return divide(total, relevant(grades))


def dcg(gains: Iterable[float]) -> float:
    """The gains, each / log2(rank + 1), summed in the order of the ranks."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(docs: list[Any], grades: Grades, k: int) -> float:
    """DCG of the top k / DCG of the best order of all judged documents, with the grade as gain, below 0 as 0."""
    ideal = sorted((max(grade, 0) for grade in grades.values()), reverse=True)
    return divide(dcg(max(grades.get(doc, 0), 0) for doc in docs[:k]), dcg(ideal[:k]))


def judged(docs: list[Any], grades: Grades, k: int) -> float:
    """The share of the top k that somebody judged: where it is low, the other metrics may be too low."""
    return divide(sum(doc in grades for doc in docs[:k]), min(k, len(docs)))


METRICS: dict[str, Callable[[list[Any], Grades, int], float]] = {
    "recall": recall, "capped_recall": capped_recall, "precision": precision, "success": success,
    "mrr": reciprocal_rank, "map": average_precision, "ndcg": ndcg, "judged": judged,
}  # fmt: skip


def per_query(run: Mapping[Any, Ranking], qrels: Mapping[Any, Grades], metric: str) -> np.ndarray:
    """The values of a metric such as "ndcg@10" for the queries of qrels, in their order, (q,).

    Raises ValueError for a metric that is none of METRICS with a cutoff from 1, and for qrels without a query.
    """
    name, _, cutoff = metric.partition("@")
    if name not in METRICS or not cutoff.isdecimal() or int(cutoff) < 1:
        raise ValueError(f"no metric {metric!r}: write {', '.join(METRICS)} with a cutoff, such as ndcg@10.")
    if not qrels:
        raise ValueError("qrels is empty: give the judgements of at least one query.")
    rows = [(ranked(run.get(query, ())), grades) for query, grades in qrels.items()]
    return np.array([METRICS[name](docs, grades, int(cutoff)) for docs, grades in rows], dtype=np.float64)


def evaluate(run: Mapping[Any, Ranking], qrels: Mapping[Any, Grades], metric: str) -> float:
    """The mean of a metric over all judged queries."""
    values = per_query(run, qrels, metric)
    return float(values.sum() / len(values))


# --- how far to trust a mean ---------------------------------------------------------------------------------------


class Interval(NamedTuple):
    """A mean with its confidence interval; `n` values were seen."""

    mean: float
    low: float
    high: float
    level: float
    n: int


def interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """The mean of values, (n,), and its interval: Wilson's where all are 0 or 1, else the bootstrap's."""
    sample = _checked(values)
    return (wilson if np.isin(sample, (0, 1)).all() else bootstrap)(sample, level)


def wilson(values: np.ndarray, level: float) -> Interval:
    """Wilson's interval of a share (1927), which is sound near 0 and 1 too."""
    n, share, z = len(values), float(values.mean()), NormalDist().inv_cdf((1 + level) / 2)
    middle, half = share + z**2 / (2 * n), z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    low, high = ((middle + side * half) / (1 + z**2 / n) for side in (-1, 1))
    return Interval(share, max(low, 0.0), min(high, 1.0), level, n)


def bootstrap(values: np.ndarray, level: float, resamples: int = 10_000, seed: int = 0) -> Interval:
    """The bias-corrected and accelerated bootstrap (Efron 1987), for up to 20,000 values.

    Queries are drawn again and again, with repetition; the interval holds the middle of the means that come out. Which
    quantiles are its ends depends on the share of means below the one seen, and on the skewness of the values.
    """
    column, n = values[:, None], len(values)
    if n > 20_000:
        raise ValueError(f"{n} values are more than this file resamples: take helpers.significance.interval.")
    mean = column.mean(0)
    centred = column - mean
    spread = np.sqrt((centred**2).sum(0))
    if not np.ptp(values) > 0:
        return Interval(float(mean[0]), float(mean[0]), float(mean[0]), level, n)
    means = resampled_means(column, resamples, seed)[:, 0]
    near = 1e-12 * float(np.abs(means).max())
    below = ((means < float(mean[0]) - near).mean() + (means <= float(mean[0]) + near).mean()) / 2
    bias = NormalDist().inv_cdf(float(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means))))
    z = bias + NormalDist().inv_cdf((1 + level) / 2) * np.array([-1, 1])
    z = bias + z / (1 - ((centred**3).sum(0) / (6 * spread**3))[0] * z)
    low, high = np.quantile(means, [math.erfc(-end / math.sqrt(2)) / 2 for end in z])
    return Interval(float(mean[0]), float(low), float(high), level, n)


def resampled_means(column: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """The means of samples of rows drawn with repetition, (resamples, 1): how often each was drawn, times its value."""
    n, rng, parts = len(column), np.random.default_rng(seed), []
    for start in range(0, resamples, step := max(1, (1 << 21) // n)):  # 16 MiB at a time
        size = min(step, resamples - start)
        rows = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        parts.append(np.bincount(rows.ravel(), minlength=size * n).reshape(size, n) @ column / n)
    return np.concatenate(parts)


# --- do two systems differ? ----------------------------------------------------------------------------------------


class PairedTest(NamedTuple):
    """Mean of a - b over the same `n` queries, and its two-sided p-value, which is never below `smallest`.

    Only the `differing` queries decide it; `exact` says whether every way to swap the two values of each was tried.
    """

    difference: float
    p_value: float
    n: int
    differing: int
    smallest: float
    exact: bool


def paired_test(a: ArrayLike, b: ArrayLike, resamples: int = 250_000, seed: int = 0) -> PairedTest:
    """Two-sided randomisation test on the values of the same queries in one order, (n,) each (Smucker et al. 2007).

    If the systems were equal, the two values of a query could be swapped. p is the share of all such swaps whose
    difference of means is as large as the one seen: of all of them where at most 20 queries differ, else of random
    ones, the swap that was seen among them.
    """
    first, second = _checked(a), _checked(b)
    if len(first) != len(second):
        raise ValueError(f"a has {len(first)} values and b {len(second)}: give both for the same queries.")
    differences = first - second
    differing = differences[differences != 0]
    exact = 2 ** len(differing) <= 1 << 20
    sums = signed_sums(differing) if exact else random_sums(differing, resamples, seed)
    reached = int((np.abs(sums) >= abs(differing.sum()) - 1e-12 * np.abs(differing).sum()).sum())
    p_value = reached / len(sums) if exact else (1 + reached) / (1 + resamples)
    smallest = max(min(1.0, 2 / 2 ** min(len(differing), 1000)), 0.0 if exact else 1 / (1 + resamples))
    return PairedTest(float(differences.mean()), p_value, len(first), len(differing), smallest, exact)


def signed_sums(values: np.ndarray) -> np.ndarray:
    """The sums of m values under every choice of their signs, (2ᵐ,)."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def random_sums(values: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Sums of values under random signs, (draws,): the signs of eight values are one random byte."""
    rng, sums = np.random.default_rng(seed), np.zeros(draws)
    for start in range(0, len(values), 8):
        table = signed_sums(values[start : start + 8])
        sums += table[rng.integers(0, len(table), draws, dtype=np.uint8)]
    return sums


def _checked(values: ArrayLike) -> np.ndarray:
    """Values as (n,) float64, two or more, all finite."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < 2 or not np.isfinite(sample).all():
        raise ValueError("give a finite value for each of at least two queries, in one row, as per_query returns them.")
    return sample
