"""helpers.significance: known intervals and p-values, coverage by simulation, bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from helpers.significance import (
    PValue,
    bootstrap_interval,
    bootstrap_intervals,
    corrected_mean,
    holm,
    interval,
    intervals,
    kendall_tau,
    minimum_detectable_difference,
    noninferiority_test,
    paired_rows,
    paired_test,
    power,
    proportion_interval,
    queries_needed,
    sd_upper_bound,
    tukey_hsd,
)

A = np.array([0.5, 1.0, 0.25, 0.0, 1.0, 0.5, 0.33, 0.2])
B = np.array([0.25, 1.0, 0.0, 0.0, 0.5, 0.5, 0.2, 0.1])


def test_wilson_interval_is_scipys():
    """The interval of a share would not be Wilson's."""
    found = proportion_interval(np.r_[np.ones(27), np.zeros(3)], level=0.9)
    peer = stats.binomtest(27, 30).proportion_ci(0.9, method="wilson")
    assert (found.low, found.high) == pytest.approx((peer.low, peer.high))


@pytest.mark.parametrize("level", [0.95, 0.9])
def test_bootstrap_interval_is_bca(level):
    """The ends would be plain percentiles of the resampled means, or lack a correction of Efron (1987)."""
    values, rng = np.random.default_rng(3).exponential(1, 30) ** 2, np.random.default_rng(4)
    means = rng.choice(values, (100_000, 30)).mean(1)
    leave_one_out = (values.sum() - values) / 29
    spread = leave_one_out.mean() - leave_one_out
    bias, skew = stats.norm.ppf((means < values.mean()).mean()), (spread**3).sum() / (6 * (spread**2).sum() ** 1.5)
    tails = [(1 - level) / 2, (1 + level) / 2]
    shifted = bias + stats.norm.ppf(tails)
    ends = np.quantile(means, stats.norm.cdf(bias + shifted / (1 - skew * shifted)))
    found, plain = bootstrap_interval(values, level, resamples=50_000), np.quantile(means, tails)
    off = np.abs(ends - [found.low, found.high])
    assert (off < np.abs(ends - plain) / 5).all()


def test_equal_values_and_equal_systems_give_numbers():
    """Values or differences that are all equal would give NaN, or a small p-value."""
    found = bootstrap_interval([1.0, 1.0, 1.0])
    assert (found.low, found.high) == (1, 1)
    assert paired_test(A, A).p_value == 1
    assert (tukey_hsd([A] * 3) == 1).all()


@pytest.mark.parametrize("count", [2, 13, 20])
def test_every_swap_is_tried_where_few_queries_differ(count):
    """With up to 20 differing queries the p-value would not be the share of all swaps that are as extreme."""
    rng = np.random.default_rng(count)
    a, b = rng.integers(0, 5, (2, count)) / 4
    b[a == b] += 0.25
    sums = {0: 1}  # how many swaps give each sum, in quarters
    for step in (4 * (a - b)).astype(int).tolist():
        sums = {total: sums.get(total - step, 0) + sums.get(total + step, 0)
                for total in {total + sign * step for total in sums for sign in (1, -1)}}  # fmt: skip
    extreme = sum(ways for total, ways in sums.items() if abs(total) >= abs(round(4 * (a - b).sum())))
    found = paired_test(np.r_[a, np.ones(30)], np.r_[b, np.ones(30)])
    assert found.p_value == extreme / 2**count
    assert (found.differing, found.exact, found.smallest) == (count, True, 2 / 2**count)
    assert found.difference == pytest.approx((a - b).sum() / (count + 30))


def test_drawn_swaps_are_near_the_truth_whatever_the_seed():
    """A p-value near .05 would depend on the seed by more than its standard error allows."""
    rng = np.random.default_rng(2)
    values = rng.normal(0.42, 1, 21)
    sums = np.zeros(1)
    for value in values:
        sums = np.r_[sums + value, sums - value]
    exact = float((np.abs(sums) >= abs(values.sum()) - 1e-9).mean())
    found = [paired_test(values, np.zeros(21), seed=seed).p_value for seed in range(40)]
    assert 0.03 < exact < 0.07, exact
    assert np.abs(np.array(found) - exact).max() <= 0.0015  # the standard error is .0004
    assert len(set(found)) > 30
    assert not paired_test(values, np.zeros(21)).exact


def test_no_swap_as_extreme_is_no_p_of_zero():
    """The pair as it was seen is one of the swaps; a p-value of 0 would be printed, or the floor as a value."""
    found = paired_test(np.ones(60), np.zeros(60), resamples=999)
    assert (found.p_value, found.smallest) == (1 / 1000, 1 / 1000)


