"""The evaluation of retrieval in one file: copy it into any project. It needs NumPy, and nothing else of this package.

    values = per_query(run, qrels, "ndcg@10")  # a value for each judged query
    interval(values)                           # the mean, and how far other queries may move it
    verdict(others, values, margin=0.01)       # better, worse, equal within the margin, or cannot tell

`run` is `{query: {doc: score}}` or `{query: [doc, …]}`, best first; `qrels` is `{query: {doc: grade}}`. The conventions
are trec_eval's: a mean over all judged queries, 0 for one that the run lacks or that has nothing relevant. Every number
equals that of `helpers.metrics` and `helpers.significance` to the last bit, but for the interval of a verdict.
MIT licence, from https://github.com/retrieval-evaluation-tutorial/retrieval-evaluation-tutorial.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

DRAWS = 250_000  # of random swaps: the standard error of a p-value of .05 is .0004
PATTERNS = 1 << 20  # where there are no more swaps than this, every one is tried
RESAMPLED = 20_000  # values from which samples are drawn; for more their mean's expansion serves

Grades = Mapping[Any, int]  # of the judged documents of one query
Ranking = Mapping[Any, float] | Iterable[Any]  # of one query: {doc: score}, or documents, best first


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


def hits(docs: list[Any], grades: Grades, k: int) -> list[int]:
    """The ranks, from 1, at which relevant documents (grade 1 and above) stand in the top k."""
    return [rank for rank, doc in enumerate(docs[:k], 1) if grades.get(doc, 0) > 0]


def relevant(grades: Grades) -> int:
    """R, the number of relevant documents, retrieved or not."""
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
    """The values of one of METRICS with a cutoff, such as "ndcg@10", for the queries of qrels in their order, (q,)."""
    name, _, cutoff = metric.partition("@")
    if name not in METRICS or not cutoff.isdecimal() or int(cutoff) < 1:
        raise ValueError(f"no metric {metric!r}: write {', '.join(METRICS)} with a cutoff, such as ndcg@10.")
    if not qrels:
        raise ValueError("qrels is empty: give the judgements of at least one query.")
    rows = [(ranked(run.get(query, ())), grades) for query, grades in qrels.items()]
    return np.array([METRICS[name](docs, grades, int(cutoff)) for docs, grades in rows], dtype=np.float64)


def evaluate(run: Mapping[Any, Ranking], qrels: Mapping[Any, Grades], metric: str) -> float:
    """The mean of a metric over all judged queries."""
    return float(per_query(run, qrels, metric).sum() / len(qrels))


class Interval(NamedTuple):
    """A mean with its confidence interval; `n` values were seen."""

    mean: float
    low: float
    high: float
    level: float
    n: int


def interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """The mean of values, (n,), and its interval: Wilson's where all are 0 or 1, else the bootstrap's."""
    sample = checked(values, "values")
    return wilson(sample, level) if np.isin(sample, (0, 1)).all() else bootstrap_intervals(sample[:, None], level)[0]


def wilson(values: np.ndarray, level: float) -> Interval:
    """Wilson's interval of a share (1927), which is sound near 0 and 1 too."""
    check_level(level)
    n, share, z = len(values), float(values.mean()), NormalDist().inv_cdf((1 + level) / 2)
    middle, half = share + z**2 / (2 * n), z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    low, high = ((middle + side * half) / (1 + z**2 / n) for side in (-1, 1))
    return Interval(share, max(low, 0.0), min(high, 1.0), level, n)


