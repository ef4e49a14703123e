"""Numbers in the tables of lessons as lengths: a bar below each score, and a line for each interval.

The numbers stay as the notebook prints them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from bs4 import BeautifulSoup, Tag

from notebooks.kit.tables import CELL, parse, text_of

NONE = "–"
SCORE = re.compile(rf"0\.\d+|1\.0+|{NONE}")
NO_SCORE = re.compile(
    r"(adjusted )?p|p × .*|low|high|score|cosine|cut|kappa|tau|detectable|at most|.*(SD\b|percentile|median|k = ).*"
)
STEPS = 50  # lengths of bars that site.css knows
STEP = 0.05  # where the axis of differences may end


def draw(document: BeautifulSoup) -> None:
    """Draw the scores and intervals of the tables of an output, whose cells site.css then shows as lengths."""
    for table in document.find_all("table"):
        rows = [row.find_all(CELL) for row in table.find_all("tr")]
        if len({len(row) for row in rows}) != 1 or table.select("[colspan], [rowspan]"):
            continue
        names = [text_of(cell) for cell in rows[0]]
        for column in range(len(names) - 1, 0, -1):
            cells = [row[column] for row in rows[1:]]
            if names[column + 1 : column + 3] == ["low", "high"]:
                _add_intervals([row[column : column + 3] for row in rows])
            elif not NO_SCORE.fullmatch(names[column]) and all(SCORE.fullmatch(text_of(cell)) for cell in cells):
                for cell in cells:
                    if text_of(cell) != NONE:
                        cell["class"] = f"v{round(STEPS * float(text_of(cell)))}"


def _add_intervals(rows: Sequence[Sequence[Tag]]) -> None:
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
