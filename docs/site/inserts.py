"""What pages take from data, where they say `<!-- insert: NAME -->`, in their language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from docs.site.acid import scoreboard
from docs.site.ask import ask
from docs.site.figures import SVG, inline, panels
from docs.site.home import doors, home
from docs.site.project import MARKS, DocsError, Edition, addresses, table
from docs.site.report import report
from docs.site.terms import anchor
from docs.site.widget import scorer, widget
from notebooks.kit.cells import alt_text, by_id
from notebooks.kit.notebooks import lesson_names
from notebooks.kit.translation import glossary

_INSERT = re.compile(r"^<!-- insert: (?P<name>\w+)(?: (?P<argument>\S+))? -->$", re.M)
Measurements = dict[str, dict[str, float]]


def lesson_list(edition: Edition, _argument: str) -> str:
    """Return the lessons as a list: short title, minutes, what it is about; and their table of contents."""
    names, parts = lesson_names(edition.root), []
    short = {name: edition.about(name, "short") or edition.headings(name)[0] for name in names}
    for name in names:
        time = edition.words["time"].format(Edition(edition.root, "en").minutes(name))
        title = f"[{short[name]}]({name}.ipynb) [{time}]{{.minutes}}"
        lines = filter(None, (title, edition.about(name, "about")))
        parts.append("1. " + "\n\n   ".join(lines))
    entries = (f"{int(name[:2])} {title} <{name}>" for name, title in short.items())
    contents = "\n".join([":hidden:", f":caption: {edition.words['learn']}", "", *entries])
    return "\n\n".join([*parts, f"```{{toctree}}\n{contents}\n```\n"])


def glossary_table(edition: Edition, _argument: str) -> str:
    """Return the glossary as a table, in the order of the page's language."""
    english = edition.language == "en"
    rows = []
    for term in glossary(edition.root):
        name, other = (term.en, term.zh) if english else (term.zh, term.en)
        also = edition.words["glossary also"].format("、".join(term.accepted)) if term.accepted else ""
        first = f"[{name}]{{#{anchor(term)}}}" + ("" if english else also)
        second = (f"[{other}]{{.same}}" if name == other else other) + (also if english else "")
        rows.append((name, (first, second, term.means[edition.language])))
    # Latin and Greek names come last; GB 2312 is laid out so that common words stand in the order of their sound.
    rows.sort(key=lambda row: (not english and row[0][0] < "\u2e80", row[0].lower().encode("gb18030")))
    label = edition.words["filter"]
    field = (
        f'<input id="term-filter" type="search" class="form-control" placeholder="{label}" aria-label="{label}" hidden>'
    )
    return f"{field}\n\n{table(edition.words['glossary'], [cells for _, cells in rows])}"


def _report(edition: Edition, name: str) -> dict[str, Any]:
    """Return docs/benchmarks/NAME.json; {} if nothing was measured yet."""
    path = edition.root / "docs" / "benchmarks" / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def benchmark(edition: Edition, name: str) -> str:
    """Return all that the site shows of docs/benchmarks/NAME.json."""
    return "\n\n".join(part(edition, name) for part in (charts, measurements, versions))


def charts(edition: Edition, name: str) -> str:
    """Return the charts of docs/benchmarks/NAME.json, then when and on which machine it was measured."""
    words, report = edition.words, _report(edition, name)
    if not report:
        return str(words["not measured"])
    shown = drawings(edition.root / "docs" / "benchmarks" / f"{name}.json", words)
    machine = words["bench"]["machine"].format(**report["machine"])
    measured = words["measured"].format(report["date"], machine, report["command"], report["rounds"])
    return "\n\n".join([*([panels(shown, name, lambda text: _label(text, words))] if shown else []), measured])


def measurements(edition: Edition, argument: str) -> str:
    """Return the tables of docs/benchmarks/NAME.json, or for "NAME/TABLE" that one, labels in the page's language."""
    name, _, wanted = argument.partition("/")
    words, report = edition.words, _report(edition, name)
    tables = {
        case: f"**{_case(case, words)}**\n\n{_measurements(peers, words)}"
        for case, peers in report.get("results", {}).items()
    }
    tables |= {str(number): _measurements(rows, words) for number, rows in enumerate(report.get("tables", []), 1)}
    if "seconds" in report:
        memory = {label: {"memory": value} for label, value in report["memory"].items()}
        parts = {"seconds": _encoding(report), "memory": memory} | {
            key: report[key] for key in ("half", "multilingual")
        }
        tables |= {key: _measurements(rows, words) for key, rows in parts.items()}
    if wanted and report and wanted not in tables:
        raise DocsError(f"a page asks for the table {argument}; there are: {', '.join(tables)}")
    return tables.get(wanted, "") if wanted else "\n\n".join(tables.values())


def versions(edition: Edition, name: str) -> str:
    """Return the versions of the packages with which docs/benchmarks/NAME.json was measured."""
    listed = ", ".join(
        f"{package} {version}" for package, version in _report(edition, name).get("versions", {}).items()
    )
    return edition.words["versions"] + listed if listed else ""


def _case(case: str, words: dict[str, Any]) -> str:
    """Return the size and the kind of judgements of a case in the language of the page."""
    size, kind = case.split()
    return f"{size.replace('x', ' × ')} {_label(kind, words)}"


