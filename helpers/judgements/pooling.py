"""Pools of passages to judge, unjudged passages in a ranking, and their effect on a score."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from helpers.metrics import evaluate
from helpers.metrics.inputs import checked_cutoff
from helpers.significance import kendall_tau

__all__ = ["LeaveOneOut", "LeftOut", "Unjudged", "condense", "leave_one_out", "pool", "unjudged"]

Qrels = Sequence[Mapping[int, int]]


class Unjudged(NamedTuple):
    """The unjudged passages in the top k: mean share, the share of each query (q,), and the ids, best first."""

    mean: float
    per_query: np.ndarray
    ids: list[list[int]]


class LeftOut(NamedTuple):
    """A system as if it had not been in the pool.

    `unique` judgements exist for it alone; the metric is `full` with them and `without` them; `tau` compares the
    order of all systems with and without them, nan where all score the same.
    """

    unique: int
    full: float
    without: float
    tau: float

    @property
    def move(self) -> float:
        """How far the score moves; below 0 if the system needs its own judgements."""
        return self.without - self.full


class LeaveOneOut(NamedTuple):
    """Each system as if it had not been in the pool, and Kendall's tau of `full` against `without` over them all."""

    systems: dict[str, LeftOut]
    tau: float


def pool(rankings: Mapping[str, ArrayLike], depth: int) -> list[list[int]]:
    """Pool the top `depth` of each system: the passages to judge for each query, ids ascending.

    The union of Spärck Jones and van Rijsbergen (1975), as TREC does it: from the order nobody can tell which system
    found a passage, or how early.

    Args:
        rankings: system → ids (q, k), best first, with -1 where fewer were retrieved; k of at least `depth`.
        depth: the pool depth: how many ranks of each system are judged.

    Raises:
        ValueError: no system, other shapes or numbers of queries, rankings that end before `depth`.
    """
    return [sorted(set().union(*row)) for row in zip(*_tops(rankings, depth).values(), strict=True)]


def unjudged(ids: ArrayLike, qrels: Qrels, k: int) -> Unjudged:
    """Find the unjudged passages in the top k: 1 - judged@k, which most metrics count as not relevant.

    Per query it is the unjudged passages in the top k / the passages in the top k, and 0 where nothing was retrieved.
    Any grade is a judgement, a negative one too.

    Args:
        ids: rows of the corpus (q, k'), best first, -1 is padding.
        qrels: one dict {row: grade} per query.
        k: how many ranks to look at.

    Raises:
        ValueError: ids that are not integers (q, k'), another number of queries in qrels, k below 1.
    """
    checked_cutoff(k)
    rows = [[doc for doc in row if doc >= 0] for row in _checked(ids, "ids", qrels)[:, :k].tolist()]
    missing = [[doc for doc in row if doc not in judged] for row, judged in zip(rows, qrels, strict=True)]
    shares = [len(some) / max(1, len(row)) for some, row in zip(missing, rows, strict=True)]
    return Unjudged(float(np.mean(shares)), np.array(shares), missing)


def condense(ids: ArrayLike, qrels: Qrels) -> np.ndarray:
    """Drop what is unjudged and close up the ranks: the condensed list of Sakai (2007, SIGIR), (q, k) int64.

    The order stays, -1 fills the end. Metrics of it are those of `trec_eval -J`. It spares a system that was not in the
    pool, and often too much: what nobody judged may well be not relevant (Sakai 2008, CIKM).

    Args:
        ids: rows of the corpus (q, k), best first, -1 is padding. Condense the whole ranking and cut afterwards.
        qrels: one dict {row: grade} per query; any grade is a judgement.

    Raises:
        ValueError: ids that are not integers (q, k), another number of queries in qrels.
    """
    rankings = _checked(ids, "ids", qrels)
    condensed = np.full(rankings.shape, -1, np.int64)
    for row, judged in enumerate(qrels):
        docs = [doc for doc in rankings[row].tolist() if doc >= 0 and doc in judged]
        condensed[row, : len(docs)] = docs
    return condensed


