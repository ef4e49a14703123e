"""What a page says of itself to search engines, to those who share it and to its readers."""

from __future__ import annotations

import re
from functools import cache
from html import escape
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
    for place, name in enumerate(("prev", "next"), 1):
        context[name] = _neighbour(app, page, place)


@cache
def sections(app: Sphinx) -> dict[str, dict[str, str]]:
    """Return the sections of the site by their captions on the home page: the title of each page, lessons numbered."""
    found: dict[str, dict[str, str]] = {}
    for tree in app.env.get_doctree("index").findall(addnodes.toctree):
        short = {page: title or app.env.titles[page].astext() for title, page in tree["entries"]}
        found.setdefault(tree.get("caption") or "", {}).update(short)
    return found


def contents(app: Sphinx, page: str) -> str:
    """Return the contents for the bar at the side: every section, and the pages of the one that a page is in."""
    modules = app.env.toctree_includes.get("api", []) if page == "api" or page.startswith("helpers.") else []
    shown = []
    for caption, pages in sections(app).items():
        inside = page in pages or (bool(modules) and "api" in pages)
        first = next(iter(pages))
        if not inside or len(pages) == 1:
            here = ' aria-current="page"' if inside else ""
            shown.append(f'<p class="caption"><a href="{first}.html"{here}>{escape(caption)}</a></p>')
            continue
        names = dict(pages)
        if modules:
            at = list(names).index("api") + 1
            below = {name: name.removeprefix("helpers.") for name in modules}
            names = dict([*list(names.items())[:at], *below.items(), *list(names.items())[at:]])
        items = "".join(_entry(name, title, name == page, name in modules) for name, title in names.items())
        shown.append(f'<p class="caption"><span>{escape(caption)}</span></p><ul class="nav bd-sidenav">{items}</ul>')
    return "".join(shown)


def _entry(page: str, title: str, here: bool, below: bool) -> str:
    """Return an entry of the contents; that of the page itself is marked."""
    level, current = 1 + below, ' aria-current="page"' if here else ""
    link = f'<a class="reference internal" href="{page}.html"{current}>{escape(title)}</a>'
    return f'<li class="toctree-l{level}{" current active" * here}">{link}</li>'


def _neighbour(app: Sphinx, page: str, place: int) -> dict[str, str] | None:
    """Return the page before (1) or after (2) a page, a lesson with its number, home by its name.

    Modules of the API are left out: few read these in their order.
    """
    edition = Edition.of(app)
    relations = app.builder.relations  # type: ignore[attr-defined]
    other = None if page.startswith("helpers.") else relations.get(page, [None] * 3)[place]
    while other and other.startswith("helpers."):
        other = relations[other][place]
    if not other:
        return None
    title = app.builder.render_partial(app.env.titles[other])["title"]  # type: ignore[attr-defined]
    if other == "index":
        title = site_words(edition.language)["home"]
    return {"link": app.builder.get_relative_uri(page, other), "title": edition.numbered(other, title)}
