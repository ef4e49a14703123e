"""helpers.significance: known intervals and p-values, coverage by simulation, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from helpers.significance import bootstrap_interval, paired_test, proportion_interval

A = np.array([0.5, 1.0, 0.25, 0.0, 1.0, 0.5, 0.33, 0.2])
B = np.array([0.25, 1.0, 0.0, 0.0, 0.5, 0.5, 0.2, 0.1])


def test_wilson_interval_of_97_in_100():
    """The interval quoted for recall@1 of .97 on 100 queries, .915 to .990, would not come out."""
    found = proportion_interval(np.r_[np.ones(97), np.zeros(3)])
    assert [round(found.mean, 3), round(found.low, 3), round(found.high, 3)] == [0.97, 0.915, 0.99]


def test_wilson_interval_by_its_formula():
    """The interval would not be Wilson's: (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)."""
    n, p, z = 30, 0.9, stats.norm.ppf(0.95)
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    found = proportion_interval(np.r_[np.ones(27), np.zeros(3)], level=0.9)
    assert (found.low, found.high) == pytest.approx(
        ((middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n))
    )


def test_bootstrap_repeats_and_follows_the_seed():
    """Recorded intervals would change from run to run, or the seed be ignored."""
    first = bootstrap_interval(A)
    assert first == bootstrap_interval(A)
    assert first != bootstrap_interval(A, seed=1)
    assert first.low < A.mean() < first.high


def test_bootstrap_agrees_with_normal_theory_on_many_values():
    """On 2,000 values the interval would be off the mean ± 1.96 standard errors."""
    values = np.random.default_rng(3).random(2000)
    found, error = bootstrap_interval(values, resamples=4000), values.std(ddof=1) / np.sqrt(2000)
    assert (found.low, found.high) == pytest.approx(
        (values.mean() - 1.96 * error, values.mean() + 1.96 * error), abs=8e-4
    )


def test_bootstrap_covers_the_truth_as_often_as_it_says():
    """An interval at level .9 would miss the true mean far more or less often than one time in ten."""
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(300):
        found = bootstrap_interval(rng.random(40), level=0.9, resamples=400)
        inside += found.low <= 0.5 <= found.high
    assert 250 <= inside <= 287  # 270 expected, standard deviation 5.2


def test_equal_values_have_no_width():
    """Values that are all equal would give NaN."""
    found = bootstrap_interval([1.0, 1.0, 1.0])
    assert (found.low, found.high) == (1, 1)


def test_exact_randomisation_by_enumeration():
    """With eight queries the p-value would not be the share of the 256 swaps at least as extreme."""
    signs = np.array(np.meshgrid(*[[1, -1]] * 8)).reshape(8, -1)
    sums = np.abs(signs.T @ (A - B))
    share = np.mean(sums >= abs((A - B).sum()) - 1e-12)
    found = paired_test(A, B)
    assert found.p_value == pytest.approx(share)
    assert found.difference == pytest.approx((A - B).mean())


def test_t_test_by_its_formula():
    """The t test would not be the paired one."""
    d = A - B
    t = d.mean() / (d.std(ddof=1) / np.sqrt(8))
    assert paired_test(A, B, "t").p_value == pytest.approx(2 * stats.t.sf(t, 7))


def test_sampled_randomisation_is_near_t_and_repeats():
    """On many queries the sampled test would differ from the t test, or from itself."""
    rng = np.random.default_rng(5)
    a = rng.random(500)
    b = a + rng.normal(0.01, 0.1, 500)
    found = paired_test(a, b)
    assert found == paired_test(a, b)
    assert found.p_value == pytest.approx(paired_test(a, b, "t").p_value, abs=0.02)


def test_equal_systems_do_not_differ():
    """Two equal systems would give NaN, or a small p-value."""
    assert paired_test(A, A).p_value == paired_test(A, A, "t").p_value == 1


def test_false_alarms_come_at_the_nominal_rate():
    """Two systems of the same quality would be told apart more often than one time in twenty."""
    rng = np.random.default_rng(6)
    alarms = sum(paired_test(rng.random(12), rng.random(12), resamples=500).p_value < 0.05 for _ in range(300))
    assert 4 <= alarms <= 28  # 15 expected, standard deviation 3.8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_interval([0.5]), "at least two"),
        (lambda: bootstrap_interval([[0.5, 0.6]]), "shape"),
        (lambda: bootstrap_interval([0.5, np.nan]), "not finite: nan"),
        (lambda: bootstrap_interval(A, level=95), "between 0 and 1"),
        (lambda: proportion_interval(A), "values of 0 and 1"),
        (lambda: paired_test(A, B[:-1]), "a has 8 values and b 7"),
        (lambda: paired_test(A, B, "wilcoxon"), "wilcoxon"),
        (lambda: paired_test([1.0, 1.0], [0.0, 0.0], "t"), "differences that vary"),
    ],
)
def test_bad_input_is_refused(call, message):
    """The mistake would give a number, or an error that does not name it."""
    with pytest.raises(ValueError, match=message):
        call()
