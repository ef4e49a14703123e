"""Hits: where the judged documents of each query stand in its ranking. Every metric is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from helpers.metrics.inputs import Retrieved, checked_cutoff, read_rankings
from helpers.metrics.qrels import Judgements, Qrels, Ranked


@dataclass(frozen=True, eq=False)
class Hits:
    """Where the judged documents of each query stand in its ranking, down to rank `depth`."""

    judgements: Judgements
    depth: int
    judged: Ranked  # every judged document that was retrieved
    retrieved: np.ndarray  # (q,) how many documents were retrieved for each query, down to any depth
    unjudged: int  # queries of the run that have no judgements and were ignored
    tied: int  # rankings in which two documents have the same score

    @cached_property
    def gains(self) -> Ranked:
        """The judged documents with a grade above 0."""
        return self.judged.at_least(1)

    @cached_property
    def relevant(self) -> Ranked:
        """The relevant documents, those whose grade is at least the judgements' `relevance_level`."""
        return self.gains.at_least(self.judgements.relevance_level)

    @cached_property
    def first(self) -> Ranked:
        """The first relevant document of each query that has one."""
        return self.relevant.only(self.relevant.so_far == 1)

    @property
    def n_queries(self) -> int:
        """How many queries there are, q."""
        return self.judgements.n_queries

    @property
    def n_relevant(self) -> np.ndarray:
        """R, how many documents of each query are relevant, retrieved or not, (q,)."""
        return self.judgements.n_relevant

    def count(self, k: int) -> np.ndarray:
        """Relevant documents in the top k of each query, (q,)."""
        return self.per_query(self.relevant.top(k).query)

    def per_query(self, query: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Count, or sum the weights of, the entries of each query, in the order given, (q,)."""
        return np.bincount(query, weights, minlength=self.n_queries)

    def condensed(self) -> Hits:
        """The hits of rankings from which documents without a grade of 0 or more were taken out."""
        known = self.judged.at_least(0)
        judged = Ranked.best_first(known.query, known.so_far, known.grade)
        return replace(self, judged=judged, retrieved=self.per_query(known.query))


def find_hits(
    retrieved: Retrieved | Hits,
    qrels: Qrels | None = None,
    depth: int | None = 10,
    *,
    scores: np.ndarray | None = None,
    doc_ids: Sequence[Any] | None = None,
) -> Hits:
    """Look up every judged document in its query's ranking, down to rank `depth`; None is the whole ranking.

    Warns when no judged document appears anywhere. `retrieved`, `qrels`, `scores` and `doc_ids` are as in `evaluate`;
    or a `Hits` at least as deep, which is returned, so that one search serves many metrics.
    """
    depth = None if depth is None else checked_cutoff(depth)
    if isinstance(retrieved, Hits):
        if qrels is not None and qrels is not retrieved.judgements:
            raise TypeError("Hits hold their judgements already: write recall(hits, k) or the like, without qrels.")
        needed, deepest = retrieved.retrieved.max() if depth is None else depth, retrieved.depth
        if needed > deepest:
            raise ValueError(f"These hits reach rank {deepest}, rank {needed} was asked for: take depth={needed}.")
        return retrieved
    judgements = Judgements.of(qrels)
    rank, counts, unjudged, tied = read_rankings(retrieved, judgements, depth, scores, doc_ids)
    depth = max(1, int(counts.max())) if depth is None else depth
    found = np.flatnonzero(rank)
    judged = Ranked.best_first(judgements.query[found], rank[found], judgements.grade[found]).top(depth)
    return Hits(judgements, depth, judged, counts, unjudged, tied)