def test_thousands_of_values_are_resampled_by_their_expansion(monkeypatch):
    """The interval of 50,000 values would be another than resampling gives, or lack the correction for their skew."""
    values = np.random.default_rng(7).exponential(1, 2000) ** 2
    drawn = bootstrap_interval(values, resamples=40_000)
    monkeypatch.setattr("helpers.plain.RESAMPLED", 1000)
    found, error = bootstrap_interval(values), values.std() / np.sqrt(2000)
    assert found[:3] == pytest.approx(drawn[:3], abs=0.03 * error)
    assert found.high - found.mean > 1.05 * (found.mean - found.low)


def test_columns_have_the_intervals_of_each_alone():
    """A table of intervals, drawn once for all systems, would differ from that of each system."""
    table = np.random.default_rng(8).random((40, 3)) ** 3
    table[:, 1] = 0.5
    for found, column in zip(bootstrap_intervals(table, 0.9), table.T, strict=True):
        assert found == pytest.approx(bootstrap_interval(column, 0.9), abs=1e-12)


@pytest.mark.parametrize("n", [500, 1024, 7000])
def test_as_many_queries_as_test_collections_have_are_tested(n):
    """Two to the number of differing queries would not be a float, and the test of MS MARCO dev end in an error."""
    rng = np.random.default_rng(6)
    a = rng.random(n)
    b = a + rng.normal(1 / n, 1 / np.sqrt(n), n)
    found = paired_test(a, b)
    assert found.p_value == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.004)
    assert (found.differing, found.exact) == (n, False)


def test_a_row_of_a_table_of_tests_has_the_sign_of_the_first():
    """Better and worse would be swapped, or the interval be that of the other difference."""
    a, b = np.array([1.0, 0.5, 0.9, 0.25]), np.array([0.5, 0.5, 1.0, 0.0])
    rows = paired_rows(a, {"b": b, "c": 1 - b}, 0.8)
    low, high = bootstrap_interval(a - b, 0.8)[1:3]
    expected = {"difference": 0.1625, "low": low, "high": high, "better": 2, "worse": 1, "p": 0.5, "smallest p": 0.25}
    assert rows["b"] == pytest.approx(expected, abs=1e-12)
    assert rows["c"]["p"] == paired_test(a, 1 - b).p_value
    assert paired_rows(a, {}) == {}


def test_power_at_values_of_other_programs():
    """Power would not be that of G*Power's and R's paired t-test: 34 pairs for d = .5, 199 for .2, 15 for .8."""
    assert [queries_needed(d, 1.0) for d in (0.2, 0.5, 0.8)] == [199, 34, 15]
    assert power(5.0, 10.0, 34) == power(-0.5, 1.0, 34) == pytest.approx(0.8078, abs=1e-4)
    assert power(1.0, 0.001, 10_000) == pytest.approx(1, abs=1e-15)


def test_power_is_that_of_scipys_noncentral_t():
    """Queries would be planned by another distribution than Student's, where they are few."""
    for n, alpha, shift in itertools.product((2, 8, 132, 5000), (0.001, 0.2), (0.0, 0.5, 6.0)):
        limit = stats.t.isf(alpha / 2, n - 1)
        peer = stats.nct.sf(limit, n - 1, shift) + stats.nct.sf(limit, n - 1, -shift)
        assert power(shift / np.sqrt(n), 1.0, n, alpha) == pytest.approx(peer, abs=1e-9)


def test_planning_functions_undo_each_other():
    """The queries asked for would not show the difference, or one query fewer would do."""
    for difference, sd in ((0.02, 0.14), (0.05, 0.3), (0.5, 0.1)):
        n = queries_needed(difference, sd)
        assert power(difference, sd, n) >= 0.8
        assert n == 2 or power(difference, sd, n - 1) < 0.8
        assert power(minimum_detectable_difference(sd, n), sd, n) == pytest.approx(0.8, abs=1e-9)
    assert queries_needed(0.02, 0.14, target=0.9) > queries_needed(0.02, 0.14) > queries_needed(0.02, 0.14, alpha=0.1)


