"""The accepted forms, the order that scores give, and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from helpers import metrics as lib
from helpers.metrics import evaluate, find_hits, inputs
from tests.growth import assert_linear, work
from tests.metrics.samples import RELEVANT, RETRIEVED


def test_scores_are_compared_in_single_precision():
    """Scores that trec_eval cannot tell apart would be ordered all the same."""
    run = {"q": {"a": 1.0 + 1e-12, "b": 1.0}}
    assert evaluate(run, {"q": {"a": 1}}, "mrr@2").mean["mrr@2"] == 0.5
    result = evaluate(np.array([[1, 2]]), [{1: 1}], "mrr@2", scores=np.array([[1.0 + 1e-12, 1.0]]))
    assert (result.mean["mrr@2"], result.tied) == (0.5, 1)


def test_scores_give_the_order_of_a_plain_sort(monkeypatch):
    """Rankings with ties, rising scores, padding or infinite scores would be ordered unlike trec_eval's rule."""
    monkeypatch.setattr(inputs, "BLOCK", 500)
    rng = np.random.default_rng(7)
    ids = np.array([rng.permutation(2000)[:50] for _ in range(60)])
    scores = rng.integers(0, 12, ids.shape).astype(np.float32)
    scores[rng.random(ids.shape) < 0.05] = np.inf
    scores[rng.random(ids.shape) < 0.05] = -np.inf
    scores[:20] = -np.sort(-scores[:20], axis=1)
    for row in range(10, 40):
        ids[row, rng.integers(1, 50) :] = -1
    names = [f"{'abc'[row % 3]}{row}" for row in range(2000)]
    rows = [[doc for doc in ranking if doc >= 0] for ranking in ids.tolist()]
    grades = [{doc: number for number, doc in enumerate(docs)} for docs in rows]  # which tell a document
    for doc_ids in (None, names):
        hits = find_hits(ids, grades, None, scores=scores, doc_ids=doc_ids)
        for query, (docs, values) in enumerate(zip(rows, scores.tolist(), strict=True)):
            pairs = [(value, str((doc_ids or range(2000))[doc]), doc) for doc, value in zip(docs, values, strict=False)]
            found = [docs[number] for number in hits.judged.grade[hits.judged.query == query]]
            assert found == [doc for *_, doc in sorted(pairs, reverse=True)]
        assert hits.tied == sum(
            len({s for d, s in zip(docs, values, strict=True) if d >= 0}) < sum(d >= 0 for d in docs)
            for docs, values in zip(ids.tolist(), scores.tolist(), strict=True)
        )


@pytest.mark.filterwarnings("error")
def test_one_score_that_rises_is_enough_to_sort():
    """A ranking whose scores rise only near its end would keep its order, or be taken for one of distances."""
    hits = find_hits(np.array([[7, 8, 9]]), [{7: 7, 8: 8, 9: 9}], scores=np.array([[3.0, 1.0, 2.0]]), depth=3)
    assert hits.judged.grade.tolist() == [7, 9, 8]


def test_whole_grades_may_be_floats():
    """A table in which pandas made the grades 1.0 and 2.0 would be scored as another."""
    grades = {"a": 2, "b": 1}
    floats = {doc: float(grade) for doc, grade in grades.items()}
    expected, found = (evaluate({"q": {"b": 2, "a": 1}}, {"q": given}, "ndcg@2") for given in (grades, floats))
    assert found.mean == expected.mean


def test_padding_is_not_a_document():
    """FAISS padding would count as retrieved, or an all-padding row as answered."""
    ids = np.array([[3, -1, -1], [-1, -1, -1]])
    result = evaluate(ids, [{3: 1}, {4: 1}], ["recall@3", "judged@3"])
    assert result.per_query["recall@3"].tolist() == [1, 0]
    assert result.per_query["judged@3"].tolist() == [1, 0]
    assert result.missing == 1
    assert evaluate({"q": {-1: 0.5, 3: 0.4}}, {"q": {3: 1}}, "mrr@1").mean["mrr@1"] == 1


def test_rankings_without_a_place_score_zero():
    """A search that returned nothing at all would end in an error about something else."""
    with pytest.warns(UserWarning, match="hold 0 places"):
        result = evaluate(np.zeros((2, 0), np.int64), [{3: 1}, {4: 2}], ["recall@3", "ndcg@3", "rprec"])
    assert result.mean == {"recall@3": 0, "ndcg@3": 0, "rprec": 0}
    assert result.missing == 2


