"""How far to trust a mean over queries, and a difference between two systems. SciPy does the statistics.

Everything starts from per-query values such as `evaluate(...).per_query["ndcg@10"]`. Seeds are fixed, so the same
values give the same numbers again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

__all__ = ["Interval", "PairedTest", "bootstrap_interval", "paired_test", "proportion_interval"]

_BATCH = 1 << 21  # resampled values held at a time: 16 MiB


class Interval(NamedTuple):
    """A mean with its confidence interval; `n` values were seen."""

    mean: float
    low: float
    high: float
    level: float
    n: int


class PairedTest(NamedTuple):
    """Mean of a - b over the same `n` queries, and its two-sided p-value."""

    difference: float
    p_value: float
    n: int
    method: str


def bootstrap_interval(values: ArrayLike, level: float = 0.95, resamples: int = 10_000, seed: int = 0) -> Interval:
    """Bootstrap confidence interval of the mean of per-query values (BCa, Efron 1987), shape (n,).

    Give it differences `a - b` for the interval of a difference. Values that are all equal give an interval of
    width 0, which says nothing: for values that are 0 or 1 take `proportion_interval`.

    Raises:
        ValueError: fewer than two values, a value that is not finite, or a level outside (0, 1).
    """
    sample = _checked(values, "values")
    _check_level(level)
    mean = float(sample.mean())
    if np.ptp(sample) == 0:
        return Interval(mean, mean, mean, level, len(sample))
    result = stats.bootstrap(
        (sample,),
        np.mean,
        confidence_level=level,
        n_resamples=resamples,
        batch=max(1, _BATCH // len(sample)),
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(mean, float(result.low), float(result.high), level, len(sample))


def proportion_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Wilson (1927) interval of a share, for values that are each 0 or 1, shape (n,).

    For success@k, recall@1 with one relevant document a query, and the like. Sound near 0 and 1, where the
    bootstrap is not.

    Raises:
        ValueError: a value other than 0 and 1, or what `bootstrap_interval` raises.
    """
    sample = _checked(values, "values")
    _check_level(level)
    if not np.isin(sample, (0, 1)).all():
        raise ValueError("proportion_interval needs values of 0 and 1; use bootstrap_interval for any other metric.")
    result = stats.binomtest(int(sample.sum()), len(sample)).proportion_ci(level, method="wilson")
    return Interval(float(sample.mean()), float(result.low), float(result.high), level, len(sample))


def paired_test(
    a: ArrayLike, b: ArrayLike, method: str = "randomisation", resamples: int = 10_000, seed: int = 0
) -> PairedTest:
    """Two-sided test whether two systems differ, on values of the same queries in the same order, shape (n,) each.

    "randomisation" swaps the two values of a query at random and asks how often the difference of means comes out
    as large (Smucker, Allan and Carterette 2007); with few queries it tries every swap instead. "t" is Student's
    paired test. Where all pairs are equal the p-value is 1.

    Raises:
        ValueError: different lengths, fewer than two queries, a value that is not finite, an unknown method.
    """
    first, second = _checked(a, "a"), _checked(b, "b")
    if len(first) != len(second):
        raise ValueError(f"a has {len(first)} values and b {len(second)}: give both for the same queries.")
    if method not in ("randomisation", "t"):
        raise ValueError(f'method must be "randomisation" or "t", not {method!r}.')
    difference = float(np.mean(first - second))
    if method == "t" and np.ptp(first - second) == 0 and difference:
        raise ValueError(f"Every query differs by {difference}: the t test needs differences that vary.")
    if np.array_equal(first, second):
        p_value = 1.0
    elif method == "t":
        p_value = float(stats.ttest_rel(first, second).pvalue)
    else:
        p_value = _swap_test(first, second, resamples, seed)
    return PairedTest(difference, p_value, len(first), method)


def _swap_test(first: np.ndarray, second: np.ndarray, resamples: int, seed: int) -> float:
    """The p-value of the randomisation test."""
    result = stats.permutation_test(
        (first, second),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, _BATCH // len(first)),
        random_state=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def _checked(values: ArrayLike, name: str) -> np.ndarray:
    """Values as (n,) float64 with n of at least 2, all finite."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < 2:
        raise ValueError(f"{name} must be at least two per-query values in one row, not shape {sample.shape}.")
    if not np.isfinite(sample).all():
        raise ValueError(f"{name} holds a value that is not finite: {sample[~np.isfinite(sample)][0]}.")
    return sample


def _check_level(level: float) -> None:
    """Raise unless level is a share strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95, not {level!r}.")
