"""The page "Make your own test set": its code and commands run in order, its figures and messages are the real ones."""

import re
import shlex
from pathlib import Path

import pytest

from helpers.judgements.__main__ import main, parser
from helpers.significance import minimum_detectable_difference
from tests.judgements import fill as assess

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "zh")


def page(language: str) -> str:
    """Return the text of the page."""
    return (ROOT / "docs" / language / "test_set.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    """Return the code blocks of a kind; both languages have the same, which the check sees to."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page("en"), re.M | re.S)


def commands() -> list[list[str]]:
    """Return the arguments of each `retrieval-judge` on the page."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(line.split("retrieval-judge ")[1]) for line in lines if "retrieval-judge" in line]


def fill(path: Path, grade: str, other: str) -> None:
    """Fill in a sheet: one grade, and another for the first row."""
    assess(path, lambda rows: [row.__setitem__(4, grade if n else other) for n, row in enumerate(sorted(rows))])


def test_the_page_from_a_log_to_a_fair_comparison(tmp_path, monkeypatch, capsys):
    """A reader who follows the page line by line would meet an error, or end without a collection."""
    monkeypatch.chdir(tmp_path)
    answers = [f"Parcel service number {n} takes {n + 2} working days." for n in range(12)]
    (tmp_path / "faq.csv").write_text("question,answer\n" + "".join(f"how long?,{a}\n" for a in answers))
    (tmp_path / "log.txt").write_text("parcel not here yet\nservice number 3\n\nparcel not here yet\nworking days?\n")
    make, load, compare = blocks("python")
    names: dict[str, object] = {}
    exec(make, names)
    sheet, collect, settle, *second_round = commands()
    assert main(sheet) == 0
    fill(Path("judging/anna.csv"), "2", "3")
    fill(Path("judging/ben.csv"), "2", "0")
    assert main(collect) == 1
    fill(Path("judging/conflicts.csv"), "3", "3")
    assert main(settle) == 0
    capsys.readouterr()
    exec(load, names)
    exec(compare, names)
    shown = capsys.readouterr().out
    assert shown.startswith("0.0\n")  # MiniLM was in the pool
    assert "LeaveOneOut(systems={'BM25'" in shown
    assert len(names["data"].queries) == 3
    assert [parser().parse_args(command).judged for command in second_round] == [Path("my-set/qrels.txt")] * 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_of_queries_is_computed(language):
    """A reader would plan with differences that so many queries do not show."""
    deviations = re.findall(r"-->(0\.\d+) \|", page(language))
    rows = re.findall(r"^\| (\d+) \| (0\.\d+) \| (0\.\d+) \|$", page(language), re.M)
    assert len(deviations) == 2
    assert [int(n) for n, *_ in rows] == [30, 50, 100, 200, 500]
    for n, *shown in rows:
        assert shown == [f"{minimum_detectable_difference(float(sd), int(n)):.3f}" for sd in deviations]
