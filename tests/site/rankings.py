"""Rank the pocket collection for the home page: `python -m tests.site.rankings` writes docs/site/rankings.json.

For each query of both languages: the first five passages of a dense model and of BM25, and the reciprocal rank of each
at 10. A test ranks again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from helpers.data import load_dataset
from helpers.metrics import evaluate
from helpers.models import MULTILINGUAL, load_model
from helpers.systems import rank

TARGET = Path(__file__).parents[2] / "docs" / "site" / "rankings.json"
MODELS = {"en": None, "zh": MULTILINGUAL}
SHOWN, METRICS = 5, ("mrr@10", "ndcg@10")


def rankings(language: str) -> dict[str, Any]:
    """Return what the page shows of one language."""
    data = load_dataset(f"pocket-{language}")
    model = load_model(MODELS[language]) if MODELS[language] else load_model()
    result: dict[str, Any] = {"queries": {query: {} for query in data.query_ids}}
    for name, system in (("dense", model), ("BM25", "BM25")):
        _, ids = rank(system, data, 10)
        scores = evaluate(ids, data.qrels, METRICS, relevance_level=data.relevance_level)
        result[name] = {"ndcg@10": round(scores.mean["ndcg@10"], 3)}
        for query, row, value in zip(data.query_ids, ids, scores.per_query["mrr@10"], strict=True):
            first = [data.doc_ids[passage] for passage in row[:SHOWN] if passage >= 0]
            result["queries"][query][name] = [round(float(value), 2), *first]
    return result


def main() -> None:
    """Write the file."""
    texts = {language: rankings(language) for language in MODELS}
    lines = json.dumps(texts, ensure_ascii=False, separators=(",", ":")).replace('"q', '\n"q')
    TARGET.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
