"""The pictures of lessons that answer to a reader's hand: beside the text where there is room, else within it.

They are JavaScript without a framework (_static/live/, a file for each kind); live.yml says where they are, in which
words. They compute with the metrics of "Try the metrics", on the recorded rankings of the pocket collection.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from docs.site.figures import OPENING
from docs.site.pocket import ANSWERS, in_sentences, read_pocket
from docs.site.project import DocsError, Edition, as_json, read_yaml
from docs.site.terms import anchor
from notebooks.kit.translation import glossary

MARK = '<figure class="live'
FIRST, SYSTEMS = 8, {"en": "MiniLM", "zh": "multilingual"}  # the queries that lesson 01 shows, and what ranks for it
METRICS = {"recall": "recall", "mrr": "mean reciprocal rank", "ndcg": "normalised discounted cumulative gain"}


def hits(edition: Edition) -> dict[str, Any]:
    """Return what the picture of lesson 01 shows of its first queries.

    Of a query: its text, title and grade of each passage of the ranking, the first sentence of those that answer (the
    others would be too heavy), and the best grades there are.
    """
    pocket, system = read_pocket(edition), SYSTEMS[edition.language]
    queries = []
    for query in list(pocket.queries)[:FIRST]:
        grades = pocket.grades[query]
        ranked = [(pocket.passages[one], max(0, grades.get(one, 0))) for one in pocket.lists[query][system]]
        shown = [in_sentences(text)[0] if grade >= ANSWERS else "" for (_, text), grade in ranked]
        passages = [[title, first, grade] for ((title, _), grade), first in zip(ranked, shown, strict=True)]
        best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
        queries.append({"text": pocket.queries[query], "passages": passages, "ideal": best})
    return {"queries": queries, "answers": ANSWERS, "terms": terms(edition)}


def terms(edition: Edition) -> dict[str, dict[str, str]]:
    """Return address and meaning of the metrics that lesson 01 shows, in a page's language."""
    found = {term.en: term for term in glossary(edition.root)}
    return {
        metric: {"href": f"glossary.html#{anchor(found[name])}", "title": found[name].means[edition.language]}
        for metric, name in METRICS.items()
    }


def place(app: Sphinx, doctree: nodes.document) -> None:
    """Put the pictures of a lesson before the cells that live.yml names, one of "opening" before the figure of that.

    Raises DocsError for an unknown cell.
    """
    edition = Edition.of(app)
    pictures = read_yaml(edition.root / "docs" / "site" / "live.yml")
    for entry in pictures["lessons"].get(app.env.docname, []):
        before, kind = entry["before"], entry["kind"]
        if before == "opening":
            target = next((raw for raw in doctree.findall(nodes.raw) if OPENING in raw.astext()), None)
        else:
            target = next((t for t in doctree.findall(nodes.target) if f"cell-{before}" in t["ids"]), None)
        if target is None:
            raise DocsError(f"docs/site/live.yml: {app.env.docname} has no cell {before}; name one that it has")
        words = dict(pictures["words"][edition.language][kind])
        label = escape(words.get("title") or words["two"]["title"])
        data = "".join(f' data-{key}="{escape(value)}"' for key, value in entry.items() if key != "before")
        content = as_json(words | (hits(edition) if kind == "hits" else {}))
        html = f'{MARK} {kind}" aria-label="{label}"{data}>{content}</figure>'
        target.parent.insert(target.parent.index(target), nodes.raw("", html, format="html"))
