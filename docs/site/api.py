"""The pages of modules, which begin with their text and their names by use, and the page that lists the modules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from docs.site.project import DocsError, Edition, read_yaml, slugs

MOST = 12  # names that a reader looks through without headings


def grouped(root: Path, module: str, names: Sequence[str]) -> list[tuple[dict[str, str], list[str]]]:
    """Return the names of a module under the headings of api.yml; a small module is one group without a heading.

    Raises DocsError if a name is in no group or in two, or if a group has a name that the module lacks.
    """
    groups = read_yaml(root / "docs" / "site" / "api.yml").get(module)
    if groups is None:
        if len(names) > MOST:
            raise DocsError(f"docs/site/api.yml: put the {len(names)} names of {module} in groups")
        return [({}, list(names))]
    listed = [name for group in groups for name in group["names"].split()]
    if wrong := {name for name in (*listed, *names) if (listed.count(name), names.count(name)) != (1, 1)}:
        raise DocsError(f"docs/site/api.yml, {module}: once in a group and in the module: {', '.join(sorted(wrong))}")
    return [(group, group["names"].split()) for group in groups]


def complete_module(app: Sphinx, doctree: nodes.document) -> None:
    """Begin the page of a module with its text and its names by use, and put what it documents in that order.

    Where the site is not English, say that the page is. "On this page" lists the headings and these names: with the
    methods of classes it would be too long to read.
    """
    edition, page, module = Edition.of(app), doctree.next_node(nodes.section), app.env.docname
    if not module.startswith("helpers.") or page is None:
        return
    found = [node for node in page.children if isinstance(node, addnodes.desc)]
    ordered = sorted(found, key=lambda entry: entry["objtype"] != "function")  # readers look for what they can call
    entries = {entry[0]["ids"][0].rpartition(".")[2]: entry for entry in ordered}
    begin: list[nodes.Element] = []
    start = page.index(found[0]) if found else len(page)  # below the text of the module
    for heading, names in grouped(edition.root, module, list(entries)):
        place = page
        if heading:
            title = nodes.title("", heading[edition.language])
            place = nodes.section("", title, ids=slugs([heading["en"]]))
            page.append(place)
            link = nodes.reference("", heading[edition.language], refid=place["ids"][0])
            begin.append(nodes.paragraph("", "", link, classes=["group"]))
        for name in names:
            page.remove(entries[name])
            place.append(entries[name])
        if names:
            begin.append(_table([_row(name, entries[name]) for name in names]))
    page.insert(start, begin)
    if edition.language != "en":
        page.remove(next(node for node in page if isinstance(node, nodes.paragraph)))  # the note says the same
        note = edition.words["modules"][module] + edition.words["in english"]
        page.insert(1, nodes.paragraph("", note, classes=["where"]))


def _row(name: str, entry: nodes.Element) -> list[nodes.paragraph]:
    """Return a name and what it is for: the first sentence of its docstring."""
    for method in entry[-1].findall(addnodes.desc_signature):
        method["_toc_name"] = ""
    entry[0]["_toc_name"] = name  # without brackets, before which a line would break
    about = entry[-1].next_node(nodes.paragraph)
    link = nodes.reference("", "", nodes.literal("", name), refid=entry[0]["ids"][0])
    return [nodes.paragraph("", "", link), nodes.paragraph("", "", *(_first_sentence(about) if about else []))]


def _first_sentence(about: nodes.paragraph) -> list[nodes.Node]:
    """Return what stands in a paragraph before its first full stop."""
    sentence: list[nodes.Node] = []
    for part in about:
        words = re.split(r"\.(?:\s|$)", part.astext()) if isinstance(part, nodes.Text) else []
        sentence.append(nodes.Text(words[0]) if words else part.deepcopy())
        if len(words) > 1:
            break
    return sentence


def _table(rows: list[list[nodes.paragraph]]) -> nodes.table:
    """Return a table without a head."""
    body = nodes.tbody("", *(nodes.row("", *(nodes.entry("", cell) for cell in row)) for row in rows))
    columns = [nodes.colspec(colwidth=1) for _ in rows[0]]
    return nodes.table("", nodes.tgroup("", *columns, body, cols=len(columns)), classes=["names"])


def describe_modules(app: Sphinx, doctree: nodes.document) -> None:
    """Say in the language of the site what each module in the table of modules is for."""
    about = Edition.of(app).words.get("modules", {})
    for row in doctree.findall(nodes.row) if about and app.env.docname == "api" else ():
        name, summary = row.children
        summary.children = [nodes.paragraph("", about[name.astext()])]
