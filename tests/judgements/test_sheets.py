"""helpers.judgements sheets: what is written, and every text as it was after a spreadsheet had it."""

import csv
import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.data import RetrievalDataset
from helpers.judgements import read_sheet, write_sheet
from helpers.judgements.sheets import guarded, same_text

RISKY = ["=1+1", "+49 30 1", "-5", "@me", "\t=1", "  =HYPERLINK(A1)", "'quoted'", "＝1", "=cmd|' /C calc'!A0", "\r@x"]
REWRITTEN = ["007", "1e5", "12.50", "2024-05-01", "3/4", "mar-1", "SEPT1", "May 2020", "TRUE", "$5", "１２", "9" * 16]
KEPT = ["why is the sky blue", "q001", "17", "0", "为什么天空是蓝色的", "mayonnaise", "trueness", "élan"]


def collection() -> RetrievalDataset:
    """Six queries and as many passages, some of which a spreadsheet would compute or rewrite."""
    queries = ["why is the sky blue", "=SUM(A1)", "007", "天空为什么是蓝色的", 'two, "quoted"; words', "mar-1"]
    corpus = ["Air scatters\nblue light.", "-5 degrees", "'tis so", "@home", "plain", "a\r\nb"]
    ids = [f"q{n}" for n in range(5)] + ["007"]
    return RetrievalDataset("test", queries, corpus, [{} for _ in queries], ids, ["+1", *"bcdef"])


def everything(tmp_path: Path, **options) -> Path:
    """A sheet of all pairs."""
    path = tmp_path / "sheet.csv"
    assert write_sheet(path, collection(), [range(6)] * 6, **options) == 36
    return path


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_every_text_comes_back_as_it_was(text):
    """A passage would be judged in other words than the system retrieved, or an apostrophe be lost."""
    assert (guarded(text)[1:] == text) if guarded(text) != text else not text.startswith("'")
    assert same_text(guarded(text), text)
    assert same_text(text, text)


@pytest.mark.parametrize("text", [*RISKY, *(text + " and more words" * 5 for text in RISKY), *REWRITTEN])
def test_no_cell_runs_as_a_formula_or_is_taken_for_a_number_or_a_date(text):
    """A text out of a query log would be executed (CWE-1236); or 7 be saved for 007, and the row not found again."""
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", KEPT)
def test_ordinary_texts_stay_as_they_are(text):
    """Every query would begin with an apostrophe, which assessors then delete."""
    assert guarded(text) == text


def test_the_file_is_one_that_excel_opens(tmp_path):
    """Without the mark Excel takes UTF-8 for another encoding; a risky cell in the file itself would run."""
    raw = everything(tmp_path, grades=(0, 1)).read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    header, *rows = csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""))
    assert header == ["query id", "query", "passage id", "passage", "grade (0/1)"]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)
    assert {row[4] for row in rows} == {""}


def test_what_is_read_is_what_was_written(tmp_path):
    """A pair would be lost, doubled, or have another text than the collection's."""
    data = collection()
    sheet = read_sheet(everything(tmp_path))
    found = {(row.query_id, row.query, row.passage_id, row.passage) for row in sheet.by_pair().values()}
    queries, corpus = zip(data.query_ids, data.queries, strict=True), zip(data.corpus_ids, data.corpus, strict=True)
    assert found == {(*query, *passage) for passages in [list(corpus)] for query in queries for passage in passages}
    assert (sheet.grades, sheet.name) == ((0, 1, 2, 3), "sheet.csv")


def test_the_order_follows_the_seed_and_keeps_queries_together(tmp_path):
    """The order would show the pool's, or an assessor meet each query again and again."""
    orders = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        path = tmp_path / f"{name}.csv"
        write_sheet(path, collection(), [range(6)] * 6, seed=seed)
        orders.append([(row.query_id, row.passage_id) for row in read_sheet(path).rows])
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) != orders[0]
    each = [[passage for query, passage in orders[0] if query == f"q{n}"] for n in range(5)]
    assert any(passages != sorted(passages) for passages in each)
    queries = [query for query, _ in orders[0]]
    assert len([1 for one, two in pairwise(queries) if one != two]) == 5


def test_a_sheet_is_never_written_over(tmp_path):
    """An afternoon of judging would be gone after the command was run a second time."""
    path = everything(tmp_path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"sheet\.csv exists and is left as it is"):
        write_sheet(path, collection(), [[0]] * 6)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_of_a_spreadsheet_are_read(tmp_path, delimiter):
    """Where the comma is the decimal point, Excel saves semicolons: the sheet would be refused."""
    path = everything(tmp_path)
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    with (tmp_path / "other.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([*rows, [""] * 5])
    assert [row[1:] for row in read_sheet(tmp_path / "other.csv").rows] == [r[1:] for r in read_sheet(path).rows]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", r"s\.csv:1: the header must begin query id"),
        (b"query id,query,passage id,passage\r\nq,a,p,b\r\n", "leave the first row"),
        (b"query id,query,passage id,passage,grade (0/1)\r\n", "no rows below the header"),
        (b"query id,query,passage id,passage,grade (0/1)\r\nq,a,p\r\n", r"s\.csv:2: 3 cells, expected 5"),
    ],
)
def test_what_is_no_sheet_is_refused(tmp_path, raw, message):
    """Grades would be read out of another column, or the error not say where to look."""
    path = tmp_path / "s.csv"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=message):
        read_sheet(path)


@pytest.mark.parametrize(
    ("pairs", "grades", "message"),
    [
        ([[]] * 6, (0, 1), "No pair to judge"),
        ([[0]], (0, 1), "pairs are of 1 queries, but the data has 6"),
        ([[0]] * 6, (0,), "two or more different"),
        ([[0]] * 6, (0, 1, 1), "two or more different"),
        ([[0]] * 6, (-1, 1), "of at least 0"),
        ([[6]] * 6, (0, 1), "Split the passage"),  # Excel would cut it off, and the change be noticed after the work
    ],
)
def test_a_sheet_that_nobody_could_fill_in_is_not_written(tmp_path, pairs, grades, message):
    """An empty sheet, or one whose scale `collect` cannot read, would go to the assessors."""
    data = collection()
    data.corpus.append("A" * 32_768)
    data.corpus_ids.append("g")
    with pytest.raises(ValueError, match=message):
        write_sheet(tmp_path / "sheet.csv", data, pairs, grades=grades)
    assert not any(tmp_path.iterdir())
