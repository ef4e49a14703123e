"""The accepted forms, the order that scores give, and bad input."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from helpers import metrics as lib
from helpers.metrics import evaluate, find_hits, lookup
from helpers.metrics.inputs import order_rows
from tests.metrics.samples import RELEVANT, RETRIEVED


def test_ties_follow_trec_eval_and_are_counted():
    """Tied documents would keep the order given, or the text 9 would stand below the text 10."""
    ids, scores = np.array([[10, 9, 5], [1, 2, 3]]), np.array([[0.5, 0.5, 0.1], [0.9, 0.8, 0.7]], np.float32)
    result = evaluate(ids, [{10: 1}, {1: 1}], ["mrr@3"], scores=scores)
    assert result.per_query["mrr@3"].tolist() == [0.5, 1.0]
    assert result.tied == 1
    assert evaluate(ids, [{10: 1}, {1: 1}], ["mrr@3"]).per_query["mrr@3"].tolist() == [1.0, 1.0]
    run = {"a": {"10": 0.5, "9": 0.5, "5": 0.1}}
    assert evaluate(run, {"a": {"10": 1}}, "mrr@3").mean == {"mrr@3": 0.5}


def test_scores_are_compared_in_single_precision():
    """Scores that trec_eval cannot tell apart would be ordered all the same."""
    run = {"q": {"a": 1.0 + 1e-12, "b": 1.0}}
    assert evaluate(run, {"q": {"a": 1}}, "mrr@2").mean["mrr@2"] == 0.5
    result = evaluate(np.array([[1, 2]]), [{1: 1}], "mrr@2", scores=np.array([[1.0 + 1e-12, 1.0]]))
    assert (result.mean["mrr@2"], result.tied) == (0.5, 1)


def test_scores_give_the_order_of_a_plain_sort(monkeypatch):
    """Rankings with ties, rising scores, padding or infinite scores would be ordered unlike trec_eval's rule."""
    monkeypatch.setattr(lookup, "BLOCK", 500)
    rng = np.random.default_rng(7)
    ids = np.array([rng.permutation(2000)[:50] for _ in range(60)])
    scores = rng.integers(0, 12, ids.shape).astype(np.float32)
    scores[rng.random(ids.shape) < 0.05] = np.inf
    scores[rng.random(ids.shape) < 0.05] = -np.inf
    scores[:20] = -np.sort(-scores[:20], axis=1)
    for row in range(10, 40):
        ids[row, rng.integers(1, 50) :] = -1
    names = [f"{'abc'[row % 3]}{row}" for row in range(2000)]
    for text_of in (str, names.__getitem__):
        ordered, tied = order_rows(ids, scores, text_of)
        for ranking, values, got in zip(ids.tolist(), scores.tolist(), ordered.tolist(), strict=True):
            pairs = [(value, text_of(doc), doc) for doc, value in zip(ranking, values, strict=True) if doc >= 0]
            assert [doc for doc in got if doc >= 0] == [doc for *_, doc in sorted(pairs, reverse=True)]
        assert tied == sum(
            len({s for d, s in zip(docs, values, strict=True) if d >= 0}) < sum(d >= 0 for d in docs)
            for docs, values in zip(ids.tolist(), scores.tolist(), strict=True)
        )


def test_rankings_in_order_are_not_copied():
    """A search result as FAISS returns it would be copied for nothing."""
    ids, scores = np.array([[3, 1, -1], [2, 1, 0]]), np.array([[0.5, 0.4, -np.inf], [0.9, 0.8, 0.7]])
    assert order_rows(ids, scores, str)[0] is ids


def test_ties_break_by_document_id_where_known():
    """Tied rows would be ordered by row number although the ids of the documents are known."""
    ids, scores = np.array([[0, 1, 2]]), np.full((1, 3), 0.5)
    by_row = evaluate(ids, [{0: 1}], "mrr@3", scores=scores)
    by_id = evaluate(ids, [{0: 1}], "mrr@3", scores=scores, doc_ids=["z", "b", "c"])
    assert (by_row.mean["mrr@3"], by_id.mean["mrr@3"], by_id.tied) == (1 / 3, 1, 1)
    assert find_hits(ids, [{0: 1}], 3, scores=scores, doc_ids=["b", "z", "a"]).relevant.rank.tolist() == [2]


def test_padding_is_not_a_document():
    """FAISS padding would count as retrieved, or an all-padding row as answered."""
    ids = np.array([[3, -1, -1], [-1, -1, -1]])
    result = evaluate(ids, [{3: 1}, {4: 1}], ["recall@3", "judged@3"])
    assert result.per_query["recall@3"].tolist() == [1, 0]
    assert result.per_query["judged@3"].tolist() == [1, 0]
    assert result.missing == 1


def test_rankings_without_a_place_score_zero():
    """A search that returned nothing at all would end in an error about something else."""
    with pytest.warns(UserWarning, match="hold 0 places"):
        result = evaluate(np.zeros((2, 0), np.int64), [{3: 1}, {4: 2}], ["recall@3", "ndcg@3", "rprec"])
    assert result.mean == {"recall@3": 0, "ndcg@3": 0, "rprec": 0}
    assert result.missing == 2


