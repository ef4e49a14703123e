"""The figures of lessons stand in the page as SVG, in its colours, their words in its language.

The palette of helpers/show/palette.py becomes variables, which site.css sets for the light and the dark theme. Nothing
that is not listed there, and no element or attribute that notebooks/kit/drawings.py does not know, gets into a page.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

from docs.site.project import MARKS, DocsError, Edition, notes
from helpers.show import palette
from notebooks.kit.cells import alt_text, by_id
from notebooks.kit.drawings import read_svg, svg_fault
from notebooks.kit.notebooks import lesson_names

SVG = "image/svg+xml"
OPENING = '<figure class="opening">'
COLOURS = {colour.lower(): name for name, colour in (palette.COLOURS | palette.GREYS).items()}
STROKES = COLOURS | {palette.COLOURS["sky"].lower(): "sky-line"}  # ink lies on a bar; thin lines are brighter
BARS = re.compile(r"<!-- bars (\S+) (\S+) -->\s*")  # before a table: the values at which its bars begin and end
SCALE = 1.6  # pixels a point: the words of a figure are 16 pixels high where there is room
NAME, LOWER = "6.94", 4  # the size of words of a figure that name its points; points by which a number below is lower
LONG = 20  # letters of a label: with more it is set smaller on a phone; a Chinese character counts two


def inline(svg: str, alt: str, mark: str, translate: Callable[[str], str]) -> str:
    """Return a recorded figure as a tag of a page; names of points have a key below it, which a phone shows.

    Args:
        svg: the figure.
        alt: what it shows, for those who cannot see it.
        mark: what its ids begin with, which keeps them apart from those of other figures.
        translate: gives for a word of the figure that of the page.

    Raises:
        DocsError: the figure holds what no page may hold, or a colour without a dark counterpart.
    """
    if fault := svg_fault(svg):
        raise DocsError(f"{mark}: {fault}")
    root = read_svg(svg)
    names = _number_names(root)
    for element in root.iter():
        _recolour(element, mark)
        for name in ("id", "href", "clip-path"):
            if name in element.attrib:
                element.set(name, re.sub(r"^(?:.*#)?", rf"\g<0>{mark}-", element.attrib[name]))
        if element.tag in ("text", "tspan") and element.text:
            element.text = translate(element.text)
            if len(element.text.encode("gb18030")) > LONG and "class" not in element.attrib:
                element.set("class", "long")
    about = {"class": "drawn", "role": "img", "aria-label": alt, "id": f"figure-{mark}", **_frame(root)}
    root.attrib = about | {name: root.attrib[name] for name in ("stroke-linejoin", "stroke-linecap")}
    key = "".join(f"<li>{escape(translate(name))}</li>" for name in names)
    drawn = ElementTree.tostring(root, encoding="unicode").replace("\n", "")
    return drawn + (f'<ol class="key" aria-hidden="true">{key}</ol>' if key else "")


def _number_names(root: ElementTree.Element) -> list[str]:
    """Put a number beside each name of a point, to stand in its place on a phone, and return the names in order."""
    names, points = [], [(mark.get("x"), float(mark.get("y", 0))) for mark in root.iter("use")]
    for group in list(root.iter("g")):
        for text in group.findall("text"):
            if text.get("font-size") == NAME:
                names.append(text.text or "")
                text.set("class", "name")
                height = float(text.get("y", 0))
                below = any(x == text.get("x") and y < height for x, y in points)  # a number is higher than a name
                about = text.attrib | {"class": "number", "y": f"{height + LOWER * below:g}"}
                ElementTree.SubElement(group, "text", about).text = str(len(names))
    return names


def _frame(root: ElementTree.Element) -> dict[str, str]:
    """Return the view box of a figure, and its size in pixels."""
    _, _, *sides = root.attrib["viewBox"].split()
    sizes = {name: f"{float(side) * SCALE:.0f}" for name, side in zip(("width", "height"), sides, strict=True)}
    return {"viewBox": root.attrib["viewBox"], **sizes}


def opening(edition: Edition, name: str) -> str:
    """Return the figure at the beginning of a lesson, one that it draws further down; "" if docs/lessons.yml has none.

    The figure is in the page once and shown twice, so it weighs nothing more.
    """
    drawn_by = notes(edition.root)["pictures"].get(name)
    if not drawn_by:
        return ""
    cell = by_id(edition.lesson(name))[drawn_by]
    svg = next(output.data[SVG] for output in cell.outputs if SVG in output.get("data", {}))
    size = _frame(read_svg(svg))
    frame = 'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'.format(**size)
    below = escape(edition.words["below"])
    return (
        f'{OPENING}<figcaption>{edition.about(name, "picture")} <a href="#cell-{cell.id}">{below}</a></figcaption>'
        f'<svg class="drawn" aria-hidden="true" {frame}><use href="#figure-{cell.id}-0"/></svg></figure>'
    )


def _recolour(element: ElementTree.Element, mark: str) -> None:
    """Set the page's variables for the palette's colours. Raises DocsError for any other colour."""
    for name, variables in (("fill", COLOURS), ("stroke", STROKES)):
        colour = element.get(name, "none")
        if colour != "none":
            if colour not in variables:
                known = ", ".join(variables)
                raise DocsError(f"{mark}: a figure in {colour}, which has no dark counterpart; there are: {known}")
            element.set(name, f"var(--figure-{variables[colour]})")


def draw_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Put the figures of a lesson into the page in place of links to picture files."""
    edition, name = Edition.of(app), app.env.docname
    if name not in lesson_names(edition.root):
        return
    cells = edition.lesson(name).cells
    for box in list(doctree.findall(nodes.container)):
        if box.get("nb_element") != "cell_code":
            continue
        cell = cells[box["cell_index"]]
        bundles = [bundle for bundle in box.findall(nodes.container) if holds_svg(bundle)]
        drawings = [output.data[SVG] for output in cell.outputs if SVG in output.get("data", {})]
        alt = MARKS.sub("", alt_text(cell))
        for number, (bundle, svg) in enumerate(zip(bundles, drawings, strict=True)):
            shown = inline(svg, alt, f"{cell.id}-{number}", edition.label)
            bundle.replace_self(nodes.raw("", f'<div class="drawing">{shown}</div>', format="html"))


