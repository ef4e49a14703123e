"""CSV files whose texts survive a round trip through a spreadsheet."""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from helpers._io import UTF8, open_text, runs_as_formula, write_text

LARGEST_CELL = 32_767  # characters that Excel keeps in a cell
_SHORT = 40  # spreadsheets do not convert longer texts to numbers, dates or booleans
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_PLAIN = re.compile(rf"0|[1-9][0-9]{{0,14}}|(?!{_MONTH}[\W_]*\d|(?:true|false)$)[^\W\d_].*", re.I | re.S)
PathLike = str | os.PathLike[str]


def guarded(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would run or convert it; `unguarded` removes it.

    A text that begins with = + - @ would run as a formula; `007` would become 7, `mar-1` a date.
    """
    rewritten = 0 < len(text) <= _SHORT and _PLAIN.fullmatch(text) is None
    return f"'{text}" if rewritten or text.startswith("'") or runs_as_formula(text) else text


def unguarded(cell: str) -> str:
    """Remove the apostrophe that `guarded` put before a text."""
    return cell.removeprefix("'")


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


def read_rows(path: PathLike, first: str, encoding: str = UTF8) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, header included, each with the number of its first line.

    The separator (comma, semicolon or tab) is the character after the header's cell `first`.
    """
    with open_text(Path(path), newline="", encoding=encoding) as file:
        text = file.read()
    after = text.split("\n", 1)[0].replace('"', "").removeprefix(first).lstrip(" ")[:1]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=after if after in (",", ";", "\t") else ",")
    line = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield line, row
        line = reader.line_num + 1


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
