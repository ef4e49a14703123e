"""The first screen of the home page, with recorded rankings of two systems side by side.

The words are in home.yml, the rankings in rankings.json (tests/site/rankings.py makes and checks them). The first query
is part of the page; the others are fetched when the reader asks for another one.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docs.site.pocket import read_pocket
from docs.site.project import MARKS, Edition, as_json, read_yaml
from helpers.index.words import tokenize
from notebooks.kit.cells import alt_text
from notebooks.kit.figures import notebook_figures
from notebooks.kit.notebooks import lesson_names

MARK = '<div class="home"'
SYSTEMS = {"en": {"dense": "MiniLM", "BM25": "BM25"}, "zh": {"dense": "multilingual", "BM25": "BM25"}}
SHOWN = 5
METRIC = "ndcg@10"  # the one that the sentence beside the figure names
STRONG = {METRIC: "told", "recall@1": "strong"}  # the curves that one is to see first


def rankings(edition: Edition) -> dict[str, Any]:
    """Return the rankings of a language as the page shows them.

    ``queries`` are [id, text, {system: [rank of the first answer, 0 for none in ten, [rank, title] of that answer where
    it is not shown, [title, grade, words], …]}], the title of a passage in pieces: every second one, and each of the
    words that its text has besides, is a word of the query by which the system ranks.
    """
    pocket = read_pocket(edition)
    queries: list[list[Any]] = []
    for query, lists in pocket.lists.items():
        shown: dict[str, list[Any]] = {}
        for label, system in SYSTEMS[edition.language].items():
            rank, answer = pocket.first_answer(query, system)
            unseen = [] if 0 < rank <= SHOWN else [rank, pocket.passages[answer][0] if answer else ""]
            query_words = set(tokenize([pocket.queries[query]])[0]) if label == "BM25" else set()
            passages = [
                [*_shared(*pocket.passages[one], query_words), pocket.grades[query].get(one, 0)]
                for one in lists[system][:SHOWN]
            ]
            shown[label] = [rank if rank <= len(lists[system]) else 0, unseen, *passages]
        queries.append([query, pocket.queries[query], shown])
    means = {label: pocket.means[system] for label, system in SYSTEMS[edition.language].items()}
    return {"queries": queries, "means": means}


def _shared(title: str, text: str, query_words: set[str]) -> tuple[list[str], list[str]]:
    """Return the title in pieces, every second one a word of the query, and those that the text alone has."""
    pieces, end = [""], 0
    for word in tokenize([title], stop_words=())[0]:
        start = title.lower().find(word, end)
        if start < 0:  # written otherwise: a digit in full width
            continue
        if word in query_words:
            pieces[-1] += title[end:start]
            pieces += [title[start : start + len(word)], ""]
        else:
            pieces[-1] += title[end : start + len(word)]
        end = start + len(word)
    pieces[-1] += title[end:]
    in_text = query_words - {piece.lower() for piece in pieces[1::2]}
    return pieces, [word for word in dict.fromkeys(tokenize([f"{title}\n{text}"])[0]) if word in in_text]


def home(edition: Edition, _argument: str) -> str:
    """Return the first screen as one line of HTML."""
    said = read_yaml(edition.root / "docs" / "site" / "home.yml")
    words, data = said[edition.language], rankings(edition)
    curves = growth(edition)
    minutes = [Edition(edition.root, "en").minutes(name) for name in lesson_names(edition.root)]
    fill = {
        "lessons": len(minutes), "minutes": minutes[0], "hours": round(sum(minutes) / 60),
        "queries": len(data["queries"]), "passages": len(read_pocket(edition).passages),
        "highest": f"{curves[METRIC][0][1]:.2f}", "lowest": f"{curves[METRIC][-1][1]:.2f}", **data["means"],
        "drop": f"{curves[METRIC][0][1] - curves[METRIC][-1][1]:.2f}",
    }  # fmt: skip

    def text(key: str) -> str:
        return escape(words[key].format(**fill))

    facts = "".join(f"<li><b>{escape(a.format(**fill))}</b>{escape(b.format(**fill))}</li>" for a, b in words["facts"])
    doors = "".join(
        f'<a href="{page}.html"><b>{escape(title)}</b><span>{escape(about)}</span></a>'
        for page, (title, about) in words["paths"].items()
    )
    chosen = next(row for row in data["queries"] if row[0] == said["first"][edition.language])
    labels = {key: words[key] for key in ("answers", "related", "answered", "missed", "beyond", "text", "comma")}
    return (
        f'{MARK}><p class="home-go">'
        f'<a href="01_evaluation.html">{text("start")}</a> <a href="own_model.html">{text("own")}</a></p>'
        f'<div class="home-demo" data-rankings="_static/home/rankings.json">'
        f"{as_json(labels)}"
        f'<p class="home-ask"><span>{text("demo")}</span> <button type="button" hidden>{text("another")}</button></p>'
        f'<p class="home-query" aria-live="polite">{escape(chosen[1])}</p>'
        f'<div class="home-lists">{_lists(chosen, data["means"], words)}</div>'
        f'<p class="home-note">{text("note")} <a href="03_model_comparison.html">{text("more")}</a></p>'
        f'<p class="home-mine"><a href="ask.html?own">{text("mine")}</a></p></div>'
        f'<div class="home-doors"><p class="home-title">{text("doors")}</p><div class="home-paths">{doors}</div></div>'
        f'<ul class="home-facts">{facts}</ul>'
        f'<div class="home-figure"><div><p class="home-title">{text("corpus")}</p>'
        f'<p class="home-drop"><b>−{fill["drop"]}</b> {text("drop")}</p><p>{text("growth")}</p>'
        f'<p class="home-see"><a href="01_evaluation.html#{edition.heading_above("01_evaluation", "growth")}">'
        f"{text('see')}</a></p></div>{_drawn(curves, words['axis'], edition)}</div></div>"
    )


def _lists(chosen: list[Any], means: dict[str, float], words: dict[str, Any]) -> str:
    """Return the rankings of one query, as _static/home/main.js draws those of the others."""
    parts = []
    for system in SYSTEMS["en"]:
        rank, unseen, *passages = chosen[2][system]
        items = "".join(_item(words, *passage) for passage in passages)
        outcome = escape(words["answered"].format(rank=rank) if rank else words["missed"])
        parts.append(
            f'<div data-system="{system}"><p><b>{escape(words["systems"][system])}</b><small>'
            f'nDCG@10 {means[system]}<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
            f'<path d="M0 0H100V8H0z"/><path d="M0 0H{100 * means[system]:.1f}V8H0z"/></svg></small>'
            f'<span class="{"hit" if rank else "miss"}">{outcome}</span></p><ol class="to-{rank}">{items}</ol>'
            f'<p class="unseen">{_unseen(words, *unseen) if unseen else ""}</p></div>'
        )
    return "".join(parts)


def _item(words: dict[str, Any], pieces: list[str], rest: list[str], grade: int) -> str:
    """Return a passage of a ranking: its title, the words that its text shares with the query, what a judge said."""
    title = "".join(f"<u>{escape(each)}</u>" if i % 2 else escape(each) for i, each in enumerate(pieces))
    said = {0: "", 1: words["related"]}.get(grade, words["answers"])
    shared = words["comma"].join(f"<u>{escape(word)}</u>" for word in rest)
    small = f"<small>{escape(words['text'])}{shared}</small>" if rest else ""
    return f'<li class="grade-{grade}"><span>{title}{small}</span>{f"<em>{escape(said)}</em>" if said else ""}</li>'


def _unseen(words: dict[str, Any], rank: int, title: str) -> str:
    """Return where the first answer is that the ranking does not show."""
    if not rank:
        return escape(words["beyond"])
    return f"<b>{rank}</b><span>{escape(title)}</span><em>{escape(words['answers'])}</em>"


def growth(edition: Edition) -> dict[str, list[tuple[int, float]]]:
    """Return what lesson 01 recorded of a growing corpus: (passages, mean) of each metric, smallest corpus first."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for key, value in notebook_figures(edition.lesson("01_evaluation")).items():
        part, _, rest = key.partition("/")
        if part == "growth":
            size, metric = rest.split("/")
            curves.setdefault(metric, []).append((int(size), float(value)))
    return curves


