"""How far to trust a mean over queries, and a difference between two systems.

Everything starts from per-query values such as `evaluate(...).per_query["ndcg@10"]`. Seeds are fixed, so the same
values give the same numbers again. NumPy alone suffices, but for Kendall's tau and a bound on a standard deviation.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from helpers import plain
from helpers._optional import from_extra
from helpers.plain import Interval, PairedTest, bootstrap_intervals, check_level, checked, checked_pair, interval

__all__ = [
    "Change", "Interval", "NoninferiorityTest", "PValue", "PairedTest", "bootstrap_interval", "bootstrap_intervals",
    "change", "corrected_mean", "holm",
    "interval", "intervals", "kendall_tau", "minimum_detectable_difference", "noninferiority_test", "paired_rows",
    "paired_test", "power", "proportion_interval", "queries_needed", "sd_upper_bound", "tukey_hsd",
]  # fmt: skip

DRAWS, PATTERNS = plain.DRAWS, plain.PATTERNS  # of random swaps or deals, and how many are tried one by one
_DEALT = 4000  # values of differing queries that are dealt at random; the limit law serves for more
_DEALS = 20_000  # that one list of random orders serves
_ALL_ORDERS = 8  # systems whose orders are all listed: 8! = 40,320


class PValue(float):
    """A p-value: a number that is written as "< 0.001" where all of its digits would be 0."""

    def __format__(self, spec: str) -> str:
        """Return the text with the places of the spec, such as ".3f"."""
        text = super().__format__(spec)
        return f"< {text[:-1]}1" if self > 0 and not text.strip("0.") else text


class NoninferiorityTest(NamedTuple):
    """Mean of a - b over `n` queries, the lower bound of its one-sided interval, and the p-value of losing `margin`.

    a loses less than `margin` to b, at the level of the test, if `low` is above -margin; then `p_value` is below alpha.
    """

    difference: float
    low: float
    margin: float
    p_value: float
    n: int


class Change(NamedTuple):
    """What a change, such as training, did to a metric: the mean of after - before over `n` queries, and a verdict.

    `low` to `high` is the interval, and `p_value` that of `paired_test`; `detectable` is the smallest difference that
    so many queries show four times in five, and `more` how many more queries are needed where nobody can tell yet.
    If nothing changed, `false_verdicts` is the most of cases that come out "better" or "worse", over all `looks`
    together: each of the two in half of them where gains and losses are alike, else one more often than the other.
    """

    verdict: str  # "better", "worse", "equal within the margin" or "cannot tell"
    difference: float
    low: float
    high: float
    p_value: float
    margin: float
    detectable: float
    n: int
    more: int
    looks: int
    false_verdicts: float

    def __str__(self) -> str:
        """Return the verdict and its reasons in a line."""
        asked = f": {self.more} more queries" if self.more else ""
        seen = f"over {self.looks} looks " if self.looks > 1 else ""
        return (
            f"{self.verdict}{asked}. Difference {self.difference:+.4f} ({self.low:+.4f} to {self.high:+.4f}), "
            f"p {self.p_value:.4f}, margin {self.margin:g}, {self.n} queries, which show {self.detectable:.4f} four "
            f"times in five. Without a change, {seen}at most {self.false_verdicts:.1%} are called better or worse."
        )


def intervals(table: ArrayLike, level: float = 0.95) -> list[Interval]:
    """Return `interval` of each column, (n, c); the samples of queries are drawn once for all."""
    columns = np.asarray(table, dtype=np.float64)
    binary: np.ndarray = np.asarray(np.isin(columns, (0, 1)).all(axis=0))
    resampled = iter(bootstrap_intervals(columns[:, ~binary], level) if not binary.all() else ())
    return [
        proportion_interval(column, level) if share else next(resampled)
        for column, share in zip(columns.T, binary, strict=True)
    ]


def bootstrap_interval(values: ArrayLike, level: float = 0.95, resamples: int = 10_000, seed: int = 0) -> Interval:
    """Bootstrap confidence interval of the mean of per-query values (BCa, Efron 1987).

    Values that are all equal give an interval of width 0, which says nothing: for values that are 0 or 1 take
    `proportion_interval`. For more than 20,000 values nothing is drawn: the quantiles of the mean are those of its
    Edgeworth expansion, mean + s / √n · (z + a (z² - 1)), a = skewness / (6 √n), nearer than 10,000 draws there.

    Args:
        values: a value for each query, (n,); give differences `a - b` for the interval of a difference.
        level: the confidence level, between 0 and 1.
        resamples: how many bootstrap samples to draw.

    Raises:
        ValueError: fewer than two values, a value that is not finite, or a level outside (0, 1).
    """
    return bootstrap_intervals(checked(values, "values")[:, None], level, resamples, seed)[0]


def proportion_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Wilson (1927) interval of a share, for values that are each 0 or 1, (n,): success@k, recall@1 of one answer.

    Sound near 0 and 1, where the bootstrap is not. Raises ValueError for another value, and as `bootstrap_interval`.
    """
    sample = checked(values, "values")
    if not np.isin(sample, (0, 1)).all():
        raise ValueError("proportion_interval needs values of 0 and 1; use bootstrap_interval for any other metric.")
    return plain.wilson(sample, level)


