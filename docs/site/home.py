"""The first screen of the home page, with recorded rankings of two systems side by side.

The words are in home.yml, the rankings in rankings.json (tests/site/rankings.py makes and checks them). The first query
is part of the page; the others are fetched when the reader asks for another one.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docs.site.pocket import ANSWERS, read_pocket
from docs.site.project import MARKS, Edition, as_json, read_yaml
from notebooks.kit.cells import alt_text
from notebooks.kit.figures import notebook_figures
from notebooks.kit.notebooks import lesson_names

MARK = '<div class="home"'
SYSTEMS = {"en": {"dense": "MiniLM", "BM25": "BM25"}, "zh": {"dense": "multilingual", "BM25": "BM25"}}
SHOWN = 5
METRIC = "ndcg@10"  # the one that the sentence beside the figure names


def rankings(edition: Edition) -> dict[str, Any]:
    """Return the rankings of a language as the page shows them: texts of queries, titles and grades of passages.

    ``queries`` are [id, text, {system: [rank of the first answer, 0 for none, [passage, grade], …]}], ``titles`` those
    of the passages.
    """
    pocket = read_pocket(edition)
    queries: list[list[Any]] = []
    used: set[str] = set()
    for query, lists in pocket.lists.items():
        shown: dict[str, list[Any]] = {}
        for label, system in SYSTEMS[edition.language].items():
            graded = [(passage, pocket.grades[query].get(passage, 0)) for passage in lists[system]]
            ranks = [rank for rank, (_, grade) in enumerate(graded, 1) if grade >= ANSWERS]
            shown[label] = [ranks[0] if ranks else 0, *map(list, graded[:SHOWN])]
            used.update(passage for passage, _ in graded[:SHOWN])
        queries.append([query, pocket.queries[query], shown])
    means = {label: pocket.means[system] for label, system in SYSTEMS[edition.language].items()}
    return {"queries": queries, "titles": {one: pocket.passages[one][0] for one in sorted(used)}, "means": means}


def home(edition: Edition, _argument: str) -> str:
    """Return the first screen as one line of HTML."""
    said = read_yaml(edition.root / "docs" / "site" / "home.yml")
    words, data = said[edition.language], rankings(edition)
    curves = growth(edition)
    fill = {
        "lessons": len(lesson_names(edition.root)), "queries": len(data["queries"]),
        "passages": len(read_pocket(edition).passages),
        "highest": f"{curves[METRIC][0][1]:.2f}", "lowest": f"{curves[METRIC][-1][1]:.2f}", **data["means"],
    }  # fmt: skip

    def text(key: str) -> str:
        return escape(words[key].format(**fill))

    facts = "".join(f"<li><b>{escape(a.format(**fill))}</b>{escape(b.format(**fill))}</li>" for a, b in words["facts"])
    doors = "".join(
        f'<a href="{page}.html"><b>{escape(title)}</b><span>{escape(about)}</span></a>'
        for page, (title, about) in words["paths"].items()
    )
    chosen = next(row for row in data["queries"] if row[0] == said["first"][edition.language])
    labels = {key: words[key] for key in ("answers", "related", "answered", "missed", "systems")}
    return (
        f'{MARK}><p class="home-go">'
        f'<a href="01_evaluation.html">{text("start")}</a> <a href="own_model.html">{text("own")}</a></p>'
        f'<div class="home-demo" data-rankings="_static/home/rankings.json">'
        f"{as_json(labels)}"
        f'<p class="home-ask"><span>{text("demo")}</span> <button type="button" hidden>{text("another")}</button></p>'
        f'<p class="home-query" aria-live="polite">{escape(chosen[1])}</p>'
        f'<div class="home-lists">{_lists(chosen, data["titles"], words)}</div>'
        f'<p class="home-note">{text("note")} <a href="03_model_comparison.html">{text("more")}</a></p>'
        f'<p class="home-mine"><a href="ask.html">{text("mine")}</a></p></div>'
        f'<div class="home-doors"><p class="home-title">{text("doors")}</p><div class="home-paths">{doors}</div></div>'
        f'<ul class="home-facts">{facts}</ul>'
        f'<div class="home-figure"><div><p class="home-title">{text("corpus")}</p><p>{text("growth")}</p>'
        f"</div>{_drawn(curves, words['axis'], edition)}</div></div>"
    )


def _lists(chosen: list[Any], titles: dict[str, str], words: dict[str, Any]) -> str:
    """Return the rankings of one query, as _static/home/main.js draws those of the others."""
    grades = {1: words["related"], ANSWERS: words["answers"]}
    parts = []
    for system in SYSTEMS["en"]:
        rank, *passages = chosen[2][system]
        items = "".join(
            f'<li class="grade-{grade}"><span>{escape(titles[one])}</span>'
            f"{f'<em>{escape(grades[min(grade, ANSWERS)])}</em>' if grade else ''}</li>"
            for one, grade in passages
        )
        outcome = escape(words["answered"].format(rank=rank) if rank else words["missed"])
        kind, name = "hit" if rank else "miss", escape(words["systems"][system])
        parts.append(
            f'<div><p><b>{name}</b><span class="{kind}">{outcome}</span></p><ol class="to-{rank}">{items}</ol></div>'
        )
    return "".join(parts)


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
    """Return the curves as a drawing in which each is named at its end, one of them in colour; scores from 0.5 to 1."""
    sizes = [size for size, _ in curves[METRIC]]
    x = {size: round(40 + 290 * (size - sizes[0]) / (sizes[-1] - sizes[0])) for size in sizes}

    def y(value: float) -> int:
        return round(10 + 440 * (1 - value))

    parts = [f'<path d="M40 {y(v)}H330"/><text x="0" y="{y(v) + 5}">{v:g}</text>' for v in (0.5, 0.75, 1)]
    parts += [f'<text x="{x[size]}" y="258" text-anchor="middle">{size}</text>' for size in (sizes[0], sizes[-1])]
    parts.append(f'<text x="185" y="258" text-anchor="middle">{escape(axis)}</text>')
    for metric, curve in sorted(curves.items(), key=lambda item: item[0] == METRIC):
        points = " ".join(f"{x[size]},{y(value)}" for size, value in curve)
        name = metric.replace("ndcg", "nDCG").replace("mrr", "MRR")
        label = f'<text x="340" y="{y(curve[-1][1]) + 5}">{name} {curve[-1][1]:.2f}</text>'
        parts.append(f'<g class="{"told" if metric == METRIC else "quiet"}"><polyline points="{points}"/>{label}</g>')
    cell = next(cell for cell in edition.lesson("01_evaluation").cells if cell.id == "growth")
    alt = escape(MARKS.sub("", alt_text(cell)))
    return f'<svg class="drawn" role="img" aria-label="{alt}" viewBox="0 0 460 268">{"".join(parts)}</svg>'
