"""Judged documents that have no text, and equal passages: scores of runs must be trec_eval's."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from helpers.data import RetrievalDataset, from_ids, load_dataset
from helpers.data.trec import export, read_qrels, write_qrels, write_run
from helpers.metrics import evaluate
from helpers.report import main
from helpers.systems import Run
from tests.data.files import beir, jsonl

METRICS = ["recall@10", "precision@5", "map@100", "ndcg@10", "mrr@100", "rprec", "bpref", "judged@10"]


def scored(data: RetrievalDataset, run: dict[str, dict[str, float]]) -> dict[str, np.ndarray]:
    """Score a run as the comparison does: per query, in trec_eval's order of ties."""
    system = Run(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ranking = system.rank(data, 100)
        found = evaluate(ranking.ids, data.qrels, METRICS, scores=ranking.scores, doc_ids=system.doc_ids(data))
    return found.per_query


def sample(seed: int) -> tuple[dict[str, str], dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Draw the texts of two thirds of 60 documents, grades from 0 to 3, and a run with tied scores."""
    random = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(60)]
    texts = {doc: f"text of {doc}" for doc in docs if random.random() < 2 / 3}
    qrels, run = {}, {}
    for query in ("q1", "q2", "q3", "q4"):
        judged, retrieved = random.choice(docs, 30, replace=False), random.choice(docs, 40, replace=False)
        qrels[query] = {str(doc): int(random.integers(0, 4)) for doc in judged}
        run[query] = {str(doc): float(random.integers(0, 9)) for doc in retrieved}
    return texts, qrels, run


@pytest.mark.parametrize("seed", range(5))
def test_official_denominators_are_those_of_trec_eval(tmp_path: Path, seed: int):
    """Documents without a text would leave R, the ideal ranking, bpref and judged@k of every run."""
    texts, qrels, run = sample(seed)
    write_collection(tmp_path, texts, qrels)
    data = load_dataset(tmp_path, on_missing="keep")
    assert sum(map(len, data.qrels)) == sum(map(len, qrels.values()))
    assert set(data.ids_without_text) == {doc for docs in qrels.values() for doc in docs} - set(texts)
    ours = scored(data, run)
    for name, values in evaluate(run, qrels, METRICS).per_query.items():  # which are trec_eval's, bit for bit
        assert ours[name].tolist() == values.tolist(), name


@pytest.mark.parametrize("on_missing", ["raise", "skip", "keep"])
def test_a_judgement_of_irrelevance_is_never_lost(tmp_path: Path, on_missing: str):
    """Documents judged not relevant would count as unjudged, and bpref would be another number."""
    write_collection(tmp_path, {"a": "uno"}, {"q1": {"a": 1, "b": -1, "c": 0}})
    data = load_dataset(tmp_path, on_missing=on_missing)
    assert (data.qrels, data.doc_ids, data.skipped) == ([{0: 1, 1: -1, 2: 0}], ["a", "b", "c"], {})


def test_a_relevant_passage_without_a_text_is_refused_left_out_or_counted(tmp_path: Path):
    """A figure that nobody else has would pass for the official one."""
    write_collection(tmp_path, {"a": "uno"}, {"q1": {"a": 1, "b": 2, "c": 0}})
    with pytest.raises(ValueError, match=r"1 of 2 passages .*'b'.*on_missing=\"skip\".*on_missing=\"keep\""):
        load_dataset(tmp_path)
    left, kept = (load_dataset(tmp_path, on_missing=choice) for choice in ("skip", "keep"))
    assert (left.qrels, left.ids_without_text) == ([{0: 1, 1: 0}], ["c"])
    assert left.skipped == {"missing_passages": 1, "judgements": 1}
    assert (kept.qrels, kept.ids_without_text, kept.skipped) == ([{0: 1, 1: 2, 2: 0}], ["b", "c"], {})
    assert kept.relevant(0) == [1, 0]
    assert kept.relevant_rows() == [0]
    assert len({data.sha256 for data in (left, kept, from_ids("t", {"q1": "q"}, {"a": "uno"}, {"q1": {"a": 1}}))}) == 3


def test_a_part_of_the_corpus_keeps_the_judgements_of_documents_without_a_text(tmp_path: Path):
    """Their rows would point at other documents once passages are taken out."""
    data = from_ids("t", {"q": "question"}, {"a": "uno", "b": "dos", "c": "tres"}, {"q": {"b": 1, "x": 2, "a": 1}})
    assert (data.qrels, data.doc_ids) == ([{1: 1, 3: 2, 0: 1}], ["a", "b", "c", "x"])
    export(data, tmp_path)  # to another tool
    assert read_qrels(tmp_path / "qrels" / "dev.qrels") == {"q": {"b": 1, "x": 2, "a": 1}}
    part = data.subset([2, 1])
    assert (part.qrels, part.doc_ids) == ([{1: 1, 2: 2}], ["c", "b", "x"])


def test_equal_passages_stay_apart_where_asked(tmp_path: Path):
    """Trec_eval's number of a run could not be had for a corpus with twins."""
    texts = {"a": "same", "b": "same", "c": "other"}
    qrels = {"q1": {"a": 1, "b": 0, "c": 2}}
    run = {"q1": {"b": 3.0, "c": 2.0, "a": 1.0}}
    write_collection(tmp_path, texts, qrels)
    merged, kept = load_dataset(tmp_path), load_dataset(tmp_path, equal="keep")
    assert (merged.corpus, merged.merged, merged.qrels) == (["same", "other"], 1, [{0: 1, 1: 2}])
    assert (kept.corpus, kept.merged, kept.qrels) == (["same", "same", "other"], 0, [{0: 1, 1: 0, 2: 2}])
    for name, values in evaluate(run, qrels, METRICS).per_query.items():
        assert scored(kept, run)[name].tolist() == values.tolist()
    with pytest.raises(ValueError, match="equal='apart'"):
        load_dataset(tmp_path, equal="apart")
    (tmp_path / "rows.jsonl").write_text(jsonl([{"query": "one", "positive": "uno"}]))
    with pytest.raises(ValueError, match="needs passages with ids"):
        load_dataset(tmp_path / "rows.jsonl", equal="keep")


def test_the_command_says_what_it_left_out_and_merged(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A gate in CI would compare figures of different collections, and its log would not tell."""
    texts = {"a": "same words", "b": "same words", "c": "other words"}
    qrels, run = {"a": 1, "x": 2, "y": 0}, {"x": 2.0, "y": 1.5, "a": 1.0}
    write_collection(tmp_path, texts, {"q1": qrels, "q2": qrels})
    write_run(tmp_path / "theirs.trec", {"q1": run, "q2": run})
    command = ["--data", str(tmp_path), "--model", str(tmp_path / "theirs.trec"), "--metrics", "ndcg@2", "--quiet"]
    command += ["--out", str(tmp_path / "out")]
    assert main([*command, "--on-missing", "skip"]) == 0
    told = capsys.readouterr()
    assert "relevant passages without a text: 1" in told.err
    assert "equal passages merged: 1" in told.err
    assert "ndcg@2 0.0000, judged@2 0.5000" in told.out
    assert main([*command, "--on-missing", "keep", "--equal", "keep"]) == 0
    told = capsys.readouterr()
    assert "judged documents without a text: 2" in told.err
    assert "merged" not in told.err
    assert "judged@2 1.0000" in told.out
    assert read_qrels(tmp_path / "out" / "qrels.trec") == {"q1": qrels, "q2": qrels}


def write_collection(folder: Path, texts: dict[str, str], qrels: dict[str, dict[str, int]]) -> None:
    """Write a BEIR folder of these passages and judgements; its queries are the judged ones."""
    corpus = jsonl([{"_id": doc, "text": text} for doc, text in texts.items()])
    queries = jsonl([{"_id": query, "text": f"question {query}"} for query in qrels])
    beir(folder, **{"corpus.jsonl": corpus, "queries.jsonl": queries})
    write_qrels(folder / "qrels" / "dev.tsv", qrels)
