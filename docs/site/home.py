"""The home page: its first screen, with recorded rankings of two systems side by side, and its tools.

The words are in home.yml, the rankings in rankings.json (tests/site/rankings.py makes and checks them). The first query
is part of the page; the others are fetched when the reader asks for another one: once a chosen one, then any.
"""

from __future__ import annotations

from html import escape
from typing import Any

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
    """Return the first screen as one line of HTML."""
    words, data, pocket = _words(edition), rankings(edition), read_pocket(edition)
    minutes = [Edition(edition.root, "en").minutes(name) for name in lesson_names(edition.root)]
    size = model_size(edition)
    fill: dict[str, Any] = {
        "lessons": len(minutes), "minutes": minutes[0], "hours": round(sum(minutes) / 60),
        "queries": len(pocket.queries), "passages": len(pocket.passages), "size": f"{size / 1e6:.0f}",
    }  # fmt: skip
    own = next(iter(read_yaml(edition.root / "docs" / "site" / "ask.yml")[edition.language]["suggested"]))

    def text(words: str) -> str:
        return escape(words).format(**fill)

    go = " ".join(
        f'<a href="{page}.html">{text(words[key][0])}<small>{text(words[key][1])}</small></a>'
        for page, key in (("01_evaluation", "start"), ("own_model", "own"))
    )
    facts = "".join(f"<li><b>{text(a)}</b>{text(b)}</li>" for a, b in words["facts"])
    chosen, second = (next(row for row in data["queries"] if row[0] == words[key]) for key in ("first", "second"))
    labels = {key: words[key] for key in ("answers", "answered", "late", "missed", "shared", "none", "comma")}
    systems = "".join(
        f'<div class="{system}" data-system="{system}"><p><b>{text(name)}</b> <span>{text(about)}</span></p>'
        f"{_ranking(chosen[2][system], words)}</div>"
        for system, (name, about) in words["systems"].items()
    )
    bars = "".join(
        f'<li class="{system}">{text(words["systems"][system][0])} '
        f'<svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="1" height="1"/><rect width="{mean}" height="1"/></svg> <b>{mean:.3f}</b></li>'
        for system, mean in data["means"].items()
    )
    fill["metric"] = (
        f'<a class="term" href="{terms(edition)["ndcg"]["href"]}" title="{text(words["ndcg"])}">nDCG@10</a>'
    )
    return (
        f'{MARK}><p class="home-define">{text(words["define"])}</p>'
        f'<p class="home-go">{go}</p>'
        f'<ul class="home-facts">{facts}</ul>'
        f'<div class="home-demo" data-rankings="_static/home/rankings.json" data-second="{escape(second[1])}">'
        f"{as_json(labels)}"
        f'<p class="home-ask">{text(words["demo"])}</p>'
        f'<p class="home-query" aria-live="polite">{escape(chosen[1])}</p>'
        f'<div class="home-lists">{systems}</div>'
        f'<div class="home-means"><p><b>{text(words["nothing"])}</b> '
        f'<button type="button" hidden>{text(words["another"])}</button></p>'
        f"<p><span>{text(words['means'])}</span> "
        f'<a href="03_model_comparison.html">{text(words["more"])}</a></p><ul>{bars}</ul></div>'
        f'<form class="home-mine" action="ask.html"><label for="home-own">{text(words["mine"])}</label>'
        f'<input id="home-own" type="search" maxlength="200" placeholder="{escape(own)}" aria-describedby="home-how">'
        f'<button>{text(words["ask"])}</button><p id="home-how">{text(words["how"])}'
        f"{text(words['meaning']) if size else ''}</p></form></div></div>"
    )


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


def _ranking(ranking: list[Any], words: dict[str, Any]) -> str:
    """Return the ranking of a system, as _static/home/main.js draws those of the other queries."""
    first, outcome, *rows = ranking
    items = "".join(_row(words, *row) for row in rows)
    return f'<p class="{outcome}">{escape(words[outcome]).format(rank=first)}</p><ol>{items}</ol>'


def _row(
    words: dict[str, Any], rank: int, title: str, grade: int, sentence: str, shared: list[str] | None = None
) -> str:
    """Return a passage of a ranking: its title, whether and why it answers, the words shared with the query."""
    kind, judged = "", ""
    if grade >= ANSWERS:
        kind, judged = ' class="answer"', f"<em>{escape(words['answers'])}</em>"
    listed = words["comma"].join(f"<u>{escape(word)}</u>" for word in shared or []) or escape(words["none"])
    said = "" if shared is None else f"<small>{escape(words['shared'])}{listed}</small>"
    quoted = f"<q>{escape(sentence)}</q>" if sentence else ""
    return f"<li{kind}>{judged}<b>{rank}</b> <span>{escape(title)}</span>{quoted}{said}</li>"
