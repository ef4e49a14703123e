"""What the pictures of lessons compute with (_static/live/): recorded rankings as scores and as ranks.

A Chinese picture is of Chinese passages where its lesson is; else their titles alone are Chinese.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from docs.site.dense import MODELS
from docs.site.pocket import read_pocket
from docs.site.project import Edition
from helpers.data import RetrievalDataset, load_dataset
from helpers.metrics import evaluate
from helpers.systems import Fusion, Ranking
from notebooks.kit.listed import editions

SHOWN, DEEP = 10, 100  # ranks that a picture shows, and that lesson 07 fuses
CONSTANTS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 100)  # the values of RRF's k that a reader can choose
MATTERS = 0.2  # nDCG@10: a query is shown if the least and the greatest of them are further apart


@cache
def recorded(system: str, language: str = "en") -> Ranking:
    """Return a recorded ranking of the pocket collection: "BM25", "TF-IDF", or a pooling of the lessons' model."""
    name = system if system in ("BM25", "TF-IDF") else f"{MODELS[language]}/{system}"
    with np.load(Path(__file__).with_name("rankings.npz")) as arrays:
        scores, ids = (arrays[f"{pocket(language).sha256}/{name}/{kind}"] for kind in ("scores", "ids"))
    return Ranking(scores, ids.astype(np.int64))


@cache
def pocket(language: str = "en") -> RetrievalDataset:
    """Return the collection that the lessons rank in a language."""
    return load_dataset(f"pocket-{language}")


def scores(edition: Edition) -> dict[str, dict[str, list[float]]]:
    """Return by metric and system the score of each query, as lessons 01 and 03 have them."""
    data, found = (
        pocket(edition.language),
        {"ndcg@10": ("mean",), "mrr@10": ("mean", "attention", "cls", "max", "BM25", "TF-IDF")},
    )

    def values(metric: str, system: str) -> list[float]:
        ids = recorded(system, edition.language).ids
        each = evaluate(ids, data.qrels, metric, relevance_level=data.relevance_level).per_query[metric]
        return [round(float(value), 6) for value in each]

    return {metric: {system: values(metric, system) for system in systems} for metric, systems in found.items()}


def ranks(edition: Edition) -> dict[str, Any]:
    """Return for each query the passages that a fusion of the model and BM25 can put among its first ten.

    A passage is its row, its ranks in both lists (0: not among the first hundred) and its grade. `ideal` has the grades
    of all passages of the query. Only the queries at which the constant matters are shown: these have their text and
    the titles of their passages, in the language of the edition.
    """
    language = edition.language if edition.language in editions(edition.root, "07_stages") else "en"
    data, shown = pocket(language), read_pocket(edition)
    both = [recorded(system, language) for system in ("mean", "BM25")]
    candidates: list[set[int]] = [set() for _ in data.queries]
    scores: dict[int, np.ndarray] = {}  # of the deeper lists, which come last
    for row, found in enumerate(candidates):
        found.update(*(ranking.ids[row, :SHOWN].tolist() for ranking in both))
    for depth in (SHOWN, DEEP):
        parts = [Ranking(one.scores[:, :depth], one.ids[:, :depth]) for one in both]
        for constant in CONSTANTS:
            fused = Fusion(parts, depth=depth, rrf_k=constant).rank(data, SHOWN)
            for found, ids in zip(candidates, fused.ids, strict=True):
                found.update(ids.tolist())
            of = evaluate(fused.ids, data.qrels, "ndcg@10", relevance_level=data.relevance_level)
            scores[constant] = of.per_query["ndcg@10"]
    asked = np.flatnonzero(abs(scores[CONSTANTS[0]] - scores[CONSTANTS[-1]]) > MATTERS).tolist()
    queries = _with_ranks([one.ids for one in both], candidates)
    for row in asked:
        queries[row]["text"] = shown.queries[data.query_ids[row]]
    ranked = sorted(set.union(*(candidates[row] for row in asked)) - {-1})
    titles = {one: shown.passages[data.corpus_ids[one]][0] for one in ranked}
    return {"constants": CONSTANTS, "level": data.relevance_level, "queries": queries, "titles": titles}


def _with_ranks(lists: list[np.ndarray], chosen: list[set[int]]) -> list[dict[str, Any]]:
    """Return of each query the chosen passages: row, rank in each list (0: not in it), grade; and the ideal grades."""
    places = [[{int(one): rank for rank, one in enumerate(row, 1)} for row in ids] for ids in lists]
    return [
        {
            "passages": [
                [one, *(of[row].get(one, 0) for of in places), grades.get(one, 0)] for one in sorted(found - {-1})
            ],
            "ideal": sorted((grade for grade in grades.values() if grade > 0), reverse=True),
        }
        for row, (found, grades) in enumerate(zip(chosen, pocket().qrels, strict=True))
    ]


FILES: dict[str, Callable[[Edition], Any]] = {  # what the pictures fetch
    f"live/{collect.__name__}.json": collect for collect in (scores, ranks)
}
