"""A part of a recorded report, as the page "Your own model and data" shows it (tests/report/sample.py records it)."""

from __future__ import annotations

import re
from pathlib import Path

from bs4 import Tag

from docs.site.project import Edition
from notebooks.kit.tables import parse

COLUMNS, ROWS = 5, 3  # of its tables: what a phone has room for
DOWNLOAD = "downloads/report.html"


def source(edition: Edition) -> Path:
    """Return the recorded report in the language of an edition."""
    return edition.root / "docs" / "benchmarks" / f"report.{edition.language}.html"


def report(edition: Edition, _argument: str) -> str:
    """Return how the report begins: what it found, scores, differences, and queries that one system answers better."""
    page = parse(source(edition).read_text(encoding="utf-8"))
    scores, _, wins = page.find_all("table")[:3]
    shown = [
        _titled("report-title", page.select("h1")[0]), page.select_one(".summary"), *_with_heading("h2", _cut(scores)),
        page.figure, *_with_heading("h3", _cut(wins)),
    ]  # fmt: skip
    words = edition.words["report"]
    html = re.sub(r"var\(--(?=\w)", "var(--figure-", "".join(map(str, shown))).replace("<svg", '<svg class="drawn"')
    caption = f'<figcaption>{words["caption"]} <a href="{DOWNLOAD}">{words["open"]}</a></figcaption>'
    return re.sub(r"\s*\n\s*", "", f'<figure class="report"><div>{html}</div>{caption}</figure>')


def _with_heading(level: str, table: Tag) -> list[Tag]:
    """Return a table and the heading above it, which is none of the page."""
    return [_titled("report-head", table.find_all_previous(level)[0]), table]


def _titled(kind: str, heading: Tag) -> Tag:
    heading.name, heading["class"] = "p", kind
    return heading


def _cut(table: Tag) -> Tag:
    """Take all but the first columns and rows from a table."""
    for row in table.find_all("tr"):
        for cell in row.find_all(["th", "td"])[COLUMNS:]:
            cell.decompose()
    for row in table.select("tbody tr")[ROWS:]:
        row.decompose()
    return table
