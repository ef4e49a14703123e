"""helpers.metrics is trec_eval, bit for bit, on random rankings."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import pytrec_eval

from helpers.data.trec import as_qrels, as_run, read_run, write_run
from helpers.metrics import evaluate
from tests.metrics.samples import KINDS, RUNS, random_run, text_forms

CUTOFFS = [1, 3, 5, 10, 100]
TREC_NAMES = {
    "recall": "recall_",
    "capped_recall": "relative_P_",
    "precision": "P_",
    "map": "map_cut_",
    "ndcg": "ndcg_cut_",
    "success": "success_",
}
NAMES = [f"{name}@{k}" for name in TREC_NAMES for k in CUTOFFS] + ["mrr@200", "rprec", "bpref"]


def trec_values(qrels: dict, run: dict, **options: object) -> dict[str, np.ndarray]:
    """What trec_eval says, by our names, given its options -J, -l and -c; reciprocal rank has no cutoff there."""
    at = ",".join(map(str, CUTOFFS))
    wanted = {f"{name.rstrip('_')}.{at}" for name in TREC_NAMES.values()} | {"recip_rank", "Rprec", "bpref"}
    retrieved = {query: docs for query, docs in run.items() if docs}  # pytrec_eval 0.5.11 may crash on an empty ranking
    found = pytrec_eval.RelevanceEvaluator(qrels, wanted, **options).evaluate(retrieved) if retrieved else {}
    computed = {query: found.get(query) or defaultdict(float) for query in qrels}
    values = {
        f"{ours}@{k}": np.array([computed[query][f"{theirs}{k}"] for query in qrels])
        for ours, theirs in TREC_NAMES.items()
        for k in CUTOFFS
    }
    alone = {"mrr@200": "recip_rank", "rprec": "Rprec", "bpref": "bpref"}
    return values | {ours: np.array([computed[query][name] for query in qrels]) for ours, name in alone.items()}


def differing_doubles(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> int:
    """How many values are not the same 64 bits."""
    return sum(int(np.count_nonzero(ours[name].view(np.int64) != theirs[name].view(np.int64))) for name in theirs)


@pytest.mark.filterwarnings("ignore:No document of the run occurs")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("options", "trec_options"),
    [
        ({}, {}),
        ({"judged_only": True}, {"judged_docs_only_flag": True}),
        ({"relevance_level": 2}, {"relevance_level": 2}),
        ({"gain": "exponential"}, {}),
    ],
    ids=["plain", "-J", "-l 2", "exponential"],
)
def test_bit_identical_to_trec_eval(kind, options, trec_options):
    """Values would differ from trec_eval's in one bit, as arrays or as a run, plain or by an option of both.

    An exponential gain is trec_eval's on grades mapped to 2^grade - 1.
    """
    for seed in range(RUNS // (4 if options else 1)):
        qrels, ids, scores = random_run(kind, seed)
        text_qrels, run = text_forms(qrels, ids, scores)
        mapped = [{doc: 2**grade - 1 if grade > 0 else grade for doc, grade in docs.items()} for docs in qrels]
        summed = text_forms(mapped, ids, scores)[0] if "gain" in options else text_qrels
        theirs = trec_values(summed, run, **trec_options)
        assert theirs.keys() == set(NAMES)
        for found in (
            evaluate(ids, qrels, NAMES, scores=scores, **options),
            evaluate(run, text_qrels, NAMES, **options),
        ):
            assert found.queries == 6
            assert differing_doubles(found.per_query, theirs) == 0


def test_discount_of_every_rank_is_trec_eval():
    """The logarithm of some rank would differ in its last bit, as numpy's own does on some processors."""
    depth = 300
    ids = np.tile(np.arange(depth), (depth, 1))
    scores = np.tile(-np.arange(depth, dtype=np.float32), (depth, 1))
    qrels = [{row: 1} for row in range(depth)]
    text_qrels, run = text_forms(qrels, ids, scores)
    computed = pytrec_eval.RelevanceEvaluator(text_qrels, {f"ndcg_cut.{depth}"}).evaluate(run)
    theirs = {f"ndcg@{depth}": np.array([computed[query][f"ndcg_cut_{depth}"] for query in text_qrels])}
    assert differing_doubles(evaluate(ids, qrels, f"ndcg@{depth}").per_query, theirs) == 0


def test_ties_are_broken_as_in_the_exported_run(tmp_path):
    """With document ids, a search with ties would score otherwise than the run file written from it."""
    by_row_differs = 0
    for seed in range(RUNS // 4):
        qrels, ids, scores = random_run("ties", seed)
        rng = np.random.default_rng(seed)
        doc_ids = [f"{rng.choice(['d', 'D', '文', 'é', ''])}{number}" for number in rng.permutation(200)]
        write_run(tmp_path / "run", as_run(ids, scores, doc_ids=doc_ids))
        theirs = trec_values(as_qrels(qrels, doc_ids=doc_ids), read_run(tmp_path / "run"))
        ours = evaluate(ids, qrels, NAMES, scores=scores, doc_ids=doc_ids)
        assert ours.tied == 6
        assert differing_doubles(ours.per_query, theirs) == 0
        by_row_differs += differing_doubles(evaluate(ids, qrels, NAMES, scores=scores).per_query, theirs) > 0
    assert by_row_differs > RUNS // 8
