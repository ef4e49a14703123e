"""Agreement of two assessors on the same pairs: Cohen's kappa."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Agreement", "agreement"]

Labels = Mapping[Any, Mapping[Any, int]] | Sequence[Mapping[int, int]]
Grades = Mapping[Any, Mapping[Any, int]]  # by query and passage
POWERS = {"linear": 1, "quadratic": 2}
RESAMPLES = 10_000


class Agreement(NamedTuple):
    """Cohen's kappa of two assessors, and its components.

    `kappa` = (`observed` - `expected`) / (1 - `expected`); `interval` is its 95 % confidence interval. `table[i, j]` is
    the number of pairs with `grades[i]` from the first assessor and `grades[j]` from the second, of `pairs` pairs and
    `queries` queries.
    """

    kappa: float
    observed: float
    expected: float
    interval: tuple[float, float]
    pairs: int
    queries: int
    grades: tuple[int, ...]
    table: np.ndarray


def agreement(
    first: Labels, second: Labels, weights: str | None = None, *, relevance_level: int | None = None
) -> Agreement:
    """Cohen's kappa (1960) of two assessors over the pairs that both graded, or his weighted kappa (1968).

    kappa = (observed - expected) / (1 - expected), where observed is the share of pairs with equal grades, and
    expected that share if each assessor assigned the same grades at random. With weights a pair of grades i and j
    counts 1 - (distance of i and j / largest distance)ᵖ, p = 1 "linear" or 2 "quadratic", rather than 0 or 1. Equals
    scikit-learn's `cohen_kappa_score` with `labels` for every grade from the lowest to the highest; without `labels`
    scikit-learn counts the grades 0, 1, 3 as steps of one.

    The interval is the percentile bootstrap over queries, not pairs: pairs of a query are not independent. Resamples
    with an expected agreement of 1 are left out; for a single query the interval is (nan, nan).

    Args:
        first, second: `{query: {passage: grade}}`, or one dict {row: grade} per query.
        weights: None, "linear" or "quadratic".
        relevance_level: compare binary relevance, a grade of at least this or not, instead of grades.
    """
    one, two = (labels if isinstance(labels, Mapping) else dict(enumerate(labels)) for labels in (first, second))
    for query, labels in (*one.items(), *two.items()):
        if not isinstance(labels, Mapping):
            raise TypeError(f"The labels of query {query!r} must be a dict {{passage: grade}}, not {labels!r}.")
    tables, grades = _tables(one, two, relevance_level)
    if len(grades) < 2:
        raise ValueError(f"Every pair has the grade {grades[0]} from both: kappa is not defined. Judge more pairs.")
    steps = np.abs(np.subtract.outer(grades, grades)).astype(np.float64)
    penalty = np.sign(steps) if weights is None else (steps / steps.max()) ** POWERS[weights]
    table, low, high = tables.sum(0), np.nan, np.nan
    observed, expected = (float(share) for share in _shares(table, penalty))
    if (n := len(tables)) > 1:
        rng, each, rows = np.random.default_rng(0), np.full(n, 1 / n), tables.reshape(n, -1)
        drawn = np.array([rng.multinomial(n, each) @ rows for _ in range(RESAMPLES)])  # the counts of one at a time
        same, chance = _shares(drawn.reshape(-1, *table.shape), penalty)
        with np.errstate(divide="ignore", invalid="ignore"):
            kappas = np.where(chance < 1, (same - chance) / (1 - chance), np.nan)
        low, high = np.nanpercentile(kappas, [2.5, 97.5]).tolist()
    kappa, interval = (observed - expected) / (1 - expected), (low, min(high, 1.0))
    return Agreement(kappa, observed, expected, interval, int(table.sum()), n, grades, table)


def _tables(first: Grades, second: Grades, relevance_level: int | None) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return the counts (queries, first grade, second grade) of the pairs that both graded, and the grades."""
    pairs = [
        (query, grade, second[query][doc])
        for query, docs in first.items()
        for doc, grade in docs.items()
        if doc in second.get(query, {})
    ]
    if not pairs:
        raise ValueError("No pair was graded by both: give labels of the same queries and passages, with equal ids.")
    if relevance_level is not None:
        pairs = [(query, int(a >= relevance_level), int(b >= relevance_level)) for query, a, b in pairs]
    grades = tuple(sorted({grade for _, *both in pairs for grade in both}))
    queries = sorted({query for query, *_ in pairs}, key=str)
    row, place = {query: i for i, query in enumerate(queries)}, {grade: i for i, grade in enumerate(grades)}
    tables = np.zeros((len(queries), len(grades), len(grades)))
    for query, a, b in pairs:
        tables[row[query], place[a], place[b]] += 1
    return tables, grades


def _shares(tables: np.ndarray, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return observed and expected agreement of tables (..., g, g); ``penalty`` is 0 for equal grades, 1 at most."""
    total = tables.sum((-2, -1))
    chance = tables.sum(-1, keepdims=True) * tables.sum(-2, keepdims=True) / total[..., None, None]
    return 1 - (penalty * tables).sum((-2, -1)) / total, 1 - (penalty * chance).sum((-2, -1)) / total
