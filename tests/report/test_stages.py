"""Fusion and reranking in the report: what they had to choose from, what they lost, and how long a query takes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.embeddings import encoding
from helpers.metrics import evaluate
from helpers.models import load_model
from helpers.report import compare
from helpers.report.page import View, render
from helpers.report.spec import Spec
from helpers.systems import Dense, Fusion, Rerank, Run, Words, oracle, rank, union
from helpers.systems.combine import MaxSimScorer
from helpers.systems.latency import latencies, percentiles
from tests.checkpoints import save_checkpoint
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
    return compare(specs, data, 2, metrics=["recall@2", "ndcg@2"], latency=3)


def test_stages_are_followed_by_hand(staged):
    """The page would blame fusion for what was never retrieved, or the reranker for what fusion lost."""
    data, both = staged.data, staged.results["both"].stages
    candidates = union(*(staged.results[name].ranking.ids for name in ("first", "second")))
    assert both.candidates == np.mean([3, 3, 1, 1, 0, 1])
    best = evaluate(oracle(candidates, data), data.qrels, ["ndcg@2"]).mean["ndcg@2"]
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


def test_queries_are_timed_one_at_a_time(tmp_path, monkeypatch):
    """A median would be that of a batch, of the cache, or of the building of the index."""
    data = collection()
    model = load_model(save_checkpoint(tmp_path / "model", pooling="mean"))
    dense = Dense(model, progress=False, cache_dir=tmp_path / "cache")
    dense.rank(data, 3)  # every vector is in the cache
    passes, forward = [], encoding.forward
    monkeypatch.setattr(encoding, "forward", lambda *args: passes.append(args) or forward(*args))
    index = dense.build(data)
    times, batch = latencies(dense, data, 3, 4, index)
    assert len(passes) == 6  # one to warm up, four that count, and these at once, none of them read from the cache
    assert set(times) == {"queries", "search"}
    assert all(seconds.shape == (4,) for seconds in times.values())
    assert batch > 0
    assert len(latencies(Words(), data, 3, 99)[0]["search"]) == len(data.queries)
    parts = [rank(Words(), data, 5), rank(dense, data, 5)]
    assert set(latencies(Fusion(parts), data, 3, 2)[0]) == {"fuse"}
    assert set(latencies(Rerank(parts[0], MaxSimScorer(model)), data, 3, 2)[0]) == {"rerank"}
    for silent in (Run({"q1": {"d1": 1.0}}), Fusion([dense, parts[0]])):
        assert latencies(silent, data, 3, 2) == ({}, 0.0)
    with pytest.raises(ValueError, match="latency=-1: expected a whole number of at least 1"):
        latencies(dense, data, 3, -1)


def test_a_slow_system_is_not_asked_for_ever(monkeypatch):
    """A hundred queries of a reranker on a laptop would take an hour."""
    monkeypatch.setattr("helpers.systems.latency.LIMIT", 0.0)
    assert len(latencies(Words(), collection(), 3, 6)[0]["search"]) == 1


def test_latency_is_in_the_files_and_on_the_page(tmp_path):
    """A composite system would cost its last stage alone."""
    data = collection()
    both = Spec("both", "fuse", parts=("BM25", "TF-IDF"))
    found = compare(["bm25", "tfidf", both], data, 2, latency=3)
    one, other, fused = (found.results[name].latency for name in ("BM25", "TF-IDF", "both"))
    assert np.allclose(fused["search"], one["search"] + other["search"])
    assert set(fused) == {"queries", "search", "fuse"}
    found.save(tmp_path)
    record = json.loads((tmp_path / "results.json").read_text())["systems"][2]["latency"]
    assert record["queries"] == 3
    assert record["stages"]["fuse"] == percentiles(fused["fuse"])
    assert record["total"] == percentiles(sum(fused.values()))
    assert record["total"]["p50"] <= record["total"]["p95"] <= record["total"]["p99"]
    table, bars = View(found).latency()
    assert table.header[:4] == ["system", "p50", "p95", "p99"]
    assert table.header[-2:] == ["in one batch", "queries"]
    batches = [found.results[name].batch for name in ("BM25", "TF-IDF", "both")]
    assert record["batch"] == batches[2] > batches[0] + batches[1] > 0
    assert [bar.name for bar in bars] == list(found.scored)
    assert "How long one query takes" in render(found)
    assert "How long one query takes" not in render(compare(["bm25"], data, 2))
