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
    known = edition.words.get("names", {}).get(module, {})
    begin: list[nodes.Element] = []
    start = page.index(found[0]) if found else len(page)  # below the text of the module
    for heading, names in grouped(edition.root, module, list(entries)):
        place = page
        if heading:
            title = nodes.title("", heading[edition.language], classes=_chinese(edition))
            place = nodes.section("", title, ids=slugs([heading["en"]]))
            page.append(place)
            link = nodes.reference("", heading[edition.language], refid=place["ids"][0])
            begin.append(nodes.paragraph("", "", link, classes=["group", *_chinese(edition)]))
        for name in names:
            page.remove(entries[name])
            place.append(entries[name])
        if names:
            begin.append(_table([_row(name, entries[name], known.get(name, "")) for name in names]))
    page.insert(start, begin)
    texts = [text for field in page.findall(nodes.field_body) for text in field.findall(nodes.Text)]
    for dash in [text for text in texts if text in (" – ", " -- ")]:  # a name and its text stand in two columns
        dash.parent.replace(dash, nodes.Text(" "))
    for described in page.findall(addnodes.desc):
        _complete_fields(described)
    if edition.language != "en":
        page["classes"].append("language-en")
        page.remove(next(node for node in page if isinstance(node, nodes.paragraph)))  # the note says the same
        note = edition.words["modules"][module] + edition.words["in english"]
        page.insert(1, nodes.paragraph("", note, classes=["where", *_chinese(edition)]))


def _complete_fields(described: nodes.Element) -> None:
    """Put the example of an entry before its fields, and the types of its signature beside the texts of parameters."""
    content = described[-1]
    for fields in [node for node in content if isinstance(node, nodes.field_list)]:
        content.remove(fields)
        content.insert(
            next((i for i, node in enumerate(content) if isinstance(node, addnodes.desc)), len(content)), fields
        )
        texts = {name.astext(): name for name in fields.findall(nodes.strong)}
        for parameter in described[0].findall(addnodes.desc_parameter):
            signed, _, kind = parameter.astext().partition(": ")
            if (text := texts.get(signed.lstrip("*"))) and kind:
                shown = kind.replace(" | None = None", ", default None").replace(" = ", ", default ")
                place = text.parent.index(text) + 1
                typed = nodes.inline("", shown, classes=["type"])
                text.parent.insert(place, [nodes.Text(" "), typed, nodes.Text(" ")])
                _, equals, default = kind.partition(" = ")
                given = nodes.inline("", equals.strip() + default, classes=["default_value"])
                parameter[:] = [nodes.Text(signed), given]
        for listed in described[0].findall(addnodes.desc_parameterlist) if texts else ():
            listed["multi_line_parameter_list"] = False


def _chinese(edition: Edition) -> list[str]:
    """Return the class of what is Chinese on an English page, if it is."""
    return ["language-zh-CN"] if edition.language == "zh" else []


def _row(name: str, entry: nodes.Element, known: str) -> list[nodes.paragraph]:
    """Return a name and what it is for: the first sentence of its docstring, or what is known of it in Chinese."""
    for method in entry[-1].findall(addnodes.desc_signature):
        method["_toc_name"] = ""
    entry[0]["_toc_name"] = name  # without brackets, before which a line would break
    about = entry[-1].next_node(nodes.paragraph)
    link = nodes.reference("", "", nodes.literal("", name), refid=entry[0]["ids"][0])
    cell = nodes.paragraph("", known, classes=["language-zh-CN"] if known else [])
    cell += _first_sentence(about) if about and not known else []
    return [nodes.paragraph("", "", link), cell]


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


def list_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Name on the page of modules what each has and what it is for, as its own page does; by now all have been read."""
    english_site = Edition.of(app).language == "en"
    for row in doctree.findall(nodes.row) if page == "api" else ():
        module = row[0].astext()
        tables = app.env.get_doctree(module).findall(nodes.table)
        for listed in (table for table in tables if "names" in table["classes"]):
            for name, about in (each.children for each in listed.findall(nodes.row)):
                target = name.next_node(nodes.reference)["refid"]
                link = nodes.reference(
                    "", "", nodes.literal("", name.astext()), refuri=f"{module}.html#{target}", internal=True
                )
                said = nodes.inline("", *(part for part in about[0].deepcopy()))
                for reference in list(said.findall(addnodes.pending_xref)):
                    reference.replace_self(nodes.literal("", reference.astext()))
                english = [] if english_site or about[0]["classes"] else ["language-en"]
                row[1].append(nodes.paragraph("", "", link, said, classes=["has", *english]))
