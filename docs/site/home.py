"""The first screen of the home page, with recorded rankings of two systems side by side.

The words are in home.yml, the rankings in rankings.json (tests/site/rankings.py makes and checks them). The first query
is part of the page; the others are fetched when the reader asks for another one.
"""

from __future__ import annotations

from html import escape
from typing import Any

from docs.site.figures import SVG, inline
from docs.site.pocket import ANSWERS, read_pocket
from docs.site.project import MARKS, Edition, as_json, read_yaml
from notebooks.kit.cells import alt_text
from notebooks.kit.figures import notebook_figures
from notebooks.kit.notebooks import lesson_names

MARK = '<div class="home"'
SYSTEMS = {"en": {"dense": "MiniLM", "BM25": "BM25"}, "zh": {"dense": "multilingual", "BM25": "BM25"}}
SHOWN = 5


def rankings(edition: Edition) -> dict[str, Any]:
    """Return the rankings of a language as the page shows them: texts of queries, titles and grades of passages.

    ``queries`` are [id, text, {system: [reciprocal rank, [passage, grade], …]}], ``titles`` those of the passages.
    """
    pocket = read_pocket(edition)
    queries: list[list[Any]] = []
    used: set[str] = set()
    for query, lists in pocket.lists.items():
        shown: dict[str, list[Any]] = {}
        for label, system in SYSTEMS[edition.language].items():
            graded = [(passage, pocket.grades[query].get(passage, 0)) for passage in lists[system]]
            ranks = [rank for rank, (_, grade) in enumerate(graded, 1) if grade >= ANSWERS]
            shown[label] = [round(1 / ranks[0], 2) if ranks else 0.0, *map(list, graded[:SHOWN])]
            used.update(passage for passage, _ in graded[:SHOWN])
        queries.append([query, pocket.queries[query], shown])
    means = {label: pocket.means[system] for label, system in SYSTEMS[edition.language].items()}
    return {"queries": queries, "titles": {one: pocket.passages[one][0] for one in sorted(used)}, "means": means}


def home(edition: Edition, _argument: str) -> str:
    """Return the first screen as one line of HTML."""
    said = read_yaml(edition.root / "docs" / "site" / "home.yml")
    words, data = said[edition.language], rankings(edition)
    lesson = edition.lesson("01_evaluation")
    figures = {key: value for key, value in notebook_figures(lesson).items() if key.startswith("growth/")}
    curve = [value for key, value in figures.items() if key.endswith("/ndcg@10")]
    fill = {
        "lessons": len(lesson_names(edition.root)), "queries": len(data["queries"]),
        "passages": len(read_pocket(edition).passages),
        "highest": f"{float(curve[0]):.2f}", "lowest": f"{float(curve[-1]):.2f}", **data["means"],
    }  # fmt: skip

    def text(key: str) -> str:
        return escape(words[key].format(**fill))

    facts = "".join(f"<li><b>{escape(str(n).format(**fill))}</b> {escape(of)}</li>" for n, of in words["facts"].items())
    doors = "".join(
        f'<a href="{page}.html"><b>{escape(title)}</b><span>{escape(about)}</span></a>'
        for page, (title, about) in words["paths"].items()
    )
    chosen = next(row for row in data["queries"] if row[0] == said["first"][edition.language])
    labels = {key: words[key] for key in ("answers", "related", "missed", "systems")}
    return (
        f'{MARK}><div class="home-top"><div><p class="home-sub">{text("sub")}</p><p class="home-go">'
        f'<a href="01_evaluation.html">{text("start")}</a> <a href="own_model.html">{text("own")}</a></p>'
        f'<ul class="home-facts">{facts}</ul></div>'
        f'<div class="home-demo" data-rankings="_static/home/rankings.json">'
        f"{as_json(labels)}"
        f'<p class="home-query" aria-live="polite">{escape(chosen[1])}</p>'
        f'<p><button type="button" hidden>{text("another")}</button> <a href="ask.html">{text("mine")}</a></p>'
        f'<div class="home-lists">{_lists(chosen, data["titles"], words)}</div>'
        f'<p class="home-note">{text("note")} <a href="03_model_comparison.html">{text("more")}</a></p></div></div>'
        f'<p class="home-doors">{text("doors")}</p><div class="home-paths">{doors}</div>'
        f'<div class="home-figure"><div><p class="home-doors">{text("corpus")}</p><p>{text("growth")} '
        f'<a href="01_evaluation.html">{text("why")}</a></p></div>{_growth(edition)}</div></div>'
    )


def _lists(chosen: list[Any], titles: dict[str, str], words: dict[str, Any]) -> str:
    """Return the rankings of one query, as _static/home/main.js draws those of the others."""
    grades = {1: words["related"], ANSWERS: words["answers"]}
    parts = []
    for system in SYSTEMS["en"]:
        reciprocal, *passages = chosen[2][system]
        items = "".join(
            f'<li class="grade-{grade}"><span>{escape(titles[one])}</span>'
            f"{f'<em>{escape(grades[min(grade, ANSWERS)])}</em>' if grade else ''}</li>"
            for one, grade in passages
        )
        missed = "" if any(grade >= ANSWERS for _, grade in passages) else f"<p>{escape(words['missed'])}</p>"
        name = escape(words["systems"][system])
        parts.append(f"<div><p><b>{name}</b> <b>RR {reciprocal:.2f}</b></p><ol>{items}</ol>{missed}</div>")
    return "".join(parts)


def _growth(edition: Edition) -> str:
    """Return the figure of lesson 01 in which a growing corpus lowers the score."""
    cell = next(cell for cell in edition.lesson("01_evaluation").cells if cell.id == "growth")
    svg = next(output.data[SVG] for output in cell.outputs if SVG in output.get("data", {}))
    return inline(svg, MARKS.sub("", alt_text(cell)), "growth", edition.label)
