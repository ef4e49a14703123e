"""Find the stage at which a pipeline loses relevant passages: candidates, fusion, reranking or cutoff.

The ranking of a stage is an array of row numbers (q, depth), best first, padded with -1: the ``ids`` of a
:class:`~helpers.systems.Ranking`. Judgements are those of a :class:`~helpers.data.RetrievalDataset`.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from helpers.data import RetrievalDataset
from helpers.metrics import evaluate, find_hits

if TYPE_CHECKING:
    import pandas as pd

NOT_RETRIEVED, CUT_OFF, DELIVERED = "not retrieved", "cut off", "delivered"
LOST = "lost by "  # followed by the name of the stage


def union(*rankings: np.ndarray) -> np.ndarray:
    """Return the candidates of several rankings of the same queries, (q, k) each, without duplicates, (q, m).

    Rankings are interleaved, the first candidate of each before the second of any; -1 is padding.
    """
    rows = []
    for query in zip(*(ids.tolist() for ids in rankings), strict=True):
        turns = itertools.chain.from_iterable(itertools.zip_longest(*query, fillvalue=-1))
        rows.append([passage for passage in dict.fromkeys(turns) if passage >= 0])
    return np.array([*itertools.zip_longest(*rows, fillvalue=-1)], np.int64).T.reshape(len(rows), -1)


def ideal_order(ids: np.ndarray, data: RetrievalDataset) -> np.ndarray:
    """Return candidates (q, k) in the order of an ideal reranker: by grade, descending, equal ones as they were.

    Unjudged ones have grade 0. For any metric that depends on judgements alone, no other order scores higher.
    """
    grades = np.where(ids < 0, -np.inf, 0.0)
    judged = find_hits(ids, data.qrels, None).judged
    grades[judged.query, judged.rank - 1] = judged.grade
    best: np.ndarray = np.take_along_axis(ids, np.argsort(-grades, axis=1, kind="stable"), axis=1)
    return best


def best_possible(
    ids: np.ndarray, data: RetrievalDataset, depths: Iterable[int], metrics: Sequence[str] = ("ndcg@10",)
) -> "pd.DataFrame":
    """Return the highest scores that a reranker of the first n candidates can reach, one row per depth n.

    ``recall`` is the recall of the candidates, which no order changes; the metrics are those of the `ideal_order`.
    The depths lie between the largest cutoff of the metrics and that of the ranking, (q, k).
    """
    import pandas as pd

    rows = {}
    largest = max((int(name.partition("@")[2]) for name in metrics if "@" in name), default=1)
    for depth in depths:
        if not largest <= depth <= ids.shape[1]:
            raise ValueError(
                f"depth {depth}: the ranking has {ids.shape[1]} candidates a query and the metrics look at {largest}; "
                "give depths between the two."
            )
        best = ideal_order(ids[:, :depth], data)
        names = [f"recall@{depth}", *metrics]
        means = evaluate(best, data.qrels, names, relevance_level=data.relevance_level).mean
        rows[depth] = {"recall": means[names[0]], **{name: means[name] for name in metrics}}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("candidates")


def trace(candidates: np.ndarray, stages: Mapping[str, np.ndarray], data: RetrievalDataset, k: int) -> "pd.DataFrame":
    """Return a row for every relevant passage: its rank after each stage of a pipeline, and its outcome.

    The outcome is "delivered" if the last stage ranks the passage among the first ``k``; "not retrieved" if it is not
    among the candidates; "lost by NAME" if that stage is the last one to drop it from its ranking, or from the first
    ``k``, where the stage before had it; "cut off" if no stage ranked it among the first ``k``.

    Args:
        candidates: all passages that the first stage retrieved, in any order, such as the `union` of two rankings.
        stages: the rankings of fusion, reranking and so on, by name, in order; the first may be the retriever's.
        data: the judgements; grades from ``data.relevance_level`` up are relevant.
        k: number of passages that the pipeline returns.
    """
    import pandas as pd

    for name, ids in {"candidates": candidates, **stages}.items():
        if len(ids) != len(data.queries):
            raise ValueError(f"{name} ranks {len(ids)} queries, the data has {len(data.queries)}.")
    rows = []
    for query, judged in enumerate(data.qrels):
        known = set(candidates[query].tolist())
        for name, ids in stages.items():
            if foreign := set(ids[query][ids[query] >= 0].tolist()) - known:
                raise ValueError(f"{name}, query {query}: passage {min(foreign)} is not among the candidates.")
        places = {name: {p: rank for rank, p in enumerate(ids[query].tolist(), 1)} for name, ids in stages.items()}
        for passage, grade in judged.items():
            if grade >= data.relevance_level:
                ranks = {name: places[name].get(passage) for name in stages}
                outcome = _outcome(ranks, k) if passage in known else NOT_RETRIEVED
                rows.append({"query": query, "passage": passage, "grade": grade, **ranks, "outcome": outcome})
    columns = ["query", "passage", "grade", *stages, "outcome"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(stages, "Int64"))


def lost_by_stage(followed: "pd.DataFrame") -> "pd.Series":
    """Return the share of queries by outcome, from the table that `trace` returns.

    The outcome of a query is the best one of its relevant passages: delivered, else cut off, else lost by the last
    stage, by an earlier one, else not retrieved.
    """
    import pandas as pd

    stages = list(followed.columns[3:-1])
    order = [NOT_RETRIEVED, *(LOST + name for name in stages), CUT_OFF, DELIVERED]
    furthest = followed["outcome"].map(order.index).groupby(followed["query"]).max()
    counts = furthest.value_counts()
    shares = pd.Series({name: counts.get(place, 0) / len(furthest) for place, name in enumerate(order)}, name="queries")
    return shares.rename_axis("outcome")


def _outcome(ranks: Mapping[str, int | None], k: int) -> str:
    """Return the outcome of a candidate from its rank after each stage; None if the stage dropped it."""
    levels = [1, *(0 if rank is None else 2 if rank <= k else 1 for rank in ranks.values())]  # the first receives all
    lost = [name for name, before, after in zip(ranks, levels, levels[1:], strict=False) if after < before]
    return DELIVERED if levels[-1] == 2 else LOST + lost[-1] if lost else CUT_OFF