IMPOSSIBLE = [  # a ValueError, and what it says
    (lambda: evaluate(RETRIEVED[:2], RELEVANT, "recall@1"), "2 rankings for 3"),
    (lambda: evaluate(np.array([[1, 2, 1]]), [{1: 1}], "recall@3"), "1 twice"),
    (lambda: evaluate([[1, 2, 1]], [{1: 1}], "recall@3"), "1 twice"),
    (lambda: evaluate(np.array([[1, 2, 2]]), [{1: 1}], "recall@3"), "2 twice"),
    (lambda: evaluate(np.array([[1, -1, 2]]), [{1: 1}], "recall@3"), "padding"),
    (lambda: evaluate([[1, -1, 2]], [{1: 1}], "recall@3"), "padding"),
    (lambda: evaluate([[1]], [{1: math.nan}], "recall@1"), "whole number, not nan"),
    (lambda: evaluate([[1]], [{1: 10**400}], "recall@1"), "whole number, not 10{39}: 0 is"),
    (lambda: evaluate([[1]], [{1: 0.5}], "recall@1"), "whole number, not 0.5"),
    (lambda: evaluate([[1]], [{1: 1.5 * 2**31}], "recall@1"), "number, not 3221225472.0"),
    (lambda: evaluate([[1]], [{1: -(1.5 * 2**31)}], "recall@1"), "number, not -322"),
    (lambda: evaluate([[1]], [{1: "1"}], "recall@1"), "whole number, not '1'"),
    (lambda: evaluate([[1]], [[1]], "recall@0"), "at least 1, not '0'"),
    (lambda: evaluate([[1]], [[1]], ["recall"], [2.5]), "at least 1, not 2.5"),
    (lambda: lib.recall([[1]], [[1]], True), "at least 1, not True"),
    (lambda: evaluate([[1]], [[1]], "recall"), "needs a cutoff"),
    (lambda: evaluate([[1]], [[1]], "f1@3"), "Unknown metric 'f1@3'"),
    (lambda: evaluate([[1]], [[1]], "rprec@3"), "no cutoff"),
    (lambda: evaluate([[1]], [[1]], []), "No metric"),
    (lambda: evaluate([], [], "recall@1"), "qrels is empty"),
    (lambda: evaluate([[1]], [{1: 0}], "recall@1", no_relevant="skip"), "none is left"),
    (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[0.5]])), "must agree"),
    (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[0.5, math.nan]])), "NaN"),
    (lambda: evaluate({"q": {"d": math.nan}}, {"q": ["d"]}, "recall@1"), "NaN"),
    (lambda: evaluate([[1]], [[1, 1]], "recall@1"), "twice for query number 0"),
    (lambda: evaluate(np.array([[1]]), [{-1: 1}], "recall@1"), "padding"),
    (lambda: evaluate([[1]], [[1]], "ndcg@1", gain="squared"), "squared"),
    (lambda: evaluate([[1]], [[1]], "ndcg@1", no_relevant="drop"), "drop"),
    (lambda: evaluate([[1]], [{1: 0}], "recall@1", relevance_level=0), "at least 1, not 0"),
    (lambda: evaluate([[1]], [[1]], "recall@1", relevance_level=True), "not True"),
    (lambda: lib.Judgements.of([[1]], 1.5), "at least 1, not 1.5"),
    (lambda: lib.r_precision([[1]], [[1]], 3), "no cutoff"),
    (lambda: lib.rbp([[1]], [[1]], persistence=1), "between 0 and 1, not 1"),
    (lambda: lib.err([[1]], [{1: 3}], max_grade=2), "max_grade is 2, .* judged 3"),
    (lambda: evaluate(np.array([[1, -1, 2]]), [{1: 1}], "recall@2", scores=np.array([[0.3, 0.9, 0.5]])), "has padding"),
    (lambda: evaluate(np.array([[1, 2, 1]]), [{1: 1}], "recall@2", scores=np.array([[0.3, 0.9, 0.5]])), "1 twice"),
    (lambda: lib.recall(find_hits([[1]], [[1]], 1), k=2), "reach rank 1, rank 2 .*take depth=2"),
    (lambda: evaluate(np.array([[0, 1]]), [[0]], "mrr@2", scores=np.ones((1, 2)), doc_ids=["a"]), "id of every row"),
    (lambda: evaluate(np.array([[0, 1]]), [[0]], "mrr@2", doc_ids=["a", "b"]), "id of every row"),
    (lambda: evaluate([[0, 1]], [[0]], "mrr@2", doc_ids=["a", "b"]), "id of every row"),
]
MISTAKEN = [  # a TypeError, and what it says
    (lambda: evaluate(np.array([[1]]), [{"1": 1}], "recall@1"), "'1' \\(str\\)"),
    (lambda: evaluate([["1"]], [{1: 1}], "recall@1"), "ranking are text"),
    (lambda: evaluate({"q": ["1"]}, {"q": {1: 1}}, "recall@1"), "ranking are text"),
    (lambda: evaluate(np.array([[0.9, 0.8]]), [{1: 1}], "recall@1"), "look like scores"),
    (lambda: evaluate([[0.9, 0.8]], [{1: 1}], "recall@1"), "look like scores"),
    (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[1, 2]])), "are these ids"),
    (lambda: evaluate({"q": ["d"]}, [["d"]], "recall@1"), "keyed by query"),
    (lambda: evaluate([["d"]], {"q": ["d"]}, "recall@1"), "keyed by query"),
    (lambda: lib.recall([[1, 2]]), "give the judgements"),
    (lambda: evaluate([[1]], [1], "recall@1"), "found int"),
    (lambda: evaluate([["d"]], ["d"], "recall@1"), "found str"),
    (lambda: evaluate(["d1"], [["d1"]], "recall@1"), "expected a list of ids"),
    (lambda: evaluate(np.array([1, 2]), [[1], [2]], "recall@1"), "shape \\(2,\\)"),
    (lambda: lib.recall(find_hits([[1]], [[1]]), [[1]]), "without qrels"),
    (lambda: evaluate(find_hits([[1]], [[1]]), [[1]], "recall@1"), "without qrels"),
    (lambda: lib.recall([[1]], 5), "qrels is 5"),
    (lambda: evaluate([[1]], [[1]], "rbp@1", p=0.5), "'p'.*gain, max_grade, persistence"),
    (lambda: lib.recall([[1]], [[1]], gain="linear"), "gain"),
]


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [*((ValueError, *row) for row in IMPOSSIBLE), *((TypeError, *row) for row in MISTAKEN)],
)
def test_bad_input_is_refused(error, call, message):
    """The mistake would give a number, or an error that does not name it."""
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate(np.array([[1, 2]]), [{7: 1}], "recall@1"), "No document of the run"),
        (lambda: evaluate({"q": ["d1"]}, {"q": ["D1"]}, "recall@1"), "No document of the run"),
        (lambda: evaluate({"q": ["e\u0301"]}, {"q": ["\xe9"]}, "mrr@1"), r"'e\\u0301' against '\\xe9'.*form, NFC"),
        (lambda: evaluate({"1": ["d1"]}, {"q1": ["d1"]}, "recall@1"), "No query of the run"),
        (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@10"), "hold 2 places"),
        (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], ["recall@9", "rprec"]), "a cutoff of 9 sees no more"),
        (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "mrr@2", scores=np.array([[0.1, 0.4]])), "distances"),
    ],
)
def test_suspicious_input_warns(call, message):
    """Ids that never meet, a cutoff beyond the ranking or distances for scores would pass unnoticed."""
    with pytest.warns(UserWarning, match=message):
        call()


