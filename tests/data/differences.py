"""Measure what each cause moves on the page "Why does my number differ?": `python -m tests.data.differences`.

Everything is measured on the bundled collection and model: one thing is changed, the rest stays. The command rewrites
docs/benchmarks/differences.json, which that page and "Make your own test set" quote; a test measures again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from helpers.data import RetrievalDataset, load_dataset
from helpers.embeddings import encode
from helpers.embeddings.encoding import padded_batches, tokenize
from helpers.index import build_index, search
from helpers.judgements import condense
from helpers.metrics import evaluate
from helpers.models import Pooling, load_model
from helpers.models.pooling import POOLINGS

os.environ.setdefault("HF_HUB_OFFLINE", "1")
TARGET = Path(__file__).parents[2] / "docs" / "benchmarks" / "differences.json"
COMMAND = "python -m tests.data.differences"
BGE = "Represent this sentence for searching relevant passages: "
SHORT = 32  # tokens
METRIC = "ndcg@10"
FORMULAS = [*(f"ndcg@{k}" for k in (1, 5, 10, 100)), "recall@1", "capped_recall@1", "success@1", "mrr@10", "map@10"]
Figures = dict[str, float]


@cache
def data() -> RetrievalDataset:
    """Load the collection."""
    return load_dataset("pocket-en")


@cache
def vectors() -> tuple[np.ndarray, np.ndarray]:
    """Encode passages (n, dim) and queries (q, dim) as they are to be."""
    model = load_model()
    passages = encode(model, data().corpus, progress=False)
    return passages, encode(model, data().queries, kind="query", progress=False)


@cache
def ranked(**options: Any) -> np.ndarray:
    """Rank the passages for each query by the bundled model, loaded with such options, (q, 100), the best first."""
    model = load_model(**options)
    passages = encode(model, data().corpus, progress=False)
    return found(passages, encode(model, data().queries, kind="query", progress=False))


@cache
def words() -> np.ndarray:
    """Rank the passages for each query by BM25, (q, 100); -1 where no further passage shares a word with it."""
    return search(build_index(data().corpus, "BM25"), data().queries, 100)[1]


def found(passages: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Rank passages by inner product, (q, 100)."""
    return search(build_index(passages), queries, 100)[1]


def values(ids: np.ndarray, metric: str = METRIC, level: int | None = None, **options: Any) -> np.ndarray:
    """Score the ranking of each query, (q,), by the collection's judgements and level unless others are given."""
    given = {"qrels": data().qrels, "relevance_level": level or data().relevance_level} | options
    return evaluate(ids, metrics=metric, **given).per_query[metric]


def score(*arguments: Any, **options: Any) -> float:
    """Take the mean of these values."""
    return float(values(*arguments, **options).mean())


def judgements() -> Figures:
    """Change what counts as relevant, and how much a grade gains."""
    best = [{max(judged, key=judged.__getitem__): 1} for judged in data().qrels]
    binary = [{p: int(g >= data().relevance_level) for p, g in judged.items()} for judged in data().qrels]
    return {
        **{f"mrr@10, relevant from grade {level}": score(ranked(), "mrr@10", level) for level in (1, 2, 3)},
        "one passage a query": score(ranked(), level=1, qrels=best),
        "yes or no": score(ranked(), level=1, qrels=binary),
        "exponential gain": score(ranked(), gain="exponential"),
    }


def texts() -> Figures:
    """Change what the model reads: the title, the instruction, the length."""
    bare = [text.partition("\n")[2] or text for text in data().corpus]
    model = load_model()
    return {
        "title left out": score(found(encode(model, bare, progress=False), vectors()[1])),
        "instruction of another model": score(ranked(query_instruction=BGE)),
        "tokens of a passage": float(np.mean([len(ids) for ids in tokenize(model, data().corpus)["input_ids"]])),
        f"first {SHORT} tokens": score(ranked(max_length=SHORT)),
    }


