"""Does the search of the built site find the section that answers?

tests/site/questions.tsv has questions that were written down before anyone looked at the index, with the sections that
answer them (the run and its qrels). Nothing may be tuned on them: `review` are those of a visitor, whose misses have
since been mended in docs/site/search.yml, `new` those that nobody has mended.
"""

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers.metrics import evaluate
from helpers.significance import bootstrap_interval, proportion_interval
from notebooks.kit.notebooks import LANGUAGES
from tests.built_site import built, node_in

QUESTIONS = Path(__file__).parents[1] / "site" / "questions.tsv"
DEPTH = 10
PACKAGES, ROUNDS = ("numpy",), 1
SEARCH = """globalThis.document = {};
const { indexed } = await import("./search/results.js"), { index, asked } = JSON.parse(text);
const { search } = await indexed(index);
const urls = (question) => search(question).map(({ section }) => section.url.replace(".html", ""));
const scored = asked.map((question) => urls(question).slice(0, 10));"""


def measure(folder: Path, node: Callable[[str, object], Any]) -> list[dict[str, Any]]:
    """Return each question with the sections that answer it, those found, and its success@3 and nDCG@10."""
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file, delimiter="\t"))
    for language in LANGUAGES:
        index = json.loads((folder / language / "_static" / "search" / "index.json").read_text(encoding="utf-8"))
        pages = [page["url"].removesuffix(".html") for page in index["pages"]]
        known = [pages[at] + (anchor and f"#{anchor}") for at, anchor, *_ in index["sections"]]
        asked = [row for row in rows if row["language"] == language]
        found = node(SEARCH, {"index": index, "asked": [row["question"] for row in asked]})
        ids = np.array([[*map(known.index, urls), *[-1] * (DEPTH - len(urls))] for urls in found])
        qrels = [dict.fromkeys(map(known.index, row["sections"].split()), 1) for row in asked]
        scores = evaluate(ids, qrels, ["success@3", "ndcg@10"]).per_query
        for at, row in enumerate(asked):
            row |= {"found": found[at], **{metric: float(values[at]) for metric, values in scores.items()}}
    return rows


def table(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the means with their intervals, of each source and language, and of the sources as a whole."""
    cells: dict[str, dict[str, float]] = {}
    for source in ("review", "new"):
        for language in (*LANGUAGES, "all"):
            kept = [row for row in rows if row["source"] == source and language in (row["language"], "all")]
            hits, gains = ([row[metric] for row in kept] for metric in ("success@3", "ndcg@10"))
            cell: dict[str, float] = {"questions": len(kept)}
            for name, found in (("success@3", proportion_interval(hits)), ("ndcg@10", bootstrap_interval(gains))):
                cell |= {name: found.mean, f"{name} low": found.low, f"{name} high": found.high}
            cells[f"{source}, {language}"] = {key: round(value, 4) for key, value in cell.items()}
    return cells


def report() -> dict[str, Any]:
    """Measure, and name the questions that were missed."""
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(built(), node_in(Path(folder)))
    return {"table": table(rows), "missed": [row["question"] for row in rows if not row["success@3"]]}
