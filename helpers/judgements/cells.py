"""Tables that go through a spreadsheet and come back: CSV whose cells no spreadsheet takes for something else."""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from helpers._atomic import whole_file
from helpers._printable import printable

LARGEST_CELL = 32_767  # characters that Excel keeps in a cell
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "'")
_SHORT = 40  # a longer text is not taken for a number, a date or a truth value
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_PLAIN = re.compile(rf"0|[1-9][0-9]{{0,14}}|(?!{_MONTH}[\W_]*\d|(?:true|false)$)[^\W\d_].*", re.I | re.S)
PathLike = str | os.PathLike[str]


def guarded(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would compute or rewrite; `unguarded` takes it away.

    A text that begins with = + - @ would run as a formula (CWE-1236); `007` would become 7, `mar-1` a date. What
    begins with an apostrophe gets another one, so that every text comes back as it was.
    """
    risky = text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)
    if text and not risky and len(text) <= _SHORT:
        risky = _PLAIN.fullmatch(text) is None
    return f"'{text}" if risky else text


def unguarded(cell: str) -> str:
    """Return the text of a cell that `guarded` made."""
    return cell.removeprefix("'")


def same_text(cell: str, text: str) -> bool:
    """Tell whether a cell that came back holds a text, with the apostrophe or without, whatever its line ends."""
    return _unix(cell) in (_unix(text), _unix(guarded(text)))


def write_new(path: PathLike, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a new CSV file as UTF-8 with the mark by which Excel knows it.

    Raises:
        FileExistsError: there is such a file; it stays as it is.
        ValueError: a cell that a spreadsheet would cut off.
    """
    require_new(path)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        cells = [guarded(cell) for cell in row]
        for cell in cells:
            if len(cell) > LARGEST_CELL:
                raise ValueError(
                    f"A text of {len(cell)} characters, {printable(cell[:40])!r}…: a spreadsheet cuts off after "
                    f"{LARGEST_CELL}. Split the passage into shorter ones."
                )
        writer.writerow(cells)
    with whole_file(path) as temporary:
        temporary.write_bytes(text.getvalue().encode("utf-8-sig"))


def require_new(path: PathLike) -> None:
    """Raise FileExistsError if there is such a file, or a link of that name."""
    if os.path.lexists(path):
        name = printable(Path(path).name)
        raise FileExistsError(f"{name} exists and is left as it is: give another name, or move it away.")


def read_rows(path: PathLike, first: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line it begins on; the header, on line 1, is the first.

    A spreadsheet may separate by comma, semicolon or tab: it is what stands behind the header's cell `first`.

    Raises:
        ValueError: the file is not UTF-8 or not CSV; with file, line and remedy.
    """
    text = _decoded(path)
    after = text.split("\n", 1)[0].replace('"', "").removeprefix(first).lstrip(" ")[:1]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=after if after in (",", ";", "\t") else ",")
    line = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{printable(Path(path).name)}:{line}: not CSV ({error}). Save the sheet as CSV.") from None


def _decoded(path: PathLike) -> str:
    """The text of a UTF-8 file, without the mark at its start; line ends as they are."""
    raw = Path(path).read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(
            f'{printable(Path(path).name)}:{line}: not UTF-8. Save the sheet as "CSV UTF-8", or convert it: '
            "iconv -f GB18030 -t UTF-8, with its own encoding after -f."
        ) from None


def _unix(text: str) -> str:
    """Write every line end as a spreadsheet does."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