def drawings(report: Path, words: dict[str, Any]) -> dict[str, str]:
    """Return the charts of a report by what each one shows."""
    charts = words["bench pictures"].get(report.stem, {})
    return {
        alt: report.with_name(f"{report.stem}-{chart}.svg").read_text(encoding="utf-8") for chart, alt in charts.items()
    }


def _encoding(report: dict[str, Any]) -> Measurements:
    """Return the rows of the report on encoding: seconds, how often ours that is, how far the values are from ours."""
    ours, difference = report["seconds"]["helpers.embeddings"], "largest difference of a value"
    return {
        peer: {"seconds": taken, "times ours": float(f"{taken / ours:.3g}"), difference: report[difference][peer]}
        for peer, taken in report["seconds"].items()
    }


def _label(label: str, words: dict[str, Any]) -> str:
    """Return the label of a row or column in the language of the page, part by part; unknown parts are names."""
    labels, parts = words["bench"]["labels"], []
    for part in label.split(", "):
        name, _, number = part.rpartition(" ")
        counted = number.isdigit() and name in labels
        parts.append(f"{labels[name]}{number}" if counted else labels.get(part, part))
    return str(words["bench"]["comma"].join(parts))


def _measurements(rows: Measurements, words: dict[str, Any]) -> str:
    """Return a table with a row for each label, numbers to the right."""
    columns = list(dict.fromkeys(key for values in rows.values() for key in values))
    shown = [
        [_label(label, words), *(_number(values[key]) if key in values else "" for key in columns)]
        for label, values in rows.items()
    ]
    return table(["", *(_label(column, words) for column in columns)], shown, "---:")


def _number(value: float) -> str:
    """Return a number with commas between thousands, a tiny one as a power of ten."""
    if 0 < abs(value) < 1e-4:
        digits, power = f"{value:.0e}".split("e")
        return f"{digits} × 10<sup>−{-int(power)}</sup>"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,}"


def records(edition: Edition, _argument: str) -> str:
    """Return the table of docs/benchmarks/records.json: what each lesson gave under each condition, and the machine."""
    words = edition.words
    report = json.loads((edition.root / "docs" / "benchmarks" / "records.json").read_text(encoding="utf-8"))
    names = lesson_names(edition.root)
    head = [words["lessons"], *(name.partition("_")[0] for name in names)]
    rows = [
        [_label(condition, words), *(_label(verdicts.get(name, ""), words) for name in names)]
        for condition, verdicts in report["conditions"].items()
    ]
    machine = ", ".join(report["machine"][key] for key in ("processor", "instructions", "system"))
    return f"{table(head, rows, '---:')}\n\n{words['recorded on']}{machine}"


def drawn(edition: Edition, argument: str) -> str:
    """Return the figure that a cell of a lesson draws, given as LESSON/CELL, as the lesson shows it."""
    name, _, mark = argument.partition("/")
    cell = by_id(edition.lesson(name))[mark]
    svg = next(output.data[SVG] for output in cell.outputs if SVG in output.get("data", {}))
    shown = inline(svg, MARKS.sub("", alt_text(cell)), mark, edition.label)
    return f'<div class="cell"><div class="cell_output"><div class="drawing">{shown}</div></div></div>'


def card(edition: Edition, section: str) -> str:
    """Return the table of one section of the collection's data card, its labels in the language of the page."""
    text = (edition.root / "helpers" / "data" / "bundled" / "pocket" / "README.md").read_text(encoding="utf-8")
    match = re.search(rf"^## {section}\n(?:(?!## ).*\n)*?((?:\|.+\|\n)+)", text, re.M)
    if match is None:
        raise DocsError(f"the data card of the pocket collection has no table under '## {section}'")
    labels = edition.words["card"]
    cells = ((cell.strip() for cell in line.strip("|").split("|")) for line in match[1].splitlines())
    head, _, *rows = ([f"{int(c):,}" if c.isdigit() else labels.get(c, c) for c in line] for line in cells)
    return table(head, rows, "---:")


INSERTS: dict[str, Callable[[Edition, str], str]] = {
    "acid": scoreboard,
    "ask": ask,
    "card": card,
    "drawn": drawn,
    "lessons": lesson_list,
    "glossary": glossary_table,
    "records": records,
    "report": report,
    "benchmark": benchmark,
    "charts": charts,
    "table": measurements,
    "versions": versions,
    "home": home,
    "doors": doors,
    "score": scorer,
    "try": widget,
}


def filled(text: str, edition: Edition) -> str:
    """Return the text of a page with addresses and inserts. Raises DocsError for an unknown insert."""

    def insert(match: re.Match[str]) -> str:
        if match["name"] not in INSERTS:
            raise DocsError(f"a page says {match[0]}; there are: {', '.join(INSERTS)}")
        return INSERTS[match["name"]](edition, match["argument"] or "")

    for key in ("repository", "slug", "site", "version", "tag"):
        text = text.replace(f"%{key}%", getattr(addresses(edition.root), key))
    return _INSERT.sub(insert, text)


def fill(app: Sphinx, _page: str, source: list[str]) -> None:
    """Fill a page before Sphinx parses it."""
    source[0] = filled(source[0], Edition.of(app))
