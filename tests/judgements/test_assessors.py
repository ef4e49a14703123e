"""helpers.judgements.agreement: by hand, against scikit-learn, and its interval over queries."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from helpers.judgements import agreement, assessors


def labels(seed: int = 0, queries: int = 12, passages: int = 9) -> tuple[list[dict[int, int]], list[dict[int, int]]]:
    """Grades 0 to 3 of two assessors, who agree on about two pairs of three."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, (queries, passages))
    second = np.where(rng.random(first.shape) < 0.6, first, rng.integers(0, 4, first.shape))
    return [dict(enumerate(row.tolist())) for row in first], [dict(enumerate(row.tolist())) for row in second]


def flat(rows: list[dict[int, int]]) -> np.ndarray:
    """All grades in one row."""
    return np.array([grade for row in rows for grade in row.values()])


def test_kappa_by_hand():
    """Kappa would not be (observed - expected) / (1 - expected).

    Ten pairs: both relevant 4, both not 3, first alone 1, second alone 2. Observed .7; first says relevant .5, second
    .6, so expected .5 · .6 + .5 · .4 = .5, and kappa .2 / .5 = .4.
    """
    first = [{0: 1, 1: 1, 2: 1, 3: 1, 4: 1}, {0: 0, 1: 0, 2: 0, 3: 0, 4: 0}]
    second = [{0: 1, 1: 1, 2: 1, 3: 1, 4: 0}, {0: 0, 1: 0, 2: 0, 3: 1, 4: 1}]
    found = agreement(first, second)
    assert (found.observed, found.expected, found.kappa) == pytest.approx((0.7, 0.5, 0.4))
    assert found.table.tolist() == [[3, 2], [1, 4]]
    assert (found.pairs, found.queries, found.grades) == (10, 2, (0, 1))


def test_rows_and_their_numbers_as_ids_have_the_same_interval():
    """The same labels, read from a file the next time, would come out with other ends of the interval."""
    rows = labels()
    by_id = [{str(query): docs for query, docs in enumerate(grades)} for grades in rows]
    assert agreement(*rows).interval == agreement(*by_id).interval


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights):
    """Published agreement, computed elsewhere with scikit-learn, could not be compared with ours."""
    first, second = labels()
    found = agreement(first, second, weights)
    assert found.kappa == pytest.approx(cohen_kappa_score(flat(first), flat(second), weights=weights), abs=1e-12)
    found = agreement(first, second, weights, relevance_level=2)
    assert found.kappa == pytest.approx(cohen_kappa_score(flat(first) >= 2, flat(second) >= 2))


def test_weights_go_by_the_distance_of_grades():
    """With no pair at grade 2, a slip from 1 to 3 would cost as little as one from 0 to 1."""
    first = [{0: 0, 1: 1, 2: 3, 3: 3}, {0: 1, 1: 0}]
    second = [{0: 0, 1: 3, 2: 3, 3: 1}, {0: 1, 1: 1}]
    expected = cohen_kappa_score(flat(first), flat(second), weights="quadratic", labels=[0, 1, 2, 3])
    assert agreement(first, second, "quadratic").kappa == pytest.approx(expected)
    assert expected != pytest.approx(cohen_kappa_score(flat(first), flat(second), weights="quadratic"))


def test_only_pairs_of_both_count_whatever_their_order():
    """A second assessor who judged a part would be compared on what he never saw, or by position."""
    first = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 0}, "q3": {"z": 1}}
    second = {"q2": {"a": 0}, "q1": {"c": 2, "a": 0}}
    found = agreement(first, second)
    assert (found.pairs, found.queries) == (3, 2)
    assert found.kappa == pytest.approx(cohen_kappa_score([1, 2, 0], [0, 2, 0]))


@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_the_interval_is_the_percentile_bootstrap_over_queries(weights, monkeypatch):
    """The interval would be over pairs, and so too narrow, or at other percentiles."""
    first, second = labels(3, queries=6)
    monkeypatch.setattr(assessors, "RESAMPLES", 60)
    found = agreement(first, second, weights)
    kappas = []
    for times in np.random.default_rng(0).multinomial(6, np.full(6, 1 / 6), size=60):
        drawn = np.repeat(np.arange(6), times)
        ones, twos = (flat([side[query] for query in drawn]) for side in (first, second))
        kappas.append(cohen_kappa_score(ones, twos, weights=weights))
    assert found.interval == pytest.approx(tuple(np.percentile(kappas, [2.5, 97.5])), abs=1e-12)


def test_equal_labels_agree_completely_and_one_query_has_no_interval():
    """Rounding would put an end above 1, and a single query pretend to know how queries differ."""
    first, _ = labels()
    assert agreement(first, first).kappa == 1
    assert agreement(first, first).interval == (1, 1)
    assert np.isnan(agreement([{0: 1, 1: 0}], [{0: 1, 1: 1}]).interval).all()


def test_labels_that_cannot_agree_or_differ_are_refused():
    """The mistake would give a number, or an error that does not name it."""
    with pytest.raises(ValueError, match="No pair was graded by both"):
        agreement([{0: 1}], [{1: 1}])
    with pytest.raises(ValueError, match="kappa is not defined"):
        agreement([{0: 2}], [{0: 2}])
    with pytest.raises(TypeError, match=r"labels of query 0 must be a dict {passage: grade}, not 1"):
        agreement([{0: 1}, {0: 0}], [1, 0])
