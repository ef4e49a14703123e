"""The home page: its first screen, with recorded rankings of two systems side by side, its tools and its figure.

The words are in home.yml, the rankings in rankings.json (tests/site/rankings.py makes and checks them). The first query
is part of the page; the others are fetched when the reader asks for another one: once a chosen one, then any.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docs.site.covers import cover
from docs.site.dense import model_size
from docs.site.live import terms
from docs.site.pocket import ANSWERS, SYSTEMS, read_pocket
from docs.site.project import MARKS, Edition, as_json, read_yaml
from helpers.index.words import tokenize
from notebooks.kit.cells import alt_text
from notebooks.kit.figures import notebook_figures
from notebooks.kit.notebooks import lesson_names

MARK = '<div class="home"'
SHOWN, FAR = 3, 10  # passages shown of a ranking; an answer below rank FAR is no success
METRIC = "ndcg@10"  # the one that the sentence beside the figure names
LOWEST = 0.5  # where the axis of its drawing begins
DOTS_DOWN, DOT = 15, 8  # dots in a column of the drawn corpus, and the room of each


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
    """Return the pages of a kind, each with its picture, title and what one finds there, as one line of HTML."""
    links = "".join(
        f'<a href="{page}.html">{cover(edition, page)}<b>{escape(edition.headings(page)[0])}</b>'
        f"<span>{escape(about)}</span></a>"
        for page, about in _words(edition)["doors"][kind].items()
    )
    return f'<div class="home-paths {kind}">{links}</div>'


def figure(edition: Edition, _argument: str) -> str:
    """Return what a growing corpus does to a score, in words and as a drawing, as one line of HTML."""
    words, curves = _words(edition), growth(edition)
    fewest, most = (curves[METRIC][at][0] for at in (0, -1))
    said, dots = (
        escape(words[key]).format(fewest=fewest, most=most, added=most - fewest) for key in ("growth", "dots")
    )
    return (
        f'<div class="home-figure"><div><p>{said}</p>{_dotted(fewest, most)}<p class="home-dots">{dots}</p></div>'
        f"{_drawn(curves, words['axes'], edition)}"
        f'<p class="home-see"><a href="01_evaluation.html#{edition.heading_above("01_evaluation", "growth")}">'
        f"{escape(words['see'])}</a></p></div>"
    )


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


def growth(edition: Edition) -> dict[str, list[tuple[int, float]]]:
    """Return what lesson 01 recorded of a growing corpus: (passages, mean) of each metric, smallest corpus first."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for key, value in notebook_figures(edition.lesson("01_evaluation")).items():
        part, _, rest = key.partition("/")
        if part == "growth":
            size, metric = rest.split("/")
            curves.setdefault(metric, []).append((int(size), float(value)))
    return curves


def _dotted(fewest: int, most: int) -> str:
    """Return a corpus that grew: a dot for each passage, column after column, the answer among the first."""

    def columns(kind: str, size: int) -> str:
        full, rest = divmod(size, DOTS_DOWN)
        return (
            f'<pattern id="{kind}" width="{DOT}" height="{DOT}" patternUnits="userSpaceOnUse">'
            f'<circle class="{kind}" cx="{DOT / 2}" cy="{DOT / 2}" r="2.5"/></pattern>'
            f'<path fill="url(#{kind})" d="M0 0H{(full + 1) * DOT}v{rest * DOT}h-{DOT}V{DOTS_DOWN * DOT}H0z"/>'
        )

    width, answer = -(-most // DOTS_DOWN) * DOT, f'<circle class="sought" cx="{9.5 * DOT}" cy="{5.5 * DOT}" r="5.2"/>'
    dots = columns("added", most) + columns("before", fewest) + answer
    return f'<svg class="drawn" aria-hidden="true" viewBox="0 0 {width} {DOTS_DOWN * DOT}">{dots}</svg>'


def _drawn(curves: dict[str, list[tuple[int, float]]], axes: list[str], edition: Edition) -> str:
    """Return the curves as a drawing in which each is named at its end."""
    sizes = [size for size, _ in curves[METRIC]]
    x = {size: round(40 + 290 * (size - sizes[0]) / (sizes[-1] - sizes[0])) for size in sizes}

    def y(value: float) -> float:
        return round(10 + 190 * (1 - value) / (1 - LOWEST), 1)

    ticks = (LOWEST, (LOWEST + 1) / 2, 1)
    parts = [f'<path d="M40 {y(v)}H330"/><text x="-16" y="{y(v) + 5}">{v:g}</text>' for v in ticks]
    parts += [f'<text x="{x[size]}" y="222" text-anchor="middle">{size}</text>' for size in (sizes[0], sizes[-1])]
    across, up = (escape(axis).format(lowest=LOWEST) for axis in axes)
    parts += [f'<text x="185" y="222" text-anchor="middle">{across}</text>', f'<text x="-16" y="-10">{up}</text>']
    below = 0.0  # the last label, for the next one to be under it
    for metric, curve in sorted(curves.items(), key=lambda item: -item[1][-1][1]):
        points = [(x[size], y(value)) for size, value in curve]
        name = metric.replace("ndcg", "nDCG").replace("mrr", "MRR")
        below = max(points[-1][1] + 5, below + 18)
        dots = "".join(f'<circle cx="{at}" cy="{height}" r="3"/>' for at, height in points)
        lines = " ".join(f"{at},{height}" for at, height in points)
        first = (
            f'<text x="34" y="{points[0][1] + 5}" text-anchor="end">{curve[0][1]:.2f}</text>'
            if metric == METRIC
            else ""
        )
        parts.append(
            f'<g class="{metric.replace("@", "-")}"><polyline points="{lines}"/>'
            f'<text x="340" y="{below}">{name} {curve[-1][1]:.2f}</text>{dots}{first}</g>'
        )
    cell = next(cell for cell in edition.lesson("01_evaluation").cells if cell.id == "growth")
    alt = escape(MARKS.sub("", alt_text(cell)))
    return f'<svg class="drawn" role="img" aria-label="{alt}" viewBox="-16 -24 492 252">{"".join(parts)}</svg>'