BAD_CALLS = {
    "too few rankings": (lambda: evaluate(RETRIEVED[:2], RELEVANT, "recall@1"), ValueError, "2 rankings for 3"),
    "repeated id, array": (lambda: evaluate(np.array([[1, 2, 1]]), [{1: 1}], "recall@3"), ValueError, "1 twice"),
    "repeated id, list": (lambda: evaluate([[1, 2, 1]], [{1: 1}], "recall@3"), ValueError, "1 twice"),
    "repeated unjudged id": (lambda: evaluate(np.array([[1, 2, 2]]), [{1: 1}], "recall@3"), ValueError, "2 twice"),
    "padding inside": (lambda: evaluate(np.array([[1, -1, 2]]), [{1: 1}], "recall@3"), ValueError, "padding"),
    "padding inside a list": (lambda: evaluate([[1, -1, 2]], [{1: 1}], "recall@3"), ValueError, "padding"),
    "grade NaN": (lambda: evaluate([[1]], [{1: math.nan}], "recall@1"), ValueError, "whole number, not nan"),
    "grade of 400 digits": (lambda: evaluate([[1]], [{1: 10**400}], "recall@1"), ValueError, "whole number, not 1000"),
    "grade fraction": (lambda: evaluate([[1]], [{1: 0.5}], "recall@1"), ValueError, "whole number, not 0.5"),
    "grade of 33 bits": (
        lambda: evaluate([[1]], [{1: 1.5 * 2**31}], "recall@1"),
        ValueError,
        "number, not 3221225472.0",
    ),
    "grade of 33 bits, negative": (lambda: evaluate([[1]], [{1: -(1.5 * 2**31)}], "recall@1"), ValueError, "not -322"),
    "grade text": (lambda: evaluate([[1]], [{1: "1"}], "recall@1"), ValueError, "whole number, not '1'"),
    "k is 0": (lambda: evaluate([[1]], [[1]], "recall@0"), ValueError, "at least 1, not '0'"),
    "k is a fraction": (lambda: evaluate([[1]], [[1]], ["recall"], [2.5]), ValueError, "at least 1, not 2.5"),
    "k is True": (lambda: lib.recall([[1]], [[1]], True), ValueError, "at least 1, not True"),
    "k is negative": (lambda: lib.ndcg([[1]], [[1]], -3), ValueError, "at least 1, not -3"),
    "no cutoff": (lambda: evaluate([[1]], [[1]], "recall"), ValueError, "needs a cutoff"),
    "unknown metric": (lambda: evaluate([[1]], [[1]], "f1@3"), ValueError, "Unknown metric 'f1@3'"),
    "R-precision with cutoff": (lambda: evaluate([[1]], [[1]], "rprec@3"), ValueError, "no cutoff"),
    "no metric": (lambda: evaluate([[1]], [[1]], []), ValueError, "No metric"),
    "empty qrels list": (lambda: evaluate([], [], "recall@1"), ValueError, "qrels is empty"),
    "empty qrels dict": (lambda: evaluate({"q": ["d"]}, {}, "recall@1"), ValueError, "qrels is empty"),
    "nothing relevant left": (
        lambda: evaluate([[1]], [{1: 0}], "recall@1", no_relevant="skip"),
        ValueError,
        "none is left",
    ),
    "text judged, rows ranked": (lambda: evaluate(np.array([[1]]), [{"1": 1}], "recall@1"), TypeError, "'1' \\(str\\)"),
    "text ranked, rows judged": (lambda: evaluate([["1"]], [{1: 1}], "recall@1"), TypeError, "ranking are text"),
    "text in a run, numbers judged": (
        lambda: evaluate({"q": ["1"]}, {"q": {1: 1}}, "recall@1"),
        TypeError,
        "ranking are text",
    ),
    "scores for ids": (lambda: evaluate(np.array([[0.9, 0.8]]), [{1: 1}], "recall@1"), TypeError, "look like scores"),
    "scores for ids, lists": (lambda: evaluate([[0.9, 0.8]], [{1: 1}], "recall@1"), TypeError, "look like scores"),
    "ids for scores": (
        lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[1, 2]])),
        TypeError,
        "are these ids",
    ),
    "scores of another shape": (
        lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[0.5]])),
        ValueError,
        "must agree",
    ),
    "score NaN": (
        lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@1", scores=np.array([[0.5, math.nan]])),
        ValueError,
        "NaN",
    ),
    "score NaN in a run": (lambda: evaluate({"q": {"d": math.nan}}, {"q": ["d"]}, "recall@1"), ValueError, "NaN"),
    "run against list": (lambda: evaluate({"q": ["d"]}, [["d"]], "recall@1"), TypeError, "keyed by query"),
    "list against dict": (lambda: evaluate([["d"]], {"q": ["d"]}, "recall@1"), TypeError, "keyed by query"),
    "no judgements": (lambda: lib.recall([[1, 2]]), TypeError, "give the judgements"),
    "one id instead of a list": (lambda: evaluate([[1]], [1], "recall@1"), TypeError, "found int"),
    "text instead of a list": (lambda: evaluate([["d"]], ["d"], "recall@1"), TypeError, "found str"),
    "ranking is text": (lambda: evaluate(["d1"], [["d1"]], "recall@1"), TypeError, "expected a list of ids"),
    "judged twice": (lambda: evaluate([[1]], [[1, 1]], "recall@1"), ValueError, "twice for query number 0"),
    "negative judged row": (lambda: evaluate(np.array([[1]]), [{-1: 1}], "recall@1"), ValueError, "padding"),
    "flat array": (lambda: evaluate(np.array([1, 2]), [[1], [2]], "recall@1"), TypeError, "shape \\(2,\\)"),
    "unknown gain": (lambda: evaluate([[1]], [[1]], "ndcg@1", gain="squared"), ValueError, "squared"),
    "unknown rule": (lambda: evaluate([[1]], [[1]], "ndcg@1", no_relevant="drop"), ValueError, "drop"),
    "level is 0": (lambda: evaluate([[1]], [{1: 0}], "recall@1", relevance_level=0), ValueError, "at least 1, not 0"),
    "level is True": (lambda: evaluate([[1]], [[1]], "recall@1", relevance_level=True), ValueError, "not True"),
    "level is a fraction": (lambda: lib.Judgements.of([[1]], 1.5), ValueError, "at least 1, not 1.5"),
    "cutoff of a function that takes none": (lambda: lib.r_precision([[1]], [[1]], 3), ValueError, "no cutoff"),
    "qrels beside hits": (lambda: lib.recall(find_hits([[1]], [[1]]), [[1]]), TypeError, "without qrels"),
    "cutoff for qrels": (lambda: lib.recall([[1]], 5), TypeError, "qrels is 5"),
    "unknown option": (lambda: evaluate([[1]], [[1]], "rbp@1", p=0.5), TypeError, "'p'.*gain, max_grade, persistence"),
    "option of another metric": (lambda: lib.recall([[1]], [[1]], gain="linear"), TypeError, "gain"),
    "persistence of 1": (lambda: lib.rbp([[1]], [[1]], persistence=1), ValueError, "between 0 and 1, not 1"),
    "grade beyond the scale": (
        lambda: lib.err([[1]], [{1: 3}], max_grade=2),
        ValueError,
        "max_grade is 2, .* judged 3",
    ),
    "too few document ids": (
        lambda: evaluate(np.array([[7]]), [[7]], "mrr@1", scores=np.ones((1, 1)), doc_ids=["a"] * 7),
        ValueError,
        "names 7 documents, .* holds row 7",
    ),
    "document ids without scores": (
        lambda: evaluate(np.array([[0]]), [[0]], "mrr@1", doc_ids=["a"]),
        ValueError,
        "give `scores` as well",
    ),
    "document ids for a run": (
        lambda: evaluate({"q": {"d": 1.0}}, {"q": ["d"]}, "mrr@1", doc_ids=["d"]),
        ValueError,
        "holds its ids itself",
    ),
    "padding inside, with scores": (
        lambda: evaluate(np.array([[1, -1, 2, 3]]), [{1: 1}], "recall@3", scores=np.array([[0.3, 0.9, 0.5, 0.6]])),
        ValueError,
        "query 0 has padding",
    ),
    "repeated id, with scores": (
        lambda: evaluate(np.array([[1, 2, 1]]), [{1: 1}], "recall@2", scores=np.array([[0.3, 0.9, 0.5]])),
        ValueError,
        "1 twice",
    ),
    "hits too shallow": (lambda: lib.recall(find_hits([[1]], [[1]], 1), k=2), ValueError, "reach rank 1"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_input_is_refused(name):
    """The mistake would give a number, or an error that does not name it."""
    call, error, message = BAD_CALLS[name]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate(np.array([[1, 2]]), [{7: 1}], "recall@1"), "No document of the run"),
        (lambda: evaluate({"q": ["d1"]}, {"q": ["D1"]}, "recall@1"), "No document of the run"),
        (lambda: evaluate({"1": ["d1"]}, {"q1": ["d1"]}, "recall@1"), "No query of the run"),
        (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "recall@10"), "hold 2 places"),
        (lambda: evaluate(np.array([[1, 2]]), [{1: 1}], "mrr@2", scores=np.array([[0.1, 0.4]])), "distances"),
    ],
)
def test_suspicious_input_warns(call, message):
    """Ids that never meet, a cutoff beyond the ranking or distances for scores would pass unnoticed."""
    with pytest.warns(UserWarning, match=message):
        call()


def test_low_ranked_overlap_does_not_warn():
    """A weak but sound ranking would be called a mismatch of ids because its hits lie beyond the cutoff."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
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


def test_padding_of_a_scored_run_counts_as_no_document():
    """FAISS's -1 would take the first rank, and MRR halve."""
    assert evaluate({"q": {-1: 0.5, 3: 0.4}}, {"q": {3: 1}}, "mrr@1").mean["mrr@1"] == 1
