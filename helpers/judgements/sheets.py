"""The assessors' sheet: one row per pair of query and passage, with an empty cell for the grade; and the grades in it.

It is a CSV file whose texts survive a round trip through a spreadsheet. Of filled sheets faults are reported by line.
"""

import csv
import io
import os
import random
import re
import unicodedata
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
MOST_FAULTS = 20  # named in one message
Pair = tuple[str, str]
Labels = dict[str, dict[str, int]]
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


class Collected(NamedTuple):
    """The content of filled sheets.

    `qrels` are the judgements, `{query: {passage: grade}}`, earlier ones first, without the unsettled pairs in
    `conflicts`, `{(query id, passage id): (grade, grade)}`; `labels` the grades of each assessor; `ungraded` the number
    of pairs of the sheet without a grade.
    """

    qrels: Labels
    labels: list[Labels]
    conflicts: dict[Pair, tuple[int, int]]
    ungraded: int


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


def collect(
    sheet: PathLike,
    filled: Sequence[PathLike],
    *,
    settled: PathLike | None = None,
    judged: Mapping[str, Mapping[str, int]] | None = None,
    partial: bool = False,
    encoding: str = UTF8,
) -> Collected:
    """Return the judgements of one or two filled sheets; write no file.

    If two assessors gave a pair the same grade, or only one graded it, that is its grade. If they differ, the grade is
    that in `settled`; without one the pair is a conflict and not in the judgements.

    Args:
        sheet: the empty sheet as it was written, to compare the filled ones with.
        filled: one or two filled copies, with rows in any order; further columns are ignored.
        settled: the sheet of conflicts, filled in.
        judged: earlier judgements, to which the new ones are added; they are not changed.
        partial: allow pairs without a grade or a row, as not yet judged; by default they are an error.
        encoding: of the filled sheets, such as gb18030, in which Excel saves CSV on Chinese systems.

    Raises:
        ValueError: a row is unknown or missing, a text was changed, a pair occurs twice, a grade is unknown, missing or
            another than in `judged`. A line for each fault, at most twenty: file, line, ids and remedy.
    """
    if not 1 <= len(filled) <= 2:
        raise ValueError(f"Give one or two filled sheets, not {len(filled)}: conflicts are settled between two.")
    empty, faults = read_sheet(sheet), list[str]()
    pairs = empty.by_pair()
    grades = [_grades(read_sheet(path, encoding), empty, pairs, faults, partial=partial) for path in filled]
    differ = {
        pair: row for pair, row in pairs.items() if len({labels[pair] for labels in grades if pair in labels}) > 1
    }
    agreed = {pair: labels[pair] for labels in grades for pair in labels if pair not in differ}
    if settled is not None:
        agreed |= _grades(read_sheet(settled, encoding), empty, differ, faults, partial=True)
    qrels = {query: dict(docs) for query, docs in (judged or {}).items()}
    for pair, grade in agreed.items():
        earlier = qrels.setdefault(pair[0], {}).setdefault(pair[1], grade)
        if earlier != grade:
            where = f"{empty.name}:{pairs[pair].line}: {pair_ids(pair)}"
            faults.append(f"{where} was judged {earlier} before, now {grade}: settle which, and leave it out here.")
    if len(faults) > MOST_FAULTS:
        faults[MOST_FAULTS:] = [f"… and {len(faults) - MOST_FAULTS} more."]
    if faults:
        raise ValueError("\n".join(faults))
    conflicts = {pair: (grades[0][pair], grades[1][pair]) for pair in differ if pair not in agreed}
    ungraded = len(pairs) - len(agreed) - len(conflicts)
    return Collected(qrels, [_by_query(labels) for labels in grades], conflicts, ungraded)


def _grades(
    filled: Sheet, empty: Sheet, wanted: Mapping[Pair, SheetRow], faults: list[str], *, partial: bool
) -> dict[Pair, int]:
    """Return the grades of a filled sheet, in the order of the wanted pairs; append what is wrong to `faults`."""
    known = {_bare(pair): pair for pair in wanted}
    lines, grades = dict[Pair, int](), dict[Pair, int]()
    if filled.grades != empty.grades:
        faults.append(f"{filled.name}:1: its grades are not those of {empty.name}: put the header back as it was.")
    for row in filled.rows:
        ids = row.query_id, row.passage_id
        pair = known.get(_bare(ids), ids)
        where = f"{filled.name}:{row.line}: {pair_ids(pair)}"
        if pair not in wanted:
            faults.append(f"{where} is not asked for: put the ids back as they were, or remove the row.")
            continue
        if pair in lines:
            faults.append(f"{where} is here twice, first in line {lines[pair]}: keep one row and one grade.")
            continue
        lines[pair], original = row.line, wanted[pair]
        for side, cell, text in (("query", row.query, original.query), ("passage", row.passage, original.passage)):
            if not same_text(cell, text):
                faults.append(
                    f"{where}: the {side}'s text was changed: copy it from line {original.line} of {empty.name}."
                )
        cell = unicodedata.normalize("NFKC", row.grade).strip().removeprefix("'")  # full-width digits
        if cell in map(str, empty.grades):
            grades[pair] = int(cell)
        elif cell or not partial:
            fault = f"has the grade {cell[:20]!r}" if cell else "has no grade"
            faults.append(f"{where} {fault}: write one of {', '.join(map(str, empty.grades))}.")
    faults += [
        f"{filled.name}: no row for {pair_ids(pair)}: copy it from line {row.line} of {empty.name} and judge it."
        for pair, row in wanted.items() if pair not in lines and not partial
    ]  # fmt: skip
    return {pair: grades[pair] for pair in wanted if pair in grades}


def _bare(pair: Pair) -> Pair:
    """Return a pair without leading apostrophes, to match rows whose guarding apostrophes a spreadsheet dropped."""
    return pair[0].lstrip("'"), pair[1].lstrip("'")


def _by_query(grades: Mapping[Pair, int]) -> Labels:
    labels: Labels = {}
    for (query, passage), grade in grades.items():
        labels.setdefault(query, {})[passage] = grade
    return labels


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


def require_new(path: PathLike, advice: str = "give another name") -> None:
    """Raise FileExistsError if there is a file or link of that name."""
    if os.path.lexists(path):
        raise FileExistsError(f"{Path(path).name} exists and is left as it is: {advice}, or move it away.")


def pair_ids(pair: Pair) -> str:
    """Return the ids of a pair for a message."""
    return f"query {pair[0]!r}, passage {pair[1]!r}"


def _scale(grades: Sequence[int]) -> str:
    if len(set(grades)) < 2 or len(set(grades)) < len(grades) or any(int(g) != g or g < 0 for g in grades):
        raise ValueError(f"grades must be two or more different whole numbers of at least 0, not {list(grades)}.")
    return f"grade ({'/'.join(map(str, sorted(grades)))})"


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