def test_kendall_tau_by_hand():
    """Of six pairs one is swapped, so tau is (5 - 1) / 6; with a tie tau-b divides by less; dicts go by name."""
    for first, second, tau in (
        ([0.9, 0.8, 0.7, 0.1], [0.9, 0.7, 0.8, 0.1], 4 / 6),
        ([1, 2, 3], [3, 2, 1], -1),
        ([1, 2, 3], [1, 1, 2], 2 / np.sqrt(3 * 2)),
    ):
        assert kendall_tau(dict(enumerate(first)), dict(enumerate(second))) == pytest.approx(tau)
    assert kendall_tau({"a": 1, "b": 2, "c": 3}, {"c": 30, "a": 10, "b": 20}) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_interval([0.5]), "at least two"),
        (lambda: bootstrap_interval([[0.5, 0.6]]), "shape"),
        (lambda: bootstrap_interval([0.5, np.nan]), "not finite: nan"),
        (lambda: bootstrap_interval(A, level=95), "between 0 and 1"),
        (lambda: interval(A, level=1), "between 0 and 1, such as 0.95, not 1"),
        (lambda: proportion_interval([0, 1], level=0.0), "between 0 and 1"),
        (lambda: interval([0, 1, 1], level=95), "between 0 and 1, such as"),
        (lambda: proportion_interval(A), "values of 0 and 1"),
        (lambda: paired_test(A, B[:-1]), "a has 8 values and b 7"),
        (lambda: tukey_hsd([[1.0, 2.0]]), "values"),  # a table on its side
        (lambda: tukey_hsd([[1.0], [2.0]]), "values"),
        (lambda: power(0.1, 0.0, 10), "sd must be"),
        (lambda: power(0.1, 0.1, 1), "at least 2 queries"),
        (lambda: power(0.1, 0.1, 10.5), "whole number"),
        (lambda: power(0.1, 0.1, 10, alpha=5), "alpha must lie"),
        (lambda: power(0.1, 0.1, 10, alpha=0), "alpha must lie"),
        (lambda: power(0.1, 0.1, 10, alpha=1), "alpha must lie"),
        (lambda: queries_needed(0.1, 0.1, target=1), "target must lie"),
        (lambda: minimum_detectable_difference(0.1, 10, target=0.01), "target must lie between alpha"),
        (lambda: queries_needed(0.0, 0.1), "No billion queries"),
        (lambda: kendall_tau({"a": 1, "b": 2}, {"c": 1, "d": 2}), r"Only one of the two has \['a', 'b', 'c'\]:"),
        (lambda: kendall_tau({"a": 1, "b": 1}, {"a": 1, "b": 2}), "in first are 1.0: .* in no order"),
        (lambda: kendall_tau({"a": 1, "b": np.nan}, {"a": 1, "b": 2}), "not finite"),
        (lambda: corrected_mean(np.ones(5), [1.0, 0.5], [0, 0]), "rows must name .*: 2 different .* below 5"),
        (lambda: corrected_mean(np.ones(5), [1.0, 0.5], [0, 5]), "rows must name"),
        (lambda: corrected_mean(np.ones(5), [1.0, 0.5], [1]), "rows must name"),
    ],
)
def test_bad_input_is_refused(call, message):
    """The mistake would give a number, or an error that does not name it."""
    with pytest.raises(ValueError, match=message):
        call()


def test_a_p_value_is_never_written_as_zero():
    """A table of three places would print the floor of the simulation as p = 0.000."""
    assert [f"{PValue(p):.3f}" for p in (0.0004, 0.0006, 0.04, 1.0)] == ["< 0.001", "0.001", "0.040", "1.000"]
    assert f"{paired_test(np.ones(30), np.zeros(30)).p_value:.4f}" == "< 0.0001"
    assert f"{PValue(0.0):.3f}" == "0.000"  # that is a number somebody wrote, not one that a test gives


def test_holm_by_hand():
    """The second smallest of three would be multiplied by three as well, or come out below the first."""
    assert holm([0.04, 0.01, 0.03]).tolist() == pytest.approx([0.06, 0.03, 0.06])


def test_the_interval_has_the_level_that_was_asked_for():
    """An interval of 80 % would be the one of 95 %, for shares or for any other metric."""
    shares = [0, 1, 1, 1, 0, 1]
    for level in (0.8, 0.95):
        assert interval(A, level) == bootstrap_interval(A, level)
        assert interval(shares, level) == proportion_interval(shares, level)
        assert intervals(np.c_[A, A > 0.3], level) == [interval(A, level), interval(A > 0.3, level)]


def test_tukey_hsd_against_every_deal(monkeypatch):
    """Adjusted p-values of all pairs would be those of some other test, where all deals are tried or some are drawn."""
    table = np.random.default_rng(3).random((3, 4)).round(1)
    deals = [table[list(order)] for order in itertools.permutations(range(3))]
    columns = [[deal[:, query] for deal in deals] for query in range(4)]
    largest = np.array([np.ptp(np.mean(dealt, axis=0)) for dealt in itertools.product(*columns)])
    exact = (largest[:, None, None] >= np.abs(table.mean(1)[:, None] - table.mean(1)) - 1e-12).mean(0)
    alike = np.c_[table, np.full(3, 0.5)]  # a query on which all agree
    found = tukey_hsd(alike)
    assert found == pytest.approx(exact, abs=1e-12)
    assert np.array_equal(found, found.T)
    assert (found.diagonal() == 1).all()
    monkeypatch.setattr("helpers.significance.PATTERNS", 1)
    drawn = tukey_hsd(alike)
    assert drawn == pytest.approx(exact, abs=0.0035)  # three standard errors of .0011 at most
    assert np.array_equal(drawn, tukey_hsd(alike)), "another run gives other p-values"
    assert not np.array_equal(drawn, tukey_hsd(alike, seed=1))
    monkeypatch.setattr("helpers.significance._ALL_ORDERS", 2)
    assert tukey_hsd(alike) == pytest.approx(exact, abs=0.02)  # orders of a random list, as for nine systems


