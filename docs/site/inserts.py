"""What pages take from data, where they say `<!-- insert: NAME -->`, in their language."""

from __future__ import annotations

import re
from collections.abc import Callable

from sphinx.application import Sphinx

from docs.site.acid import scoreboard
from docs.site.ask import ask
from docs.site.figures import SVG, inline
from docs.site.home import doors, home
from docs.site.project import MARKS, DocsError, Edition, addresses, table
from docs.site.report import report
from docs.site.terms import anchor
from docs.site.widget import scorer, widget
from notebooks.kit.cells import alt_text, by_id
from notebooks.kit.notebooks import lesson_names
from notebooks.kit.translation import glossary

_INSERT = re.compile(r"^<!-- insert: (?P<name>\w+)(?: (?P<argument>\S+))? -->$", re.M)


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
    return table(edition.words["glossary"], [cells for _, cells in rows])


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
    "report": report,
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
