"""The wrong variants of lesson 02's gallery: each prints what it is said to print, and is caught if we adopt it.

The variants are run from the lesson's own cells, so the page cannot drift from what is tested here. The table of what
each library says is compared with the libraries themselves.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path

import nbformat
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import ndcg_score

from helpers import metrics as lib
from notebooks.kit.figures import notebook_figures
from tests.acid.runners import beir_, ir_measures_, trec
from tests.metrics.samples import RELEVANT, RETRIEVED, gallery

LESSON = Path(__file__).parents[2] / "notebooks" / "en" / "02_metrics.ipynb"
QRELS = {f"q{i}": {f"d{doc}": 1 for doc in docs} for i, docs in enumerate(RELEVANT)}
RUN = {f"q{i}": {f"d{doc}": 10.0 - rank for rank, doc in enumerate(docs)} for i, docs in enumerate(RETRIEVED)}


@pytest.fixture(scope="module")
def lesson() -> nbformat.NotebookNode:
    """The English lesson as recorded."""
    return nbformat.read(LESSON, as_version=4)


@pytest.fixture(scope="module")
def variants(lesson) -> dict[str, Callable]:
    """The functions that the gallery's cells define."""
    return gallery(lesson)


# What the tutorial prints at 1, 5 and 10, to all its digits.
PRINTED = {
    "recall_over_min": (0.666667, 0.805556, 0.916667),
    "ndcg_of_ids": (0.0, 0.3298163165186628, 0.5955665344840209),
    "ndcg_of_retrieved": (0.666667, 0.825875, 0.881595),
    "ap_over_hits": (0.666667, 0.862963, 0.807407),
    "ap_over_min": (0.666667, 0.702778, 0.758333),
}


@pytest.mark.parametrize("name", PRINTED)
def test_variant_prints_the_published_number(variants, name):
    """The gallery would show something else than what was published."""
    got = [float(np.mean(variants[name](RETRIEVED, RELEVANT, k))) for k in (1, 5, 10)]
    digits = 1e-15 if name == "ndcg_of_ids" else 5e-7
    assert got == pytest.approx(PRINTED[name], rel=0, abs=digits)


def check_recall(recall: Callable) -> None:
    """Recall@1 is at most 1/R."""
    assert np.mean(recall(RETRIEVED, RELEVANT, 1)) == pytest.approx(8 / 45)
    assert all(value <= 1 / len(docs) for value, docs in zip(recall(RETRIEVED, RELEVANT, 1), RELEVANT, strict=True))


def check_ndcg(ndcg: Callable) -> None:
    """Binary nDCG@1 is precision@1, and the ideal knows what was not retrieved."""
    assert np.mean(ndcg(RETRIEVED, RELEVANT, 1)) == pytest.approx(2 / 3)
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, 5))
    assert ndcg([[5, 1, 2, 3]], [[5, 6, 7, 8]], 4)[0] == pytest.approx(1 / ideal)


def check_map(average_precision: Callable) -> None:
    """Average precision is divided by R: at most 1/R at 1, and never falling."""
    values = [np.mean(average_precision(RETRIEVED, RELEVANT, k)) for k in (1, 5, 10)]
    assert values == pytest.approx([8 / 45, (1 + 2 / 3 + 53 / 120) / 3, (1 + 5 / 6 + 53 / 120) / 3])
    assert values == sorted(values)


def check_repeats(recall: Callable) -> None:
    """A document retrieved three times is refused, not counted three times."""
    with pytest.raises(ValueError, match="twice"):
        recall([[11, 11, 11]], [[11, 1]], 3)


def check_constant_scorer(mrr_of_scores: Callable) -> None:
    """A scorer that says the same of every document does no better than chance (0.31 of 31 documents)."""
    assert np.mean(mrr_of_scores(np.full((3, 31), 0.5), RELEVANT)) < 0.4


def check_mean(mean_recall: Callable) -> None:
    """An unanswered query counts 0 in the mean."""
    assert mean_recall([RETRIEVED[0], [], []], RELEVANT, 5) == pytest.approx(1 / 3)


def our_mrr_of_scores(scores: np.ndarray, relevant: list) -> np.ndarray:
    """Ours, given every document and its score."""
    ids = np.tile(np.arange(scores.shape[1]), (len(scores), 1))
    return lib.evaluate(ids, relevant, f"mrr@{scores.shape[1]}", scores=scores).per_query[f"mrr@{scores.shape[1]}"]


def our_mean_recall(retrieved: list, relevant: list, k: int) -> float:
    """Ours, as a mean."""
    return lib.evaluate(retrieved, relevant, f"recall@{k}").mean[f"recall@{k}"]


CHECKS = {
    "recall_over_min": (check_recall, lib.recall),
    "ndcg_of_ids": (check_ndcg, lib.ndcg),
    "ndcg_of_retrieved": (check_ndcg, lib.ndcg),
    "ap_over_hits": (check_map, lib.average_precision),
    "ap_over_min": (check_map, lib.average_precision),
    "mrr_of_higher": (check_constant_scorer, our_mrr_of_scores),
    "recall_of_answered": (check_mean, our_mean_recall),
}


@pytest.mark.parametrize("name", CHECKS)
def test_variant_is_caught(variants, name):
    """The library could adopt this variant, and no check would turn red."""
    check, ours = CHECKS[name]
    check(ours)
    with pytest.raises(AssertionError):
        check(variants[name])


@pytest.mark.parametrize("metric", [lib.recall, lib.precision, lib.average_precision, lib.ndcg, lib.capped_recall])
def test_repeated_documents_are_caught(variants, metric):
    """Repetitions would be counted as often as they occur, as ap_over_min counts them."""
    check_repeats(metric)
    assert variants["ap_over_min"]([[11, 11, 11]], [[11, 1]], 3) == [1.5]
    with pytest.raises(pytest.fail.Exception):
        check_repeats(variants["ap_over_min"])


def test_every_variant_of_the_gallery_is_checked(variants):
    """A variant could enter the gallery without a check that catches it."""
    functions = {
        name
        for name, value in variants.items()
        if inspect.isfunction(value) and not str(value.__module__).startswith(lib.__name__)
    }
    assert functions - {"ndcg_score"} == set(CHECKS)


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


def test_first_calls_of_the_tutorial_raise():
    """A guard of the remark in lesson 02, not of our code: numpy would take ragged lists again."""
    for function in (np.intersect1d, np.isin):
        with pytest.raises(ValueError, match="sequence"):
            function(RETRIEVED, RELEVANT)


def test_rules_of_the_table_on_repeats_and_on_equal_scores_of_scikit_learn():
    """The table's columns would be wrong; the other libraries' rules are in test_conventions."""
    from tests.acid.runners import sentence_transformers_

    for metric in ("recall@3", "map@3"):
        assert sentence_transformers_.evaluate({"q": ["d1", "d1", "d1"]}, {"q": {"d1": 1, "d2": 1}}, metric) == 1.5
    assert ndcg_score([[1, 0, 0]], [[1.0, 1.0, 1.0]], k=1) == pytest.approx(1 / 3)
