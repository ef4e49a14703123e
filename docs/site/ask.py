"""Local Sphinx extension: the page on which a reader asks the pocket collection.

The page itself is JavaScript without a framework (_static/ask/), its words are in ask.yml. Rankings of the collection's
own queries are recorded (rankings.json); those of other questions are computed in the page, by words and, in English,
by a dense model that a reader may download (dense.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from docs.site.dense import LANGUAGE, add_model, model_size
from docs.site.pocket import ANSWERS, read_pocket
from docs.site.project import Edition, read_yaml

MARK = '<div class="ask"'


def ask(edition: Edition, _argument: str) -> str:
    """Return the page's tool as one line of HTML: its words as JSON, and a sentence for readers without JavaScript."""
    words, pocket = read_yaml(edition.root / "docs" / "site" / "ask.yml")[edition.language], read_pocket(edition)
    shown = {"another": words["another"].format(queries=len(pocket.queries))}
    shown["examples"] = [pocket.queries[query] for query in words["examples"]]
    data = json.dumps(words | shown, ensure_ascii=False).replace("<", "\\u003c")
    fallback = f"<noscript><p>{words['noscript']}</p></noscript>"
    script = f'<script type="application/json">{data}</script>'
    size = model_size() if edition.language == LANGUAGE else 0
    model = f' data-model="{size}"' if size else ""
    return f'{MARK} data-collection="_static/ask/collection.json"{model}>{script}{fallback}</div>'


def collection(edition: Edition) -> dict[str, Any]:
    """Return what the page fetches when it is first used: passages, queries, grades, rankings.

    Judgements of grade 0 are given for the passages of the recorded rankings alone; no page shows another.
    """
    pocket = read_pocket(edition)
    queries = []
    for query, text in pocket.queries.items():
        shown = {passage for ids in pocket.lists[query].values() for passage in ids}
        grades = {p: grade for p, grade in pocket.grades[query].items() if grade or p in shown}
        queries.append({"id": query, "text": text, "grades": grades, "lists": pocket.lists[query]})
    passages = [[passage, *texts] for passage, texts in pocket.passages.items()]
    parts = {"means": pocket.means, "passages": passages, "queries": queries}
    return parts | {"answers": ANSWERS, "stop": pocket.stop}


def load(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Let the page that has the tool load it, and no other."""
    if MARK in context.get("body", ""):
        app._collection_asked = True  # type: ignore[attr-defined]
        app.add_css_file("ask/ask.css")
        app.add_js_file("ask/main.js", type="module")


def write(app: Sphinx, failure: Exception | None) -> None:
    """Write the files that the page fetches."""
    if failure is None and hasattr(app, "_collection_asked"):
        edition, folder = Edition.of(app), Path(app.outdir) / "_static" / "ask"
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(collection(edition), ensure_ascii=False, separators=(",", ":"))
        (folder / "collection.json").write_text(text, encoding="utf-8")
        if edition.language == LANGUAGE:
            add_model(edition.root, folder)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register what is done."""
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
