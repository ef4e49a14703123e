"""Latency of single queries and throughput of a batch, after a warm-up and with an empty cache of query vectors."""

import contextlib
import tempfile
import time
from dataclasses import replace

import numpy as np

from helpers.data import RetrievalDataset
from helpers.data.dataset import check_count
from helpers.systems.api import Api
from helpers.systems.combine import Fusion, MaxSimScorer, Rerank
from helpers.systems.cost import measured
from helpers.systems.pipeline import Dense, Ranking, Retrieval, System

LIMIT = 30.0  # seconds per system, after which no further query is measured
PERCENTILES = (50, 95, 99)


def latencies(
    system: System, data: RetrievalDataset, k: int, queries: int, index: object = None
) -> tuple[dict[str, np.ndarray], float]:
    """Measure the seconds of each stage, for one query at a time from one client, and for all queries in one batch.

    One query is answered as a warm-up. Query vectors are computed and written to an empty cache, which takes well
    under a millisecond; so are the token vectors of passages that MaxSim reranks. For a fusion or reranking, only the
    fuse or rerank stage is measured, not the systems under it.

    Args:
        system: a system that searches the corpus, or a fusion or reranking of finished rankings.
        data: the collection.
        k: passages per query.
        queries: number of distinct queries to measure, from the first; stops early after half a minute.
        index: the result of ``system.build``; None to build the index before the measurement.

    Returns:
        (n,) seconds by stage, see :data:`helpers.systems.cost.STAGES`, and the seconds per query when these n are
        answered in one batch; ``{}`` and 0 for a system that cannot answer a query, such as a run.
    """
    check_count("latency", queries)
    first_row = {text: row for row, text in reversed(list(enumerate(data.queries)))}  # of each distinct query
    rows = list(first_row.values())[::-1][:queries]
    index = system.build(data) if index is None and isinstance(system, Retrieval) else index
    seconds: list[dict[str, float]] = []
    with contextlib.ExitStack() as folders:
        warm, empty, batch = (folders.enter_context(tempfile.TemporaryDirectory()) for _ in range(3))
        start = time.perf_counter()
        for folder, row in [(warm, rows[0]), *((empty, row) for row in rows)]:
            with measured() as cost:
                _answer(_with_cache(system, folder), index, data, [row], k)
            seconds.append(cost.seconds)
            if time.perf_counter() - start > LIMIT and len(seconds) > 1:
                break
        n = len(seconds) - 1
        with measured() as cost:
            _answer(_with_cache(system, batch), index, data, rows[:n], k)
    by_stage = {name: np.array([query.get(name, 0.0) for query in seconds[1:]]) for name in seconds[1]}
    return by_stage, sum(cost.seconds.values()) / n


def percentiles(seconds: np.ndarray) -> dict[str, float]:
    """Return the 50th, 95th and 99th percentile: ``{"p50": …}``."""
    return {f"p{p}": float(np.percentile(seconds, p)) for p in PERCENTILES}


def _with_cache(system: System, folder: str) -> System:
    match system:
        case Dense():
            return replace(system, cache_dir=folder, progress=False, search_bar=False)
        case Api():
            return replace(system, cache_dir=folder)
        case Rerank(scorer=MaxSimScorer() as scorer):
            return replace(system, scorer=replace(scorer, cache_dir=folder, progress=False))
        case _:
            return system


def _answer(system: System, index: object, data: RetrievalDataset, rows: list[int], k: int) -> None:
    """Answer the queries of some rows; do nothing if this kind of system cannot answer queries."""
    selected = replace(
        data, queries=[data.queries[row] for row in rows], query_ids=[data.query_ids[row] for row in rows],
        qrels=[data.qrels[row] for row in rows],
    )  # fmt: skip
    match system:
        case Retrieval():
            system.answer(index, selected.queries, k)
        case Rerank(part=Ranking() as part):
            replace(system, part=Ranking(part.scores[rows], part.ids[rows])).rank(selected, k)
        case Fusion(parts=parts):
            rankings = [Ranking(p.scores[rows], p.ids[rows]) for p in parts if isinstance(p, Ranking)]
            if len(rankings) == len(parts):
                replace(system, parts=rankings).rank(selected, k)
