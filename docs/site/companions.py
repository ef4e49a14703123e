"""In place of the outputs of a lesson, on the Chinese site, what the same cells give on Chinese data, if one wants.

The outputs are those of the lesson's companion (notebooks/companions/). A claim of the text that does not hold there is
quoted above them. A switch at the head of the lesson (lesson-bar.html), and a button beside each, choose the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from docs.site.cells import glossed, named_beside, pieces, table
from docs.site.figures import SVG, inline
from docs.site.project import Edition
from notebooks.kit.cells import code_cells, is_volatile
from notebooks.kit.companions import PARAMETERS, RENAMED, read_companion
from notebooks.kit.compare import compare
from notebooks.kit.figures import broken_claims
from notebooks.kit.labels import labels

ALT = "换成中文数据之后的同一幅图，数值见表格"
REFUTED = "正文说“{}”，在中文数据上不成立。"
SWITCH = '<button type="button" class="other-data"><span>换成中文数据</span><span>换回英文数据</span></button>'


def shown(cell: NotebookNode, edition: Edition, names: set[str]) -> Iterator[str]:
    """Yield the outputs of a cell as HTML, figures first, without sources that it prints, those of the lesson."""
    for number, output in sorted(enumerate(cell.outputs), key=lambda one: SVG not in one[1].get("data", {})):
        data = output.get("data", {})
        if "text/html" in data:
            yield f'<div class="output text_html">{table(data["text/html"], edition, names)}</div>'
        elif SVG in data:
            picture = inline(data[SVG], ALT, f"companion-{cell.id}-{number}", edition.label)
            yield f'<div class="drawing">{picture}</div>'
        else:
            text = output.get("text", data.get("text/plain", ""))
            kept = "".join(part for source, part in pieces(text) if not source).strip("\n")
            if kept:
                text = glossed(kept, labels(edition.root)["printed"], names)
                yield f'<div class="output stream"><div class="highlight"><pre>{text}</pre></div></div>'


def box(cell: NotebookNode, claims: list[str], edition: Edition, names: set[str]) -> str:
    """Return the outputs of a cell of a companion, below the claims that they refute."""
    notes = "".join(f'<p class="refuted">{escape(REFUTED.format(claim))}</p>' for claim in claims)
    return f'<div class="cell_output companion">{notes}{"".join(shown(cell, edition, names))}</div>'


def quoted(sentence: str) -> str:
    """Return a sentence of a Chinese text as one quotes it: without marks of Markdown and its last stop."""
    plain = re.sub(r"^[-*] |[*`]|[。；：]$", "", sentence)
    return plain.translate({ord("“"): "‘", ord("”"): "’"})


def boxes(name: str, edition: Edition) -> dict[str, str]:
    """Return the outputs of each cell that gives something else on Chinese data, by the id of the cell."""
    lesson, companion, names = edition.lesson(name), read_companion(edition.root, name), named_beside(edition, name)
    other = {difference.cell for difference in compare(lesson, companion)}
    claims: dict[str, list[str]] = {}
    for cell, sentence in broken_claims(edition.root, name, lesson, companion, RENAMED):
        claims.setdefault(cell, []).append(quoted(sentence))
    cells = [cell for cell in code_cells(companion) if cell.id in other and cell.outputs and not is_volatile(cell)]
    return {cell.id: box(cell, claims.get(cell.id, []), edition, names[cell.id]) for cell in cells}


def show_companions(app: Sphinx, doctree: nodes.document) -> None:
    """Put them behind the outputs of a lesson of the Chinese site; code that is folded has the button on its line."""
    edition, name = Edition.of(app), app.env.docname
    if edition.language != "zh" or name not in PARAMETERS:
        return
    by_cell, ids = boxes(name, edition), [cell.id for cell in edition.lesson(name).cells]
    for output in list(doctree.findall(nodes.container)):
        cell = output.parent
        if output.get("nb_element") == "cell_code_output" and ids[cell["cell_index"]] in by_cell:
            output["classes"].append("english")
            at = cell.index(output)
            cell.insert(at + 1, nodes.raw("", by_cell[ids[cell["cell_index"]]], format="html"))
            cell.insert(0 if isinstance(cell[0], nodes.raw) else at, nodes.raw("", SWITCH, format="html"))
