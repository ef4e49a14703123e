"""Rank the pocket collection for the site: `python -m tests.site.rankings` writes what the site shows of it.

rankings.json: for each query of both languages the first ten passages of each system, and each system's mean nDCG@10;
where the first answer is further down, its rank, of a hundred, and its passage. And of each passage that answers a
query, the number of the sentence that the language's dense model finds nearest to the query. The question that the
page "Ask the corpus" suggests (ask.yml) is ranked too.
passages.en.bin, passages.zh.bin: that model's vectors of the passages in 8 bits, first the scale of each.
scores.json: by language, metric and system of lesson 3 the score of each query, for the pictures of lessons.
A test computes all of them again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from docs.site.dense import MODELS, PASSAGES, quantize
from docs.site.pocket import in_sentences
from docs.site.project import read_yaml
from helpers.data import RetrievalDataset, load_dataset
from helpers.embeddings import encode
from helpers.index.words import STOP_WORDS
from helpers.metrics import evaluate
from helpers.models import MULTILINGUAL, OFFLINE_DEFAULT, load_model
from helpers.systems import Fusion, Ranking, load_contenders, rank, rank_all

TARGET = Path(__file__).parents[2] / "docs" / "site" / "rankings.json"
SCORES = TARGET.with_name("_static") / "live" / "scores.json"
SHOWN, DEPTH = 10, 100
DENSE = {"en": "MiniLM", "zh": "multilingual"}
# In the page itself, Chinese is cut into each two neighbours: a dictionary of words would be megabytes.
WORDS = {"en": ["BM25"], "zh": ["BM25", "BM25:bigrams"]}


def rankings(language: str) -> dict[str, Any]:
    """Return the rankings of one language: the mean nDCG@10 of each system, and its passages for each query."""
    data = load_dataset(f"pocket-{language}")
    models = {"MiniLM": OFFLINE_DEFAULT, "multilingual": MULTILINGUAL}
    systems: dict[str, Any] = {name: load_model(model) for name, model in models.items()}
    systems |= {name: name for name in WORDS[language]}
    result: dict[str, Any] = {"ndcg@10": {}, "later": {}, "queries": {query: {} for query in data.query_ids}}
    for name, ranking in ranked(systems, data, DENSE[language]).items():
        scores = evaluate(ranking.ids, data.qrels, "ndcg@10", relevance_level=data.relevance_level)
        result["ndcg@10"][name] = round(scores.mean["ndcg@10"], 3)
        for query, row, grades in zip(data.query_ids, ranking.ids, data.qrels, strict=True):
            ids = [data.doc_ids[passage] for passage in row if passage >= 0]
            result["queries"][query][name] = " ".join(ids[:SHOWN])
            ranks = [rank for rank, passage in enumerate(row, 1) if grades.get(passage, 0) >= data.relevance_level]
            if ranks and ranks[0] > SHOWN:
                result["later"].setdefault(query, {})[name] = [ranks[0], ids[ranks[0] - 1]]
    suggested = read_yaml(TARGET.with_name("ask.yml"))[language]["suggested"]
    texts, answers = list(suggested), [{data.doc_ids.index(one): data.relevance_level} for one in suggested.values()]
    own = replace(data, queries=texts, query_ids=texts, qrels=answers)
    model = systems[DENSE[language]]
    result["sentences"] = sentences(model, data) | sentences(model, own)
    result["suggested"] = {text: {} for text in texts}
    for name, ranking in ranked(systems, own, DENSE[language]).items():
        for text, row in zip(texts, ranking.ids, strict=True):
            ids = [data.doc_ids[passage] for passage in row[:SHOWN] if passage >= 0]
            result["suggested"][text][name] = " ".join(ids)
    return result


def ranked(systems: dict[str, Any], data: RetrievalDataset, dense: str) -> dict[str, Ranking]:
    """Return the ranking of each system, and of the dense one fused with BM25."""
    lists = {name: rank(system, data, DEPTH) for name, system in systems.items()}
    return lists | {"fusion": Fusion([lists[dense], lists["BM25"]]).rank(data, DEPTH)}


def sentences(model: Any, data: RetrievalDataset) -> dict[str, dict[str, int]]:
    """Return the number of the sentence of each answer that is nearest to its query, by the ids of both."""
    answers = [
        (query, passage)
        for query, grades in enumerate(data.qrels)
        for passage, grade in sorted(grades.items())
        if grade >= data.relevance_level
    ]
    texts = [in_sentences(data.corpus[passage].partition("\n")[2]) for _, passage in answers]
    vectors = encode(model, [sentence for text in texts for sentence in text])
    queries = encode(model, data.queries, kind="query")
    nearest: dict[str, dict[str, int]] = {}
    for (query, passage), text in zip(answers, texts, strict=True):
        own, vectors = vectors[: len(text)], vectors[len(text) :]
        nearest.setdefault(data.query_ids[query], {})[data.doc_ids[passage]] = int(np.argmax(own @ queries[query]))
    return nearest


def scores(language: str) -> dict[str, dict[str, list[float]]]:
    """Return by metric and system of lesson 3 the score of each query."""
    data, found = load_dataset(f"pocket-{language}"), {}
    for name, ranking in rank_all(load_contenders("offline", MODELS[language]), data, 10, progress=False).items():
        system = name.rpartition(", ")[2]
        if system in ("mean", "cls", "max", "attention", "BM25") and not name.startswith(("static", "untrained")):
            for metric in ("ndcg@10", "mrr@10"):
                result = evaluate(ranking.ids, data.qrels, metric, relevance_level=data.relevance_level)
                values = [round(float(score), 6) for score in result.per_query[metric]]
                found.setdefault(metric, {})[system] = values
    return found


def main() -> None:
    """Write the files."""
    for language, model in MODELS.items():
        numbers, scales = quantize(encode(load_model(model), load_dataset(f"pocket-{language}").corpus))
        file = TARGET.with_name(PASSAGES.format(language))
        file.write_bytes(scales.astype("<f4").tobytes() + numbers.tobytes())
    texts = {language: rankings(language) for language in WORDS} | {"stop": sorted(STOP_WORDS)}
    lines = json.dumps(texts, ensure_ascii=False, separators=(",", ":")).replace('"q', '\n"q')
    TARGET.write_text(lines + "\n", encoding="utf-8")
    of_queries = {language: scores(language) for language in MODELS}
    SCORES.write_text(json.dumps(of_queries, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
