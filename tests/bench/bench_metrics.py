"""Speed of helpers.metrics beside pytrec_eval and ranx.

Everyone starts from what FAISS returns, scores and ids of shape (queries, depth), and computes recall, precision, MRR,
MAP and nDCG at four cutoffs; converting the arrays to the form a peer wants is part of its time. Judgements are
prepared once in each peer's own form, outside the clock. All run in turn in one process, warm, several rounds; the
median counts.
"""

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

os.environ.setdefault("HF_HUB_OFFLINE", "1")
PACKAGES = ("numpy", "pytrec_eval-terrier", "ranx", "numba")
METRICS = ("recall", "precision", "mrr", "map", "ndcg")
SIZES = [(100, 10), (6980, 10), (6980, 1000), (100_000, 10)]  # queries, passages in each ranking
KINDS = ("binary", "graded")
ROUNDS = 3


class Search(NamedTuple):
    """One search result and its judgements."""

    ids: np.ndarray
    scores: np.ndarray
    qrels: list[dict[int, int]]
    cutoffs: list[int]


def make_search(queries: int, depth: int, kind: str) -> Search:
    """A synthetic search: distinct ids per row, one relevant passage a query, or ten graded 0-3."""
    rng = np.random.default_rng([queries, depth])
    start = rng.integers(0, 8_000_000, (queries, 1))
    ids = start + np.argsort(rng.random((queries, 2 * depth)), axis=1)[:, :depth] * 7
    scores = -np.sort(-rng.random((queries, depth), dtype=np.float32), axis=1)
    n_judged = 1 if kind == "binary" else 10
    near = start + np.argsort(rng.random((queries, 2 * depth)), axis=1)[:, :n_judged] * 7
    grades = np.ones_like(near) if kind == "binary" else rng.integers(0, 4, near.shape)
    grades[:, 0] = np.maximum(1, grades[:, 0])
    qrels = [dict(zip(docs, g, strict=True)) for docs, g in zip(near.tolist(), grades.tolist(), strict=True)]
    return Search(ids, scores, qrels, [1, 3, 5, 10] if depth == 10 else [1, 5, 10, 100])


def ours(search: Search, *, prepared: bool = True) -> Callable[[], float]:
    """helpers.metrics on arrays, with judgements that are prepared once, or read from the list of dicts each time."""
    from helpers.metrics import Judgements, evaluate

    judgements = Judgements.of(search.qrels) if prepared else search.qrels
    return lambda: evaluate(search.ids, judgements, METRICS, search.cutoffs).mean["recall@10"]


def pytrec_eval(search: Search) -> Callable[[], float]:
    """pytrec_eval-terrier; reciprocal rank once, since it has no cutoff there."""
    from pytrec_eval import RelevanceEvaluator

    at = ",".join(map(str, search.cutoffs))
    wanted = {f"{name}.{at}" for name in ("recall", "P", "map_cut", "ndcg_cut")} | {"recip_rank"}
    qrels = {f"q{row}": {str(doc): grade for doc, grade in docs.items()} for row, docs in enumerate(search.qrels)}
    evaluator = RelevanceEvaluator(qrels, wanted)

    def call() -> float:
        rows = enumerate(zip(search.ids.tolist(), search.scores.tolist(), strict=True))
        run = {f"q{row}": dict(zip(map(str, docs), values, strict=True)) for row, (docs, values) in rows}
        values = evaluator.evaluate(run).values()
        return {name: statistics.fmean(v[name] for v in values) for name in next(iter(values))}["recall_10"]

    return call


def ranx(search: Search) -> Callable[[], float]:
    """The array path of ranx, (queries, depth, 2) arrays of id and score, with one thread or all: what is faster."""
    from numba import config, set_num_threads
    from ranx import evaluate

    qrels = np.zeros((len(search.qrels), max(map(len, search.qrels)), 2))
    qrels[:, :, 0] = -1
    for row, docs in enumerate(search.qrels):
        qrels[row, : len(docs)] = sorted(docs.items(), key=lambda item: -item[1])
    names = [f"{name}@{k}" for name in METRICS for k in search.cutoffs]

    def call(threads: int) -> float:
        run = np.stack([search.ids, search.scores], axis=2)
        set_num_threads(threads)
        return float(evaluate(qrels, run, names, save_results_in_run=False)["recall@10"])

    def seconds(threads: int) -> float:
        call(threads)
        began = time.perf_counter()
        call(threads)
        return time.perf_counter() - began

    threads = min((1, config.NUMBA_NUM_THREADS), key=seconds)
    return lambda: call(threads)


PEERS = {
    "helpers.metrics": ours,
    "helpers.metrics, dicts read each time": partial(ours, prepared=False),
    "ranx, arrays": ranx,
    "pytrec_eval": pytrec_eval,
}


def measure(queries: int, depth: int, kind: str, rounds: int = ROUNDS) -> dict[str, float]:
    """Median milliseconds of each peer, all run in turn in every round."""
    search = make_search(queries, depth, kind)
    calls = {name: prepare(search) for name, prepare in PEERS.items()}
    repeats, times = {}, {name: [] for name in calls}
    for name, call in calls.items():  # warm up, and see that all compute the same
        began = time.perf_counter()
        value = call()
        repeats[name] = int(np.clip(0.3 / (time.perf_counter() - began), 1, 25))
        if abs(value - calls["helpers.metrics"]()) > 1e-5:
            raise RuntimeError(f"{name} says recall@10 is {value}: it does not compute what is measured.")
    for _ in range(rounds):
        for name, call in calls.items():
            for _ in range(repeats[name]):
                began = time.perf_counter()
                call()
                times[name].append((time.perf_counter() - began) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def report() -> dict[str, Any]:
    """Measure every size and kind of judgements."""
    results = {}
    for (queries, depth), kind in ((size, kind) for size in SIZES for kind in KINDS):
        medians = measure(queries, depth, kind)
        results[f"{queries}x{depth} {kind}"] = {
            name: {"ms": round(ms, 3), "times ours": round(ms / medians["helpers.metrics"], 1)}
            for name, ms in medians.items()
        }
    return {
        "metrics": "recall, precision, MRR, MAP and nDCG at 1, 3, 5, 10 (depth 10) or 1, 5, 10, 100 (depth 1000)",
        "results": results,
    }
