"""What pages and lesson 02 say of each library's conventions, compared with what the libraries do when they are run."""

from __future__ import annotations

import importlib
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import ndcg_score

from helpers import metrics as lib
from helpers.metrics.registry import METRICS
from notebooks.kit.cells import by_id
from notebooks.kit.figures import notebook_figures
from notebooks.kit.notebooks import LANGUAGES, lesson_path, read
from tests.acid.runners import beir_, ir_measures_, ours, trec
from tests.metrics.samples import RELEVANT, RETRIEVED

ROOT = Path(__file__).parents[2]
QRELS = {"q1": {"d4": 1, "d7": 1}, "q2": {"d1": 1}, "q3": {"d1": 0}}
TIE = {"q1": {"d4": 1.0, "d5": 1.0}}  # the relevant one first in the input; d5 is larger as a text
WORKED = {f"q{i}": {f"d{doc}": 1 for doc in docs} for i, docs in enumerate(RELEVANT)}
WORKED_RUN = {f"q{i}": {f"d{doc}": 10.0 - rank for rank, doc in enumerate(docs)} for i, docs in enumerate(RETRIEVED)}


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


SCORERS = {
    "trec_eval (pytrec_eval)": trec_eval,
    "BEIR": beir_.evaluate,
    "FlagEmbedding": flag_embedding,
    "sentence-transformers": sentence_transformers,
    "ir_measures": ir_measures_.evaluate,
    "`helpers.metrics`": ours.evaluate,
}
LIBRARIES = {name.partition(" (")[0]: score for name, score in SCORERS.items() if score is not ours.evaluate}
LIBRARIES |= {
    "ranx": lambda *given: importlib.import_module("tests.acid.runners.ranx_").evaluate(*given),
    "scikit-learn": scikit_learn,
}
# What is measured, and what the lesson's table says of it in each language.
TIES = {
    ("descending", "descending"): (
        {"id as text, descending", "as trec_eval; without scores, as given"},
        {"id作为文本，降序", "同trec_eval；不给分数时按所给顺序"},
    ),
    ("input", "descending"): ({"as trec_eval; MRR by order of input"}, {"同trec_eval；MRR按输入顺序"}),
    ("ascending", "ascending"): ({"id as text, ascending"}, {"id作为文本，升序"}),
    ("ascending", "descending"): (
        {"as trec_eval; RR@k and Judged@k by id ascending"},
        {"同trec_eval；RR@k和Judged@k按id升序"},
    ),
}
MEANS = {
    ("run", "run"): ({"queries in both run and judgements"}, {"运行结果与标注中都有的查询"}),
    ("judged", "run"): ({"as trec_eval; MRR over all judged"}, {"同trec_eval；MRR为全部有标注的查询"}),
    ("judged", "judged"): (
        {"all judged", "all judged, gaps counted 0 and reported"},
        {"全部有标注的查询", "全部有标注的查询，缺失计0并报告"},
    ),
}


def tie_rule(score, metric: str) -> str:
    """Return how a library orders equal scores, from what it makes of two documents, in either order of input."""
    other = {"q1": dict(reversed(TIE["q1"].items()))}
    value = {"mrr": (1.0, 0.5), "recall": (1.0, 0.0)}[metric]
    padded = [{"q1": docs["q1"] | ({"d9": 2.0} if metric == "recall" else {})} for docs in (TIE, other)]
    found = [round(score(run, {"q1": {"d4": 1}}, f"{metric}@2"), 4) for run in padded]
    rules = {(value[0], value[0]): "ascending", (value[1], value[1]): "descending", value: "input"}
    return rules[tuple(found)]


def mean_rule(score, metric: str) -> str:
    """Return over which queries a library takes the mean: q1 is perfect, q2 missing, q3 has nothing relevant."""
    perfect = {"q1": {"d4": 2.0, "d7": 1.0}, "q3": {"d2": 1.0}}
    found = round(score(perfect, QRELS, f"{metric}@2"), 3)
    return {0.5: "run", 0.333: "judged"}.get(found, str(found))


def said(language: str, library: str, column: int) -> str:
    """Return what the table of lesson 02 says; a row may name two libraries, and have full-width brackets."""
    cell = by_id(read(lesson_path(ROOT, language, "02_metrics")))["libraries-read"].source
    rows = [line.replace("（", " (").replace("）", ")").split("|") for line in cell.splitlines() if line[:2] == "| "]
    return next(row[column + 1].strip() for row in rows if library in re.split(", |、", row[1].strip()))


