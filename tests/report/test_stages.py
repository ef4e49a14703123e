"""Fusion and reranking in the report: what they had to choose from, what they lost, and how long a query takes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.metrics import evaluate
from helpers.report import compare
from helpers.report.page import View, render
from helpers.report.spec import Spec
from helpers.systems import Run, ideal_order, union
from tests.systems.samples import collection, write_reranker


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """Compare a fusion of two runs, a narrow one, and a reranking of the fusion."""
    folder = tmp_path_factory.mktemp("staged")
    data = collection()
    runs = {
        "first": Run({"q1": {"d9": 3.0, "d2": 2.0}, "q2": {"d1": 2.0, "d4": 1.0}, "q3": {"d8": 1.0}}),
        "second": Run({"q1": {"d9": 3.0, "d1": 2.0}, "q2": {"d5": 2.0}, "q4": {"d1": 1.0}, "q6": {"d7": 1.0}}),
    }
    specs = {
        **runs,
        "both": Spec("both", "fuse", options={"rrf_k": 0.0}, parts=("first", "second")),
        "again": Spec(
            "again", "rerank", options={"by": str(write_reranker(folder / "by")), "depth": 2}, parts=("both",)
        ),
    }
    return compare(specs, data, 2, metrics=["recall@2", "ndcg@2"])


def test_stages_are_followed_by_hand(staged):
    """The page would blame fusion for what was never retrieved, or the reranker for what fusion lost."""
    data, both = staged.data, staged.results["both"].stages
    candidates = union(*(staged.results[name].ranking.ids for name in ("first", "second")))
    assert both.candidates == np.mean([3, 3, 1, 1, 0, 1])
    best = evaluate(ideal_order(candidates, data), data.qrels, ["ndcg@2"]).mean["ndcg@2"]
    assert both.ceiling == best >= staged.scored["both"].mean["ndcg@2"]
    # q1 is delivered, q2's answer is third, no candidate of q3, q4 and q6 is relevant; nothing is relevant to q5
    assert both.losses == {"not retrieved": 0.6, "lost by both": 0.0, "cut off": 0.2, "delivered": 0.2}
    again = staged.results["again"].stages
    assert list(again.losses) == ["not retrieved", "lost by both", "lost by again", "cut off", "delivered"]
    assert (again.losses["lost by both"], again.losses["cut off"]) == (0.2, 0.0)  # it reads the first two alone
    assert (again.ceiling, again.recall) == (both.ceiling, both.recall)
    assert staged.results["first"].stages is None


def test_what_stages_lose_follows_the_relevance_level():
    """The recall of the candidates would count passages that every other figure of the page calls irrelevant."""
    data = replace(collection(), relevance_level=2)
    runs = {"first": Run({"q1": {"d1": 2.0}, "q6": {"d9": 1.0}}), "second": Run({"q1": {"d9": 1.0}, "q3": {"d5": 1.0}})}
    found = compare({**runs, "both": Spec("both", "fuse", parts=("first", "second"))}, data, 2, metrics=["ndcg@2"])
    candidates = union(*(found.results[name].ranking.ids for name in runs))
    recall = evaluate(candidates, data.qrels, "recall@2", relevance_level=2).mean["recall@2"]
    assert found.results["both"].stages.recall == recall < evaluate(candidates, data.qrels, "recall@2").mean["recall@2"]


def test_a_fusion_looks_as_deep_as_it_says(tmp_path):
    """A depth below 100 had no effect: parts were ranked deeper, and the depth of the table was not the one used."""
    data = collection()
    first = Run({"q1": {"d9": 3.0, "d2": 2.0}, "q2": {"d4": 1.0}})
    second = Run({"q1": {"d9": 3.0, "d1": 2.0}, "q2": {"d3": 1.0}})
    narrow = Spec("narrow", "fuse", options={"depth": 1}, parts=("first", "second"))
    found = compare({"first": first, "second": second, "narrow": narrow}, data, 1, metrics=["ndcg@1"])
    assert (found.results["narrow"].ranking.ids[0] >= 0).sum() == 1  # d9 alone, the first of both
    assert found.results["narrow"].stages.candidates == np.mean([1, 2, 0, 0, 0, 0])


@pytest.mark.parametrize("kind", ["fuse", "rerank"])
def test_a_depth_below_the_cutoff_is_refused(kind, tmp_path):
    """Ranks that nothing can fill would be read as a bad order."""
    options = {"depth": 5} if kind == "fuse" else {"depth": 5, "by": str(write_reranker(tmp_path))}
    spec = Spec("s", kind, options=options, parts=("bm25", "tfidf")[: 2 if kind == "fuse" else 1])
    with pytest.raises(ValueError, match=r"'s' looks at 5 passages of its part, ndcg@10 at 10: set depth to 10 or mo"):
        compare([spec], collection(), 10)


def test_files_and_page_have_the_stages(staged, tmp_path):
    """Who reads results.json, or the page, would not learn where answers are lost."""
    staged.save(tmp_path)
    systems = {s["name"]: s for s in json.loads((tmp_path / "results.json").read_text())["systems"]}
    assert systems["both"]["stages"]["losses"]["not retrieved"] == 0.6
    assert "stages" not in systems["first"]
    table = View(staged).stages()
    rows = {row[0]: row for row in table.rows}
    assert rows["both"][1:3] == ["2", f"{staged.results['both'].stages.recall:.3f}"]
    assert rows["both"][5:7] == ["60.0 %", ("0.0 %", "")]
    assert rows["again"][6] == ("20.0 %", "both 20.0 %")
    assert "Which stage loses the answers" in render(staged)
    assert "答案丢在哪个阶段" in render(staged, language="zh")
