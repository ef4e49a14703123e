"""Local Sphinx extension: what a page says of itself to search engines, to those who share it and to its readers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from docs.site.project import CODES, Edition, addresses, site_words
from docs.site.search import readable
from notebooks.kit.notebooks import lesson_names

LONGEST = 200


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


def structured(edition: Edition, page: str, title: str, description: str) -> str:
    """Return what the page is as schema.org's JSON: a lesson is a LearningResource, other pages are articles."""
    site = addresses(edition.root).site
    lesson = page in lesson_names(edition.root)
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "LearningResource" if lesson else "TechArticle",
        "name": title,
        "url": f"{site}{edition.language}/{page}.html",
        "inLanguage": CODES[edition.language],
        "license": f"{addresses(edition.root).repository}/blob/{addresses(edition.root).tag}/LICENSE",
        "isAccessibleForFree": True,
    }
    if description:
        data["description"] = description
    if lesson:
        minutes = Edition(edition.root, "en").minutes(page)
        data |= {"learningResourceType": "lesson", "timeRequired": f"PT{minutes}M", "educationalUse": "self study"}
    return json.dumps(data, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")


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
    title = re.sub(r"<[^>]+>", "", str(context.get("title") or edition.language))
    context["structured"] = structured(edition, page, title, context["description"])
    context["around"] = site_words(edition.language)
    context["links"] = links(edition, page)
    for place, name in enumerate(("prev", "next"), 1):
        context[name] = _neighbour(app, page, place)


def _neighbour(app: Sphinx, page: str, place: int) -> dict[str, str] | None:
    """Return the page before (1) or after (2) a page, modules of the API left out: few read these in their order."""
    relations = app.builder.relations  # type: ignore[attr-defined]
    other = None if page.startswith("helpers.") else relations.get(page, [None] * 3)[place]
    while other and other.startswith("helpers."):
        other = relations[other][place]
    if not other:
        return None
    title = app.builder.render_partial(app.env.titles[other])["title"]  # type: ignore[attr-defined]
    return {"link": app.builder.get_relative_uri(page, other), "title": title}


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register what is said."""
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True}
