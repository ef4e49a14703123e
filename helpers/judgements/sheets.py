"""The assessors' sheet: one row per pair of query and passage, with an empty cell for the grade.

It is a CSV file whose texts survive a round trip through a spreadsheet.
"""

import csv
import io
import os
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from helpers._io import UTF8, open_text, runs_as_formula, write_text
from helpers.data import RetrievalDataset

GRADES = (0, 1, 2, 3)
COLUMNS = ("query id", "query", "passage id", "passage")
LARGEST_CELL = 32_767  # characters that Excel keeps in a cell
_GRADE = re.compile(r"grade \((\d+(?:/\d+)*)\)")
_SHORT = 40  # spreadsheets do not convert longer texts to numbers, dates or booleans
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_PLAIN = re.compile(rf"0|[1-9][0-9]{{0,14}}|(?!{_MONTH}[\W_]*\d|(?:true|false)$)[^\W\d_].*", re.I | re.S)
Pair = tuple[str, str]
PathLike = str | os.PathLike[str]


class SheetRow(NamedTuple):
    """A row of a sheet: its first line in the file, and its cells."""

    line: int
    query_id: str
    query: str
    passage_id: str
    passage: str
    grade: str


@dataclass(frozen=True)
class Sheet:
    """A sheet: its file name, the allowed grades, and its rows."""

    name: str
    grades: tuple[int, ...]
    rows: list[SheetRow]

    def by_pair(self) -> dict[Pair, SheetRow]:
        """Return the rows by query id and passage id, without the guarding apostrophes of cells."""
        rows = [SheetRow(row.line, *(cell.removeprefix("'") for cell in row[1:])) for row in self.rows]
        return {(row.query_id, row.passage_id): row for row in rows}


def write_sheet(
    path: PathLike,
    data: RetrievalDataset,
    pairs: Sequence[Iterable[int]],
    *,
    grades: Sequence[int] = GRADES,
    seed: int = 0,
) -> int:
    """Write a new sheet of pairs to judge, and return their number.

    Queries, and the passages of each query, are in random order: it does not reveal ranks, and the beginning of a
    sheet is a random sample of the queries. Cells that a spreadsheet would convert or run begin with an apostrophe.

    Args:
        path: the CSV file; FileExistsError if it exists, since it may hold grades.
        data: the texts and ids.
        pairs: for each query the rows of its passages, as `pool` returns them.
        grades: the scale of the guidelines, whole numbers of at least 0, which the header lists.
    """
    if len(pairs) != len(data.queries):
        raise ValueError(f"pairs are of {len(pairs)} queries, but the data has {len(data.queries)}: give one row each.")
    scale, order = _scale(grades), random.Random(seed)
    rows: list[Sequence[str]] = []
    for query in order.sample(range(len(pairs)), len(pairs)):
        passages = sorted(set(pairs[query]))
        for row in order.sample(passages, len(passages)):
            rows.append((data.query_ids[query], data.queries[query], data.corpus_ids[row], data.corpus[row], ""))
    if not rows:
        raise ValueError("No pair to judge: every pooled passage is judged already, or nothing was retrieved.")
    write_new(path, (*COLUMNS, scale), rows)
    return len(rows)


def write_conflicts(path: PathLike, sheet: Sheet, conflicts: Mapping[Pair, tuple[int, int]]) -> None:
    """Write a new sheet of the pairs that assessors graded differently, with both grades in the last column.

    The texts are copied from the empty sheet; `conflicts` are `{(query id, passage id): (grade, grade)}`.
    """
    by_pair = sheet.by_pair()
    rows = [(*by_pair[pair][1:5], "", f"first {one}, second {two}") for pair, (one, two) in conflicts.items()]
    write_new(path, (*COLUMNS, _scale(sheet.grades), "given"), rows)


def read_sheet(path: PathLike, encoding: str = UTF8) -> Sheet:
    """Read a sheet, empty or filled in, as a spreadsheet saved it; further columns are ignored."""
    name = Path(path).name
    with open_text(Path(path), newline="", encoding=encoding) as file:
        text = file.read()
    separator = text.split("\n", 1)[0].replace('"', "").removeprefix(COLUMNS[0]).lstrip(" ")[:1]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator if separator in (";", "\t") else ",")
    rows, line = [], 1
    for row in reader:
        if any(cell.strip() for cell in row):
            rows.append((line, row))
        line = reader.line_num + 1
    header = [" ".join(cell.split()).lower() for cell in rows[0][1]] if rows else []
    scale = _GRADE.fullmatch(header[4]) if len(header) > 4 else None
    if tuple(header[:4]) != COLUMNS or scale is None:
        raise ValueError(
            f"{name}:1: the header must begin {', '.join(COLUMNS)}, grade (0/1/2/3), not "
            f"{', '.join(header)[:80]!r}: leave the first row and the order of columns as they were."
        )
    sheet_rows = []
    for line, row in rows[1:]:
        if len(row) < 5:
            raise ValueError(f"{name}:{line}: {len(row)} cells, expected 5: copy the row from the sheet as it was.")
        sheet_rows.append(SheetRow(line, *row[:5]))
    if not sheet_rows:
        raise ValueError(f"{name}: no rows below the header: give the sheet that was filled in.")
    return Sheet(name, tuple(map(int, scale[1].split("/"))), sheet_rows)


def guarded(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would run or convert it.

    A text that begins with = + - @ would run as a formula; `007` would become 7, `mar-1` a date.
    """
    rewritten = 0 < len(text) <= _SHORT and _PLAIN.fullmatch(text) is None
    return f"'{text}" if rewritten or text.startswith("'") or runs_as_formula(text) else text


def same_text(cell: str, text: str) -> bool:
    """Return whether a cell holds a text, with or without the apostrophe of `guarded`, ignoring line end styles."""
    return _unix(cell) in (_unix(text), _unix(guarded(text)))


def write_new(path: PathLike, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a new CSV file as UTF-8 with a byte-order mark, which Excel needs."""
    require_new(path)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        cells = list(map(guarded, row))
        longest = max(cells, key=len)
        if len(longest) > LARGEST_CELL:
            raise ValueError(
                f"A text of {len(longest)} characters, {longest[:40]!r}…: a spreadsheet cuts off after "
                f"{LARGEST_CELL}. Split the passage into shorter ones."
            )
        writer.writerow(cells)
    write_text(path, text.getvalue(), "utf-8-sig")


def require_new(path: PathLike) -> None:
    """Raise FileExistsError if there is a file or link of that name."""
    if os.path.lexists(path):
        raise FileExistsError(f"{Path(path).name} exists and is left as it is: give another name, or move it away.")


def pair_ids(pair: Pair) -> str:
    """Return the ids of a pair for a message."""
    return f"query {pair[0]!r}, passage {pair[1]!r}"


def _scale(grades: Sequence[int]) -> str:
    if len(set(grades)) < 2 or len(set(grades)) < len(grades) or any(int(g) != g or g < 0 for g in grades):
        raise ValueError(f"grades must be two or more different whole numbers of at least 0, not {list(grades)}.")
    return f"grade ({'/'.join(map(str, sorted(grades)))})"


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
