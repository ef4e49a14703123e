"""Numbers in the tables of lessons as lengths: a bar below each score, and a line for each interval.

The numbers stay as the notebook prints them. A table too wide for a phone is turned round there if it has few rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from bs4 import BeautifulSoup, Tag

from notebooks.kit.tables import CELL, parse, text_of

Rows = Sequence[Sequence[Tag]]
NONE = "–"
SCORE = re.compile(rf"0\.\d+|1\.0+|{NONE}")
NO_SCORE = re.compile(
    r"(adjusted )?p|p × .*|low|high|score|cosine|cut|kappa|tau|detectable|at most|.*(SD\b|percentile|median|k = ).*"
)
BREAK = re.compile(r"\s+|(?<=\w-)(?=[a-z])")  # where a name may break
STEPS = 50  # lengths of bars that site.css knows
STEP = 0.05  # where the axis of differences may end
FEW = 3  # rows of a table that is turned round
LOOSE, CLOSE, CLOSEST = 44, 54, 64  # letters beside each other on a phone, the more of them the closer they are
LINE = 14  # those that are as wide as the line of an interval


def draw(document: BeautifulSoup) -> None:
    """Draw the scores and intervals of the tables of an output, whose cells site.css then shows as lengths."""
    for table in document.find_all("table"):
        rows = [row.find_all(CELL) for row in table.find_all("tr")]
        if len({len(row) for row in rows}) != 1 or table.select("[colspan], [rowspan]"):
            continue
        names = [text_of(cell) for cell in rows[0]]
        kind = _on_phones(rows, names)
        last = ":not(.short:last-child)" if kind == "stacked" else ""  # a short word at the end stands beside the name
        if kind and not table.select(f"tbody td.words{last}"):
            table["class"] = f"{table.get('class', '')} {kind}".strip()
        for column in range(len(names) - 1, 0, -1):
            cells = [row[column] for row in rows[1:]]
            if names[column + 1 : column + 3] == ["low", "high"]:
                _add_intervals([row[column : column + 3] for row in rows])
            elif not NO_SCORE.fullmatch(names[column]) and all(SCORE.fullmatch(text_of(cell)) for cell in cells):
                for cell in cells:
                    if text_of(cell) != NONE:
                        cell["class"] = f"v{round(STEPS * float(text_of(cell)))}"


def _on_phones(rows: Rows, names: list[str]) -> str:
    """Return what a phone makes of a table that is too wide for it: it is turned round, or its names have own lines."""
    letters = [_letters(column) for column in zip(*rows, strict=True)]
    width = sum(letters) + LINE * ("low" in names)
    fits = sum(letters[1:]) <= CLOSEST and not names[0]
    few = len(rows) <= FEW + 2 or sum(map(_letters, rows)) <= CLOSE
    if len(rows) <= FEW + 1 or (few and width > CLOSEST and not fits):
        return "turned" if width > LOOSE else ""
    return "stacked" if width > CLOSE and fits else ""


def _letters(cells: Sequence[Tag]) -> int:
    """Return how many letters wide the cells of a column are, or of a row that is to be one."""
    return max(len(word) for cell in cells for word in BREAK.split(text_of(cell) or NONE)) + 2


def _add_intervals(rows: Rows) -> None:
    """Put a cell that draws them after mean, low and high of each row; differences have a scale of their own."""
    values = [[float(text_of(cell)) for cell in row] for row in rows[1:]]
    start, end = 0.0, 1.0
    if text_of(rows[0][0]) != "mean":
        start = min(0.0, *(math.floor(low / STEP) * STEP for _, low, _ in values))
        end = max(0.0, *(math.ceil(high / STEP) * STEP for *_, high in values))
    ends = [f"<span>{place:.2g}</span>".replace("-", "−") for place in (start, end)]
    rows[0][-1].insert_after(parse(f'<td class="range" aria-hidden="true">{" ".join(ends)}</td>'))
    for row, places in zip(rows[1:], values, strict=True):
        zero, mean, low, high = (f"{100 * (place - start) / (end - start):.0f}" for place in (0, *places))
        drawn = f'<path d="M{zero} 0V10"/><path d="M{low} 5H{high}"/><path d="M{mean} 5h0"/>'
        svg = f'<svg viewBox="0 0 100 10" preserveAspectRatio="none">{drawn}</svg>'
        row[-1].insert_after(parse(f'<td class="range" aria-hidden="true">{svg.join(ends)}</td>'))
