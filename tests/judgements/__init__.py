"""Tests of helpers.judgements, and an assessor for them."""

import csv
from collections.abc import Callable
from pathlib import Path

Rows = list[list[str]]


def fill(sheet: str | Path, change: Callable[[Rows], object], name: str | None = None, delimiter: str = ",") -> Path:
    """Change the rows of a sheet as an assessor or a spreadsheet may, there or in a copy, and return the file."""
    path = Path(sheet)
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    change(rows)
    path = path.with_name(name) if name else path
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return path
