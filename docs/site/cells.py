"""How the cells of lessons are shown. Recorded outputs keep their words and numbers.

What sets a lesson up, its settings too, is folded, and so are sources that a cell prints. Tags of a cell fold the rest:
`hide-input` its code, above the result; `hide-output` a result that the reader is to predict, with the paragraph that
tells it; `hide-table` the numbers below a figure of the same numbers. The site styles tables; English labels have
their Chinese in the Chinese edition (docs/labels.yml).
"""

from __future__ import annotations

import re
from html import escape

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

from docs.site.figures import holds_svg
from docs.site.project import Edition, site_words
from notebooks.kit.cells import tags
from notebooks.kit.labels import labels
from notebooks.kit.notebooks import lesson_names
from notebooks.kit.tables import CELL, parse, text_of

NUMBER = re.compile(r"[-−+]?[\d,.]*(?:e[-+]?\d+)? ?%?|NaN|None|True|False|inf|—|–|")
SHORT = 22  # letters of a cell of words: fewer stay on one line; a Chinese character counts two
PASSAGE = 200  # letters: an output with such a line is a text to read
_SOURCE = re.compile(r"^((?:@|def |class |async def )\w.*(?:\n(?:[@ )]|def |class |async def |$).*)*)", re.M)


def fold_sources(output: nodes.Element, title: str) -> None:
    """Show the sources that an output prints as Python, each run of them in a box that is closed."""
    for block in list(output.findall(nodes.literal_block)):
        parts = _SOURCE.split(block.astext())  # text, source, text, …
        shown: list[nodes.Node] = []
        for number, text in enumerate(part.strip("\n") for part in parts):
            language = "python" if number % 2 else block.get("language", "none")
            part = nodes.literal_block(text, text, **{**block.attributes, "language": language, "ids": [], "names": []})
            if text.strip():
                shown += behind(part, title, text) if number % 2 else [part]
        if len(parts) > 1:
            at = block.parent.index(block)
            block.parent[at : at + 1] = shown


def behind(node: nodes.Element, title: str, code: str) -> list[nodes.Node]:
    """Return code in a box that is closed, whose title says how many lines there are."""
    lines = escape(title.format(len(code.splitlines())))
    start = f'<details class="behind"><summary>{lines}</summary>'
    return [nodes.raw("", start, format="html"), node, nodes.raw("", "</details>", format="html")]


def fold_code(cell: nodes.Element, words: dict[str, str]) -> None:
    """Fold the code of a cell into one line above what it gives, a figure first."""
    source, output = cell.children
    output.children.sort(key=lambda part: not holds_svg(part))
    cell[:] = [*behind(source, words["code lines"], source.astext()), output]


def fold_numbers(output: nodes.Element, title: str) -> None:
    """Fold the tables of an output that has a figure of the same numbers."""
    for part in output.children[1:] if holds_svg(output[0]) else ():
        html = "".join(raw.astext() for raw in part.findall(nodes.raw))
        if "<tbody" in html:
            at = output.index(part)
            output[at : at + 1] = behind(part, title, "\n" * html.partition("<tbody")[2].count("<tr"))


def fold_answer(cell: nodes.Element, title: str) -> None:
    """Fold what a cell gives, and the paragraph that reads it, for the text before it asks what it will be."""
    start, output, end = behind(cell[-1], title, "")
    cell[-1:] = [start, output, end]
    after = cell.parent[cell.parent.index(cell) + 1 :]
    following = next((node for node in after if not isinstance(node, nodes.target | nodes.raw)), None)
    if isinstance(following, nodes.paragraph):
        cell.parent.remove(following)
        cell.insert(-1, following)


def named_beside(edition: Edition, name: str) -> dict[str, set[str]]:
    """Return the names in code type in the texts before and after each cell of a lesson, by the id of the cell."""
    cells = edition.lesson(name).cells
    texts = ["", *(cell.source if cell.cell_type == "markdown" else "" for cell in cells), ""]
    return {cell.id: set(re.findall(r"`([^`\n]+)`", texts[i] + texts[i + 2])) for i, cell in enumerate(cells)}


def fold(cell: nodes.Element, title: str) -> None:
    """Put a cell into a box that is closed."""
    parent = cell.parent
    at = parent.index(cell)
    parent.insert(at + 1, nodes.raw("", "</details>", format="html"))
    parent.insert(at, nodes.raw("", f'<details class="fold"><summary>{escape(title)}</summary>', format="html"))