def corrected_mean(cheap: ArrayLike, careful: ArrayLike, rows: ArrayLike, level: float = 0.95) -> Interval:
    """Mean that a careful judge would give, from a cheap judge of all queries and a careful one of a random sample.

    Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382), with the sample
    among the queries: mean(cheap) + mean(error), where error = careful - cheap on the n rows of N. However wrong the
    cheap judge is, the estimate is unbiased; the more evenly it errs, the narrower the interval: estimate ± t · s,
    s² = var(careful) / N + var(error) · (1 / n - 1 / N), with Student's t of n - 1 degrees of freedom. If the careful
    judge saw all queries this is the ordinary interval of the mean.

    Args:
        cheap: a value for each query under the cheap judge, (N,): a metric, or the difference of two systems.
        careful: the values of the sampled queries under the careful judge, (n,).
        rows: which queries these are, (n,) row numbers of `cheap`, drawn at random before anything was judged.
        level: the confidence level, between 0 and 1.

    Raises:
        ValueError: rows that are not one query for each careful value; and as `bootstrap_interval`.
    """
    guessed, seen, chosen = checked(cheap, "cheap"), checked(careful, "careful"), np.asarray(rows)
    check_level(level)
    whole, part = len(guessed), len(seen)
    if chosen.shape != seen.shape or len(set(chosen.tolist()) & set(range(whole))) < part:
        raise ValueError(f"rows must name the query of each careful value: {part} different numbers below {whole}.")
    errors = seen - guessed[chosen]
    variance = seen.var(ddof=1) / whole + errors.var(ddof=1) * (1 / part - 1 / whole)
    mean = float(guessed.mean() + errors.mean())
    half = _t_quantile((1 - level) / 2, part - 1) * math.sqrt(variance)
    return Interval(mean, mean - half, mean + half, level, whole)


def paired_test(a: ArrayLike, b: ArrayLike, resamples: int = DRAWS, seed: int = 0) -> PairedTest:
    """Two-sided randomisation test whether two systems differ, on values of the same queries in one order, (n,) each.

    It swaps the two values of queries and asks how often the difference of means comes out as large (Smucker, Allan
    and Carterette 2007). A swap turns the sign of a query's difference, so queries without one have no part in it.
    Where at most 20 queries differ, all swaps are tried; else `resamples` are drawn at random, and p is (1 + draws as
    extreme) / (1 + draws): its standard error is √(p (1 - p) / draws), .0004 for p = .05. Where all pairs are equal
    the p-value is 1.

    Raises:
        ValueError: different lengths, fewer than two queries, a value that is not finite.
    """
    test = plain.paired_test(a, b, resamples, seed)
    return test._replace(p_value=PValue(test.p_value))


def paired_rows(
    values: np.ndarray, others: Mapping[str, np.ndarray], level: float = 0.95
) -> dict[str, dict[str, float]]:
    """Compare a system with each of several on the same queries, (n,) each: a row of a table by the name of the other.

    Columns: `difference` of the means, values minus other, with its bootstrap interval, `low` to `high`; on how many
    queries values are `better` and `worse`; `p` of `paired_test`, and `smallest p`, below which it cannot fall.
    """
    if not others:
        return {}
    rows = {}
    spreads = bootstrap_intervals(np.transpose([values - other for other in others.values()]), level)
    for (name, other), spread in zip(others.items(), spreads, strict=True):
        test = paired_test(values, other)
        rows[name] = {
            "difference": spread.mean, "low": spread.low, "high": spread.high,
            "better": int((values > other).sum()), "worse": int((values < other).sum()),
            "p": test.p_value, "smallest p": test.smallest,
        }  # fmt: skip
    return rows


