"""Local Sphinx extension: what is done to pages, lessons and docstrings, and in which order."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python._object import PyObject
from sphinx.util.typing import ExtensionMetadata

from docs.site import (
    api,
    ask,
    cells,
    figures,
    formulas,
    head,
    home,
    inserts,
    live,
    programs,
    search,
    terms,
    widget,
)
from docs.site.finish import finish
from docs.site.project import MARKS, Edition, addresses, notes, slugs
from docs.site.run import LESSON
from notebooks.kit.notebooks import lesson_names

NEEDS = "<!-- needs -->"  # in lesson-bar.html: what a lesson needs, taken out of its text
LINES_A_CELL = 10_000  # MyST-NB counts the lines of a notebook so: cell 0 begins at line 10,000


def remove_marks(_app: Sphinx, doctree: nodes.document) -> None:
    """Take out the comments that are meant for the checks of numbers and translations."""
    for node in list(doctree.findall(nodes.raw)):
        text = MARKS.sub("", node.astext())
        if not text.strip():
            node.parent.remove(node)
        elif text != node.astext():
            node.replace_self(nodes.raw("", text, **node.attributes))


def resolve_links(app: Sphinx, doctree: nodes.document) -> None:
    """Let links to files of the checkout lead to where these are on the site; others stay, and Sphinx reports them."""
    edition = Edition.of(app)
    for node in list(doctree.findall(addnodes.pending_xref)):
        if node["reftype"] != "myst":
            continue
        target = node["reftarget"]
        if node["refdomain"] == "doc":  # MyST has split the link to a page beside this one
            target = edition.source(target).name + (f"#{node['reftargetid']}" if node["reftargetid"] else "")
        if address := edition.address_of(target, app.env.docname):
            node.replace_self(nodes.reference("", "", *node[0].children, refuri=address, internal="://" not in address))


def name_headings(app: Sphinx, doctree: nodes.document) -> None:
    """Give every heading the anchor made from its English text, so that both languages have the same."""
    titles = Edition(Edition.of(app).root, "en").headings(app.env.docname)
    for section, anchor in zip(list(doctree.findall(nodes.section)), slugs(titles), strict=bool(titles)):
        section["ids"] = [anchor, *(i for i in section["ids"] if i != anchor)]


def complete_lesson(app: Sphinx, doctree: nodes.document) -> None:
    """Give a lesson an anchor for each cell, its number above its title, a bar below it, and marked takeaways."""
    edition, name = Edition.of(app), app.env.docname
    if name not in lesson_names(edition.root):
        return
    starts: dict[int, nodes.Element] = {}  # the first node of each cell
    for node in doctree.findall(nodes.Element):
        starts.setdefault(node.get("cell_index", (node.line or 0) // LINES_A_CELL - 1), node)
    for index, cell in enumerate(edition.lesson(name).cells):
        if start := starts.get(index):
            start.parent.insert(start.parent.index(start), nodes.target("", "", ids=[f"cell-{cell.id}"]))
    title = next(doctree.findall(nodes.title))
    first = next(node for node in doctree.findall(nodes.paragraph) if node.parent is title.parent)
    first.parent.insert(first.parent.index(first) + 1, nodes.raw("", figures.opening(edition, name), format="html"))
    needs = [p for p in doctree.findall(nodes.paragraph) if p.astext().startswith(edition.words["needs"])][:1]
    for paragraph in needs:
        paragraph.parent.remove(paragraph)
    start, end = (nodes.raw("", part, format="html") for part in lesson_bar(app, name).split(NEEDS))
    told = nodes.inline("", *(child for paragraph in needs for child in paragraph.children), classes=["needs"])
    at = title.parent.index(title) + 1
    title.parent[at:at] = [start, told, end]
    number = edition.words["lesson"].format(int(name[:2]))
    doctree.insert(0, nodes.raw("", f'<p class="lesson-number">{number}</p>', format="html"))
    number_parts(edition, name, title.parent)
    for section in doctree.findall(nodes.section):
        for paragraph in section:
            words = [type(node) for node in paragraph.children if node.astext()]  # without MyST's empty texts
            if isinstance(paragraph, nodes.paragraph) and words == [nodes.strong]:
                paragraph["classes"].append("takeaway")


def number_parts(edition: Edition, name: str, lesson: nodes.Element) -> None:
    """Say below the heading of each part of a lesson which one it is, and how long it takes; setting up is none."""
    times = Edition(edition.root, "en").parts(name)[1:]
    sections = [node for node in lesson.children if isinstance(node, nodes.section)]
    parts = [part for part in zip(sections, times, strict=True) if "setup" not in part[0]["ids"]]
    for number, (section, time) in enumerate(parts, 1):
        said = edition.words["part"].format(number, len(parts), math.ceil(time))
        if "exercises" in section["ids"]:
            asked = sum(len(node) for node in section if isinstance(node, nodes.enumerated_list))
            said = edition.words["exercises"].format(number, len(parts), asked)
        section.insert(1, nodes.raw("", f'<p class="part">{said}</p>', format="html"))


def lesson_bar(app: Sphinx, name: str) -> str:
    """Return the lines under the title of a lesson: time, launch, downloads, and a mark for what it needs."""
    edition = Edition.of(app)
    project, words = addresses(edition.root), edition.words
    owner, path = project.slug, f"notebooks/{edition.language}/{name}.ipynb"
    said = notes(edition.root)
    launch = {label: url.format(owner=owner, tag=project.tag, path=path) for label, url in said["launch"].items()}
    launch = words.get("elsewhere", {}) | launch
    context = {
        "name": name,
        "words": words,
        "language": edition.language,
        "minutes": Edition(edition.root, "en").minutes(name),
        "first": None if name == LESSON else next(iter(launch)),
        "launch": launch,
    }
    return str(app.builder.templates.render("lesson-bar.html", context))


def list_returns(_app: Sphinx, _kind: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Make a list of several named values under `Returns:`, which napoleon takes for one broken paragraph."""
    if "Returns:" not in lines:
        return
    start = lines.index("Returns:") + 1
    end = next((i for i in range(start, len(lines)) if not lines[i].strip()), len(lines))
    text = "\n".join(lines[start:end])
    items = re.findall(r"^ {4}(\w+): ((?:.*\n?)(?: {5,}.*\n?)*)", text, flags=re.M)
    if len(items) > 1:
        lines[start:end] = [f"    - **{name}** {' '.join(words.split())}" for name, words in items]


