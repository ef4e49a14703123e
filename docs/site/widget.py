"""The widget "Try the metrics", and the page that scores a run.

The widget itself is JavaScript without a framework (_static/try/); its words are in try.yml.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from docs.site.pocket import ANSWERS, SYSTEMS, read_pocket
from docs.site.project import Edition, as_json, read_yaml

MARK = '<div class="try" '
SCORER = '<div class="try score"'
INTERVALS = "01_evaluation.html#how-far-to-trust-a-score"  # where the lessons explain the intervals of means
EXAMPLE = "BM25"  # the system whose recorded rankings the page that scores a run offers


def settings(root: Path) -> Any:
    """What docs/site/try.yml says of a checkout."""
    return read_yaml(root / "docs" / "site" / "try.yml")


def passages(edition: Edition) -> dict[str, Any]:
    """Return the rankings of real passages that the widget can begin with, and the titles of all it may show."""
    pocket, given = read_pocket(edition), settings(edition.root)["passages"]
    rankings: list[dict[str, Any]] = []
    shown: set[str] = set()
    for query in given["queries"]:
        retrieved = pocket.lists[query][given["system"][edition.language]]
        relevant = [passage for passage, grade in pocket.grades[query].items() if grade >= ANSWERS]
        rankings.append({"query": pocket.queries[query], "retrieved": retrieved, "relevant": relevant})
        shown.update(retrieved, relevant)
    return {"passages": rankings, "titles": {one: pocket.passages[one][0] for one in sorted(shown)}}


def widget(edition: Edition, _argument: str) -> str:
    """Return the widget as one line of HTML: its words and examples as JSON."""
    return _tool(edition, f'{MARK}id="try">', passages(edition))


def scorer(edition: Edition, _argument: str) -> str:
    """Return the tool that scores a run of the reader's own as one line of HTML, its words those of the widget."""
    return _tool(edition, f'{SCORER} data-example="_static/score/example.json" data-lesson="{INTERVALS}">', {})


def example(edition: Edition) -> dict[str, Any]:
    """Return two runs and judgements as TREC has them, the grade from which one answers, texts of the queries."""
    pocket = read_pocket(edition)
    runs: dict[str, list[str]] = {EXAMPLE: [], SYSTEMS[edition.language]["dense"]: []}
    qrels = []
    for query, lists in pocket.lists.items():
        for name, lines in runs.items():
            lines += [f"{query} Q0 {one} {rank} {1 / rank:.4f} {name}" for rank, one in enumerate(lists[name], 1)]
        shown, grades = {*chain(*(lists[name] for name in runs))}, pocket.grades[query].items()
        qrels += [f"{query} 0 {one} {grade}" for one, grade in grades if grade or one in shown]
    run, other = ("\n".join(lines) for lines in runs.values())
    return {"run": run, "other": other, "qrels": "\n".join(qrels), "level": ANSWERS, "texts": dict(pocket.queries)}


def _tool(edition: Edition, opening: str, more: dict[str, Any]) -> str:
    """Return an element with the words of try.yml, and more, as JSON."""
    words = dict(settings(edition.root)["words"][edition.language])
    scoring = words.pop("score")
    words |= scoring if opening.startswith(SCORER) else {}
    fallback = f"<noscript><p>{words['noscript']}</p></noscript>"
    return f"{opening}{as_json(words | more)}{fallback}</div>"