def holm(p_values: ArrayLike) -> np.ndarray:
    """Adjust the p-values of several tests, (n,), for their number (Holm 1979).

    The smallest of n times n, the next times n - 1 and so on, never falling, at most 1; in the order given.
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(np.minimum(1, values[order] * np.arange(len(values), 0, -1)))
    return adjusted


def tukey_hsd(values: ArrayLike, resamples: int = DRAWS, seed: int = 0) -> np.ndarray:
    """Adjusted p-values of all pairs of several systems, (m, m), by the randomised Tukey HSD test.

    The m values of every query are dealt to the systems anew; a pair's p-value is the share of deals whose largest
    difference of means reaches the pair's, Carterette (2012, ACM TOIS 30(1)). If all systems are equal, any p-value is
    at most alpha with the probability alpha, so that the pairs may be chosen after the values were seen: the best
    against the second.

    All deals are tried where there are at most 2²⁰; else `resamples` are drawn, and p is (1 + deals that reach it) /
    (1 + deals). Where more than 4,000 values belong to queries on which systems differ, p is of the law to which the
    means of deals tend as queries grow in number: the range of m normal variables, Tukey's studentised range with
    infinite degrees of freedom (from there on within .001 of random deals at p = .05).

    Args:
        values: (m, n), a row for each system over the same queries.
        resamples: how many random deals to draw.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError(f"values must be (systems, queries), two or more of each, not of shape {table.shape}.")
    systems, sums = len(table), table.sum(1)
    gaps = np.abs(sums[:, None] - sums)
    table = table[:, np.ptp(table, axis=0) > 0]
    if math.lgamma(systems + 1) * table.shape[1] <= math.log(PATTERNS):  # every deal
        sums = np.zeros((1, systems))
        for column in table.T:
            dealt = np.array(list(itertools.permutations(column)))
            sums = (sums[:, None] + dealt).reshape(-1, systems)
        ranges = np.ptp(sums, axis=1)
    elif table.size <= _DEALT:
        ranges = np.append(_random_ranges(table, resamples, seed), np.inf)  # the deal that was seen is one more
    else:
        variance = table.var(axis=0, ddof=1).sum()
        return _range_exceeds(gaps / math.sqrt(variance), systems)
    reach = np.sort(ranges)
    below = np.searchsorted(reach, gaps - 1e-12 * np.abs(table).sum())
    adjusted: np.ndarray = 1 - below / len(reach)
    return adjusted


def _range_exceeds(gaps: np.ndarray, count: int) -> np.ndarray:
    """Return the probability that the range of so many standard normal variables reaches each gap.

    1 - count · ∫ φ(z) (Φ(z) - Φ(z - gap))ᶜᵒᵘⁿᵗ⁻¹ dz (Tippett 1925), by the trapezoidal rule: right to 1e-13.
    """
    z, step = np.linspace(-9, 9, 721, retstep=True)
    inside = plain.normal_cdf(z) - plain.normal_cdf(z - gaps[..., None])
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    exceeds: np.ndarray = np.maximum(1 - count * step * (density * inside ** (count - 1)).sum(-1), 0)
    return exceeds


def _random_ranges(table: np.ndarray, draws: int, seed: int) -> np.ndarray:
    systems, rng, parts = len(table), np.random.default_rng(seed), []
    for start in range(0, draws, _DEALS):
        if systems <= _ALL_ORDERS:
            orders = np.array(list(itertools.permutations(range(systems))))
        else:
            drawn = rng.permuted(np.tile(np.arange(systems), (4096, 1)), axis=1)
            orders = np.concatenate([np.roll(drawn, turn, axis=1) for turn in range(systems)])
        sums = np.zeros((min(_DEALS, draws - start), systems))
        for column in table.T:
            sums += column[orders[rng.integers(0, len(orders), len(sums))]]
        parts.append(np.ptp(sums, axis=1))
    return np.concatenate(parts)