OF_MEANS = [name for name in SCORERS if name != "sentence-transformers"]
RULES = [(name, tie_rule, TIES, 1) for name in SCORERS] + [(name, mean_rule, MEANS, 3) for name in OF_MEANS]


@pytest.mark.parametrize(("library", "rule", "texts", "column"), RULES)
def test_rules_of_libraries(library, rule, texts, column):
    """Lesson 02's table would say that a library settles ties, or averages over queries, otherwise than it does."""
    measured = rule(SCORERS[library], "mrr"), rule(SCORERS[library], "recall")
    for language, accepted in zip(LANGUAGES, texts[measured], strict=True):
        assert said(language, library, column) in accepted


def test_sentence_transformers_leaves_out_queries_with_nothing_relevant():
    """The table says: all judged with a relevant document. A query without a hit counts, one without an answer not."""
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    relevant = {q: {d for d, g in docs.items() if g} for q, docs in QRELS.items()}
    evaluator = InformationRetrievalEvaluator(dict.fromkeys(QRELS, ""), {}, relevant)
    assert evaluator.queries_ids == ["q1", "q2"]
    assert said("en", "sentence-transformers", 3) == "all judged with a relevant document"
    assert said("zh", "sentence-transformers", 3) == "全部有相关文档的查询"


@pytest.mark.parametrize("library", SCORERS)
def test_rounding(library):
    """The page on differences would name others: a third, in full or to five places."""
    third = {"q1": {"d1": 1, "d2": 1, "d3": 1}}
    value = SCORERS[library]({"q1": {"d1": 1.0, "d9": 0.5}}, third, "recall@2")
    rounded = value == pytest.approx(round(1 / 3, 5), abs=1e-12)
    page = (ROOT / "docs" / "en" / "differences.md").read_text(encoding="utf-8")
    rounds = page.partition("### Rounding")[2].partition("round to five places")[0]
    assert rounded is (library in rounds)


@pytest.mark.slow  # the import alone takes seconds
def test_ranx_refuses_different_queries():
    """The table says so of ranx."""
    import ranx

    assert (said("en", "ranx", 3), said("zh", "ranx", 3)) == ("refuses if queries differ", "查询不一致时拒绝计算")
    with pytest.raises(AssertionError):
        ranx.evaluate(QRELS, {"q1": {"d4": 1.0}}, "mrr@10")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_cheat_sheet_has_every_metric(language):
    """A metric of the package would be missing, or one be promised that it lacks."""
    text = (ROOT / "docs" / language / "cheatsheet.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)(?:@k)?` \|", text, re.M)) == set(METRICS)


@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=[pytest.mark.slow] * (name == "ranx")) for name in LIBRARIES]
)  # ranx is compiled first, for minutes; the acid test asks it each week
def test_table_of_libraries_is_true(library):
    """The lesson's table would claim something that the library does not say."""
    figures = notebook_figures(read(lesson_path(ROOT, "en", "02_metrics")))
    metrics = ["ndcg@1", "ndcg@10"] + (["recall@1", "mrr@10", "map@1", "map@10"] if library != "scikit-learn" else [])
    said = {metric: float(figures[f"libraries/{library}/{metric}"]) for metric in metrics}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measured = {metric: LIBRARIES[library](WORKED_RUN, WORKED, metric) for metric in metrics}
    assert measured == pytest.approx(said, rel=0, abs=5.1e-4)  # half of the last digit printed; BEIR rounds to five
    our_own = lib.evaluate(WORKED_RUN, WORKED, metrics).mean
    shared = [metric for metric in metrics if abs(our_own[metric] - said[metric]) < 5.1e-4]  # of trec_eval's convention
    ours, theirs = ([values[metric] for metric in shared] for values in (our_own, measured))
    assert theirs == pytest.approx(ours, rel=0, abs=6e-6)
    assert shared or library == "scikit-learn"


def test_rules_of_the_table_on_repeats_and_on_equal_scores_of_scikit_learn():
    """The table's columns would be wrong; the other libraries' rules are tested above."""
    from tests.acid.runners import sentence_transformers_

    for metric in ("recall@3", "map@3"):
        assert sentence_transformers_.evaluate({"q": ["d1", "d1", "d1"]}, {"q": {"d1": 1, "d2": 1}}, metric) == 1.5
    assert ndcg_score([[1, 0, 0]], [[1.0, 1.0, 1.0]], k=1) == pytest.approx(1 / 3)