def fold_setup(settings: nodes.Element, title: str) -> None:
    """Put the section that sets a lesson up, down to its settings, into a closed box that takes its heading's place.

    What follows the settings there belongs to the beginning of the lesson then.
    """
    section = settings.parent
    section.insert(section.index(settings) + 1, nodes.raw("", "</details>", format="html"))
    start = nodes.raw("", f'<details class="fold setup"><summary>{escape(title)}</summary>', format="html")
    at = section.parent.index(section)
    section.parent[at : at + 1] = [nodes.target("", "", ids=section["ids"]), start, *section.children[1:]]


def table(html: str, edition: Edition, names: set[str]) -> str:
    """Return an HTML output as the site shows it in the language of an edition, given the names that the text says."""
    document = parse(re.sub(r"<style.*?</style>\s*", "", html, flags=re.S))
    _join_heads(document)
    _style_by_class(document)
    if edition.language == "zh":
        _add_chinese(document, labels(edition.root)["labels"], names)
    return str(document).strip()


def _join_heads(document: BeautifulSoup) -> None:
    """Put the names of an index, a row of their own below the names of columns, into the empty cells above them."""
    for head in document.find_all("thead"):
        lines = head.find_all("tr")
        rows = [line.find_all(CELL) for line in lines]
        if len(rows) < 2 or len(rows[-2]) != len(rows[-1]):
            continue
        pairs = list(zip(rows[-2], rows[-1], strict=True))
        if not any(text_of(upper) and text_of(lower) for upper, lower in pairs):
            for upper, lower in pairs:
                upper.extend(list(lower.contents) if text_of(lower) else [])
            lines[-1].decompose()


def _style_by_class(document: BeautifulSoup) -> None:
    """Take styles off the cells of a table; those of every column that holds a text get the class `words`."""
    for element in document.find_all(["table", "tr", *CELL]):
        for attribute in ("border", "style"):
            del element[attribute]
    for found in document.find_all("table"):
        rows = [row.find_all(CELL) for row in found.find_all("tr")]
        if len({len(row) for row in rows}) != 1 or found.select("[colspan], [rowspan]"):
            continue
        for column in zip(*rows, strict=True):
            if not all(NUMBER.fullmatch(text_of(cell)) for cell in column[1:]):
                for cell in column:
                    cell["class"] = "words"
        for cell in found.select("tbody :is(th, td.words)"):
            if len(text_of(cell).encode("gb18030")) < SHORT:
                cell["class"] = " ".join([*cell.get_attribute_list("class"), "short"])


def _add_chinese(document: BeautifulSoup, known: dict[str, str], names: set[str]) -> None:
    """Put the Chinese of each label in its place; below it the name that a text beside says, any other as a hint."""
    for cell in document.find_all(CELL):
        label = text_of(cell)
        if words := known.get(label):
            cell.clear()
            cell.append(words)
            spoken = [part for part in (label, label.partition(" (")[0], label.rpartition(", ")[2]) if part in names]
            if spoken:
                cell.extend([document.new_tag("br"), document.new_tag("small", string=spoken[0], attrs={"lang": "en"})])
            else:
                cell["title"] = label


def show_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Do all this to a lesson."""
    edition, name = Edition.of(app), app.env.docname
    if name not in lesson_names(edition.root):
        return
    words = site_words(edition.language)
    folded = words["fold"]
    cells = edition.lesson(name).cells
    ids = [cell.id for cell in cells]
    names = named_beside(edition, name)
    for cell in list(doctree.findall(nodes.container)):
        if cell.get("nb_element") == "cell_code_output":
            fold_sources(cell, words["source lines"])
            for block in cell.findall(nodes.literal_block):
                longest = max(map(len, block.astext().splitlines()), default=0)
                if longest > PASSAGE and block.get("language") != "python":
                    block["classes"].append("texts")
            for shown in [node for node in cell.findall(nodes.raw) if "text_html" in node["classes"]]:
                html = table(shown.astext(), edition, names[ids[cell.parent["cell_index"]]])
                shown.replace_self(nodes.raw("", html, **shown.attributes))
        elif cell.get("nb_element") == "cell_code" and ids[cell["cell_index"]] in folded:
            fold(cell, folded[ids[cell["cell_index"]]])
        elif cell.get("nb_element") == "cell_code" and ids[cell["cell_index"]] == "parameters":
            fold_setup(cell, words["setup"])
        elif cell.get("nb_element") == "cell_code":
            cell.attributes.pop("hide_mode", None)  # MyST-NB would fold it too
            marks = tags(cells[cell["cell_index"]])
            if "hide-input" in marks:
                fold_code(cell, words)
            if "hide-table" in marks:
                fold_numbers(cell[-1], words["numbers"])
            if "hide-output" in marks:
                fold_answer(cell, words["output"])
