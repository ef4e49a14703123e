"""helpers.judgements.collect: grades in, every fault with file, line, ids and remedy, conflicts settled."""

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.data import RetrievalDataset
from helpers.judgements import collect, read_sheet, write_conflicts, write_sheet
from tests.judgements import Rows
from tests.judgements import fill as assess

PAIRS = {("q1", "p1"): 3, ("q1", "p2"): 0, ("=q2", "p1"): 1, ("=q2", "p3"): 2}


@pytest.fixture
def sheet(tmp_path) -> Path:
    """A sheet of four pairs."""
    texts = ["why is the sky blue", "=SUM(A1)"], ["Air scatters\nblue light.", "-5 degrees", "plain"]
    data = RetrievalDataset("test", *texts, [{}, {}], ["q1", "=q2"], ["p1", "p2", "p3"])
    write_sheet(tmp_path / "sheet.csv", data, [[0, 1], [0, 2]])
    return tmp_path / "sheet.csv"


def fill(sheet: Path, name: str, grades: dict | None = None, change: Callable[[Rows], object] | None = None) -> Path:
    """Fill in a copy of a sheet with PAIRS, other grades for some, and change its rows as a spreadsheet may."""

    def graded(rows: Rows) -> None:
        for row in rows:
            row[4] = str({**PAIRS, **(grades or {})}[row[0].removeprefix("'"), row[2]])
        rows.sort()  # "'=q2" p1 (two lines long) on line 2, p3 on 4, "q1" p1 (two again) on 5, p2 on 7
        if change:
            change(rows)

    return assess(sheet, graded, f"{name}.csv")


def test_grades_of_one_assessor(sheet):
    """A grade would go to another pair, or an id keep the apostrophe that guarded it."""
    found = collect(sheet, [fill(sheet, "anna")])
    assert found.qrels == {"q1": {"p1": 3, "p2": 0}, "=q2": {"p1": 1, "p3": 2}}
    assert (found.labels, found.conflicts, found.ungraded) == ([found.qrels], {}, 0)


def test_what_a_spreadsheet_does_to_a_sheet_is_no_change(sheet):
    """Other line ends, dropped apostrophes, blanks and full-width digits would make an assessor start again."""

    def saved(rows: Rows) -> None:
        for row in rows:
            row[:4] = [cell.removeprefix("'").replace("\n", "\r\n") for cell in row[:4]]
            row[4] = f" {chr(ord('０') + int(row[4]))} "
            row.append("a remark")
        rows.reverse()

    assert collect(sheet, [fill(sheet, "anna", change=saved)]).qrels == collect(sheet, [fill(sheet, "ben")]).qrels


def test_conflicts_are_settled_on_a_sheet_of_their_own(sheet, tmp_path):
    """A grade on which they differ would be taken from one of them, or a conflict that nobody settled pass."""
    both = [fill(sheet, "anna"), fill(sheet, "ben", {("q1", "p1"): 2, ("=q2", "p3"): 0})]
    found = collect(sheet, both)
    assert found.conflicts == {("q1", "p1"): (3, 2), ("=q2", "p3"): (2, 0)}
    assert found.qrels == {"q1": {"p2": 0}, "=q2": {"p1": 1}}
    assert [labels["q1"]["p1"] for labels in found.labels] == [3, 2]
    write_conflicts(tmp_path / "conflicts.csv", read_sheet(sheet), found.conflicts)
    text = (tmp_path / "conflicts.csv").read_text(encoding="utf-8-sig")
    assert "first 3, second 2" in text
    assert "Air scatters" in text
    unsettled = collect(sheet, both, settled=tmp_path / "conflicts.csv")
    assert len(unsettled.conflicts) == 2
    settled = fill(tmp_path / "conflicts.csv", "settled", {("=q2", "p3"): 1})
    found = collect(sheet, both, settled=settled)
    assert found.qrels == {"q1": {"p2": 0, "p1": 3}, "=q2": {"p1": 1, "p3": 1}}
    assert found.conflicts == {}
    with pytest.raises(ValueError, match=r"(?m)^settled\.csv:\d: query 'q1', passage 'p1' is not asked for: put"):
        collect(sheet, [both[0], both[0]], settled=settled)


