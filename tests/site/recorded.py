"""Scores of systems of lesson 03 for the pictures of lessons: `python -m tests.site.recorded` writes scores.json."""

from __future__ import annotations

import json

from helpers.data import load_dataset
from helpers.metrics import evaluate
from helpers.models import MULTILINGUAL, OFFLINE_DEFAULT
from helpers.systems import load_contenders, rank_all
from notebooks.kit.notebooks import ROOT

FILE = ROOT / "docs" / "site" / "_static" / "live" / "scores.json"
SYSTEMS = ("mean", "cls", "max", "attention", "BM25")
MODELS = {"en": OFFLINE_DEFAULT, "zh": MULTILINGUAL}


def recorded() -> dict[str, dict[str, dict[str, list[float]]]]:
    """Return by language, metric and system the score of each query of the pocket collection."""
    return {language: of_language(language) for language in MODELS}


def of_language(language: str) -> dict[str, dict[str, list[float]]]:
    """Return the scores in a language."""
    data = load_dataset(f"pocket-{language}")
    found = rank_all(load_contenders("offline", MODELS[language]), data, 10, progress=False)
    rankings = {
        name.rpartition(", ")[2]: ranking
        for name, ranking in found.items()
        if not name.startswith(("static", "untrained"))
    }

    def scores(metric: str, name: str) -> list[float]:
        found = evaluate(rankings[name].ids, data.qrels, metric, relevance_level=data.relevance_level)
        return [round(float(score), 6) for score in found.per_query[metric]]

    return {metric: {name: scores(metric, name) for name in SYSTEMS} for metric in ("ndcg@10", "mrr@10")}


def main() -> None:
    """Write the file."""
    FILE.write_text(json.dumps(recorded(), separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
