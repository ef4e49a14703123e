"""helpers.judgements.pooling: by hand, and against `evaluate` on the judgements that are left."""

import numpy as np
import pytest

from helpers.judgements import condense, leave_one_out, pool, unjudged
from helpers.metrics import evaluate
from helpers.significance import kendall_tau

A = [[3, 1, 7], [2, -1, -1]]
B = [[1, 9, 3], [4, 2, 5]]


def test_pool_is_the_union_of_the_tops():
    """Passages below the depth would be judged, padding be a passage, or the order give the systems away."""
    assert pool({"a": A, "b": B}, 2) == [[1, 3, 9], [2, 4]]
    assert pool({"a": A, "b": B}, 1) == [[1, 3], [2, 4]]


def test_unjudged_names_what_to_judge_next():
    """The list would miss a passage, name one below the cutoff, or count a grade of 0 as no judgement."""
    found = unjudged([[5, 6, 7, 8], [1, 2, -1, -1], [-1, -1, -1, -1]], [{6: 0, 5: 2}, {3: 1}, {3: 1}], 3)
    assert found.ids == [[7], [1, 2], []]
    assert found.per_query.tolist() == [pytest.approx(1 / 3), 1, 0]
    assert found.mean == pytest.approx(4 / 9)


def test_condensed_list_by_hand():
    """A judged passage would be lost or moved over another, or an unjudged one stay."""
    assert condense([[5, 6, 7, 8], [1, 2, -1, -1]], [{8: 0, 6: 3}, {4: 1}]).tolist() == [[6, 8, -1, -1], [-1] * 4]
    assert condense([[1, 2]], [{2: -1}]).tolist() == [[2, -1]]  # a negative grade is a judgement too


def test_leave_one_out_is_evaluate_on_the_judgements_that_the_others_pooled():
    """A system would keep judgements that exist for its sake, or lose some of others; tau be of other orders."""
    rng, depth = np.random.default_rng(0), 6
    rankings = {name: np.array([rng.permutation(40)[:12] for _ in range(20)]) for name in ("one", "two", "three")}
    for ids in rankings.values():
        ids[0, 4:] = -1
    qrels = [{doc: int(rng.integers(0, 4)) for doc in docs} for docs in pool(rankings, depth)]
    found = leave_one_out(rankings, qrels, depth)
    full = {name: evaluate(ids, qrels, "ndcg@10").mean["ndcg@10"] for name, ids in rankings.items()}
    for left_out, result in found.systems.items():
        others = pool({name: ids for name, ids in rankings.items() if name != left_out}, depth)
        fewer = [{doc: g for doc, g in row.items() if doc in kept} for row, kept in zip(qrels, others, strict=True)]
        assert result.unique == sum(map(len, qrels)) - sum(map(len, fewer)) > 0
        assert result.full == full[left_out]
        assert result.without == evaluate(rankings[left_out], fewer, "ndcg@10").mean["ndcg@10"]
    assert found.tau == pytest.approx(kendall_tau(full, {n: s.without for n, s in found.systems.items()}))


def test_judgements_that_nobody_pooled_stay():
    """Judgements made with the queries, before any pool, would be taken for a system's own."""
    found = leave_one_out({"a": [[1, 2]], "b": [[2, 3]]}, [{1: 1, 2: 1, 3: 0, 8: 1, 9: 2}], 2, "recall@2")
    assert found.systems["a"].without == pytest.approx(1 / 3)  # of 2, 8 and 9, it finds 2


def test_a_twin_hides_what_a_family_shows():
    """Two poolings of one model vouch for each other: without families their judgements would look independent."""
    rankings = {"mean": [[1, 2]], "cls": [[2, 1]], "bm25": [[2, 3]]}
    qrels = [{1: 1, 2: 1, 3: 0}]
    alone = leave_one_out(rankings, qrels, 2, "mrr@1").systems
    assert [alone[name].unique for name in rankings] == [0, 0, 1]
    together = leave_one_out(rankings, qrels, 2, "recall@2", families={"mean": "MiniLM", "cls": "MiniLM"}).systems
    assert [together[name].unique for name in rankings] == [1, 1, 1]
    assert together["mean"].full == together["mean"].without == 1  # 1 of 1, after 2 of 2


def test_options_of_evaluate_reach_it():
    """The relevance level would be ignored, and a near miss count as an answer."""
    rankings, qrels = {"a": [[1, 2]], "b": [[2, 3]]}, [{1: 1, 2: 2, 3: 0}]
    assert leave_one_out(rankings, qrels, 2, "mrr@2", relevance_level=2).systems["a"].full == 0.5


def test_systems_that_all_score_the_same_have_no_order():
    """A tau of 1 would be claimed where there is nothing to compare, or two equal systems end in an error."""
    found = leave_one_out({"a": A, "b": A}, [{1: 1}, {2: 1}], 2, "mrr@2")
    assert np.isnan(found.tau)
    assert {system.move for system in found.systems.values()} == {0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pool({"a": A}, 0), "A cutoff must be a whole number"),
        (lambda: pool({"a": A, "b": B}, 4), "'a' has 3 ranks, fewer than the depth 4"),
        (lambda: pool({"a": A, "b": B[:1]}, 2), "different numbers of queries, {'a': 2, 'b': 1}"),
        (lambda: pool({"a": (np.ones((2, 3)), np.ones((2, 3)))}, 2), "ranking.ids"),
        (lambda: unjudged([[0.5, 0.2]], [{}], 2), "must be integers"),
        (lambda: unjudged(A, [{}], 2), "ids ranks 2 queries, but qrels judge 1"),
        (lambda: unjudged(A, [{}, {}], 0), "A cutoff must be a whole number"),
        (lambda: condense(A, [{}]), "give one dict per query"),
        (lambda: leave_one_out({"a": A, "b": B}, [{1: 1}], 2), "but qrels judge 1"),
    ],
)
def test_bad_input_is_refused(call, message):
    """The mistake would give a number, or an error that does not name it."""
    with pytest.raises(ValueError, match=message):
        call()