@pytest.mark.filterwarnings("error")
def test_low_ranked_overlap_does_not_warn():
    """A weak but sound ranking would be called a mismatch of ids because its hits lie beyond the cutoff."""
    assert evaluate(np.array([[1, 2]]), [{2: 1}], "recall@1").mean["recall@1"] == 0


def test_warnings_name_the_callers_line():
    """A warning would point into this package, where the caller cannot do anything about it."""
    for call in (
        lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@10"),
        lambda: lib.recall(np.array([[1, 2]]), [{1: 1}]),
        lambda: find_hits([[1]], [[2]]),
        lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "mrr@2", scores=np.array([[0.1, 0.4]])),
    ):
        with pytest.warns(UserWarning, match="hold|occurs|distances") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def scoring(queries: int, documents: int, distinct: int) -> Callable[[], object]:
    """Score a run as dicts whose documents have so many distinct scores."""
    run = {f"d{n}": float(n * 7919 % documents % distinct) for n in range(documents)}
    runs, qrels = ({f"q{n}": docs for n in range(queries)} for docs in (run, {"d7": 1, "d9": 2, "none": 1}))
    return lambda: evaluate(runs, qrels, ["ndcg@10", "recall@100"])


@pytest.mark.parametrize("distinct", [3, 10**6])
def test_twice_the_run_is_twice_the_work(distinct):
    """Runs of many queries, or of many documents with equal scores, would take hours."""
    assert_linear(lambda queries: scoring(queries, 50, distinct), 64)
    assert_linear(lambda documents: scoring(4, documents, distinct), 2_000)


def test_documents_of_a_run_are_ordered_without_a_line_of_python_for_each():
    """A thousand documents a query would be sorted by keys of Python, half of the time of an evaluation."""
    assert work(scoring(1, 4_000, 10**6)).lines < 1_000
