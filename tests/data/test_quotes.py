"""Quotes in CSV and TSV files: no row is lost, and no text changed, whoever wrote the file."""

import csv
import io
import re
from pathlib import Path

import pandas
import pytest
from hypothesis import example, given, reject, settings, strategies

from helpers.data.formats import read_table
from tests.data.files import put

HEADER = ["id", "text", "source"]
PIECES = ['"', '""', "\\", '\\"', "\n", "\r\n", "\t", ",", ";", "|", " ", "a", "Dew", "'", "\u2028", "。", "6"]
TEXT = strategies.lists(strategies.sampled_from(PIECES), max_size=8).map("".join)
TABLES = strategies.lists(strategies.tuples(strategies.sampled_from(["p1", "7", '"x'] * 2), TEXT, TEXT), max_size=6)


def _by_csv(rows: list[tuple[str, ...]], **options: object) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, **options).writerows([HEADER, *rows])  # type: ignore[arg-type]
    return text.getvalue()


def _by_join(rows: list[tuple[str, ...]]) -> str:
    """Without any quoting: it cannot write a tab or line end, nor tell a text that is written like a quoted one."""
    cells = [cell for row in rows for cell in row]
    if any(set("\t\r\n") & set(cell) or re.fullmatch(r'"([^"]|"")*"', cell) for cell in cells):
        reject()
    return "".join("\t".join(row) + "\n" for row in [HEADER, *rows])


def _by_spark(rows: list[tuple[str, ...]], delimiter: str) -> str:
    """Spark and MySQL escape a quote by a backslash."""

    def cell(text: str) -> str:
        escaped = re.sub(r'(\\*)"', lambda found: found[1] * 2 + '\\"', text)
        return f'"{escaped}"' if any(mark in text for mark in ('"', "\n", "\r", delimiter)) else text

    if any(text.endswith("\\") for row in rows for text in row):
        reject()  # what it writes then, nobody can read
    return "".join(delimiter.join(map(cell, row)) + "\n" for row in [HEADER, *rows])


WRITERS = {
    "pandas.csv": lambda rows: pandas.DataFrame(rows, columns=HEADER).to_csv(index=False, lineterminator="\n"),
    "excel.csv": _by_csv,
    "excel-tab.tsv": lambda rows: _by_csv(rows, dialect="excel-tab"),
    "all quoted.tsv": lambda rows: _by_csv(rows, dialect="excel-tab", quoting=csv.QUOTE_ALL),
    "join.tsv": _by_join,
    "spark.csv": lambda rows: _by_spark(rows, ","),
    "spark.tsv": lambda rows: _by_spark(rows, "\t"),
}


@pytest.mark.parametrize("name", WRITERS)
@settings(deadline=None)
@given(rows=TABLES.filter(bool))
@example(rows=[("p1", '"Blue hour" begins', "a"), ("p2", '"Golden hour', "a"), ("p3", 'clear nights"', "a")])
@example(rows=[("p1", '"', "a"), ("p2", "b", ",c")])
def test_a_table_comes_back_row_by_row_or_is_refused(tmp_path_factory, name, rows):
    """An open quote would swallow the rows below it, and a smaller corpus raises every score."""
    path = tmp_path_factory.mktemp("table") / name
    path.write_bytes(WRITERS[name](rows).encode())
    columns, refusal = {}, ""
    try:
        columns = read_table(path).columns
    except ValueError as error:
        refusal = str(error)
    if refusal:
        assert re.search(r"line \d+", refusal)
    else:
        assert list(zip(*(columns[name] for name in HEADER), strict=True)) == rows


USUAL = [("p1", 'a 6" pipe, "bent"', "x"), ("p2", '"Golden hour', "y, z"), ("p3", "two\nlines", ""), ("p4", "a", "b")]


@pytest.mark.parametrize("name", ["pandas.csv", "excel.csv", "excel-tab.tsv", "all quoted.tsv", "join.tsv"])
def test_usual_tables_are_read_and_not_refused(tmp_path: Path, name: str):
    """The property would hold of a reader that refuses every file."""
    rows = [row for row in USUAL if name != "join.tsv" or "\n" not in row[1]]
    columns = read_table(put(tmp_path / name, WRITERS[name](rows))).columns
    assert list(zip(*(columns[name] for name in HEADER), strict=True)) == rows


BROKEN = {
    "open.csv": ('id,text\np1,"Golden hour\np2,Fog\np3,"Dew, x"\n', 2),
    "never closed.csv": ('id,text\np1,Fog\np2,"Golden, hour\np3,Dew\n', 3),
    "two ways.csv": ('id,text\np1,Fog\np2,"Golden hour\np3,Dew at night"\n', 3),
    "two ways.tsv": ('id\ttext\np1\t"Golden hour\np3\tDew at night"\n', 2),
    "backslash.csv": ('id,text\np1,Fog\np2,"say \\"hi\\", he said"\n', 3),
    "mixed.tsv": ('id\ttext\np0\tFog\np1\t"say ""hi"""\np2\t"abc"\n', 3),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_quote_that_is_open_is_an_error_that_names_its_line(tmp_path: Path, name: str):
    """Two or three passages would become one, without a word; and what the message advises must help."""
    text, line = BROKEN[name]
    with pytest.raises(ValueError, match=rf"{name}', line {line}: .*quote"):
        read_table(put(tmp_path / name, text))
    rows = [("p1", '"Golden hour'), ("p2", "Fog"), ("p3", '"abc"'), ("p4", 'say \\"hi\\"'), ("p5", "two\nlines, b\tc")]
    with (tmp_path / name).open("w", newline="") as file:
        delimiter = "\t" if name.endswith(".tsv") else ","
        csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("id", "text"), *rows])
    columns = read_table(tmp_path / name).columns
    assert list(zip(columns["id"], columns["text"], strict=True)) == rows
