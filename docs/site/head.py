"""What a page says of itself to search engines, to those who share it and to its readers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, partial
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx

from docs.site.project import Edition, addresses, site_words
from docs.site.search import readable

LONGEST = 200
FOLDED = '<details class="group">'  # the last group of the contents
_MORE = '<i class="fa-solid fa-chevron-down"></i>'


def first_paragraph(doctree: nodes.document) -> str:
    """Return the first paragraph that is prose, shortened at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join("".join(_words(paragraph)).split())
        if len(text) > 15 and not re.search(r"[<>]", text):
            return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;:，；：、") + "…"
    return ""


def _words(node: nodes.Node) -> Iterator[str]:
    """Yield the words below a node, formulas as far as they are words."""
    if isinstance(node, nodes.math):
        yield readable(node.astext())
    elif isinstance(node, nodes.Text):
        yield node.astext()
    else:
        for child in node.children:
            yield from _words(child)


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
    for place, name in enumerate(("prev", "next"), 1):
        context[name] = _neighbour(app, page, place)


@cache
def _plain_contents(app: Sphinx) -> str:
    """Return the contents of the site as the theme shows them on a page that they do not list; this takes a while."""
    from pydata_sphinx_theme.toctree import add_toctree_functions  # takes seconds

    toctree = partial(app.builder._get_local_toctree, "search")  # type: ignore[attr-defined]
    context: dict[str, Any] = {"toctree": toctree}
    add_toctree_functions(app, "search", "", context, None)
    depth = {"startdepth": 0, "maxdepth": 2, "show_nav_level": 1}
    make = context["generate_toctree_html"]
    shown = str(make(kind="sidebar", collapse=False, includehidden=True, titles_only=True, **depth))
    shown = re.sub(r"(?<=>)helpers\.(?=[\w.]+</a>)", "", shown)  # all below API are modules of this one package
    before, _, last = shown.rpartition("<p ")  # the caption of the last group, which few look for
    caption = re.sub(r".*?<span(.*?)</p>", rf"{FOLDED}<summary><span\1{_MORE}</summary>", last, count=1, flags=re.S)
    return f"{before}{caption}</details>"


def contents(app: Sphinx, page: str) -> str:
    """Return the contents of the site for the bar at the side, the entry of a page marked and what holds it open."""
    before, link, after = _plain_contents(app).partition(f'<a class="reference internal" href="{page}.html">')
    if not link:
        return before
    top, entry, within = before.rpartition('<li class="toctree-l1')
    inside, item, end = within.rpartition('<li class="toctree-l2')
    within = f"{inside}{item} current active{end}" if item else within
    marked = f'{within}<a class="current reference internal" href="#">{after}'
    if "has-children" in within:
        marked = marked.replace("<details>", '<details open="open">', 1)
    return f"{top.replace(FOLDED, f'{FOLDED[:-1]} open>')}{entry} current active{marked}"


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
