"""The scoreboard of the acid test: docs/benchmarks/acid.json as tables, in the language of a page."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from docs.site.project import Edition, table

Library = dict[str, Any]
MARKS = {"agrees": "✓", "documented": "≈", "refuses": "⊘", "undocumented": "≠", "crashes": "✕"}


def scoreboard(edition: Edition, _argument: str) -> str:
    """Return a table with a row for each family and a column for each library."""
    words = edition.words["acid"] | {"language": edition.language}
    record = json.loads((edition.root / "docs" / "benchmarks" / "acid.json").read_text(encoding="utf-8"))
    libraries: dict[str, Library] = record["libraries"]
    folder = edition.root / "helpers" / "metrics" / "acid" / "cases"
    families = json.loads((folder / "suite.json").read_text(encoding="utf-8"))["families"]
    titles = {
        family: json.loads((folder / f"{family}.json").read_text(encoding="utf-8"))["title"][edition.language]
        for family in families
    }
    rows = (
        [title, *(_cell(library["families"][family], words) for library in libraries.values())]
        for family, title in titles.items()
    )
    legend = "".join(f"<span>{_mark(verdict)} {escape(word)}</span> " for verdict, word in words["verdicts"].items())
    shown = table(["", *map(short, libraries)], rows)
    suite = words["suite"].format(record["suite"]["version"], record["suite"]["sha256"][:12], record["command"])
    legend = f'<p class="acid-legend">{legend}</p>'
    return f'{legend}\n\n<div class="acid">\n\n{shown}\n\n</div>\n\n{suite}'


def short(name: str) -> str:
    """A library's name as the head of a column: of a file of this site its name alone."""
    return name if "/" not in name else "metrics.js"


def _cell(row: dict[str, Any], words: dict[str, Any]) -> str:
    """The verdict on a family, and how many of the cases that could be asked agree; under a tick, all."""
    if not row["asked"]:
        return "–"
    count = row["asked"] if row["verdict"] == "agrees" else f"{row['agree']}/{row['asked']}"
    verdict, about = escape(words["verdicts"][row["verdict"]]), escape(row.get("why", {}).get(words["language"], ""))
    mark = f'{_mark(row["verdict"])}<span class="visually-hidden">{verdict}</span> <small>{count}</small>'
    return f'<span title="{about or verdict}">{mark}</span>'


def _mark(verdict: str) -> str:
    """The sign for a verdict, whose word stands in the legend."""
    return f'<span class="mark-{verdict}" aria-hidden="true">{MARKS[verdict]}</span>'
