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
    scores: dict[str, dict[str, dict[str, list[float]]]] = {}
    for language, model in MODELS.items():
        data = load_dataset(f"pocket-{language}")
        for name, ranking in rank_all(load_contenders("offline", model), data, 10, progress=False).items():
            system = name.rpartition(", ")[2]
            trained = system in SYSTEMS and not name.startswith(("static", "untrained"))
            for metric in ("ndcg@10", "mrr@10") if trained else ():
                found = evaluate(ranking.ids, data.qrels, metric, relevance_level=data.relevance_level)
                of = scores.setdefault(language, {}).setdefault(metric, {})
                of[system] = [round(float(score), 6) for score in found.per_query[metric]]
    return scores


def main() -> None:
    """Write the file."""
    FILE.write_text(json.dumps(recorded(), separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
