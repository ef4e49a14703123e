"""Scores of systems of lesson 03 for the pictures of lessons: `python -m tests.site.recorded` writes scores.json."""

from __future__ import annotations

import json

from helpers.data import load_dataset
from helpers.metrics import evaluate
from helpers.systems import load_contenders, rank_all
from notebooks.kit.notebooks import ROOT

FILE = ROOT / "docs" / "site" / "_static" / "live" / "scores.json"
SYSTEMS = {pooling: f"MiniLM, {pooling}" for pooling in ("mean", "cls", "max", "attention")} | {"BM25": "BM25"}


def recorded() -> dict[str, dict[str, list[float]]]:
    """Return by metric and system the score of each query of the pocket collection."""
    data = load_dataset("pocket-en")
    rankings = rank_all(load_contenders(), data, 10, progress=False)

    def scores(metric: str, name: str) -> list[float]:
        found = evaluate(rankings[name].ids, data.qrels, metric, relevance_level=data.relevance_level)
        return [round(float(score), 6) for score in found.per_query[metric]]

    return {metric: {name: scores(metric, of) for name, of in SYSTEMS.items()} for metric in ("ndcg@10", "mrr@10")}


def main() -> None:
    """Write the file."""
    FILE.write_text(json.dumps(recorded(), separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
