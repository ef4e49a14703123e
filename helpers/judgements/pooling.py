"""Pools of passages to judge, unjudged passages in a ranking, and their effect on a score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from helpers.metrics import Judgements, evaluate
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

    `unique` is the number of these judgements; `full` is the metric with them, `without` the metric without them;
    `tau` compares the order of all systems with and without them, nan if all score the same.
    """

    unique: int
    full: float
    without: float
    tau: float

    @property
    def move(self) -> float:
        """`without` - `full`, negative if the system benefits from the judgements that it contributed."""
        return self.without - self.full


class LeaveOneOut(NamedTuple):
    """`LeftOut` of each system, and Kendall's tau between `full` and `without` over all systems."""

    systems: dict[str, LeftOut]
    tau: float


def pool(rankings: Mapping[str, ArrayLike], depth: int) -> list[list[int]]:
    """Pool the top `depth` of each system: the passages to judge for each query, ids ascending.

    The union of Spärck Jones and van Rijsbergen (1975), as in TREC. The order does not reveal which system retrieved
    a passage, or at which rank. `rankings` are system → ids (q, k), best first, padded with -1; k at least `depth`.
    """
    return [sorted(set().union(*row)) for row in zip(*_tops(rankings, depth).values(), strict=True)]


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

    For each system the judgements of passages that it alone contributed to the pool are removed, and all systems are
    scored again. The less the scores move, the fairer the collection is to new systems. Nearly identical systems
    contribute the same passages, so give them one family, system → family; a family is left out as a whole.

    Args:
        rankings, depth: as for `pool`; judgements of passages outside the pool are kept.
        qrels: one dict {row: grade} per query.
        metric: the name of a metric for `helpers.metrics.evaluate`, whose further options follow.
    """
    family = {name: (families or {}).get(name, name) for name in rankings}
    tops = _tops(rankings, depth)
    for name, ids in rankings.items():
        _checked(ids, name, qrels)
    members: dict[str, list[list[set[int]]]] = {}
    for name, rows in tops.items():
        members.setdefault(family[name], []).append(rows)
    pooled = {name: [set().union(*row) for row in zip(*rows, strict=True)] for name, rows in members.items()}
    times = [Counter(doc for docs in row for doc in docs) for row in zip(*pooled.values(), strict=True)]

    arrays, level = {name: np.asarray(ids) for name, ids in rankings.items()}, options.pop("relevance_level", None)

    def score(qrels: RowGrades) -> dict[str, float]:
        judged = Judgements.of(qrels, level)
        means = {name: evaluate(ids, judged, [metric], **options).mean for name, ids in arrays.items()}
        return {name: next(iter(mean.values())) for name, mean in means.items()}

    full = score(qrels)
    systems = {}
    for name, contributed in pooled.items():
        reduced = [
            {doc: grade for doc, grade in row.items() if doc not in docs or families_of[doc] > 1}
            for row, docs, families_of in zip(qrels, contributed, times, strict=True)
        ]
        scores = score(reduced)
        removed = sum(map(len, qrels)) - sum(map(len, reduced))
        for member in (system for system in rankings if family[system] == name):
            systems[member] = LeftOut(removed, full[member], scores[member], _tau(full, scores))
    systems = {name: systems[name] for name in rankings}
    return LeaveOneOut(systems, _tau(full, {name: system.without for name, system in systems.items()}))


def _tau(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    from helpers.significance import kendall_tau

    flat = min(len(set(scores.values())) for scores in (first, second)) < 2
    return math.nan if flat else kendall_tau(first, second)


def _tops(rankings: Mapping[str, ArrayLike], depth: int) -> dict[str, list[set[int]]]:
    checked_cutoff(depth)
    arrays = {name: _checked(ids, f"rankings[{name!r}]") for name, ids in rankings.items()}
    for name, ids in arrays.items():
        first_name, first = next(iter(arrays.items()))
        if len(ids) != len(first):
            raise ValueError(f"{name!r} ranks {len(ids)} queries and {first_name!r} {len(first)}: rank the same ones.")
        if ids.shape[1] < depth:
            raise ValueError(
                f"{name!r} has {ids.shape[1]} ranks, fewer than the depth {depth}: rank with k={depth} or more, "
                "and pad with -1 where fewer were retrieved."
            )
    return {name: [{d for d in row if d >= 0} for row in ids[:, :depth].tolist()] for name, ids in arrays.items()}


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
