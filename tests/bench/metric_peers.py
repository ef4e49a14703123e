"""The libraries that bench_metrics compares, each as one function: prepare the judgements, return the timed call."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LOOPS_LIMIT = 200  # queries the taught loops are run on; beyond, their time is scaled up and marked


class Search(NamedTuple):
    """One search result and its judgements."""

    ids: np.ndarray
    scores: np.ndarray
    qrels: list[dict[int, int]]
    cutoffs: list[int]


Peer = Callable[[Search], Callable[[], float]]  # prepares the judgements, returns the timed call; gives recall@10


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


def text_run(search: Search, columns: int | None = None) -> dict[str, dict[str, float]]:
    """The arrays as the dict that most peers take."""
    ids, scores = search.ids[:, :columns].tolist(), search.scores[:, :columns].tolist()
    return {
        f"q{row}": dict(zip(map(str, docs), values, strict=True))
        for row, (docs, values) in enumerate(zip(ids, scores, strict=True))
    }


def text_qrels(search: Search) -> dict[str, dict[str, int]]:
    """The judgements as the dict that most peers take."""
    return {f"q{row}": {str(doc): grade for doc, grade in docs.items()} for row, docs in enumerate(search.qrels)}


def ours(search: Search) -> Callable[[], float]:
    """helpers.metrics on arrays."""
    from helpers.metrics import Judgements, evaluate

    judgements = Judgements.of(search.qrels)
    names = ["recall", "precision", "mrr", "map", "ndcg"]
    return lambda: evaluate(search.ids, judgements, names, search.cutoffs).mean["recall@10"]


def ours_from_dicts(search: Search) -> Callable[[], float]:
    """helpers.metrics, reading the list of dicts each time."""
    from helpers.metrics import evaluate

    names = ["recall", "precision", "mrr", "map", "ndcg"]
    return lambda: evaluate(search.ids, search.qrels, names, search.cutoffs).mean["recall@10"]


def pytrec(search: Search, columns: int | None = None) -> Callable[[], float]:
    """pytrec_eval-terrier; reciprocal rank once, since it has no cutoff there."""
    import pytrec_eval

    at = ",".join(map(str, search.cutoffs))
    wanted = {f"{name}.{at}" for name in ("recall", "P", "map_cut", "ndcg_cut")} | {"recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator(text_qrels(search), wanted)

    def call() -> float:
        values = evaluator.evaluate(text_run(search, columns)).values()
        return {name: statistics.fmean(v[name] for v in values) for name in next(iter(values))}["recall_10"]

    return call


def ranx(search: Search, columns: int | None = None) -> Callable[[], float]:
    """The array path of ranx, (queries, depth, 2) arrays of id and score, with one thread or all: what is faster."""
    from numba import config, set_num_threads
    from ranx import evaluate

    width = max(map(len, search.qrels))
    qrels = np.zeros((len(search.qrels), width, 2))
    qrels[:, :, 0] = -1
    for row, docs in enumerate(search.qrels):
        qrels[row, : len(docs)] = sorted(docs.items(), key=lambda item: -item[1])
    names = [f"{name}@{k}" for name in ("recall", "precision", "mrr", "map", "ndcg") for k in search.cutoffs]

    def call(threads: int = 1) -> float:
        run = np.stack([search.ids[:, :columns], search.scores[:, :columns]], axis=2)
        set_num_threads(threads)
        return float(evaluate(qrels, run, names, save_results_in_run=False)["recall@10"])

    return min((lambda: call(1), lambda: call(config.NUMBA_NUM_THREADS)), key=_second_time)


def _second_time(call: Callable[[], float]) -> float:
    """Seconds that a call takes once it is warm."""
    call()
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def ir_measures(search: Search) -> Callable[[], float]:
    """ir_measures with an evaluator prepared once."""
    from ir_measures import AP, RR, P, R, evaluator, nDCG

    prepared = evaluator([measure @ k for measure in (R, P, RR, AP, nDCG) for k in search.cutoffs], text_qrels(search))
    return lambda: prepared.calc_aggregate(text_run(search))[R @ 10]


def flag_embedding(search: Search) -> Callable[[], float]:
    """The evaluator inside FlagEmbedding."""
    from FlagEmbedding.abc.evaluation.utils import evaluate_metrics, evaluate_mrr

    qrels = text_qrels(search)

    def call() -> float:
        run = text_run(search)
        evaluate_mrr(qrels, run, search.cutoffs)
        return evaluate_metrics(qrels, run, search.cutoffs)[2]["Recall@10"]

    return call


def beir(search: Search) -> Callable[[], float]:
    """BEIR's EvaluateRetrieval."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    qrels = text_qrels(search)

    def call() -> float:
        run = text_run(search)
        EvaluateRetrieval.evaluate_custom(qrels, run, search.cutoffs, "mrr")
        return EvaluateRetrieval.evaluate(qrels, run, search.cutoffs)[2]["Recall@10"]

    return call


