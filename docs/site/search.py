"""What the site's own search looks through, section by section, in place of Sphinx's index.

A section is its title, its text and its code: no navigation, no formulas in LaTeX, no outputs, no cells that only set
up. The browser does the rest (_static/search/): it looks through all of a text and quotes a part of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from docs.site.project import Edition, read_yaml
from docs.site.terms import anchor as anchor_of
from notebooks.kit.notebooks import lesson_names
from notebooks.kit.translation import glossary

Section = tuple[str, str, str, str]  # anchor, title, text, code
FOLDED = ("setup", "provenance")  # cells that set up or say versions
LISTED = {"names", "needs"}  # the names of a module, which have sections of their own; what a lesson needs
LEFT_OUT = "…"
FOUND: dict[str, list[Section]] = {}  # by page, in this run
_COMMAND = re.compile(r"\\(?:text|mathrm|mathit|operatorname)\{([^{}]*)\}")


def settings(root: Path) -> Any:
    """What docs/site/search.yml says of a checkout."""
    return read_yaml(root / "docs" / "site" / "search.yml")


def readable(latex: str) -> str:
    """Return a short formula as text; in place of one that needs more than letters and signs stand dots."""
    text = re.sub(r"\^\{(\w)\}", r"^\1", _COMMAND.sub(r"\1", latex))
    for command, sign in (("le", "≤"), ("ge", "≥"), ("cdot", "·"), ("times", "×"), ("log", "log"), ("min", "min")):
        text = re.sub(rf"\\{command}(?![a-z])", sign, text)
    return LEFT_OUT if re.search(r"[\\{}]", text) else text.strip()


def sections(doctree: nodes.document, folded: set[int]) -> Iterator[Section]:
    """Yield the sections of a page and what its signatures document; folded are the cells to leave out."""
    for node in doctree.findall(lambda n: isinstance(n, (nodes.section, addnodes.desc))):
        text: list[str] = []
        rows: list[str] = []
        code: list[str] = []
        if isinstance(node, nodes.section):
            title, anchor = node.next_node(nodes.title), node["ids"][0]
            children = [child for child in node.children if not isinstance(child, (nodes.title, nodes.section))]
            name = title.astext() if title is not None else ""
        else:
            signature = node.next_node(addnodes.desc_signature)
            if signature is None or not signature["ids"]:
                continue
            anchor = name = signature["ids"][0]
            children = list(node.children[1:])
        for child in children:
            _gather(child, folded, text, rows, code)
        if isinstance(node, nodes.section) and not text and node.next_node(addnodes.desc):
            continue  # a heading above names, each of which is a section here
        yield anchor, " ".join(name.split()), "\n".join([_joined(text), *rows]), _joined(code)


def _gather(node: nodes.Node, folded: set[int], text: list[str], rows: list[str], code: list[str]) -> None:
    """Add the text, the rows of tables and the code below a node."""
    if isinstance(node, nodes.Text):
        text.append(node.astext())
    elif isinstance(node, nodes.math):
        text.append(readable(node.astext()))
    elif isinstance(node, (nodes.literal_block, nodes.doctest_block)):
        code.append(node.astext())
    elif isinstance(node, nodes.row):
        cells: list[list[str]] = [[] for _ in node]
        for cell, said in zip(node, cells, strict=True):
            _gather(cell, folded, said, rows, code)
        rows.append(" · ".join(said for said in map(_joined, cells) if said.strip(f"{LEFT_OUT},， ")))
    elif isinstance(node, (nodes.Invisible, nodes.raw, nodes.math_block, nodes.image, addnodes.desc, nodes.section)):
        return
    elif isinstance(node, nodes.Element):
        if node.get("nb_element") == "cell_code_output" or node.get("cell_index") in folded:
            return
        if LISTED.intersection(node.get("classes", ())):
            return
        for child in node.children:
            _gather(child, folded, text, rows, code)
        if isinstance(node, nodes.TextElement) and not isinstance(node, nodes.Inline):
            text.append(" ")


def _joined(parts: list[str]) -> str:
    """Return parts as one line."""
    return " ".join("".join(parts).split())


def collect(app: Sphinx, page: str, _template: str, _context: object, doctree: nodes.document | None) -> None:
    """Take down the sections of a page as it is written."""
    if doctree is None:
        return
    edition = Edition.of(app)
    folded: set[int] = set()
    if page in lesson_names(edition.root):
        folded = {index for index, cell in enumerate(edition.lesson(page).cells) if cell.id in FOLDED}
    FOUND[page] = list(sections(doctree, folded))


def terms(edition: Edition) -> list[list[Any]]:
    """Return the terms of the glossary: name, in Chinese the English too; others; meaning; anchor."""
    entries = []
    for term in glossary(edition.root):
        names, others = ([term.en], [term.zh]) if edition.language == "en" else ([term.zh, term.en], [])
        others += [*term.also, *term.accepted]
        entries.append([names, others, term.means[edition.language], anchor_of(term)])
    return entries


def simplified(text: str) -> str:
    """Return the traditional characters, each before its simplified one, of the simplified ones that a text has.

    The table is OpenCC's; where it has several simplified characters, the first is the usual one.
    """
    table = (files("opencc") / "dictionary" / "TSCharacters.txt").read_text(encoding="utf-8")
    pairs = (line.split()[:2] for line in table.splitlines())
    return "".join(old + new for old, new in pairs if new in text and old != new and ord(old) < 0x10000)


def write(app: Sphinx, failure: Exception | None) -> None:
    """Write what the browser searches to _static/search/index.json."""
    if failure is not None:
        return
    edition = Edition.of(app)
    root = edition.root
    pages: list[dict[str, Any]] = []
    entries: list[list[Any]] = []
    for page, found in sorted(FOUND.items()):
        short = edition.about(page, "short")  # its name in the sidebar
        for number, (anchor, title, text, code) in enumerate(found):
            counts = settings(root)["sections"].get(anchor, 1)
            asked = settings(root)["also"].get(f"{page}#{anchor}" if number else page, "")
            others = ", ".join(filter(None, ("" if number else short, asked)))
            entries.append([len(pages), anchor if number else "", title, text, code, counts, others])
        title = found[0][1] if found else page
        called = edition.numbered(page, short) or title
        kind = "lessons" if page in lesson_names(root) else "modules" if page.startswith("helpers.") else ""
        prior = float(settings(root)[kind] if kind else settings(root)["pages"].get(page, 1))
        pages.append({"url": f"{page}.html", "title": title, "short": called, "prior": prior})
    data = {"pages": pages, "sections": entries, "terms": terms(edition)}
    data["simplified"] = simplified(json.dumps(data, ensure_ascii=False))
    data["words"] = settings(root)["words"][edition.language]
    write_data(app, "search/index.json", data)


def write_data(app: Sphinx, name: str, data: object) -> None:
    """Write what a page will fetch to a JSON file in _static."""
    path = Path(app.outdir) / "_static" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def search_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Let Sphinx write the search page from our template."""
    edition = Edition.of(app)
    words = settings(edition.root)["words"][edition.language]
    yield "search", {"title": words["title"], "search_words": words}, "search.html"


def no_index_of_sphinx(app: Sphinx) -> None:
    """Keep Sphinx from making an index that nobody loads."""
    app.builder.search = False  # type: ignore[attr-defined]
