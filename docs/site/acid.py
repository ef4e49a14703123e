"""The scoreboard of the acid test: docs/benchmarks/acid.json as tables, in the language of a page."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from docs.site.project import Edition, table

Library = dict[str, Any]
MARKS = {"agrees": "✓", "documented": "≈", "refuses": "⊘", "undocumented": "≠", "crashes": "✕"}


def scoreboard(edition: Edition, _argument: str) -> str:
    """Return a table with a row for each family and a column for each library, and the cases behind its cells."""
    words = edition.words["acid"]
    record = json.loads((edition.root / "docs" / "benchmarks" / "acid.json").read_text(encoding="utf-8"))
    libraries: dict[str, Library] = record["libraries"]
    folder = edition.root / "helpers" / "metrics" / "acid" / "cases"
    families = json.loads((folder / "suite.json").read_text(encoding="utf-8"))["families"]
    titles = {
        family: json.loads((folder / f"{family}.json").read_text(encoding="utf-8"))["title"][edition.language]
        for family in families
    }
    numbered = list(enumerate(libraries.values()))
    rows = (
        [title, *(_cell(number, family, library["families"][family], words) for number, library in numbered)]
        for family, title in titles.items()
    )
    legend = "".join(f"<span>{_mark(verdict)} {escape(word)}</span> " for verdict, word in words["verdicts"].items())
    shown = table(["", *map(short, libraries)], rows)
    cases = "".join(_cases(number, name, library, titles, words) for number, (name, library) in
                    enumerate(libraries.items()))  # fmt: skip
    suite = words["suite"].format(record["suite"]["version"], record["suite"]["sha256"][:12], record["command"])
    legend = f'<p class="acid-legend">{legend}</p>'
    return f'{legend}\n\n<div class="acid">\n\n{shown}\n\n</div>\n\n{suite}\n\n{cases}'


def short(name: str) -> str:
    """A library's name as the head of a column: of a file of this site its name alone."""
    return name if "/" not in name else "metrics.js"


def _anchor(number: int, family: str) -> str:
    return f"acid-{number}-{family.replace('_', '-')}"


def _cell(number: int, family: str, row: dict[str, Any], words: dict[str, Any]) -> str:
    if not row["asked"]:
        return "–"
    verdict, agrees = escape(words["verdicts"][row["verdict"]]), row["verdict"] == "agrees"
    shown = f'{_mark(row["verdict"])}<span class="visually-hidden">{verdict}</span> {_count(row)}'
    return shown if agrees else f'<a href="#{_anchor(number, family)}" title="{verdict}">{shown}</a>'


def _count(row: dict[str, Any]) -> str:
    """How many of the cases of a family agree, of those that could be asked; under a tick, all."""
    count = row["asked"] if row["verdict"] == "agrees" else f"{row['agree']}/{row['asked']}"
    return f"<small>{count}</small>"


def _mark(verdict: str) -> str:
    """The sign for a verdict, whose word stands in the legend."""
    return f'<span class="mark-{verdict}" aria-hidden="true">{MARKS[verdict]}</span>'


def _cases(number: int, name: str, library: Library, titles: dict[str, str], words: dict[str, Any]) -> str:
    """In how many families a library agrees; folded away, the smallest case of each of the others."""
    items, asked = [], {family: row for family, row in library["families"].items() if row["asked"]}
    for family, row in asked.items():
        if row["verdict"] != "agrees":
            text = words["case"].format(
                case=f"<code>{escape(row['case'])}</code>",
                answer=escape(row["answer"]),
                expected=escape(row["expected"]),
            )
            why = escape(row["why"]["zh" if words["comma"] == "，" else "en"])
            head = f"{_mark(row['verdict'])} {_count(row)} {escape(titles[family])}"
            items.append(f'<li id="{_anchor(number, family)}">{head}{words["colon"]}{text}<br>{why}</li>')
    title = f"{escape(name)} {escape(library['version'])}{words['comma']}{escape(library['language'])}"
    agree = words["agree"].format(len(asked) - len(items), len(asked))
    head = f"<b>{title}{words['comma']}{library['date']}</b> <small>{agree}</small>"
    return f"<details><summary>{head}</summary><ul>{''.join(items)}</ul></details>" if items else f"<p>{head}</p>"