def leave_one_out(
    rankings: Mapping[str, ArrayLike],
    qrels: Qrels,
    depth: int,
    metric: str = "ndcg@10",
    *,
    families: Mapping[str, str] | None = None,
    **options: Any,
) -> LeaveOneOut:
    """Score each system as if it had not been in the pool: the test of Zobel (1998, SIGIR).

    The judgements of passages that were pooled from one system alone are taken away, and all systems are scored again.
    A collection is fair to systems it has not met as far as the scores do not move. Of two nearly equal systems
    neither has passages of its own, so give such systems one family.

    Args:
        rankings: system → ids (q, k), as `pool` takes them.
        qrels: one dict {row: grade} per query. Judgements of passages that nobody pooled stay.
        depth: the pool depth with which the collection was made.
        metric: one that `helpers.metrics.evaluate` knows.
        families: system → family, such as the model it runs on; all of a family are left out together. A system that
            is not named is a family by itself.
        options: of `evaluate`, such as `relevance_level=2`.

    Raises:
        ValueError: fewer than two families, and what `pool` and `evaluate` raise.
    """
    family = {name: (families or {}).get(name, name) for name in rankings}
    if len(set(family.values())) < 2:
        raise ValueError(f"leave_one_out needs two systems or families at least, not {sorted(set(family.values()))}.")
    tops = _tops(rankings, depth)
    for name, ids in rankings.items():
        _checked(ids, name, qrels)
    members: dict[str, list[list[set[int]]]] = {}
    for name, rows in tops.items():
        members.setdefault(family[name], []).append(rows)
    pooled = {name: [set().union(*row) for row in zip(*rows, strict=True)] for name, rows in members.items()}
    times = [Counter(doc for docs in row for doc in docs) for row in zip(*pooled.values(), strict=True)]

    def score(judged: Qrels) -> dict[str, float]:
        means = {name: evaluate(np.asarray(ids), judged, [metric], **options).mean for name, ids in rankings.items()}
        return {name: next(iter(mean.values())) for name, mean in means.items()}

    full = score(qrels)
    systems = {}
    for name, own in pooled.items():
        fewer = [
            {doc: grade for doc, grade in row.items() if doc not in docs or families_of[doc] > 1}
            for row, docs, families_of in zip(qrels, own, times, strict=True)
        ]
        scores = score(fewer)
        removed = sum(map(len, qrels)) - sum(map(len, fewer))
        for member in (system for system in rankings if family[system] == name):
            systems[member] = LeftOut(removed, full[member], scores[member], _tau(full, scores))
    systems = {name: systems[name] for name in rankings}
    return LeaveOneOut(systems, _tau(full, {name: system.without for name, system in systems.items()}))


def _tau(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Kendall's tau, nan where all systems score the same and so are in no order."""
    flat = min(len(set(scores.values())) for scores in (first, second)) < 2
    return math.nan if flat else kendall_tau(first, second)


def _tops(rankings: Mapping[str, ArrayLike], depth: int) -> dict[str, list[set[int]]]:
    """Return the first `depth` ids of each system as one set a query, without padding."""
    if isinstance(depth, bool) or not isinstance(depth, int | np.integer) or depth < 1:
        raise ValueError(f"depth must be a whole number of at least 1, not {depth!r}.")
    if not isinstance(rankings, Mapping) or not rankings:
        raise ValueError("rankings must be a dict of one system or more, {name: ids (q, k)}.")
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


def _checked(ids: ArrayLike, name: str, qrels: Qrels | None = None) -> np.ndarray:
    """Ids as integers (q, k), with judgements for as many queries."""
    array = np.asarray(ids)
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be integers (q, k), not {array.dtype} {array.shape}. Of a Ranking give its ids, ranking.ids."
        )
    if qrels is not None and len(qrels) != len(array):
        raise ValueError(f"{name} ranks {len(array)} queries, but qrels judge {len(qrels)}: give one dict per query.")
    return array
