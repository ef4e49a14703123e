"""Below the outputs of a lesson, on the Chinese site, what the same cells give on Chinese data.

The outputs are those of the lesson's companion (notebooks/companions/). A claim of the text that does not hold there is
quoted above them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from docs.site.cells import glossed, pieces, table
from docs.site.figures import SVG, inline
from docs.site.project import Edition
from notebooks.kit.cells import code_cells, is_volatile
from notebooks.kit.companions import PARAMETERS, RENAMED, read_companion
from notebooks.kit.compare import compare
from notebooks.kit.figures import broken_claims
from notebooks.kit.labels import labels

TITLE = "换成中文数据"
ALT = f"{TITLE}之后的同一幅图，数值见表格"
TITLE_REFUTED = f"{TITLE}：正文有说法在这里不成立"
REFUTED = f"正文说“{{}}”，{TITLE}则不成立。"


def shown(cell: NotebookNode, edition: Edition) -> Iterator[str]:
    """Yield the outputs of a cell as HTML; sources that it prints are left out, being those of the lesson."""
    for number, output in enumerate(cell.outputs):
        data = output.get("data", {})
        if "text/html" in data:
            yield table(data["text/html"], edition)
        elif SVG in data:
            picture = inline(data[SVG], ALT, f"companion-{cell.id}-{number}", edition.label)
            yield f'<div class="drawing">{picture}</div>'
        else:
            text = output.get("text", data.get("text/plain", ""))
            kept = "".join(part for source, part in pieces(text) if not source).strip("\n")
            if kept:
                yield f'<div class="highlight"><pre>{glossed(kept, labels(edition.root)["printed"])}</pre></div>'


def box(cell: NotebookNode, claims: list[str], edition: Edition) -> str:
    """Return the outputs of a cell of a companion in a box that is closed, below the claims that they refute."""
    notes = "".join(f'<p class="refuted">{escape(REFUTED.format(claim))}</p>' for claim in claims)
    outputs = "".join(f'<div class="output">{one}</div>' for one in shown(cell, edition) if one)
    title = f"<summary>{TITLE_REFUTED if claims else TITLE}</summary>"
    return f'<details class="fold companion">{title}{notes}<div class="cell_output">{outputs}</div></details>'


def quoted(sentence: str) -> str:
    """Return a sentence of a Chinese text as one quotes it: without marks of Markdown and its last stop."""
    plain = re.sub(r"^[-*] |[*`]|[。；：]$", "", sentence)
    return plain.translate({ord("“"): "‘", ord("”"): "’"})


def boxes(name: str, edition: Edition) -> dict[str, str]:
    """Return the box of each cell that gives something else on Chinese data, by the id of the cell."""
    lesson, companion = edition.lesson(name), read_companion(edition.root, name)
    other = {difference.cell for difference in compare(lesson, companion)}
    claims: dict[str, list[str]] = {}
    for cell, sentence in broken_claims(edition.root, name, lesson, companion, RENAMED):
        claims.setdefault(cell, []).append(quoted(sentence))
    cells = [cell for cell in code_cells(companion) if cell.id in other and cell.outputs and not is_volatile(cell)]
    return {cell.id: box(cell, claims.get(cell.id, []), edition) for cell in cells}


def show_companions(app: Sphinx, doctree: nodes.document) -> None:
    """Put the boxes below the cells of a lesson of the Chinese site."""
    edition, name = Edition.of(app), app.env.docname
    if edition.language != "zh" or name not in PARAMETERS:
        return
    by_cell, ids = boxes(name, edition), [cell.id for cell in edition.lesson(name).cells]
    for cell in list(doctree.findall(nodes.container)):
        if cell.get("nb_element") == "cell_code" and ids[cell["cell_index"]] in by_cell:
            below = nodes.raw("", by_cell[ids[cell["cell_index"]]], format="html")
            cell.parent.insert(cell.parent.index(cell) + 1, below)
