"""A part of a recorded report, as the page "Your own model and data" shows it (tests/report/sample.py records it)."""

from __future__ import annotations

import re
from pathlib import Path

from docs.site.project import Edition
from notebooks.kit.tables import parse

COLUMNS = 5  # of its table of scores: what a column of text has room for
DOWNLOAD = "downloads/report.html"


def source(edition: Edition) -> Path:
    """Return the recorded report in the language of an edition."""
    return edition.root / "docs" / "benchmarks" / f"report.{edition.language}.html"


def report(edition: Edition, _argument: str) -> str:
    """Return how the report begins: what it found, scores, and differences."""
    page = parse(source(edition).read_text(encoding="utf-8"))
    scores = page.select("table")[0]
    for row in scores.find_all("tr"):
        for cell in row.find_all(["th", "td"])[COLUMNS:]:
            cell.decompose()
    title, heading = page.select("h1")[0], scores.find_all_previous("h2")[0]
    for kind, each in {"report-title": title, "report-head": heading}.items():  # none of the page's own headings
        each.name, each["class"] = "p", kind
    shown = [title, page.select_one(".summary"), heading, scores, page.figure]
    words = edition.words["report"]
    html = re.sub(r"var\(--(?=\w)", "var(--figure-", "".join(map(str, shown))).replace("<svg", '<svg class="drawn"')
    caption = f'<figcaption>{words["caption"]} <a href="{DOWNLOAD}">{words["open"]}</a></figcaption>'
    return re.sub(r"\s*\n\s*", "", f'<figure class="report"><div>{html}</div>{caption}</figure>')
