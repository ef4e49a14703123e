"""python -m helpers.judgements: from texts to judgements and back into a collection, with nothing written over."""

import json
from pathlib import Path

import pytest

from helpers.data.trec import read_qrels, write_qrels, write_run
from helpers.judgements import read_sheet
from helpers.judgements.__main__ import main
from tests.judgements import Rows
from tests.judgements import fill as assess

QUERIES = {"q1": "what makes the sky blue", "q2": "how is fog formed", "q3": "who wrote the iliad"}
CORPUS = {
    "007": "Air scatters blue light from the sky more than red.",
    "p2": "Fog is formed where moist air cools near the ground.",
    "p3": "=The sky is dark at night.",
    "p4": "Nothing in common here.",
    "p5": "Nothing in common here.",
}


def run(command: str) -> int:
    """Run a command line as it would be typed."""
    return main(command.split())


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with texts, a run that has one passage for each query, and nothing judged."""
    for name, texts in (("queries", QUERIES), ("corpus", CORPUS)):
        lines = [json.dumps({"_id": key, "text": text}) + "\n" for key, text in texts.items()]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    write_run(tmp_path / "mine.run", {"q1": {"p5": 2.0, "p2": 1.0}, "q3": {"p4": 1.0}})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(name: str, grade: int, others: dict[tuple[str, str], int] | None = None) -> None:
    """Fill in a sheet as a spreadsheet saves it, one grade for all pairs but some."""

    def graded(rows: Rows) -> None:
        for row in rows:
            row[4] = str((others or {}).get((row[0], row[2].removeprefix("'")), grade))

    assess(name, graded, delimiter=";")


def test_from_texts_to_a_collection(folder, capsys):
    """A reader who follows the page would not end with judgements that the lessons load."""
    assert run("sheet . --systems bm25 --runs mine.run --depth 1 --assessors anna ben") == 0
    assert "4 pairs of 3 queries to judge, pooled to depth 1" in capsys.readouterr().out
    assert run("sheet . --systems BM25 --runs mine.run --depth 3 --out deeper") == 0
    assert "Pairs by depth of the pool: 1: 4, 2: 6, 3: " in capsys.readouterr().out
    pairs = {("q1", "007"), ("q1", "p4"), ("q2", "p2"), ("q3", "p4")}  # p5 is p4 again; BM25's two, the run's two
    assert read_sheet("judging/anna.csv").by_pair().keys() == pairs
    fill("judging/anna.csv", 0, {("q1", "007"): 3, ("q2", "p2"): 3})
    fill("judging/ben.csv", 0, {("q1", "007"): 2, ("q2", "p2"): 3})
    command = "collect judging/sheet.csv judging/anna.csv judging/ben.csv"
    assert run(command) == 1
    shown = capsys.readouterr()
    assert "conflict: query 'q1', passage '007': anna 3, ben 2" in shown.out
    assert "75.0% got equal grades" in shown.out
    assert shown.err.startswith("Conflicts without a grade: 1, so no judgements are written.")
    assert "with --settled judging/conflicts.csv" in shown.err
    assert run(command) == 1
    again = capsys.readouterr()
    assert again.out == shown.out
    assert "fill it in and give it, --settled judging/conflicts.csv" in again.err
    assert not Path("qrels.txt").exists()
    assert run(f"{command} --settled judging/conflicts.csv") == 1
    assert "column 'grade', not 'given', of judging/conflicts.csv" in capsys.readouterr().err
    fill("judging/conflicts.csv", 3)
    assert run(f"{command} --settled judging/conflicts.csv") == 0
    assert "4 judgements of 3 queries in qrels.txt; 0 pairs without a grade." in capsys.readouterr().out
    assert read_qrels("qrels.txt") == {"q1": {"007": 3, "p4": 0}, "q2": {"p2": 3}, "q3": {"p4": 0}}


def test_a_sheet_that_is_half_filled_in_counts_if_one_says_so(folder, capsys):
    """The option would be lost on its way, and what was judged so far could not be looked at."""
    assert run("sheet . --runs mine.run --depth 2 --assessors anna") == 0

    def half(rows: Rows) -> None:
        rows[1][4] = "2"

    command = "collect judging/sheet.csv judging/anna.csv"
    assert run(f"{command} --partial") == 1
    assert "No pair has a grade yet" in capsys.readouterr().err
    assess("judging/anna.csv", half)
    assert run(command) == 1
    assert "has no grade" in capsys.readouterr().err
    assert run(f"{command} --partial") == 0
    assert sum(map(len, read_qrels("qrels.txt").values())) == 1


def test_a_second_round_asks_for_what_is_new(folder, capsys):
    """A deeper pool would have assessors judge everything again, or its judgements replace the first."""
    write_qrels("first.txt", {"q1": {"007": 3, "p9": 1}})
    assert run("sheet . --systems bm25 tfidf --depth 2 --judged first.txt --out second") == 0
    assert ("q1", "007") not in read_sheet("second/sheet.csv").by_pair()
    fill("second/first.csv", 1)
    assert run("collect second/sheet.csv second/first.csv --judged first.txt --out both.txt") == 0
    found = read_qrels("both.txt")
    assert found["q1"] == {"007": 3, "p9": 1, "p3": 1}
    assert read_qrels("first.txt") == {"q1": {"007": 3, "p9": 1}}


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("sheet . --runs mine.run --depth 1", "judging/sheet.csv"),
        ("sheet . --runs mine.run --depth 1 --assessors anna", "judging/anna.csv"),
        ("collect judging/sheet.csv judging/first.csv", "qrels.txt"),
        ("collect judging/sheet.csv judging/first.csv judging/second.csv", "judging/conflicts.csv"),
    ],
)
def test_no_file_is_written_over(folder, capsys, command, target):
    """Judgements already made would be gone, and they are what costs the work."""
    if command.startswith("collect"):
        assert run("sheet . --runs mine.run --depth 1 --assessors first second") == 0
        fill("judging/first.csv", 1)
        fill("judging/second.csv", 0)
    Path(target).parent.mkdir(exist_ok=True)
    Path(target).write_text("hours of work")
    before = sorted(folder.rglob("*"))
    assert run(command) == 1
    assert f"{Path(target).name} exists and is left as it is" in capsys.readouterr().err
    assert Path(target).read_text() == "hours of work"
    assert sorted(folder.rglob("*")) == before


def test_a_sheet_that_excel_saved_in_china_is_read(folder, capsys):
    """A sheet in GB18030 would be refused with the advice of an option that the command does not have."""
    queries = folder / "queries.jsonl"
    text = queries.read_text(encoding="utf-8").replace("how is fog formed", "雾是怎样形成的 fog")
    queries.write_text(text, encoding="utf-8")
    assert run("sheet . --systems BM25 --depth 1") == 0
    fill("judging/first.csv", 2)
    filled = folder / "judging" / "first.csv"
    filled.write_bytes(filled.read_text(encoding="utf-8-sig").encode("gb18030"))
    command = "collect judging/sheet.csv judging/first.csv --out qrels.txt"
    assert run(command) == 1
    assert "not UTF-8" in capsys.readouterr().err
    assert run(f"{command} --encoding gb18030") == 0
    assert set(read_qrels("qrels.txt")) <= set(QUERIES)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("sheet .", "Nothing to pool: name --systems"),
        ("sheet . --systems BM25 --corpus other.jsonl", "other.jsonl"),
        ("sheet . --runs stranger.run", "passage 'p99' is not in the data: give the run of these texts"),
        ("sheet . --runs other.run", "other.run: query 'q9' is not in the data: give the run of these texts"),
        ("sheet . --runs mine.run --queries blank.csv", "are blank. The first: 'q2', 'q3'. Fill them in.\n"),
        ("sheet . --systems BM25 --queries spaced.csv", "'my q' cannot be written to a TREC file"),
        ("sheet . --runs mine.run --assessors anna anna", "different names"),
        ("sheet . --runs mine.run --assessors sheet", "different names"),
        ("collect no.csv mine.run", "error: No file 'no.csv': check the path."),
    ],
)
def test_a_mistake_is_told_in_one_line(folder, capsys, command, message):
    """A traceback, a sheet made of something else than was meant, or grades that then cannot be written."""
    write_run("stranger.run", {"q1": {"p99": 1.0}})
    write_run("other.run", {"q9": {"p2": 1.0}})
    Path("blank.csv").write_text("id,text\nq1,one\nq2,\nq3,\n")
    Path("spaced.csv").write_text("id,text\nmy q,what makes the sky blue\n")
    assert run(command) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1
    assert not Path("judging").exists()
