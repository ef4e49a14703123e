"""What trec_eval does not have against ir_measures, gdeval and loops, on random rankings."""

from __future__ import annotations

import shutil

import ir_measures
import pytest

from helpers.metrics import evaluate
from tests.metrics.samples import KINDS, RUNS, random_run, text_forms

pytestmark = pytest.mark.filterwarnings("ignore:No document of the run occurs")


def settled(run: dict) -> dict:
    """The run in trec_eval's order without ties: ir_measures settles them by id ascending in RR@k and Judged alone."""
    order = {query: sorted(docs, key=lambda d: (docs[d], d), reverse=True) for query, docs in run.items()}
    return {query: {doc: -float(rank) for rank, doc in enumerate(docs)} for query, docs in order.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_ir_measures(kind):
    """Reciprocal rank at a cutoff or Judged, which trec_eval lacks, would differ from ir_measures by 1e-12."""
    from ir_measures import RR, Judged

    measures = {measure @ k: f"{name}@{k}" for name, measure in (("mrr", RR), ("judged", Judged)) for k in (1, 5, 10)}
    for seed in range(RUNS):
        text_qrels, run = text_forms(*random_run(kind, seed))
        if kind == "short and empty":
            run = {query: docs for query, docs in run.items() if docs} or {"0": {"none": 1.0}}
        ours = evaluate(run, text_qrels, list(measures.values()))
        theirs = list(ir_measures.iter_calc(list(measures), text_qrels, settled(run)))
        assert len(theirs) >= len(measures) * (len(run) - (kind == "short and empty"))
        row = {query: i for i, query in enumerate(ours.query_ids)}
        for value in theirs:
            own = ours.per_query[measures[value.measure]][row[value.query_id]]
            assert own == pytest.approx(value.value, rel=0, abs=1e-12)


@pytest.mark.skipif(shutil.which("perl") is None, reason="TREC's gdeval is a Perl script")
def test_expected_reciprocal_rank_is_that_of_gdeval():
    """ERR on a scale up to 4 would differ from gdeval's, which ir_measures runs and which prints five places."""
    from ir_measures import ERR

    for seed in range(5):
        qrels, ids, scores = random_run("graded", seed)
        text_qrels, run = text_forms(qrels, ids, scores)
        ours = evaluate(ids, qrels, ["err@3", "err@20"], scores=scores, max_grade=4)
        computed = list(ir_measures.iter_calc([ERR @ 3, ERR @ 20], text_qrels, run))
        assert len(computed) == 2 * sum(max(docs.values()) > 0 for docs in qrels)
        for value in computed:
            values = ours.per_query[f"err@{value.measure['cutoff']}"]
            assert values[int(value.query_id)] == pytest.approx(value.value, rel=0, abs=6e-6)


def naive_err(ranking: list[str], grades: dict[str, int], k: int, top: int) -> float:
    """Expected reciprocal rank as Chapelle et al. write it."""
    value, still_reading = 0.0, 1.0
    for rank, doc in enumerate(ranking[:k], 1):
        satisfies = (2 ** max(0, grades.get(doc, 0)) - 1) / 2**top
        value += still_reading * satisfies / rank
        still_reading *= 1 - satisfies
    return value


def naive_residual(ranking: list[str], grades: dict[str, int], k: int, p: float) -> float:
    """RBP of the unjudged ranks down to k, and of all ranks below, as if every document there were relevant."""
    unjudged = [grades.get(doc, -1) < 0 for doc in ranking[:k]]
    return sum((1 - p) * p**i for i, missing in enumerate(unjudged) if missing) + p ** len(unjudged)


@pytest.mark.parametrize("kind", KINDS)
def test_err_and_rbp_equal_a_loop(kind):
    """ERR, RBP or its residual would differ from the definition written as a loop over one ranking."""
    for seed in range(RUNS // 4):
        text_qrels, run = text_forms(*random_run(kind, seed))
        rankings = {query: list(docs) for query, docs in settled(run).items()}
        top = max(0, *(grade for docs in text_qrels.values() for grade in docs.values()))
        ours = evaluate(run, text_qrels, ["err", "rbp", "rbp_residual"], [1, 5, 200], persistence=0.9).per_query
        for row, (query, grades) in enumerate(text_qrels.items()):
            for k in (1, 5, 200):
                assert ours[f"err@{k}"][row] == pytest.approx(naive_err(rankings[query], grades, k, top), abs=1e-12)
                rbp = 0.1 * sum(0.9**i for i, doc in enumerate(rankings[query][:k]) if grades.get(doc, 0) >= 1)
                assert ours[f"rbp@{k}"][row] == pytest.approx(rbp, abs=1e-12)
                residual = naive_residual(rankings[query], grades, k, 0.9)
                assert ours[f"rbp_residual@{k}"][row] == pytest.approx(residual, abs=1e-12)
