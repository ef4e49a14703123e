"""Pools of passages to judge, unjudged passages in a ranking, and their effect on a score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from helpers.metrics import evaluate
from helpers.metrics.inputs import checked_cutoff

__all__ = ["LeaveOneOut", "LeftOut", "Unjudged", "condense", "leave_one_out", "pool", "unjudged"]

RowGrades = Sequence[Mapping[int, int]]


class Unjudged(NamedTuple):
    """The unjudged passages in the top k: mean share, share per query (q,), and ids per query, best first."""

    mean: float
    per_query: np.ndarray
    ids: list[list[int]]


class LeftOut(NamedTuple):
    """The scores of a system with and without the judgements that only it contributed to the pool.

    `unique` is the number of these judgements; `full` is the metric with them, `without` the metric without them.
    """

    unique: int
    full: float
    without: float

    @property
    def move(self) -> float:
        """`without` - `full`, negative if the system benefits from the judgements that it contributed."""
        return self.without - self.full


class LeaveOneOut(NamedTuple):
    """`LeftOut` of each system, and Kendall's tau between `full` and `without`, nan if all systems score the same."""

    systems: dict[str, LeftOut]
    tau: float


def pool(rankings: Mapping[str, ArrayLike], depth: int) -> list[list[int]]:
    """Pool the top `depth` of each system: the passages to judge for each query, ids ascending.

    The union of Spärck Jones and van Rijsbergen (1975), as in TREC. The order does not reveal which system retrieved
    a passage, or at which rank. `rankings` are system → ids (q, k), best first, padded with -1; k at least `depth`.
    """
    return [sorted(docs) for docs in _pooled(rankings, depth)]


def unjudged(ids: ArrayLike, qrels: RowGrades, k: int) -> Unjudged:
    """Find the unjudged passages in the top k: 1 - judged@k, which most metrics count as not relevant.

    Per query: unjudged passages in the top k / passages in the top k, 0 if nothing was retrieved. Any grade is a
    judgement, also a negative one. `ids` are rows of the corpus (q, k'), best first, -1 is padding.
    """
    checked_cutoff(k)
    rows = [[doc for doc in row if doc >= 0] for row in _checked(ids, "ids", qrels)[:, :k].tolist()]
    missing = [[doc for doc in row if doc not in judged] for row, judged in zip(rows, qrels, strict=True)]
    shares = [len(docs) / max(1, len(row)) for docs, row in zip(missing, rows, strict=True)]
    return Unjudged(float(np.mean(shares)), np.array(shares), missing)


def condense(ids: ArrayLike, qrels: RowGrades) -> np.ndarray:
    """Remove unjudged passages from rankings: the condensed lists of Sakai (2007, SIGIR), (q, k) int64.

    The order is kept, and rankings are padded with -1. Metrics of condensed lists are those of `trec_eval -J`. They do
    not penalize a system that was not in the pool, but often overestimate it: unjudged passages may well be not
    relevant (Sakai 2008, CIKM). Condense whole rankings, then cut them; any grade is a judgement.
    """
    rankings = _checked(ids, "ids", qrels)
    condensed = np.full(rankings.shape, -1, np.int64)
    for row, judged in enumerate(qrels):
        docs = [doc for doc in rankings[row].tolist() if doc >= 0 and doc in judged]
        condensed[row, : len(docs)] = docs
    return condensed


def leave_one_out(
    rankings: Mapping[str, ArrayLike],
    qrels: RowGrades,
    depth: int,
    metric: str = "ndcg@10",
    *,
    families: Mapping[str, str] | None = None,
    **options: Any,
) -> LeaveOneOut:
    """Score each system as if it had not been in the pool: the test of Zobel (1998, SIGIR).

    For each system the judgements of passages that it alone contributed to the pool are removed, and it is scored
    again. The less the scores move, the fairer the collection is to new systems. Nearly identical systems
    contribute the same passages, so give them one family, system → family; a family is left out as a whole.

    Args:
        rankings, depth: as for `pool`; judgements of passages outside the pool are kept.
        qrels: one dict {row: grade} per query.
        metric: the name of a metric for `helpers.metrics.evaluate`, whose further options follow.
    """
    from helpers.significance import kendall_tau

    arrays = {name: _checked(ids, name, qrels) for name, ids in rankings.items()}
    family_of = {name: (families or {}).get(name, name) for name in rankings}
    pooled = {
        family: _pooled({name: ids for name, ids in rankings.items() if family_of[name] == family}, depth)
        for family in family_of.values()
    }
    times = [Counter(doc for docs in row for doc in docs) for row in zip(*pooled.values(), strict=True)]
    systems = {}
    for name, ids in arrays.items():
        reduced = [
            {doc: grade for doc, grade in row.items() if doc not in docs or families_of[doc] > 1}
            for row, docs, families_of in zip(qrels, pooled[family_of[name]], times, strict=True)
        ]
        scores = [evaluate(ids, judged, [metric], **options).mean for judged in (qrels, reduced)]
        full, without = (next(iter(means.values())) for means in scores)
        systems[name] = LeftOut(sum(map(len, qrels)) - sum(map(len, reduced)), full, without)
    full_scores, scores_without = ({name: one[place] for name, one in systems.items()} for place in (1, 2))
    flat = len(set(full_scores.values())) < 2 or len(set(scores_without.values())) < 2
    return LeaveOneOut(systems, math.nan if flat else kendall_tau(full_scores, scores_without))


def _pooled(rankings: Mapping[str, ArrayLike], depth: int) -> list[set[int]]:
    checked_cutoff(depth)
    arrays = {name: _checked(ids, f"rankings[{name!r}]") for name, ids in rankings.items()}
    lengths = {name: len(ids) for name, ids in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"rankings are of different numbers of queries, {lengths}: rank the same ones.")
    for name, ids in arrays.items():
        if ids.shape[1] < depth:
            raise ValueError(
                f"{name!r} has {ids.shape[1]} ranks, fewer than the depth {depth}: rank with k={depth} or more, "
                "and pad with -1 where fewer were retrieved."
            )
    rows = zip(*(ids[:, :depth].tolist() for ids in arrays.values()), strict=True)
    return [{doc for ids in row for doc in ids if doc >= 0} for row in rows]


def _checked(ids: ArrayLike, name: str, qrels: RowGrades | None = None) -> np.ndarray:
    """Return ids as an array; raise ValueError unless they are integers (q, k), with q dicts of judgements."""
    array = np.asarray(ids)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be integers (q, k), not {array.dtype} {array.shape}. Of a Ranking give its ids, ranking.ids."
        )
    if qrels is not None and len(qrels) != len(array):
        raise ValueError(f"{name} ranks {len(array)} queries, but qrels judge {len(qrels)}: give one dict per query.")
    return array
