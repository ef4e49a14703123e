"""The page on which a reader asks the pocket collection.

The page itself is JavaScript without a framework (_static/ask/), its words are in ask.yml. Rankings of the collection's
own queries and of the question it suggests are recorded (rankings.json); those of other questions are computed in the
page, by words and by a dense model that a reader may download (dense.py).
"""

from __future__ import annotations

import hashlib
from typing import Any

from docs.site.dense import packed
from docs.site.pocket import ANSWERS, SENTENCE_END, read_pocket
from docs.site.project import Edition, as_json, read_yaml

MARK = '<div class="ask"'


def ask(edition: Edition, _argument: str) -> str:
    """Return the page's tool as one line of HTML: its words as JSON, and a sentence for readers without JavaScript."""
    words, pocket = read_yaml(edition.root / "docs" / "site" / "ask.yml")[edition.language], read_pocket(edition)
    shown: dict[str, Any] = {}
    [(shown["suggested"], shown["answer"])] = words["suggested"].items()
    shown["subjects"] = [[pocket.queries[query], subject] for query, subject in words["subjects"].items()]
    shown["example"] = _alone(collection(edition), pocket.queries[words["example"]])
    fallback = f"<noscript><p>{words['noscript']}</p></noscript>"
    data = as_json(words | shown)
    files = packed(edition)
    model = (
        f' data-model="{len(files.weights)}" data-digest="{hashlib.sha256(files.weights).hexdigest()[:12]}"'
        if files else ""
    )  # fmt: skip
    return f'{MARK} data-collection="_static/ask/collection.json"{model}>{data}{fallback}</div>'


def _alone(data: dict[str, Any], text: str) -> dict[str, Any]:
    """Return what the page shows of one query, of all that it fetches: with it the page opens, and fetches nothing."""
    [query] = (one for one in data["queries"] if one["text"] == text)
    ids = {passage for ranking in query["lists"].values() for passage in ranking}
    passages = [passage for passage in data["passages"] if passage[0] in ids]
    sentences = {query["id"]: data["sentences"].get(query["id"], {})}
    return data | {"passages": passages, "queries": [query], "suggested": {}, "sentences": sentences}


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
    parts: dict[str, Any] = {"means": pocket.means, "passages": passages, "queries": queries}
    parts |= {"answers": ANSWERS, "count": len(queries), "stop": pocket.stop, "suggested": pocket.suggested}
    return parts | {"sentences": pocket.sentences, "between": SENTENCE_END.pattern}
