"""Comparisons from Python: the numbers, the tests, what is saved, and a system that fails."""

import csv
import json
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from helpers.data import from_ids
from helpers.data.trec import write_run
from helpers.metrics import evaluate
from helpers.report import compare
from helpers.report.causes import causes
from helpers.report.results import as_record
from helpers.significance import bootstrap_interval, interval, paired_test, power, tukey_hsd
from helpers.systems import Words, pipeline
from tests.systems.samples import CORPUS, QRELS, QUERIES, collection, failing, write_embeddings


def test_what_is_shown_is_what_was_scored(compared, tmp_path):
    """Table, tests and files are views of one result; a number that differs between them could not be trusted."""
    found, frame = compared, compared.table()
    assert frame["ndcg@10"].is_monotonic_decreasing
    for name, evaluation in found.scored.items():
        assert frame.loc[name, "ndcg@10"] == evaluation.mean["ndcg@10"] == evaluation.per_query["ndcg@10"].mean()
    pairs = tukey_hsd([result.per_query["ndcg@10"] for result in found.scored.values()])
    assert found.paired()["adjusted p"].tolist() == np.maximum(pairs[0, 1:], found.paired()["p"]).tolist()
    found.save(tmp_path / "out")
    record = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert record["schema"] == 3
    for system in record["systems"]:
        assert system["scores"]["mrr@10"]["mean"] == found.scored[system["name"]].mean["mrr@10"]
        assert (system["run"] is None) == (system["kind"] == "run")
        assert (tmp_path / "out" / (system["run"] or "results.json")).is_file()
    assert record["tests"][0]["smallest_p"] == found.paired().iloc[0]["smallest p"]
    lines = list(csv.DictReader((tmp_path / "out" / "per_query.csv").open(encoding="utf-8")))
    assert len(lines) == 3 * 6
    for line in lines:
        values = dict(zip(QUERIES, found.scored[line["system"]].per_query["map@10"], strict=True))
        assert float(line["map@10"]) == values[line["query"]]


def test_intervals_and_tests_are_those_of_the_significance_module(compared):
    """A table would show another interval than lesson 3, or the difference of two systems with its sign turned."""
    for name, evaluation in compared.scored.items():
        for metric, values in evaluation.per_query.items():
            assert compared.intervals[name][metric] == pytest.approx(interval(values), abs=1e-12)
        own = compared.intervals[name]["ndcg@10"]
        assert compared.table().loc[name, ["ndcg@10 low", "ndcg@10 high"]].tolist() == [own.low, own.high]
    first, *others = (evaluation.per_query["ndcg@10"] for evaluation in compared.scored.values())
    for second, (_, row) in zip(others, compared.paired().iterrows(), strict=True):
        test = paired_test(first, second)
        assert row[["difference", "low", "high"]].tolist() == list(bootstrap_interval(first - second)[:3])
        assert (row["better"], row["worse"]) == ((first > second).sum(), (first < second).sum())
        assert (row["p"], row["smallest p"]) == (test.p_value, test.smallest)
        assert row["sd"] == np.std(first - second, ddof=1)
        noticed = power(row["detectable"], row["sd"], len(first)) if row["sd"] else 0.8
        assert noticed == pytest.approx(0.8, abs=1e-9)


def test_the_record_counts_what_was_scored(compared):
    """Another program would divide by a wrong number of queries, or not learn which of them count 0."""
    record = as_record(compared)
    assert record["causes"] == [vars(cause) for cause in causes(compared)]
    counts = {key: record["data"][key] for key in ("queries", "passages", "judgements", "relevance_level")}
    assert counts == {"queries": 6, "passages": 12, "judgements": 13, "relevance_level": 1}
    system = record["systems"][0]  # no line for q2; ties in q1, q3 and q6; nothing relevant for q5
    assert [system[key] for key in ("queries", "no_relevant", "missing", "tied")] == [6, 1, 1, 3]


def test_the_relevance_level_of_the_collection_holds(compared):
    """Passages with a grade below the level would count as relevant."""
    strict = replace(collection(), relevance_level=2)
    found = compare(["bm25"], strict).results["BM25"]
    order = {"scores": found.ranking.scores, "doc_ids": strict.corpus_ids}
    expected = evaluate(found.ranking.ids, strict.qrels, "recall@1", relevance_level=2, **order).mean["recall@1"]
    assert found.evaluation.mean["recall@1"] == expected
    assert compared.scored["BM25"].mean["recall@1"] != expected


