"""The files by which trec_eval tests itself: they are read, and its printed figures come out.

They may be used for research alone and are not in this repository. EVAL_TREC_EVAL names the folder `test` of a checkout
of trec_eval 10.
"""

import os
from pathlib import Path

import pytest

from helpers.data.trec import read_qrels, read_run
from helpers.metrics import evaluate

FOLDER = os.environ.get("EVAL_TREC_EVAL", "")
MEASURES = ("map", "Rprec", "bpref", "recip_rank", "ndcg", "P_", "recall_", "relative_P_", "map_cut_", "ndcg_cut_")
MEASURES = (*MEASURES, "success_")
CASES = {  # the calls of its Makefile: expected figures, judgements, run, and whether all judged queries count (-c)
    "out.test.aq": ("qrels.test", "results.test", False, 1),
    "out.test": ("qrels.test.with-comments", "results.test", False, 1),
    "out.comment.test": ("qrels.comment.test", "results.comment.test", False, 1),
    "out.test.aqc": ("qrels.test", "results.trunc", True, 1),
    "out.test.aql": ("qrels.rel_level", "results.test", False, 2),
    "out.test.meas_params": ("qrels.test", "results.test", False, 1),
}


@pytest.mark.skipif(not FOLDER, reason="EVAL_TREC_EVAL is not set: the folder `test` of a checkout of trec_eval 10")
@pytest.mark.parametrize("expected", CASES)
def test_trec_evals_own_figures_come_out(expected):
    """A file that trec_eval reads would be refused or read otherwise, or a figure differ in its fourth place."""
    judgements, ranked, complete, level = CASES[expected]
    qrels, run = read_qrels(Path(FOLDER, judgements)), read_run(Path(FOLDER, ranked))
    qrels = qrels if complete else {query: docs for query, docs in qrels.items() if query in run}
    lines = [line.split() for line in Path(FOLDER, expected).read_text().splitlines()]
    lines = [line for line in lines if line[0] in MEASURES or line[0].startswith(MEASURES[5:])]
    scored = evaluate(run, qrels, sorted({name for name, *_ in lines}), relevance_level=level)
    names = dict(zip(sorted({name for name, *_ in lines}), scored.mean, strict=True))
    rows = {query: row for row, query in enumerate(qrels)}
    for name, query, figure in lines:
        value = scored.mean[names[name]] if query == "all" else scored.per_query[names[name]][rows[query]]
        assert f"{value:.4f}" == figure, (name, query)
    assert len(lines) >= 8
