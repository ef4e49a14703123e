"""Lesson 02: libraries say what its table says of them."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import ndcg_score

from helpers import metrics as lib
from notebooks.kit.figures import notebook_figures
from tests.acid.runners import beir_, ir_measures_, trec
from tests.metrics.samples import RELEVANT, RETRIEVED

LESSON = Path(__file__).parents[2] / "notebooks" / "en" / "02_metrics.ipynb"
QRELS = {f"q{i}": {f"d{doc}": 1 for doc in docs} for i, docs in enumerate(RELEVANT)}
RUN = {f"q{i}": {f"d{doc}": 10.0 - rank for rank, doc in enumerate(docs)} for i, docs in enumerate(RETRIEVED)}


@pytest.fixture(scope="module")
def lesson() -> nbformat.NotebookNode:
    """The English lesson as recorded."""
    return nbformat.read(LESSON, as_version=4)


def flag_embedding(run: dict, qrels: dict, metric: str) -> float:
    """A mean by FlagEmbedding, which rounds to five places."""
    from FlagEmbedding.abc.evaluation.utils import evaluate_metrics, evaluate_mrr

    name, _, k = metric.partition("@")
    if name == "mrr":
        return float(evaluate_mrr(qrels, run, [int(k)])[f"MRR@{k}"])
    ndcg, mean_ap, recall, _ = evaluate_metrics(qrels, {query: dict(docs) for query, docs in run.items()}, [int(k)])
    return {label.lower(): value for label, value in (ndcg | mean_ap | recall).items()}[metric]


def sentence_transformers(run: dict, qrels: dict, metric: str) -> float:
    """A mean by sentence-transformers, of ready rankings with their scores."""
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    name, _, k = metric.partition("@")
    relevant = {query: {doc for doc, grade in docs.items() if grade} for query, docs in qrels.items()}
    at = {f"{kind}_at_k": [int(k)] for kind in ("mrr", "ndcg", "accuracy", "precision_recall", "map")}
    evaluator = InformationRetrievalEvaluator(dict.fromkeys(relevant, ""), {}, relevant, **at)
    hits = [
        [{"corpus_id": doc, "score": score} for doc, score in run.get(query, {}).items()]
        for query in evaluator.queries_ids
    ]
    return float(evaluator.compute_metrics(hits)[f"{name}@k"][int(k)])


def ranx(run: dict, qrels: dict, metric: str) -> float:
    """A mean by ranx."""
    from tests.acid.runners.ranx_ import evaluate

    return evaluate(run, qrels, metric)


def scikit_learn(run: dict, qrels: dict, metric: str) -> float:
    """Mean nDCG by scikit-learn, given the retrieved documents only."""
    truth = [np.isin(list(run[query]), list(docs)) for query, docs in qrels.items()]
    return ndcg_score(truth, np.tile(np.arange(10, 0, -1), (3, 1)), k=int(metric.partition("@")[2]))


def trec_eval(run: dict, qrels: dict, metric: str) -> float:
    """Its mean over the queries that it returns; recip_rank has no cutoff, which no ranking here goes beyond."""
    if not metric.startswith("mrr"):
        return trec.evaluate(run, qrels, metric)
    found = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    return float(np.mean([values["recip_rank"] for values in found.values()]))


LIBRARIES = {
    "trec_eval": trec_eval,
    "BEIR": beir_.evaluate,
    "FlagEmbedding": flag_embedding,
    "ranx": ranx,
    "ir_measures": ir_measures_.evaluate,
    "sentence-transformers": sentence_transformers,
    "scikit-learn": scikit_learn,
}


@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=[pytest.mark.slow] * (name == "ranx")) for name in LIBRARIES]
)  # ranx is compiled first, for minutes; the acid test asks it each week
def test_table_of_libraries_is_true(lesson, library):
    """The lesson's table would claim something that the library does not say."""
    figures = notebook_figures(lesson)
    metrics = ["ndcg@1", "ndcg@10"] + (["recall@1", "mrr@10", "map@1", "map@10"] if library != "scikit-learn" else [])
    said = {metric: float(figures[f"libraries/{library}/{metric}"]) for metric in metrics}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measured = {metric: LIBRARIES[library](RUN, QRELS, metric) for metric in metrics}
    assert measured == pytest.approx(said, rel=0, abs=5.1e-4)  # half of the last digit printed; BEIR rounds to five
    ours = lib.evaluate(RUN, QRELS, metrics).mean
    shared = [metric for metric in metrics if abs(ours[metric] - said[metric]) < 5.1e-4]  # of trec_eval's convention
    assert [measured[metric] for metric in shared] == pytest.approx(
        [ours[metric] for metric in shared], rel=0, abs=6e-6
    )
    assert shared or library == "scikit-learn"


def test_rules_of_the_table_on_repeats_and_on_equal_scores_of_scikit_learn():
    """The table's columns would be wrong; the other libraries' rules are in test_conventions."""
    from tests.acid.runners import sentence_transformers_

    for metric in ("recall@3", "map@3"):
        assert sentence_transformers_.evaluate({"q": ["d1", "d1", "d1"]}, {"q": {"d1": 1, "d2": 1}}, metric) == 1.5
    assert ndcg_score([[1, 0, 0]], [[1.0, 1.0, 1.0]], k=1) == pytest.approx(1 / 3)
