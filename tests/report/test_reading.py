"""Long documents in the report: cut into chunks, and what of the evidence reaches a reader."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.chunks import as_collection, cut, evidence, tokens
from helpers.data.spans import load_spans
from helpers.report import main
from helpers.report.command import read_chunker
from helpers.systems import Words, rank


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with two documents whose answers are marked."""
    monkeypatch.chdir(tmp_path)
    texts = {"a": "The cat sleeps. The dog barks at night. " * 4, "b": "Bread is baked. The oven is hot. " * 4}
    rows = {
        "documents": [{"_id": name, "text": text} for name, text in texts.items()],
        "queries": [{"_id": "q1", "text": "dog barks"}, {"_id": "q2", "text": "hot oven"}],
        "spans": [
            {"query": "q1", "document": "a", "start": 16, "end": 39, "grade": 2},
            {"query": "q2", "document": "b", "start": 16, "end": 32, "grade": 1},
        ],
    }
    Path("set").mkdir()
    for name, table in rows.items():
        Path("set", f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
    return tmp_path


def report(*options):
    """Run the command on the folder, quietly; return the status and the record of systems by name."""
    status = main(["--data", "set", "--out", "out", "--cutoffs", "1", "--quiet", *options])
    record = json.loads(Path("out/results.json").read_text(encoding="utf-8")) if status == 0 else {"systems": []}
    return status, {system["name"]: system for system in record["systems"]}


def test_chunks_are_ranked_and_read(place):
    """The report would measure other chunks, or another budget, than it says."""
    status, systems = report("--chunks", "6/2", "--budget", "9", "--system", "bm25")
    assert status == 0
    data = load_spans("set")
    chunks = cut(data, tokens(6, 2))
    collection = as_collection(data, chunks)
    ids = rank(Words(), collection, len(chunks)).ids
    expected = evidence(data, [[chunks[c] for c in row if c >= 0] for row in ids], 9)
    got = systems["BM25"]["evidence"]
    assert got["budget"] == 9
    for column in ("answered", "recall", "precision", "repeated"):
        assert got[column] == expected[column].mean()
    assert got["first"] == np.nanmedian(expected["first"])
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "What reaches a reader within 9 tokens" in page
    assert report("--chunks", "6/2", "--budget", "9", "--system", "bm25", "--language", "zh")[0] == 0
    assert "9个词元之内，读者得到什么" in Path("out/report.html").read_text(encoding="utf-8")


def test_a_run_may_cut_in_its_own_way(place, capsys):
    """A framework's chunks would have to be ours, or be read as other characters."""
    Path("mine.trec").write_text("q1 Q0 a:16-39 1 2.0 x\nq2 Q0 b:0-60 1 1.0 x\n", encoding="utf-8")
    chunks = ["--chunks", "sentences", "--budget", "100"]
    status, systems = report(*chunks, "--system", "mine.trec")
    assert status == 0
    assert systems["mine.trec"]["evidence"]["answered"] == 1.0
    assert systems["mine.trec"]["evidence"]["recall"] == 1.0
    for wrong in ("elsewhere", "c:0-9", "a:0-99999"):
        Path("bad.trec").write_text(f"q1 Q0 a:0-15 1 2.0 x\nq1 Q0 {wrong} 2 1.0 x\n", encoding="utf-8")
        assert report(*chunks, "--system", "bad.trec")[0] == 1
        assert wrong in capsys.readouterr().err.replace("characters 0 to 99999", "a:0-99999")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--chunks", "words"], "--chunks 'words': expected sentences, paragraphs, sections, whole, or tokens and"),
        (["--chunks", "whole", "--budget", "0"], "--budget 0: expected a whole number of at least 1"),
        (["--chunks", "whole", "--split", "dev"], "--split is about judged passages"),
    ],
)
def test_mistakes_are_one_line(place, options, message, capsys):
    """A chunker that does not exist would be another one, or an option have no effect."""
    assert report("--system", "bm25", *options)[0] == 1
    assert message in capsys.readouterr().err


def test_names_of_chunkers():
    """A name would cut in another way."""
    text = "# A\n\none two. three\n\nfour"
    assert len(read_chunker("whole")(text)) == 1
    assert len(read_chunker("2")(text)) == 4
    assert read_chunker("3/1")(text) == tokens(3, 1)(text)