def bootstrap_intervals(
    table: ArrayLike, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> list[Interval]:
    """Intervals of the means of columns, (n, c), by the bootstrap (BCa, Efron 1987), from the same samples of rows.

    Queries are drawn again and again, with repetition; which quantiles of their means are the ends depends on the share
    of means below the one seen, and on the skewness. Beyond 20,000 rows they are those of an Edgeworth expansion.
    """
    check_level(level)
    columns = np.asarray(table, dtype=np.float64)
    for column in columns.T:
        checked(column, "values")
    n, means = len(columns), columns.mean(0)
    centred = columns - means
    spread = np.sqrt((centred**2).sum(0))
    skew = np.divide((centred**3).sum(0), 6 * spread**3, out=np.zeros_like(means), where=spread > 0)  # BCa's a
    drawn = resampled_means(columns, resamples, seed) if n <= RESAMPLED else None
    intervals = []
    for row, (mean, a) in enumerate(zip(means, skew, strict=True)):
        ends = np.array([mean, mean])
        if np.ptp(columns[:, row]) > 0:
            sample = None if drawn is None else drawn[:, row]
            bias = a if sample is None else NormalDist().inv_cdf(_share_below(sample, float(mean)))
            z = bias + NormalDist().inv_cdf((1 + level) / 2) * np.array([-1, 1])
            z = bias + z / (1 - a * z)
            expansion = mean + spread[row] / n * (z + a * (z**2 - 1))
            ends = expansion if sample is None else np.quantile(sample, normal_cdf(z))
        intervals.append(Interval(float(mean), float(ends[0]), float(ends[1]), level, n))
    return intervals


def _share_below(sample: np.ndarray, value: float) -> float:
    """The share of a sample below a value, those equal to it as half; neither 0 nor 1."""
    near = 1e-12 * float(np.abs(sample).max())
    share = ((sample < value - near).mean() + (sample <= value + near).mean()) / 2
    return float(np.clip(share, 0.5 / len(sample), 1 - 0.5 / len(sample)))


def normal_cdf(values: np.ndarray) -> np.ndarray:
    """The share of a normal variable below each value."""
    return np.fromiter(map(math.erfc, (-values / math.sqrt(2)).flat), float, values.size).reshape(values.shape) / 2


def resampled_means(column: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """The means of samples of rows drawn with repetition, (resamples, 1): how often each was drawn, times its value."""
    n, rng, parts = len(column), np.random.default_rng(seed), []
    for start in range(0, resamples, step := max(1, (1 << 21) // n)):  # 16 MiB at a time
        size = min(step, resamples - start)
        rows = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        parts.append(np.bincount(rows.ravel(), minlength=size * n).reshape(size, n) @ column / n)
    return np.concatenate(parts)


class PairedTest(NamedTuple):
    """Mean of a - b over the same `n` queries, and its two-sided p-value.

    Only the `differing` queries decide it. `exact` says whether every way to swap m of them was tried. No p-value can
    be below `smallest`: two of the 2ᵐ ways are the most extreme, and of random swaps the pair as it was seen is one.
    """

    difference: float
    p_value: float
    n: int
    differing: int = 0
    smallest: float = 1.0
    exact: bool = True


def paired_test(a: ArrayLike, b: ArrayLike, resamples: int = DRAWS, seed: int = 0) -> PairedTest:
    """Two-sided randomisation test on the values of the same queries in one order, (n,) each (Smucker et al. 2007).

    If the systems were equal, the two values of a query could be swapped. p is the share of all such swaps whose
    difference of means is as large as the one seen: of all of them where at most 20 queries differ, else of random
    ones, the swap that was seen among them.
    """
    first, second = checked_pair(a, b)
    differences = first - second
    differing = differences[differences != 0]
    exact = 2 ** len(differing) <= PATTERNS
    sums = signed_sums(differing) if exact else random_sums(differing, resamples, seed)
    reached = int((np.abs(sums) >= abs(differing.sum()) - 1e-12 * np.abs(differing).sum()).sum())
    p_value = reached / len(sums) if exact else (1 + reached) / (1 + resamples)
    smallest = max(min(1.0, 2 / 2 ** min(len(differing), 1000)), 0.0 if exact else 1 / (1 + resamples))
    return PairedTest(float(differences.mean()), p_value, len(first), len(differing), smallest, exact)


def verdict(before: ArrayLike, after: ArrayLike, margin: float, alpha: float = 0.05) -> tuple[str, float, float]:
    """A word for what a change did to values of the same queries, (n,) each; and Student's interval of its mean."""
    now, then = checked_pair(after, before)
    test, z = paired_test(now, then), NormalDist().inv_cdf(1 - alpha / 2)
    terms = (z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    student = math.fsum(term / (test.n - 1) ** power for power, term in enumerate(terms))  # Abramowitz & Stegun 26.7.5
    half = student * float((now - then).std(ddof=1)) / math.sqrt(test.n)
    low, high = test.difference - half, test.difference + half
    return in_a_word(test, low, high, margin, alpha), low, high


def in_a_word(test: PairedTest, low: float, high: float, margin: float, alpha: float) -> str:
    """Equal if the interval is within the margin, the largest difference that does not matter; else what p says."""
    if -margin < low and high < margin:
        return "equal within the margin"
    return "cannot tell" if test.p_value >= alpha else "better" if test.difference > 0 else "worse"


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


def checked(values: ArrayLike, name: str) -> np.ndarray:
    """Values as (n,) float64 with n of at least 2, all finite."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < 2:
        raise ValueError(f"{name} must be at least two per-query values in one row, not shape {sample.shape}.")
    if not np.isfinite(sample).all():
        raise ValueError(f"{name} holds a value that is not finite: {sample[~np.isfinite(sample)][0]}.")
    return sample


def checked_pair(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two rows of values of the same queries."""
    first, second = checked(a, "a"), checked(b, "b")
    if len(first) != len(second):
        raise ValueError(f"a has {len(first)} values and b {len(second)}: give both for the same queries.")
    return first, second


def check_level(level: float) -> None:
    """Raise unless level is a share strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95, not {level!r}.")