def holds_svg(container: nodes.Node) -> bool:
    """Tell whether a node holds the formats of one output, SVG among them."""
    return (
        isinstance(container, nodes.Element)
        and container.get("nb_element") == "mime_bundle"
        and any(isinstance(part, nodes.container) and part.get("mime_type") == SVG for part in container.children)
    )


def draw_bars(_app: Sphinx, doctree: nodes.document) -> None:
    """Draw the values of a table as bars from that of its first row, which changes nothing; the longest bars first."""
    for mark in [node for node in doctree.findall(nodes.raw) if BARS.fullmatch(node.astext())]:
        low, high = map(float, BARS.fullmatch(mark.astext()).groups())  # type: ignore[union-attr]
        chart = mark.next_node(nodes.table, descend=False, siblings=True)
        body = chart.next_node(nodes.tbody)
        values = {row: float(row[1].astext()) for row in body}
        first, start = next(iter(values.items()))
        body.children = [first, *sorted(body[1:], key=lambda row: -abs(values[row] - start))]
        for row, value in values.items():
            change = "" if row is first else f"{value - start:+.3f}".replace("-", "−")
            if start:  # the change from 0 is the value
                row[1][0] += nodes.raw("", f"<small>{change}</small>", format="html")
            places = (100 * (each - low) / (high - low) for each in (start, value))
            row += nodes.entry("", nodes.raw("", _bar(*places), format="html"))
        ends = nodes.raw("", f"<span>{low:g}</span><span>{high:g}</span>", format="html")
        chart.next_node(nodes.thead)[0] += nodes.entry("", nodes.paragraph("", "", ends))
        chart[0].insert(2, nodes.colspec(colwidth=1))
        chart[0]["cols"] = 3
        chart["classes"].append("bars")
        mark.parent.remove(mark)


def _bar(start: float, end: float) -> str:
    """Return a bar between two places of a line of 100, and a mark where it starts."""
    kind = "rise" if end > start else "fall"
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><path d="M0 0V10M100 0V10"/>'
        f'<path class="{kind}" d="M{start:.1f} 1V9H{end:.1f}V1z"/><path class="start" d="M{start:.1f} 0V10"/></svg>'
    )