def noninferiority_test(a: ArrayLike, b: ArrayLike, margin: float, alpha: float = 0.05) -> NoninferiorityTest:
    """One-sided test whether system a loses less than `margin` to b, on values of the same queries, (n,) each.

    "No significant difference" does not say so: few queries find no difference anywhere. Student's paired t-test of
    the mean of a - b against -margin; `low` is the end of the interval that goes with it, mean - t(1 - alpha, n - 1) ·
    s / √n. Both directions together are the test of equivalence, TOST (Schuirmann 1987). `margin` is the largest loss
    that does not matter, in the metric's unit.
    """
    first, second = checked_pair(a, b)
    _check_margin(margin)
    if not 0 < alpha <= 0.5:
        raise ValueError(f"alpha must lie above 0 and at most 0.5, such as 0.05, not {alpha!r}.")
    n, differences = len(first), first - second
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
    if error == 0:
        return NoninferiorityTest(mean, mean, margin, 0.0 if mean > -margin else 1.0, n)
    low = mean - _t_quantile(alpha, n - 1) * error
    return NoninferiorityTest(mean, low, margin, _t_exceeds((mean + margin) / error, n - 1), n)


def change(
    before: ArrayLike, after: ArrayLike, margin: float, *, looks: int = 1, alpha: float = 0.05, resamples: int = DRAWS
) -> Change:
    """Say whether values of the same queries, (n,) each, became better, worse, or stayed equal within a margin.

    The interval is Student's at the level 1 - alpha / looks. If it lies between -margin and margin, they are "equal
    within the margin" (so is a small gain that chance does not explain). Else `paired_test` decides: p below alpha /
    looks is "better" or "worse". Else one "cannot tell", and with `more` queries the next look would show a difference
    of the margin four times in five; where that many were already seen, it would show which side of half the margin the
    difference is on. NumPy alone: n ≈ ((z(1 - alpha / 2) + z(.8)) · sd / difference)² + z(1 - alpha / 2)² / 2 with
    alpha / (looks + 1) for alpha (Guenther 1981, The American Statistician 35(4)).

    Args:
        before, after: a value for each query, in one order.
        margin: the smallest difference that matters, in the metric's unit. Fix it before you look.
        looks: how often you compare on these queries before you decide, planned or done: once an epoch, or once for
            each checkpoint of which you take the best (Bonferroni's inequality, whatever the looks have in common).
        alpha: the share of false verdicts where nothing changed, "better" and "worse" together.
    """
    then, now = checked_pair(before, after)
    _check_margin(margin)
    if isinstance(looks, bool) or not isinstance(looks, int | np.integer) or looks < 1:
        raise ValueError(f"looks must be how often you compare on these queries, 1 or more, not {looks!r}.")
    check_level(1 - alpha)
    n, level, test = len(now), alpha / looks, paired_test(now, then, resamples)
    difference, sd = test.difference, float((now - then).std(ddof=1))
    half = _t_quantile(level / 2, n - 1) * sd / math.sqrt(n)
    low, high = difference - half, difference + half
    verdict, more = plain.in_a_word(test, low, high, margin, level), 0
    if verdict == "cannot tell":
        sizes = (margin, max(abs(difference), margin - abs(difference)))
        z = NormalDist().inv_cdf(1 - alpha / (looks + 1) / 2)  # to test again is one look more
        both = z + NormalDist().inv_cdf(0.8)
        planned = [math.ceil((both * sd / size) ** 2 + z**2 / 2) - n for size in sizes]
        more = next((count for count in planned if count > 0), 1)
    detectable = sd and minimum_detectable_difference(sd, n, level)
    return Change(verdict, difference, low, high, test.p_value, margin, detectable, n, more, looks, alpha)


@lru_cache(65_536)
def _t_exceeds(limit: float, freedom: int, shift: float = 0.0) -> float:
    """Return P(T > limit) of Student's t, noncentral by `shift`: right to 1e-9.

    T = (Z + shift) / S, Z standard normal and freedom · S² chi-squared: P(Z > limit · S - shift), averaged over log S
    by the trapezoidal rule, from one end of its density to the other (where it is below e⁻³² of its peak).
    """
    reach = math.sqrt(32 / freedom)
    log_s = np.linspace(-reach - 32 / freedom, reach, 801)
    weights = np.exp(freedom * (log_s + 0.5 - np.exp(2 * log_s) / 2))
    return float(weights @ plain.normal_cdf(shift - limit * np.exp(log_s)) / weights.sum())


def _t_quantile(alpha: float, freedom: int) -> float:
    """Return the value that Student's t exceeds with the probability alpha, of at most 1/2."""
    return _first(lambda limit: _t_exceeds(limit, freedom) <= alpha)


def _first(holds: Callable[[float], bool]) -> float:
    """Return the smallest number above 0 at which a condition holds that then goes on to hold, to twelve digits."""
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _check_margin(margin: float) -> None:
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin must be a difference that does not matter, above 0, such as 0.01, not {margin!r}.")