def sentence_transformers(search: Search) -> Callable[[], float]:
    """The InformationRetrievalEvaluator's metrics (its nDCG is binary whatever the grades)."""
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    relevant = {f"q{row}": {str(d) for d, g in docs.items() if g > 0} for row, docs in enumerate(search.qrels)}
    k = search.cutoffs
    evaluator = InformationRetrievalEvaluator(
        dict.fromkeys(relevant, ""), {}, relevant, mrr_at_k=k, ndcg_at_k=k, accuracy_at_k=k[:1],
        precision_recall_at_k=k, map_at_k=k,
    )  # fmt: skip

    def call() -> float:
        hits = [
            [{"corpus_id": str(doc), "score": score} for doc, score in zip(docs, values, strict=True)]
            for docs, values in zip(search.ids.tolist(), search.scores.tolist(), strict=True)
        ]
        return float(evaluator.compute_metrics(hits)["recall@k"][10])

    return call


def taught_loops(search: Search) -> Callable[[], float]:
    """Query by query, cutoff by cutoff, with np.intersect1d and scikit-learn's ndcg_score, as tutorials teach it."""
    from sklearn.metrics import ndcg_score

    relevant = [np.array([doc for doc, grade in docs.items() if grade > 0]) for docs in search.qrels][:LOOPS_LIMIT]
    by_rank = np.arange(search.ids.shape[1], 0, -1)

    def one(docs: np.ndarray, ranking: np.ndarray, k: int) -> tuple[float, ...]:
        common = len(np.intersect1d(docs, ranking[:k]))
        first, hits, total = 0.0, 0, 0.0
        for rank, doc in enumerate(ranking[:k].tolist(), 1):
            if doc in docs:
                hits, first = hits + 1, first or 1 / rank
                total += hits / rank
        gain = ndcg_score(np.isin(ranking, docs)[None], by_rank[None], k=k)
        return common / len(docs), common / k, first, total / len(docs), gain

    def call() -> float:
        means = {}
        for k in search.cutoffs:
            rows = [one(docs, ranking, k) for docs, ranking in zip(relevant, search.ids, strict=False)]
            means[k] = np.mean(rows, axis=0)
        return float(means[10][0])

    return call


PEERS: dict[str, Peer] = {
    "helpers.metrics": ours,
    "helpers.metrics, dicts read each time": ours_from_dicts,
    "ranx, arrays": ranx,
    "ranx, first 100 columns": lambda search: ranx(search, 100),
    "pytrec_eval": pytrec,
    "pytrec_eval, first 100 columns": lambda search: pytrec(search, 100),
    "ir_measures": ir_measures,
    "FlagEmbedding": flag_embedding,
    "BEIR": beir,
    "sentence-transformers": sentence_transformers,
    "taught loops": taught_loops,
}
PACKAGES = (
    "numpy", "pytrec_eval-terrier", "ranx", "numba", "ir_measures", "FlagEmbedding", "beir", "sentence-transformers",
    "scikit-learn",
)  # fmt: skip
