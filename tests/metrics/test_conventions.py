"""What pages and lesson 02 say of each library's conventions, compared with what the libraries do when they are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.metrics.registry import METRICS
from notebooks.kit.cells import by_id
from notebooks.kit.notebooks import LANGUAGES, lesson_path, read
from tests.acid.runners import beir_, ir_measures_, ours
from tests.metrics.test_variants import flag_embedding, sentence_transformers, trec_eval

ROOT = Path(__file__).parents[2]
QRELS = {"q1": {"d4": 1, "d7": 1}, "q2": {"d1": 1}, "q3": {"d1": 0}}
TIE = {"q1": {"d4": 1.0, "d5": 1.0}}  # the relevant one first in the input; d5 is larger as a text


SCORERS = {
    "trec_eval (pytrec_eval)": trec_eval,
    "BEIR": beir_.evaluate,
    "FlagEmbedding": flag_embedding,
    "sentence-transformers": sentence_transformers,
    "ir_measures": ir_measures_.evaluate,
    "`helpers.metrics`": ours.evaluate,
}
# What is measured, and what the lesson's table says of it in each language.
TIES = {
    ("descending", "descending"): ({"id as text, descending", "as trec_eval"}, {"id作为文本，降序", "同trec_eval"}),
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


def table(language: str) -> list[list[str]]:
    """Return the cells of the table in lesson 02, row by row; a row of two libraries as two."""
    cell = by_id(read(lesson_path(ROOT, language, "02_metrics")))["libraries-read"].source
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in cell.splitlines() if line[:2] == "| "][1:]
    return [[name, *rest] for names, *rest in rows for name in re.split(", |、", names)]


def said(language: str, library: str, column: int) -> str:
    """Return what the table says of a library, whose name may have full-width brackets."""
    return next(row[column] for row in table(language) if row[0].replace("（", " (").replace("）", ")") == library)


@pytest.mark.parametrize("library", SCORERS)
def test_rule_for_ties(library):
    """Lesson 02's table would say of a library that it settles ties otherwise than it does."""
    score = SCORERS[library]
    measured = tie_rule(score, "mrr"), tie_rule(score, "recall")
    for language, accepted in zip(LANGUAGES, TIES[measured], strict=True):
        assert said(language, library, 1) in accepted


@pytest.mark.parametrize("library", [name for name in SCORERS if name != "sentence-transformers"])
def test_queries_of_the_mean(library):
    """Lesson 02's table would say of a library that its mean runs over other queries than it does."""
    score = SCORERS[library]
    measured = mean_rule(score, "mrr"), mean_rule(score, "recall")
    for language, accepted in zip(LANGUAGES, MEANS[measured], strict=True):
        assert said(language, library, 3) in accepted


def test_sentence_transformers_leaves_out_queries_with_nothing_relevant():
    """The table says: all judged with a relevant document. A query without a hit counts, one without an answer not."""
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    evaluator = InformationRetrievalEvaluator(
        dict.fromkeys(QRELS, ""), {}, {q: {d for d, g in docs.items() if g} for q, docs in QRELS.items()}
    )
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
