"""The home page: its first screen, with recorded rankings of two systems side by side, and its tools.

The words are in home.yml, the rankings in rankings.json (tests/site/rankings.py makes and checks them). The first query
is part of the page; the others are fetched when the reader asks for another one: once a chosen one, then any.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from docs.site.dense import model_size
from docs.site.live import terms
from docs.site.pocket import ANSWERS, SYSTEMS, read_pocket
from docs.site.project import Edition, as_json, read_yaml
from helpers.index.words import tokenize
from notebooks.kit.notebooks import lesson_names

MARK = '<div class="home"'
SHOWN, FAR = 3, 10  # passages shown of a ranking; an answer below rank FAR is no success


def rankings(edition: Edition) -> dict[str, Any]:
    """Return the rankings of a language as the page shows them.

    ``queries`` are [id, text, {system: [rank of the first answer, 0 for none in a hundred; its outcome beside the other
    system, a key of home.yml; rows of passages]}], the first answer in the last row where it is further down. A
    ranking without an answer has its first ten passages, of which the style sheet shows as many as the other system's
    column has room for. A row is [rank, title, grade, the sentence that answers, of the first answer alone] and, in the
    first row, the words that it shares with the query.
    """
    pocket = read_pocket(edition)
    queries: list[list[Any]] = []
    for query, lists in pocket.lists.items():
        words = dict.fromkeys(tokenize([pocket.queries[query]])[0])
        firsts = [pocket.first_answer(query, system)[0] for system in SYSTEMS[edition.language].values()]
        best = min((rank for rank in firsts if 0 < rank <= FAR), default=0)
        shown: dict[str, list[Any]] = {}
        for label, system in SYSTEMS[edition.language].items():
            first, answer = pocket.first_answer(query, system)
            above = SHOWN - (first > SHOWN) if first else FAR
            ranked = [*enumerate(lists[system][:above], 1), *([(first, answer)] if first > SHOWN else [])]
            grades, rows = pocket.grades[query], []
            for rank, passage in ranked:
                sentence = pocket.sentence(query, passage) if rank == first else ""
                rows.append([rank, pocket.passages[passage][0], grades.get(passage, 0), sentence])
            found = set(tokenize(["\n".join(pocket.passages[ranked[0][1]])])[0])
            rows[0].append([word for word in words if word in found])
            outcome = ("answered" if first == best else "late") if first else "missed"
            shown[label] = [first, outcome, *rows]
        queries.append([query, pocket.queries[query], shown])
    means = {label: pocket.means[system] for label, system in SYSTEMS[edition.language].items()}
    return {"queries": queries, "means": means}


def home(edition: Edition, _argument: str) -> str:
    """Return the first screen as one line of HTML (_templates/home.html)."""
    words, data, pocket, size = _words(edition), rankings(edition), read_pocket(edition), model_size(edition)
    minutes = [Edition(edition.root, "en").minutes(name) for name in lesson_names(edition.root)]
    fill: dict[str, Any] = {
        "lessons": len(minutes), "minutes": minutes[0], "hours": round(sum(minutes) / 60),
        "queries": len(pocket.queries), "passages": len(pocket.passages), "size": f"{size / 1e6:.0f}",
    }  # fmt: skip
    metric = f'<a class="term" href="{terms(edition)["ndcg"]["href"]}" title="{escape(words["ndcg"])}">nDCG@10</a>'
    chosen, second = (next(row for row in data["queries"] if row[0] == words[key]) for key in ("first", "second"))
    labels = {key: words[key] for key in ("answers", "answered", "late", "missed", "shared", "none", "comma")}
    suggested = read_yaml(edition.root / "docs" / "site" / "ask.yml")[edition.language]["suggested"]
    template = Environment(autoescape=True).from_string(
        (edition.root / "docs" / "site" / "_templates" / "home.html").read_text(encoding="utf-8")
    )
    html = template.render(
        words=words, fill=fill, metric=Markup(metric), chosen=chosen, second=second[1], means=data["means"], size=size,
        labels=Markup(as_json(labels)), own=next(iter(suggested)), answers=ANSWERS,
    )  # fmt: skip
    return re.sub(r"\s*\n\s*", "", html)


def doors(edition: Edition, kind: str) -> str:
    """Return the pages of a kind, each with its title and what one finds there, as one line of HTML."""
    links = "".join(
        f'<a href="{page}.html"><b>{escape(edition.headings(page)[0])}</b><span>{escape(about)}</span></a>'
        for page, about in _words(edition)["doors"][kind].items()
    )
    return f'<div class="home-paths {kind}">{links}</div>'


def _words(edition: Edition) -> dict[str, Any]:
    words: dict[str, Any] = read_yaml(edition.root / "docs" / "site" / "home.yml")[edition.language]
    return words
