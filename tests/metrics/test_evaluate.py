"""`evaluate`: names, means, queries at the edges, prepared judgements."""

from __future__ import annotations

import doctest

import pytest

from helpers import metrics
from helpers.metrics import Judgements, evaluate
from tests.metrics.samples import BARE, RELEVANT, RETRIEVED, random_run


def test_edge_queries_count_zero_and_are_reported():
    """A query with nothing relevant, missing or unjudged would change the mean silently."""
    qrels = {"a": {"d1": 1}, "b": {"d1": 0}, "c": {"d2": 1}}
    run = {"a": ["d1"], "b": ["d1"], "x": ["d1"]}
    result = evaluate(run, qrels, ["recall@1", "ndcg@1"])
    assert result.mean == {"recall@1": 1 / 3, "ndcg@1": 1 / 3}
    assert (result.queries, result.no_relevant, result.missing, result.unjudged, result.tied) == (3, 1, 1, 1, 0)
    skipped = evaluate(run, qrels, "recall@1", no_relevant="skip")
    assert skipped.mean == {"recall@1": 0.5}
    assert (list(skipped.query_ids), skipped.queries, skipped.no_relevant) == (["a", "c"], 2, 1)


def test_the_example_of_the_package_prints_what_it_says():
    """The first thing on the page of the package would be an error, or another number than the reader gets."""
    result = doctest.testmod(metrics)
    assert result.attempted
    assert not result.failed


def test_inputs_are_not_changed():
    """`evaluate` would write into the caller's arrays or dicts."""
    qrels, ids, scores = random_run("ties", 2)
    before = repr(qrels)
    ids.setflags(write=False)
    scores.setflags(write=False)
    evaluate(ids, qrels, BARE, [10], scores=scores)
    assert repr(qrels) == before


def test_prepared_judgements_keep_their_relevance_level():
    """The level that judgements were prepared with would be ignored, or could not be changed afterwards."""
    qrels, ids, _ = random_run("graded", 5)
    strict = Judgements.of(qrels, relevance_level=2)
    expected = {level: evaluate(ids, qrels, BARE, [10], relevance_level=level).mean for level in (1, 2, 3)}
    assert expected[1] != expected[2] != expected[3]
    assert evaluate(ids, strict, BARE, [10]).mean == expected[2]
    assert evaluate(ids, strict, BARE, [10], relevance_level=3).mean == expected[3]
    assert evaluate(ids, Judgements.of(strict), BARE, [10]).mean == expected[2]


def test_names_are_canonical():
    """Names would keep the caller's spelling, or cutoffs be applied to names that have one."""
    result = evaluate(RETRIEVED, RELEVANT, ["nDCG@10", "MRR", "Rprec"], [1, 5])
    assert list(result.mean) == ["ndcg@10", "mrr@1", "mrr@5", "rprec"]
    found = evaluate([[3, 1]], [[3]], ["rbp(persistence=.5)@2", "rbp(persistence=0.5)@2"])  # as other tools write it
    assert list(found.mean.values()) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        *(("ndcg_cut_10", "ndcg@10"), ("ndcg_cut.10", "ndcg@10"), ("P_10", "precision@10"), ("recall.5", "recall@5")),
        *(("map_cut_10", "map@10"), ("success_1", "success@1"), ("relative_P_5", "capped_recall@5"), ("map", "map")),
        *(("recip_rank", "mrr"), ("recip_rank@10", "mrr@10"), ("Rprec", "rprec"), ("ndcg", "ndcg")),  # trec_eval
        *(("AP@10", "map@10"), ("RR", "mrr"), ("R@5", "recall@5"), ("nDCG@5", "ndcg@5")),  # ir_measures
        *(("hit_rate@10", "success@10"), ("r-precision", "rprec"), ("ndcg_burges@5", "ndcg(gain=exponential)@5")),
        *(("cosine_ndcg@10", "ndcg@10"), ("cos_sim-Accuracy@1", "success@1")),  # sentence-transformers
        *(("ndcg_at_10", "ndcg@10"), ("R_cap@5", "capped_recall@5"), ("accuracy@1", "success@1")),  # MTEB, BEIR
    ],
)
def test_names_of_other_programs_are_read(theirs, ours):
    """People would be told that the name is unknown which the program has whose bits these are."""
    run, qrels = {"q": ["a", "b", "c"]}, {"q": {"b": 2, "c": 1, "d": 1}}
    assert evaluate(run, qrels, theirs).mean == evaluate(run, qrels, ours).mean
    assert list(evaluate(run, qrels, theirs).mean) == [ours]


@pytest.mark.parametrize(
    ("typed", "meant"), [("ndgc@10", "ndcg@10"), ("recal@5", "recall@5"), ("succes_1", "success@1")]
)
def test_a_misspelt_metric_is_answered_with_the_one_meant(typed, meant):
    """A reader would search a list of twelve names for his mistake."""
    with pytest.raises(ValueError, match=f"Unknown metric '{typed}'. Did you mean {meant}[?] Known: recall, "):
        evaluate([[1]], [[1]], typed)
    assert evaluate([[1]], [[1]], meant).mean == {meant: 1}  # the advice
    for absent in ("gm_map", "cosine_map@10"):  # trec_eval's and sentence-transformers', which are other figures
        with pytest.raises(ValueError, match=f"Unknown metric '{absent}'. Known"):
            evaluate([[1]], [[1]], absent)
