"""Tables that are lists on a phone: what a row is about has its own line, the other cells stand below with names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.application import Sphinx

from notebooks.kit.tables import CELL, parse, text_of

ROW, CELL_WIDTH, WORD, NARROW = 80, 40, 16, 8  # letters: more do not fit a row, a cell, half of a phone; few in a cell
PASSAGE = 150  # letters, of the longest in a list of passages


def classes(rows: Sequence[Sequence[str]]) -> tuple[list[str], int]:
    """Return the classes of a table, given its rows, and the first column that needs a name in a list."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    columns, longest = len(widths), max(widths[1:])
    word = max(map(len, re.findall(r"[^\s\u2e80-\uffff]+", " ".join(row[0] for row in rows))), default=0)
    # A number stands beside what its row is about.
    numbered = columns > 2 and widths[1] <= ROW and all(row[0].isdigit() for row in rows)
    if columns > 4 and widths[numbered] > CELL_WIDTH and max(widths[1 + numbered :]) <= WORD:
        return ["listed", "values", "numbered"][: 2 + numbered], 1 + numbered
    if 2 < columns < 8 and (longest > CELL_WIDTH or sum(widths) > ROW):
        return ["listed", "numbered"][: 1 + numbered], 1 + numbered
    if columns == 2 and (word > WORD or longest > CELL_WIDTH):
        return ["listed"], columns
    return ["narrow"] if longest <= NARROW else [], columns


def _width(text: str) -> int:
    """Return the number of letters that are as wide as a text; a Chinese character counts two."""
    return sum(1 + (sign > "\u2e7f") for sign in text)


def list_tables(_app: Sphinx, doctree: nodes.document) -> None:
    """Mark the tables of a page that are lists on a phone, and put the names of columns before their cells."""
    for table in doctree.findall(nodes.table):
        head, rows = table.next_node(nodes.thead), list(table.next_node(nodes.tbody).children)
        if "bars" in table["classes"]:
            continue
        kind, first = classes([[cell.astext() for cell in row] for row in rows])
        table["classes"] += ["listed"] if table.next_node(nodes.math) and "listed" not in kind else kind
        for row in rows if head else ():
            for name, cell in list(zip(head[0], row, strict=True))[first:]:
                if cell.astext():
                    label = f'<span class="label">{escape(name.astext())}</span> '
                    cell[0].insert(0, nodes.raw("", label, format="html"))


def list_output(document: BeautifulSoup) -> None:
    """Do the same to the tables that a cell prints, unless docs/site/bars.py turned or stacked them."""
    for table in document.find_all("table"):
        head, *rows = [row.find_all(CELL) for row in table.find_all("tr")]
        other = re.search("turned|stacked", str(table.get("class"))) or table.select(".range")
        if other or {len(row) for row in rows} != {len(head)}:
            continue
        kind, first = classes([[next(cell.stripped_strings, "") for cell in row] for row in rows])
        if "listed" not in kind:
            continue
        passages = _mark_passages(rows)
        kind += ["numbered", "passages"] if passages else []
        table["class"] = " ".join([str(table.get("class", "")), *kind]).strip()
        for row in [] if passages else rows:
            for name, cell in list(zip(head, row, strict=True))[first:]:
                label = document.new_tag("span", attrs={"class": "label"})
                label.string = next(name.stripped_strings, "")
                cell.insert(0, label)


def _mark_passages(rows: Sequence[Sequence[Tag]]) -> bool:
    """Mark languages and titles in a list of passages in English and Chinese; return whether it is one."""
    columns = list(zip(*rows, strict=True))[1:]
    if [all(text_of(cell)[-2:] > "\u2e7f" for cell in column) for column in columns] != [False, True]:
        return False
    if max(_width(text_of(cell)) for column in columns for cell in column) < PASSAGE:
        return False
    for language, column in zip(("en", "zh-CN"), columns, strict=True):
        for cell in column:
            cell["lang"] = language
            title, stop, text = text_of(cell).partition(". ")
            if stop:
                cell.string = f" {text}"
                cell.insert(0, parse(f"<b>{escape(title)}.</b>"))
    return True