def network() -> Figures:
    """Change how a vector is made of the tokens', and in how many bits it is compared."""
    import torch

    passages, queries = (torch.from_numpy(side) for side in vectors())
    half = {}
    for kind in (torch.float16, torch.bfloat16):
        products = (queries.to(kind) @ passages.to(kind).T).float()
        half[kind] = torch.sort(products, descending=True, stable=True).indices[:, :100].numpy()
    model, lengths = load_model(backend="transformers"), np.empty(len(data().corpus), np.float32)  # before scaling
    with torch.inference_mode():
        for rows, padded in padded_batches(model, tokenize(model, data().corpus), 32):
            lengths[rows] = POOLINGS[Pooling.MEAN](model.token_vectors(padded)).norm(dim=1).numpy()
    return {
        "first token": score(ranked(pooling="cls")),
        "not normalised": score(found(vectors()[0] * lengths[:, None], vectors()[1])),
        "shortest vector": float(lengths.min()),
        "longest vector": float(lengths.max()),
        "16-bit floats": score(half[torch.float16]),
        "bfloat16": score(half[torch.bfloat16]),
        "queries with another top 10 in bfloat16": int((half[torch.bfloat16][:, :10] != ranked()[:, :10]).any(1).sum()),
    }


def pool() -> Figures:
    """Keep the judgements of the passages that one system has among its ten best, as if it alone had been pooled."""
    tops = [set(row[:10]) for row in words().tolist()]
    few = [{p: g for p, g in own.items() if p in top} for own, top in zip(data().qrels, tops, strict=True)]
    return {
        "judged@10": score(ranked(), "judged@10"),
        "pool of BM25, judged@10": score(ranked(), "judged@10", qrels=few),
        "pool of BM25": score(ranked(), qrels=few),
        "pool of BM25, unjudged left out": score(condense(ranked(), few), qrels=few),
        "BM25": score(words()),
        "pool of BM25, BM25": score(words(), qrels=few),
    }


def spread() -> Figures:
    """Take the standard deviation, over queries, of how far the bundled model's nDCG@10 lies from another system's."""
    instructed, first_token = ranked(query_instruction=BGE), ranked(pooling="cls")
    others = {"the same with an instruction": instructed, "first token": first_token, "BM25": words()}
    return {name: float((values(ranked()) - values(ids)).std(ddof=1)) for name, ids in others.items()}


def ranking() -> Figures:
    """Change who comes first at equal scores, whether a query may find itself, and what is searched."""
    good = [data().relevant(row) for row in range(len(data().queries))]
    rest = [[passage for passage in range(len(data().corpus)) if passage not in set(rows)] for rows in good]
    pairs = list(zip(good, rest, strict=True))  # what comes first where all have one score: in whatever order it came
    answers = data().subset(data().relevant_rows())
    part = found(vectors()[0][data().relevant_rows()], vectors()[1])
    passages, queries = vectors()
    own = len(passages) + np.arange(len(queries))  # the queries stand in the corpus, as in ArguAna
    among = found(np.concatenate([passages, queries]), queries)
    without = np.array([[i for i in row if i != self][:99] for row, self in zip(among.tolist(), own, strict=True)])
    return {
        "mrr@10 of one score for all, relevant first": score(np.array([a + b for a, b in pairs]), "mrr@10"),
        "mrr@10 of one score for all, relevant last": score(np.array([b + a for a, b in pairs]), "mrr@10"),
        "queries in the corpus": score(among),
        "queries in the corpus, own one left out": score(without),
        "answers only": score(part, qrels=answers.qrels),
        "passages of answers only": len(answers.corpus),
    }


def formula() -> Figures:
    """Change the cutoff, the divisor and the queries over which the mean runs."""
    hit, recall = values(words(), "success@10") > 0, values(words(), "recall@10")
    return {
        **{metric: score(ranked(), metric) for metric in FORMULAS},
        "BM25 recall@10, all queries": float(recall.mean()),
        "BM25 recall@10, queries with a hit": float(recall[hit].mean()),
        "BM25 queries without a hit": int((~hit).sum()),
    }


GROUPS: Sequence[Callable[[], Figures]] = (judgements, pool, texts, network, ranking, formula, spread)


def measure() -> dict[str, object]:
    """Measure everything, as the file holds it."""
    figures = {group.__name__: {name: round(value, 4) for name, value in group().items()} for group in GROUPS}
    size = {"queries": len(data().queries), "passages": len(data().corpus)}
    return {"command": COMMAND, "collection": data().name, "sha256": data().sha256, **size, **figures}


if __name__ == "__main__":
    TARGET.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