def test_a_failing_system_costs_its_own_row():
    """The models that ran for hours before it would be lost."""
    found = compare({"broken": failing("no\nmemory"), "words": Words()}, collection())
    assert found.failed == {"broken": "no memory"}
    assert list(found.table().index) == ["words", "broken"]
    assert found.table().loc["broken"].isna().all()
    kinds = [(one["kind"], one["where"]) for one in as_record(found)["systems"]]
    assert kinds == [("object", "SimpleNamespace"), ("object", "Words")]
    assert found.paired().empty


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 13}, "The cutoff 13 is larger than the corpus, 12 passages"),
        ({"metrics": ["ndgc@10"]}, "Unknown metric 'ndgc@10'"),
        ({"data": from_ids("one", {"q1": "apple"}, {"d1": "apple", "d2": "a", "d3": "b"}, {"q1": {"d1": 1}})},
         "one: one query shows nothing about others"),
        ({"systems": "bm25"}, r"put it into a list, \[text\]"),
        ({"data": from_ids("none", QUERIES, CORPUS, {q: dict.fromkeys(docs, 0) for q, docs in QRELS.items()})},
         "none: no query has a relevant passage: the highest of 13 grades is 0, and grades count as relevant from 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_ranks(change, message):
    """It would be found after the first model has encoded the corpus."""
    arguments = {"systems": [failing("no\nmemory"), "bm25"], "data": collection(), "k": 3} | change
    systems, data, k = arguments.pop("systems"), arguments.pop("data"), arguments.pop("k")
    with pytest.raises(ValueError, match=message):
        compare(systems, data, k, **arguments)


def test_a_full_disk_is_named_and_nothing_half_written_stays(tmp_path, monkeypatch):
    """A results.json cut short would be read by another program as it is, or not at all."""
    found = compare(["bm25"], collection())
    found.save(tmp_path)
    before = (tmp_path / "results.json").read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    advice = r"\(No space left on device\): free some space there or choose another folder\.$"  # of no command's option
    with pytest.raises(OSError, match=rf"Cannot write results\.json into the folder .*{advice}"):
        found.save(tmp_path)
    assert (tmp_path / "results.json").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_many_vectors_are_searched_where_they_lie(tmp_path, monkeypatch):
    """A copy of a million vectors beside those on disk would double the memory; the ranking must stay the same."""
    folder, build = str(write_embeddings(tmp_path / "vectors")), Mock(wraps=pipeline.build_index)
    flat = compare([folder], collection()).results["vectors"]
    monkeypatch.setattr(pipeline, "IN_MEMORY", 5)
    monkeypatch.setattr(pipeline, "build_index", build)
    blocks = compare([folder], collection()).results["vectors"]
    assert not isinstance(build.call_args.args[0], np.ndarray)
    np.testing.assert_array_equal(flat.ranking.ids, blocks.ranking.ids)


def test_long_names_of_systems_become_files(tmp_path):
    """A path that is a system's name would be too long for the file system, after all has been computed."""
    compare({"x" * 300: Words(), "y": Words()}, collection()).save(tmp_path)
    assert (tmp_path / f"run.{'x' * 80}.trec").is_file()


def test_a_run_is_scored_to_its_end(tmp_path):
    """Metrics without a cutoff would see the first hundred documents of a run alone, or as many as the corpus has."""
    size = 300
    rng = np.random.default_rng(0)
    run = {"q": {f"p{row}": float(score) for row, score in enumerate(rng.random(size).astype(np.float32))}}
    qrels = {"q": {f"p{row}": int(rng.integers(0, 2)) for row in range(0, size, 2)}}
    run, qrels = run | {"r": run["q"]}, qrels | {"r": qrels["q"]}
    write_run(tmp_path / "deep.trec", run)
    corpus = {doc: doc for doc, grade in qrels["q"].items() if grade}
    data = from_ids("t", {"q": "?", "r": "!"}, corpus, qrels)
    result = compare([str(tmp_path / "deep.trec")], data, 10, metrics=["bpref", "rprec"])
    (scored,) = result.scored.values()
    assert scored.mean.items() >= evaluate(run, qrels, ["bpref", "rprec"]).mean.items()


def test_the_share_judged_is_no_metric_to_order_systems_by():
    """Systems would be compared by a number that says nothing of their rankings; or a stack trace come."""
    with pytest.raises(ValueError, match="judged@10 alone says how much was judged"):
        compare(["bm25"], collection(), metrics=["judged@10"])