def shorten_signature(_app: Sphinx, *shown: Any) -> tuple[str, str | None] | None:
    """Name a type alias alone, and write a default that is a long set or made for each call as `...`."""
    *_, signature, returns = shown
    short = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature or "")
    return (re.sub(r"frozenset\(\{[^}]{40,}\}\)|<factory>", "...", short), returns) if signature else None


def skip_fields(_app: Sphinx, _kind: str, _name: str, obj: object, _skip: bool, _options: object) -> bool | None:
    """Leave out the fields of named tuples: their class says what they are, Python only their number."""
    return str(getattr(obj, "__doc__", "")).startswith("Alias for field number") or None


def load_tools(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Let the pages that have a tool load its styles and script, and no others; write the data that it will fetch."""
    for mark, (styles, script, fetched) in TOOLS.items():
        if mark in context.get("body", ""):
            for style in styles:
                app.add_css_file(style)
            app.add_js_file(script, type="module")
            for path, collect in fetched.items():
                search.write_data(app, path, collect(Edition.of(app)))


TOOLS: dict[str, tuple[list[str], str, dict[str, Callable[[Edition], Any]]]] = {
    home.MARK: (["home/home.css"], "home/main.js", {"home/rankings.json": home.rankings}),
    ask.MARK: (["tool.css", "ask/ask.css"], "ask/main.js", {"ask/collection.json": ask.collection}),
    live.MARK: (["tool.css", "live/live.css"], "live/main.js", {}),
    widget.MARK: (["tool.css", "try/try.css"], "try/main.js", {}),
    widget.SCORER: (
        ["tool.css", "try/try.css", "score/score.css"],
        "score/main.js",
        {"score/example.json": widget.example},
    ),
}
STEPS: dict[str, list[Callable[..., Any]]] = {  # what is done at each event of Sphinx, in this order
    "builder-inited": [search.no_index_of_sphinx],
    "source-read": [inserts.fill],
    "autodoc-process-docstring": [api.add_example, list_returns],
    "autodoc-process-signature": [shorten_signature],
    "autodoc-skip-member": [skip_fields],
    "doctree-read": [
        remove_marks, figures.draw_bars, resolve_links, name_headings, complete_lesson, api.describe_modules,
        cells.show_cells, figures.draw_figures, terms.explain_terms, terms.ask, live.place,
    ],
    "html-page-context": [load_tools, search.collect, head.describe],
    "html-collect-pages": [search.search_page],
    "build-finished": [search.write, programs.write_markdown, finish],
}  # fmt: skip
PRIORITIES = {"doctree-read": 100, "autodoc-process-docstring": 100, "build-finished": 900}


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register all steps: those of a read page before Sphinx collects titles and pictures, the last after the theme."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(formulas.inline, None), block_renderers=(formulas.block, None)
    )
    attributes = next(field for field in PyObject.doc_field_types if field.name == "variable")
    attributes.label = {"en": "Attributes", "zh_CN": "属性"}[app.config.language]  # Sphinx calls them variables
    for event, steps in STEPS.items():
        for step in steps:
            app.connect(event, step, priority=PRIORITIES.get(event, 500))
    return {"parallel_read_safe": True}