def test_tukey_hsd_of_many_queries_is_near_its_deals(monkeypatch):
    """The law that stands in for deals of large tables would be another, or have another variance."""
    table = _equal_systems(10, np.random.default_rng(1), 300)
    table[0] += 0.03
    dealt = tukey_hsd(table, resamples=40_000)
    monkeypatch.setattr("helpers.significance._DEALT", 0)
    law = tukey_hsd(table)
    assert law == pytest.approx(dealt, abs=0.008)  # three standard errors of .0025 at most
    assert 0.001 < law.min() < 0.2 < law.max()


def _equal_systems(count: int, rng: np.random.Generator, queries: int = 132) -> np.ndarray:
    """Return reciprocal ranks of systems that differ by chance alone, (count, queries); queries are easy or hard."""
    easy = rng.random((queries, 1)) + 0.35 * rng.standard_normal((queries, count))
    return (1 / np.ceil(1 / np.clip(easy, 0.02, 1))).T


def test_noninferiority_is_a_one_sided_t_test():
    """ "Loses no more than a margin" would be claimed on the evidence of another test."""
    first, second = _equal_systems(2, np.random.default_rng(5))
    result = noninferiority_test(first, second, 0.03)
    peer = stats.ttest_1samp(first - second, -0.03, alternative="greater")
    assert result.p_value == pytest.approx(float(peer.pvalue))
    assert result.low == pytest.approx(float(peer.confidence_interval(0.95).low))
    assert (result.difference, result.n) == (pytest.approx(float(np.mean(first - second))), 132)
    assert (result.low > -0.03) == (result.p_value < 0.05)
    assert noninferiority_test(first, first, 0.01)[3] == 0.0
    assert noninferiority_test(first - 0.02, first, 0.02).p_value == pytest.approx(1)
    with pytest.raises(ValueError, match="margin must be"):
        noninferiority_test(first, second, 0.0)


def test_sd_of_a_pilot_is_bounded_as_often_as_the_level_says():
    """Half of all pilots would ask for too few queries."""
    rng = np.random.default_rng(2)
    bounds = [sd_upper_bound(rng.normal(0, 0.3, 30).std(ddof=1), 30) for _ in range(2000)]
    assert np.mean(np.array(bounds) >= 0.3) == pytest.approx(0.8, abs=0.03)
    assert sd_upper_bound(0.3, 30, 0.9) > sd_upper_bound(0.3, 30) > 0.3


def test_numbers_of_lessons_come_from_the_stated_draws():
    """Other seeds or numbers of draws would move the last digits of every recorded table and interval."""
    first, second = np.tile(A, 3), np.tile(B, 3) + 0.05
    assert paired_test(first, second) == paired_test(first, second, resamples=250_000, seed=0)
    assert paired_test(first, second) != paired_test(first, second, seed=1)
    assert bootstrap_interval(A) == bootstrap_interval(A, level=0.95, resamples=10_000, seed=0)
    assert bootstrap_interval(A) != bootstrap_interval(A, seed=1)


def test_cheap_judge_is_corrected_by_its_mean_error():
    """Estimate or interval would not be those of the formula, worked here by hand for five queries, two read twice."""
    found = corrected_mean([0.5, 0.5, 1.0, 0.0, 1.0], [0.25, 1.0], [0, 4], level=0.9)
    # errors -1/4 and 0: mean -1/8, variance 1/32; careful values 1/4 and 1: variance 9/32; t of one degree: 6.3138
    half = 6.313751514675043 * np.sqrt(9 / 32 / 5 + 1 / 32 * (1 / 2 - 1 / 5))
    assert found == pytest.approx((0.6 - 0.125, 0.475 - half, 0.475 + half, 0.9, 5))


def test_all_queries_read_carefully_need_no_cheap_judge():
    """With every query read by both, the cheap judge would still move the interval from Student's."""
    found = corrected_mean(B, A, range(len(A)))
    known = stats.ttest_1samp(A, 0).confidence_interval()
    assert (found.mean, found.low, found.high) == pytest.approx((A.mean(), *known))
