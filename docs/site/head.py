"""What a page says of itself to search engines, to those who share it and to its readers."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from docs.site.project import Edition, addresses, site_words

LONGEST = 200


def first_paragraph(doctree: nodes.document) -> str:
    """Return the first paragraph that is prose, shortened at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) > 15 and not re.search(r"[<>\\$]", text):
            return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;:，；：、") + "…"
    return ""


def links(edition: Edition, page: str) -> dict[str, str]:
    """Return where a page can be edited, and where a mistake on it is reported, the report begun."""
    where, said = addresses(edition.root), site_words(edition.language)
    source = edition.source(page)
    found = {}
    if source.exists():
        found["edit"] = f"{where.repository}/edit/main/{source.relative_to(edition.root).as_posix()}"
    address = f"{where.site}{edition.language}/{page}.html"
    title, body = said["report title"].format(page), said["report body"].format(address)
    found["report"] = f"{where.repository}/issues/new?title={quote(title)}&body={quote(body)}"
    return found


def describe(app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Tell the templates what a page is about, and the words around it."""
    edition = Edition.of(app)
    context["description"] = first_paragraph(doctree) if doctree is not None else ""
    context["around"] = site_words(edition.language)
    context["links"] = links(edition, page)
    context["contents"] = contents(app, page)
    context["markdown"] = edition.source(page).exists()
    for other in filter(None, (context.get("prev"), context.get("next"))):
        name = other["link"].removesuffix(".html")
        other["title"] = context["around"]["home"] if name == "index" else edition.numbered(name, other["title"])


@cache
def sections(app: Sphinx) -> dict[str, dict[str, str]]:
    """Return the sections of the site by their captions on the home page: the title of each page, lessons numbered."""
    found: dict[str, dict[str, str]] = {}
    for tree in app.env.get_doctree("index").findall(addnodes.toctree):
        short = {page: title or app.env.titles[page].astext() for title, page in tree["entries"]}
        found.setdefault(tree.get("caption") or "", {}).update(short)
    return found


def contents(app: Sphinx, page: str) -> list[tuple[str, bool, list[tuple[str, str, int]]]]:
    """Return the sections for the bar at the side: caption, whether the page is inside, its pages with their levels."""
    modules = app.env.toctree_includes.get("api", []) if page == "api" or page.startswith("helpers.") else []
    shown = []
    for caption, titles in sections(app).items():
        pages = [(name, title, 1) for name, title in titles.items()]
        if modules and "api" in titles:
            at = list(titles).index("api") + 1
            pages[at:at] = [(name, name.removeprefix("helpers."), 2) for name in modules]
        shown.append((caption, page in [name for name, *_ in pages], pages))
    return shown
