"""The metrics' formulas: examples worked by hand, and one implementation at every door."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from helpers import metrics as lib
from helpers.metrics import evaluate, find_hits
from tests.metrics.samples import RELEVANT, RETRIEVED, random_run

# Derived by hand, hits at ranks 1-5 of 5; 1, 2, 6 of 3; 2, 3, 5 of 4:
#   recall@5 = (5/5 + 2/3 + 3/4) / 3 = 29/36; AP@5 = (1 + 2/3 + (1/2 + 2/3 + 3/5)/4) / 3 = 0.702777…
EXPECTED = {
    "recall": (8 / 45, 29 / 36, 11 / 12),
    "capped_recall": (2 / 3, 29 / 36, 11 / 12),
    "precision": (2 / 3, 2 / 3, 11 / 30),
    "mrr": (2 / 3, 5 / 6, 5 / 6),
    "map": (8 / 45, (1 + 2 / 3 + 53 / 120) / 3, (1 + 5 / 6 + 53 / 120) / 3),
    "ndcg": (2 / 3, 0.785958, 0.841678),
}


@pytest.mark.parametrize("form", ["lists", "array", "text run", "grades"])
def test_worked_example(form):
    """The values of lesson 02 would be wrong in one of the accepted forms."""
    retrieved, qrels = RETRIEVED, RELEVANT
    if form == "array":
        retrieved = np.array(RETRIEVED, dtype=np.int32)
    if form == "grades":
        retrieved, qrels = np.array(RETRIEVED), [dict.fromkeys(docs, 1) for docs in RELEVANT]
    if form == "text run":
        retrieved, qrels = (
            {f"q{i}": [f"d{doc}" for doc in docs] for i, docs in enumerate(x)} for x in (RETRIEVED, RELEVANT)
        )
    result = evaluate(retrieved, qrels, list(EXPECTED), [1, 5, 10])
    for name, values in EXPECTED.items():
        got = [result.mean[f"{name}@{k}"] for k in (1, 5, 10)]
        assert got == pytest.approx(values, abs=5e-7 if name == "ndcg" else 1e-12), name


@pytest.mark.parametrize("name", lib.METRICS)
def test_one_implementation_serves_functions_and_evaluate(name):
    """A public metric function would say something else than `evaluate`, given rankings or given hits."""
    qrels, ids, _ = random_run("graded", 1)
    metric = lib.METRICS[name]
    function = getattr(lib, metric.definition.__name__)
    asked, cutoff = (f"{name}@7", (7,)) if metric.takes_cutoff else (name, ())
    together = evaluate(ids, qrels, [asked, "recall@100"]).per_query[asked]
    hits = find_hits(ids, qrels, None)
    for values in (function(ids, qrels, *cutoff), function(hits, *cutoff)):
        assert np.array_equal(values, together)
    if metric.takes_cutoff:
        assert np.array_equal(function(hits, k=7), together)
        assert np.array_equal(function(ids, qrels), function(ids, qrels, 10))


@pytest.mark.parametrize("name", lib.METRICS)
def test_printed_source_is_the_formula(name):
    """A lesson that prints a metric's source would show the plumbing instead of its formula."""
    metric = lib.METRICS[name]
    source = inspect.getsource(getattr(lib, metric.definition.__name__))
    assert source == inspect.getsource(metric.definition)
    assert source.startswith(f'@metric("{name}"')
    assert not {"Any", "qrels"} & set(re.findall(r"\w+", source.split("->")[0]))
    code = source.split('"""')[2].strip().splitlines()
    assert len(code) <= 12


def test_rank_biased_precision_worked_by_hand():
    """The weight of a rank would not be (1 - p) p^(rank - 1), or a grade below the level count."""
    grades = [{3: 2, 1: 2, 9: 1, 5: 2}]
    assert lib.rbp([[3, 1, 7, 9, 8, 5]], [[3, 1, 5]])[0] == pytest.approx(0.2 * (1 + 0.8 + 0.8**5))
    assert lib.rbp([[3, 1, 7, 9, 8, 5]], [[3, 1, 5]], 2)[0] == pytest.approx(0.36)
    assert lib.rbp([[3, 1, 7]], [[1]], persistence=0.5)[0] == pytest.approx(0.25)
    levels = [evaluate([[3, 1, 7, 9, 8, 5]], grades, "rbp@4", relevance_level=n).mean["rbp@4"] for n in (1, 2)]
    assert levels == pytest.approx([0.36 + 0.2 * 0.8**3, 0.36])


def test_bpref_sees_the_whole_ranking():
    """A relevant document below rank 10 would be lost where no cutoff reaches down to it."""
    ranking = [[*range(100, 130), 1]]
    assert lib.bpref(ranking, [[1]])[0] == 1
    assert lib.bpref(np.array(ranking), [[1]])[0] == 1
    assert evaluate(np.array(ranking), [[1]], ["bpref", "recall@5"]).mean == {"bpref": 1, "recall@5": 0}
    with pytest.raises(ValueError, match="reach rank 10, rank 31"):
        lib.bpref(find_hits(ranking, [[1]], 10))
    with pytest.raises(ValueError, match="reach rank 10, rank 31"):
        find_hits(find_hits(ranking, [[1]], 10), depth=None)


def test_r_precision_reaches_rank_r():
    """With more than ten relevant documents R-precision alone would stop at rank 10."""
    ids, relevant = np.arange(40)[None], [[*range(1, 24, 2)]]  # R = 12, six of them at the ranks 2, 4 … 12
    assert evaluate(ids, relevant, "rprec").mean["rprec"] == 6 / 12
    assert lib.r_precision(ids, relevant)[0] == 6 / 12
    assert lib.r_precision(find_hits(ids, relevant, None))[0] == 6 / 12


def test_options_reach_the_metrics_that_take_them():
    """`evaluate` would leave an option at its default, or hand it to a metric that does not know it."""
    qrels, ids, _ = random_run("graded", 4)
    names = ["ndcg@5", "rbp@5", "rbp_residual@5", "err@5", "map@5"]
    result = evaluate(ids, qrels, names, gain="exponential", persistence=0.5, max_grade=4).per_query
    assert np.array_equal(result["ndcg@5"], lib.ndcg(ids, qrels, 5, gain="exponential"))
    assert np.array_equal(result["rbp@5"], lib.rbp(ids, qrels, 5, persistence=0.5))
    assert np.array_equal(result["rbp_residual@5"], lib.rbp_residual(ids, qrels, 5, persistence=0.5))
    assert np.array_equal(result["err@5"], lib.err(ids, qrels, 5, max_grade=4))
    assert np.array_equal(result["map@5"], lib.average_precision(ids, qrels, 5))
    assert not np.array_equal(result["err@5"], lib.err(ids, qrels, 5))


def test_one_set_of_hits_serves_both_gains():
    """The ideal of the gain that was asked for first would be the divisor of the other."""
    hits = find_hits([[0, 1, 2]], [{0: 1, 1: 3, 2: 2}], None)
    for gain in ("linear", "exponential", "linear"):
        alone = lib.ndcg([[0, 1, 2]], [{0: 1, 1: 3, 2: 2}], 3, gain=gain)
        assert np.array_equal(lib.ndcg(hits, 3, gain=gain), alone)