def test_earlier_judgements_are_kept(sheet):
    """A second round would lose the first, or change a grade that was settled long ago."""
    earlier = {"q1": {"p9": 2, "p1": 3}}
    found = collect(sheet, [fill(sheet, "anna")], judged=earlier)
    assert found.qrels == {"q1": {"p9": 2, "p1": 3, "p2": 0}, "=q2": {"p1": 1, "p3": 2}}
    assert earlier == {"q1": {"p9": 2, "p1": 3}}
    with pytest.raises(ValueError, match=r"^sheet\.csv:\d: query 'q1', passage 'p1' was judged 0 before, now 3: "):
        collect(sheet, [fill(sheet, "ben")], judged={"q1": {"p1": 0}})


def test_half_a_sheet_on_request(sheet):
    """A second assessor who judged a sample could not be compared, or an unjudged pair get a grade."""
    half = fill(sheet, "ben", {("q1", "p1"): "", ("q1", "p2"): ""})
    shorter = fill(sheet, "carl", change=lambda rows: rows.__delitem__(slice(2, None)))
    assert collect(sheet, [shorter], partial=True).qrels == {"=q2": {"p1": 1, "p3": 2}}
    found = collect(sheet, [half], partial=True)
    assert (found.qrels, found.ungraded) == ({"=q2": {"p1": 1, "p3": 2}}, 2)
    both = collect(sheet, [fill(sheet, "anna"), half], partial=True)
    assert both.qrels["q1"] == {"p1": 3, "p2": 0}
    with pytest.raises(ValueError, match="query 'q1', passage 'p1' has no grade: write one of 0, 1, 2, 3"):
        collect(sheet, [half])


def swap(row: int, cell: int, text: str) -> Callable[[Rows], object]:
    """Write another text into a cell."""
    return lambda rows: rows[row].__setitem__(cell, text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swap(3, 4, "4"), r"^anna\.csv:7: query 'q1', passage 'p2' has the grade '4': write one of 0, 1, 2, 3\.$"),
        (swap(3, 4, "2.5"), r"^anna\.csv:7: .* has the grade '2\.5'"),
        (swap(3, 3, "-5 degree"), r"^anna\.csv:7: .*: the passage's text was changed: copy it from line \d"),
        (swap(0, 1, "=SUM(A2)"), r"^anna\.csv:2: query '=q2', passage 'p1': the query's text was changed"),
        (swap(0, 0, "q7"), r"(?s)^anna\.csv:2: query 'q7', passage 'p1' is not asked for: put the ids back.*no row"),
        (lambda rows: rows.pop(3), r"^anna\.csv: no row for query 'q1', passage 'p2': copy it from line \d of sheet"),
        (lambda rows: rows.append([*rows[3][:4], "3"]), r"^anna\.csv:8: .* is here twice, first in line 7: keep one"),
    ],
)
def test_a_fault_names_file_line_ids_and_remedy(sheet, change, message):
    """A slip among hundreds of rows could not be found, or pass as a judgement."""
    with pytest.raises(ValueError, match=message):
        collect(sheet, [fill(sheet, "anna", change=change)])


def test_all_faults_come_at_once(sheet):
    """An assessor would get the sheet back once for every slip."""
    with pytest.raises(ValueError, match="anna") as error:
        collect(sheet, [fill(sheet, "anna", dict.fromkeys(PAIRS, 7)), fill(sheet, "ben", {("q1", "p1"): "x"})])
    assert [line.split(":")[0] for line in str(error.value).split("\n")] == ["anna.csv"] * 4 + ["ben.csv"]


def test_the_list_of_faults_ends(tmp_path):
    """Thousands of lines would scroll the first away."""
    texts, ids = ([f"{name}{n}" for n in range(30)] for name in ("passage ", "p"))
    data = RetrievalDataset("many", ["q"], texts, [{}], ["q"], ids)
    write_sheet(tmp_path / "sheet.csv", data, [range(30)])
    with pytest.raises(ValueError, match="… and 10 more") as error:
        collect(tmp_path / "sheet.csv", [tmp_path / "sheet.csv"])
    assert len(str(error.value).split("\n")) == 21


def test_another_scale_in_the_header_is_refused(sheet):
    """Grades of one scale would be mixed with those of another."""
    anna = fill(sheet, "anna")
    anna.write_text(anna.read_text(encoding="utf-8").replace("(0/1/2/3)", "(0/1/2/3/4)"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"anna\.csv:1: its grades are not those of sheet\.csv"):
        collect(sheet, [anna])


def test_one_or_two_sheets(sheet):
    """A third assessor's grades would be left out in silence."""
    with pytest.raises(ValueError, match="one or two filled sheets, not 3"):
        collect(sheet, [sheet] * 3)