def power(difference: float, sd: float, n: int, alpha: float = 0.05) -> float:
    """How often a paired test of n queries finds a difference that is really there: the power, from 0 to 1.

    Of Student's two-sided paired t-test at level `alpha`, for normal differences: P(T > t) + P(T < -t), where T has the
    noncentral t distribution with n - 1 degrees of freedom and noncentrality difference / sd · √n, and t is the
    test's critical value (Cohen 1988, Statistical Power Analysis, chapter 2). Without a difference it is alpha.

    Args:
        difference: the difference of the two means, in the metric's unit.
        sd: the standard deviation of the per-query differences (n - 1 below the fraction), in the same unit.
        n, alpha: the number of queries, and the significance level.
    """
    _check_design(sd, n, alpha)
    limit, shift = _t_quantile(alpha / 2, n - 1), difference / sd * math.sqrt(n)
    return _t_exceeds(limit, n - 1, shift) + _t_exceeds(limit, n - 1, -shift)


def minimum_detectable_difference(sd: float, n: int, alpha: float = 0.05, target: float = 0.8) -> float:
    """The smallest difference of means that n queries show with the power `target`, in the metric's unit.

    The difference at which `power` is `target`; about (z(1 - alpha/2) + z(target)) · sd / √n, 2.8 standard errors by
    default (Bloom 1995, Evaluation Review 19(5), who calls it the minimum detectable effect).
    """
    _check_design(sd, n, alpha, target)
    return sd * _first(lambda difference: power(difference, 1.0, n, alpha) >= target)


def queries_needed(difference: float, sd: float, alpha: float = 0.05, target: float = 0.8) -> int:
    """The smallest number of queries with which `power` reaches `target`.

    About ((z(1 - alpha/2) + z(target)) · sd / difference)²: half the difference takes four times the queries.
    """
    _check_design(sd, 2, alpha, target)
    needed = bisect_left(range(10**9), True, 2, key=lambda n: power(difference, sd, n, alpha) >= target)
    if needed == 10**9:
        raise ValueError(f"No billion queries would show a difference of {difference!r}: give a larger one.")
    return needed


def sd_upper_bound(sd: float, n: int, level: float = 0.8) -> float:
    """The value that the standard deviation lies below with the confidence `level`, if n queries of a pilot gave sd.

    sd · √((n - 1) / χ²), χ² the quantile 1 - level with n - 1 degrees of freedom. Planning with sd itself comes out
    too small half of the time; with the bound at .8, four pilots of five ask for enough queries (Browne 1995,
    Statistics in Medicine 14).
    """
    _check_design(sd, n, 0.05)
    check_level(level)
    with from_extra("significance"):
        from scipy.special import chdtri
    return sd * math.sqrt((n - 1) / float(chdtri(n - 1, level)))


def kendall_tau(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Kendall's tau of two orders of the same systems: 1 the same, 0 unrelated, -1 reversed. SciPy's tau-b.

    (pairs in the same order - pairs in the other) / √(pairs untied in first · pairs untied in second), Kendall 1945
    (Biometrika 33(3)), who there allows for ties; without ties the tau of 1938.

    Args:
        first, second: `{system: score}`, scores and not ranks, the higher the better.
    """
    if first.keys() != second.keys():
        raise ValueError(f"Only one of the two has {sorted(first.keys() ^ second.keys())[:3]}: score the same ones.")
    a, b = checked([*first.values()], "first"), checked([second[name] for name in first], "second")
    for name, scores in (("first", a), ("second", b)):
        if np.ptp(scores) == 0:
            raise ValueError(f"All scores in {name} are {scores[0]}: such systems are in no order to compare.")
    with from_extra("significance"):
        from scipy.stats import kendalltau
    return float(kendalltau(a, b).statistic)


def _check_design(sd: float, n: int, alpha: float, target: float | None = None) -> None:
    if not (math.isfinite(sd) and sd > 0):
        raise ValueError(f"sd must be the standard deviation of the differences, above 0, not {sd!r}.")
    if n < 2 or n % 1:
        raise ValueError(f"n must be a whole number of at least 2 queries, not {n!r}.")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, such as 0.05, not {alpha!r}.")
    if target is not None and not alpha < target < 1:
        raise ValueError(f"target must lie between alpha, {alpha}, and 1, such as 0.8, not {target!r}.")
