"""How long queries take, one after the other or all at once: warm, and nothing of them in the cache."""

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

LIMIT = 30.0  # seconds, after which no further query of a system is measured
PERCENTILES = (50, 95, 99)


def latencies(
    system: System, data: RetrievalDataset, k: int, queries: int, index: object = None
) -> tuple[dict[str, np.ndarray], float]:
    """Measure the seconds of each stage for single queries, one client, one query at a time, and for all at once.

    One query is answered before the clock runs. Vectors of queries are computed anew and
    written to an empty cache, which takes well under a millisecond; so are the token vectors of passages that MaxSim
    reranks. Of a fusion or a reranking its own stage alone is measured: the stages of its parts come before it.

    Args:
        system: one that searches the corpus, or a fusion or reranking of rankings that are there.
        data: the collection.
        k: how many passages a query.
        queries: the first so many different ones, fewer where they take longer than half a minute together.
        index: what ``system.build`` returned; None to build it here, before the clock runs.

    Returns:
        (n,) seconds by stage, see :data:`helpers.systems.cost.STAGES`, and the seconds a query when these n are
        answered at once; nothing and 0 for a system that answers nothing by itself, such as a run.
    """
    check_count("latency", queries)
    first = {text: row for row, text in reversed(list(enumerate(data.queries)))}  # of queries of different texts
    rows = list(first.values())[::-1][:queries]
    index = system.build(data) if index is None and isinstance(system, Retrieval) else index
    seconds: list[dict[str, float]] = []
    with contextlib.ExitStack() as folders:
        warm, empty, batch = (folders.enter_context(tempfile.TemporaryDirectory()) for _ in range(3))
        start = time.perf_counter()
        for folder, row in [(warm, rows[0]), *((empty, row) for row in rows)]:
            with measured() as cost:
                if not _answer(_with_cache(system, folder), index, data, [row], k):
                    return {}, 0.0
            seconds.append(cost.seconds)
            if time.perf_counter() - start > LIMIT and len(seconds) > 1:
                break
        n = len(seconds) - 1
        with measured() as cost:
            _answer(_with_cache(system, batch), index, data, rows[:n], k)
    by_stage = {name: np.array([one.get(name, 0.0) for one in seconds[1:]]) for name in seconds[1]}
    return by_stage, sum(cost.seconds.values()) / n


def percentiles(seconds: np.ndarray) -> dict[str, float]:
    """Return the percentiles 50, 95 and 99 of latencies: ``{"p50": …}``."""
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


def _answer(system: System, index: object, data: RetrievalDataset, rows: list[int], k: int) -> bool:
    """Answer some queries; return whether a system of this kind can."""
    few = replace(
        data, queries=[data.queries[row] for row in rows], query_ids=[data.query_ids[row] for row in rows],
        qrels=[data.qrels[row] for row in rows],
    )  # fmt: skip
    match system:
        case Retrieval():
            system.answer(index, few.queries, k)
        case Rerank(part=Ranking() as part):
            replace(system, part=Ranking(part.scores[rows], part.ids[rows])).rank(few, k)
        case Fusion(parts=parts):
            rankings = [Ranking(p.scores[rows], p.ids[rows]) for p in parts if isinstance(p, Ranking)]
            if len(rankings) < len(parts):
                return False
            replace(system, parts=rankings).rank(few, k)
        case _:
            return False
    return True