def _drawn(curves: dict[str, list[tuple[int, float]]], axis: str, edition: Edition) -> str:
    """Return the curves as a drawing in which each is named at its end, two of them strongly; scores from 0.5 to 1."""
    sizes = [size for size, _ in curves[METRIC]]
    x = {size: round(40 + 290 * (size - sizes[0]) / (sizes[-1] - sizes[0])) for size in sizes}

    def y(value: float) -> int:
        return round(10 + 340 * (1 - value))

    parts = [f'<path d="M40 {y(v)}H330"/><text x="0" y="{y(v) + 5}">{v:g}</text>' for v in (0.5, 0.75, 1)]
    parts += [f'<text x="{x[size]}" y="200" text-anchor="middle">{size}</text>' for size in (sizes[0], sizes[-1])]
    parts.append(f'<text x="185" y="200" text-anchor="middle">{escape(axis)}</text>')
    below = 0  # the last label, for the next one to be under it
    for metric, curve in sorted(curves.items(), key=lambda item: -item[1][-1][1]):
        points = [(x[size], y(value)) for size, value in curve]
        name = metric.replace("ndcg", "nDCG").replace("mrr", "MRR")
        below = max(points[-1][1] + 5, below + 15)
        dots = "".join(f'<circle cx="{at}" cy="{height}" r="3"/>' for at, height in points)
        lines = " ".join(f"{at},{height}" for at, height in points)
        first = f'<text x="44" y="{points[0][1] - 6}">{curve[0][1]:.2f}</text>' if metric == METRIC else ""
        parts.append(
            f'<g class="{STRONG.get(metric, "quiet")}"><polyline points="{lines}"/>'
            f'<text x="340" y="{below}">{name} {curve[-1][1]:.2f}</text>{dots}{first}</g>'
        )
    cell = next(cell for cell in edition.lesson("01_evaluation").cells if cell.id == "growth")
    alt = escape(MARKS.sub("", alt_text(cell)))
    return f'<svg class="drawn" role="img" aria-label="{alt}" viewBox="0 0 460 205">{"".join(parts)}</svg>'
