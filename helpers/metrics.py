"""Retrieval metrics with trec_eval's conventions: per query first, mean second. Needs numpy alone.

Every metric follows one line: ranked ids and judgements -> ranks of the judged documents -> one value per query.
`find_hits` does the first step once, each metric is the few lines of its formula on what `find_hits` returns,
and `evaluate` computes many metrics at many cutoffs from the same hits.

Ranks start at 1. R is the number of relevant documents of a query, that is of documents whose grade is at least
`relevance_level` (1, unless said otherwise; trec_eval's `-l`). nDCG has no such level: every grade above 0 is a gain.
A judged query with nothing relevant, or for which nothing was retrieved, scores 0.
"""

from __future__ import annotations

import math
import operator
import re
import warnings
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Evaluation",
    "Hits",
    "Judgements",
    "Ranked",
    "average_precision",
    "capped_recall",
    "dcg",
    "evaluate",
    "find_hits",
    "judged",
    "ndcg",
    "precision",
    "r_precision",
    "recall",
    "reciprocal_rank",
    "success",
]

_BLOCK = 1 << 17  # numbers looked at together: few enough that they stay in the processor's cache
_NONE = np.empty(0, np.int64)
_SHORT = 32  # a ranking and the judgements of its query, together this many at most, are compared one by one


class Ranked(NamedTuple):
    """Documents of many queries, best rank first: arrays of shape (n,).

    `query` counts the queries from 0, `rank` the places from 1, `grade` is the judged grade, and `nth`
    counts the relevant documents of its query found so far, this one included. Because ranks ascend, the
    documents of all top k are a prefix, and `np.bincount` adds up each query's values in rank order, as trec_eval does.
    """

    query: np.ndarray
    rank: np.ndarray
    grade: np.ndarray
    nth: np.ndarray | None = None

    def top(self, k: int) -> Ranked:
        """The documents at rank k or better."""
        end = int(self.rank.searchsorted(k, side="right"))
        if end == len(self.rank):
            return self
        return Ranked(*(None if column is None else column[:end] for column in self))

    def at_least(self, level: int) -> Ranked:
        """The documents with a grade of `level` or more; `self` where that is all of them."""
        if self.grade.min(initial=level) >= level:
            return self
        keep = np.flatnonzero(self.grade >= level)
        return Ranked(self.query[keep], self.rank[keep], self.grade[keep])


@dataclass(frozen=True)
class Judgements:
    """Relevance judgements of q queries, flattened; n documents were judged in all.

    Build it with `Judgements.of(qrels)`. Every function here does so itself: doing it once by hand only
    saves the time when many rankings are scored against the same judgements.
    """

    query_ids: Sequence[Hashable]  # (q,) keys of a mapping, else 0 … q-1
    docs: list  # (n,) the judged documents, query by query
    query: np.ndarray  # (n,) the query each of them belongs to
    grade: np.ndarray  # (n,) int64
    aligned: bool  # whether the queries are the rows of an array rather than names
    relevance_level: int = 1  # the lowest grade that counts as relevant

    @classmethod
    def of(cls, qrels: Judgements | Mapping | Sequence, relevance_level: int | None = None) -> Judgements:
        """Read `{query: {doc: grade}}`, `[{doc: grade}, …]`, `{query: [doc, …]}` or `[[doc, …], …]`.

        In the forms without grades every listed document has grade 1. A negative grade is never
        relevant; `judged` counts it, while trec_eval takes it for unjudged.

        Raises:
            ValueError: no query at all, a document listed twice, a grade that is not a whole number.
            TypeError: a query's entry is neither a dict nor a collection of ids.
        """
        if isinstance(qrels, Judgements):
            return qrels if relevance_level is None else replace(qrels, relevance_level=_level(relevance_level))
        level = 1 if relevance_level is None else _level(relevance_level)
        named = isinstance(qrels, Mapping)
        entries = list(qrels.values() if named else qrels)
        if not entries:
            raise ValueError("qrels is empty: there is no query to score. Give at least one query's judgements.")
        entries = _uniform(entries)
        docs = list(chain.from_iterable(entries))
        counts = np.fromiter(map(len, entries), np.int64, len(entries))
        if isinstance(entries[0], dict):
            grade = _whole_numbers(list(chain.from_iterable(map(dict.values, entries))))
        else:
            grade = np.ones(len(docs), np.int64)
        query = np.repeat(np.arange(len(entries)), counts)
        return cls(list(qrels) if named else range(len(entries)), docs, query, grade, not named, level)

    @cached_property
    def rows(self) -> np.ndarray:
        """The judged documents as integers, (n,) int64, for comparison with rows of an array.

        Raises:
            TypeError: they are text.
            ValueError: one is negative.
        """
        try:
            rows = np.array(array("q", self.docs), dtype=np.int64)
        except TypeError:
            odd = next(doc for doc in self.docs if not isinstance(doc, Integral))
            raise TypeError(
                f"qrels names the document {odd!r} ({type(odd).__name__}) but the ranking holds integer rows. "
                "Use the same ids in both: map the judged ids to rows, or give the ranking as ids of that type."
            ) from None
        if rows.size and rows.min() < 0:
            raise ValueError(f"qrels names the document {rows.min()}; rows start at 0 and -1 means padding.")
        return rows

    @cached_property
    def highest(self) -> int:
        """The largest of `rows`, 0 if there is none."""
        return int(self.rows.max(initial=0))

    @cached_property
    def relevant(self) -> np.ndarray:
        """R, the number of relevant documents of each query, (q,) int64."""
        return np.bincount(self.query[self.grade >= self.relevance_level], minlength=len(self.query_ids))

    @cached_property
    def ideal(self) -> Ranked:
        """The best possible ranking: every document of a query with a gain, highest grade first."""
        keep = self.grade > 0
        query, grade = self.query[keep], self.grade[keep]
        if grade.size and grade.min() != grade.max():
            order = np.lexsort((-grade, query))
            grade = grade[order]
        counts = np.bincount(query, minlength=len(self.query_ids))
        starts = np.cumsum(counts) - counts
        return _best_first(query, np.arange(1, len(query) + 1) - starts[query], grade)

    @cached_property
    def counts(self) -> np.ndarray:
        """How many documents of each query were judged, (q,) int64."""
        return np.bincount(self.query, minlength=len(self.query_ids))

    @cached_property
    def firsts(self) -> np.ndarray:
        """Where the documents of each query begin in `docs`, (q,) int64."""
        return np.cumsum(self.counts) - self.counts

    @cached_property
    def scale(self) -> np.ndarray:
        """The different grades, lowest first, int64."""
        return np.unique(self.grade)

    @cached_property
    def mark(self) -> np.ndarray:
        """Which of `scale` the grade of each document is, (n,)."""
        return np.searchsorted(self.scale, self.grade)

    def table(self, here: slice) -> tuple[np.ndarray, np.ndarray]:
        """The rows judged for some queries and their `mark`, one query a line; -2, -3 … where it has fewer rows."""
        counts = self.counts[here]
        some = slice(self.firsts[here][0], self.firsts[here][-1] + counts[-1])
        rows, mark = self.rows[some], self.mark[some]
        most = counts.max()
        if counts.min() == most:
            return rows.reshape(len(counts), most), mark.reshape(len(counts), most)
        there = np.arange(most) < counts[:, None]
        filled = np.tile(-2 - np.arange(most), (len(counts), 1)), np.zeros(there.shape, mark.dtype)
        filled[0][there], filled[1][there] = rows, mark
        return filled

    def ideal_dcg(self, k: int, gain: str) -> np.ndarray:
        """DCG of the ideal ranking down to rank k, (q,). Computed once for each k and gain."""
        if (k, gain) not in self._ideal_dcgs:
            self._ideal_dcgs[k, gain] = dcg(self.ideal.top(k), len(self.query_ids), gain)
        return self._ideal_dcgs[k, gain]

    @cached_property
    def _ideal_dcgs(self) -> dict[tuple[int, str], np.ndarray]:
        """What `ideal_dcg` has computed."""
        return {}


@dataclass(frozen=True)
class Hits:
    """Where the judged documents of each query stand in its ranking, down to rank `depth`."""

    judgements: Judgements
    depth: int
    seen: Ranked  # every judged document that was retrieved
    gained: Ranked  # those among them with a grade above 0
    found: Ranked  # the relevant ones among them
    retrieved: np.ndarray  # (q,) how many documents were retrieved for each query, down to `depth`
    unjudged: int = 0  # queries of the run that have no judgements and were ignored
    tied: int = 0  # rankings in which two documents have the same score

    @property
    def relevant(self) -> np.ndarray:
        """R, the number of relevant documents of each query, (q,)."""
        return self.judgements.relevant

    @cached_property
    def first(self) -> Ranked:
        """The first relevant document of each query that has one."""
        first = np.flatnonzero(self.found.nth == 1)
        return Ranked(*(column[first] for column in self.found))

    def count(self, k: int) -> np.ndarray:
        """Relevant documents in the top k of each query, (q,). Counted once for each k."""
        if k not in self._counts:
            self._counts[k] = self.per_query(self.found.top(k).query)
        return self._counts[k]

    @cached_property
    def _counts(self) -> dict[int, np.ndarray]:
        """What `count` has counted."""
        return {}

    def per_query(self, query: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Count, or sum the weights of, the entries of each query, in the order given, (q,)."""
        return np.bincount(query, weights, minlength=len(self.judgements.query_ids))


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` returns. Metrics are named in lower case with their cutoff: `ndcg@10`."""

    mean: dict[str, float]
    per_query: dict[str, np.ndarray]  # each (queries,) float64, in the order of query_ids
    query_ids: Sequence[Hashable]
    queries: int  # how many the means run over
    no_relevant: int  # judged queries without a relevant document: counted 0, or left out if so asked
    missing: int  # judged queries for which nothing was retrieved: counted 0
    unjudged: int  # queries of the run without judgements: ignored
    tied: int  # rankings in which two documents have the same score; 0 when no scores were given


# --- the metrics -----------------------------------------------------------------------------------------


def recall(retrieved: Any, qrels: Any = None, k: int = 10) -> np.ndarray:
    """Recall@k: relevant documents in the top k / R. Shape (q,).

    trec_eval's `recall`. Not the share of min(k, R), which is `capped_recall`: with R > k this one stays
    below 1 however good the ranking is.
    """
    hits = find_hits(retrieved, qrels, k)
    return _share(hits.count(k), hits.relevant)


def capped_recall(retrieved: Any, qrels: Any = None, k: int = 10) -> np.ndarray:
    """Capped recall@k: relevant documents in the top k / min(k, R). Shape (q,).

    BEIR's `R_cap`. A perfect top k scores 1 at every k; not comparable with a `recall@k` from trec_eval.
    """
    hits = find_hits(retrieved, qrels, k)
    return _share(hits.count(k), np.minimum(k, hits.relevant))


def precision(retrieved: Any, qrels: Any = None, k: int = 10) -> np.ndarray:
    """Precision@k: relevant documents in the top k / k. Shape (q,).

    trec_eval's `P`. Divides by k even when fewer documents were retrieved.
    """
    return find_hits(retrieved, qrels, k).count(k) / k


def success(retrieved: Any, qrels: Any = None, k: int = 10) -> np.ndarray:
    """Success@k: 1 if the top k holds a relevant document, else 0. Shape (q,).

    trec_eval's `success`, elsewhere called hit rate or top-k accuracy.
    """
    return (find_hits(retrieved, qrels, k).count(k) > 0).astype(np.float64)


def reciprocal_rank(retrieved: Any, qrels: Any = None, k: int = 10) -> np.ndarray:
    """Reciprocal rank@k: 1 / rank of the first relevant document, 0 if that is beyond k. Shape (q,).

    Its mean is MRR@k. trec_eval's `recip_rank` is the same without a cutoff.
    """
    hits = find_hits(retrieved, qrels, k)
    first = hits.first.top(k)
    return hits.per_query(first.query, 1 / first.rank)


def average_precision(retrieved: Any, qrels: Any = None, k: int = 10) -> np.ndarray:
    """Average precision@k: sum of the precision at each relevant rank ≤ k, / R. Shape (q,).

    trec_eval's `map_cut`; its mean is MAP@k. Not divided by the hits found (that value can fall as k
    grows), nor by min(k, R).
    """
    hits = find_hits(retrieved, qrels, k)
    top = hits.found.top(k)
    return _share(hits.per_query(top.query, top.nth / top.rank), hits.relevant)


def ndcg(retrieved: Any, qrels: Any = None, k: int = 10, *, gain: str = "linear") -> np.ndarray:
    """nDCG@k: DCG of the ranking / DCG of the ideal ranking of all judged documents. Shape (q,).

    trec_eval's `ndcg_cut`: the idea of Järvelin and Kekäläinen (2002) with the discount log2(rank + 1) and the
    grade as gain. `gain="exponential"` is 2^grade - 1 (Burges et al. 2005), the same for grades 0 and 1. The
    ideal is not limited to what was retrieved.
    """
    hits = find_hits(retrieved, qrels, k)
    return _share(dcg(hits.gained.top(k), len(hits.relevant), gain), hits.judgements.ideal_dcg(k, gain))


def dcg(ranking: Ranked, queries: int, gain: str = "linear") -> np.ndarray:
    """Discounted cumulative gain: sum of gain / log2(rank + 1) over a query's documents. Shape (queries,).

    Raises:
        ValueError: `gain` is neither "linear" (the grade) nor "exponential" (2^grade - 1).
    """
    if gain not in ("linear", "exponential"):
        raise ValueError(f'gain must be "linear" or "exponential", not {gain!r}.')
    gains = ranking.grade if gain == "linear" else 2.0**ranking.grade - 1
    deepest = int(ranking.rank[-1]) if len(ranking.rank) else 0
    return np.bincount(ranking.query, gains / _discounts(deepest)[ranking.rank], minlength=queries)


def r_precision(retrieved: Any, qrels: Any = None) -> np.ndarray:
    """R-precision: relevant documents in the top R / R. Shape (q,). trec_eval's `Rprec`; takes no cutoff."""
    judgements = retrieved.judgements if isinstance(retrieved, Hits) else Judgements.of(qrels)
    hits = find_hits(retrieved, judgements, max(1, int(judgements.relevant.max())))
    within = hits.found.rank <= hits.relevant[hits.found.query]
    return _share(hits.per_query(hits.found.query[within]), hits.relevant)


def judged(retrieved: Any, qrels: Any = None, k: int = 10) -> np.ndarray:
    """Judged@k: documents of the top k that have a judgement, of any grade / documents in the top k. Shape (q,).

    ir_measures' `Judged`: fewer than k retrieved are divided by their number. Every other metric here counts an
    unjudged document as not relevant, so where this is low they may be too low.
    """
    hits = find_hits(retrieved, qrels, k)
    return _share(hits.per_query(hits.seen.top(k).query), np.minimum(k, hits.retrieved))


METRICS = {
    "recall": recall,
    "capped_recall": capped_recall,
    "precision": precision,
    "mrr": reciprocal_rank,
    "map": average_precision,
    "ndcg": ndcg,
    "success": success,
    "judged": judged,
    "rprec": r_precision,
}


def evaluate(
    retrieved: Any,
    qrels: Any,
    metrics: str | Iterable[str],
    cutoffs: Iterable[int] | None = None,
    *,
    scores: Any = None,
    gain: str = "linear",
    relevance_level: int | None = None,
    no_relevant: str = "zero",
) -> Evaluation:
    """Score rankings against judgements: every metric at every cutoff, per query and on average.

    Args:
        retrieved: ids, best first: an integer array (q, k) in which -1 is padding, q lists of ids, or a run
            `{query: [doc, …]}` or `{query: {doc: score}}`.
        qrels: judgements of the same queries: `[{doc: grade}, …]`, `[[doc, …], …]`, `{query: {doc: grade}}`,
            `{query: [doc, …]}` or a `Judgements`. An array's documents are rows, a run's are names.
        metrics: names with cutoffs, such as `["recall@10", "nDCG@10", "rprec"]`, or bare names with `cutoffs`.
        cutoffs: each bare name is computed at each of these.
        scores: floats (q, k) that belong to an array of ids. With scores, here or in a run, the order is
            trec_eval's as in pytrec_eval: score in single precision descending, then id as text descending.
            Without, as given.
        gain: of nDCG, "linear" or "exponential".
        relevance_level: the lowest grade that counts as relevant, for every metric but nDCG and judged; by
            default 1, or what a `Judgements` was made with.
        no_relevant: what to do with a judged query that has nothing relevant: count it "zero", "skip" it, or "raise".

    Raises:
        TypeError: scores where ids belong, text ids against integer ids.
        ValueError: different numbers of queries, an id twice in one ranking, an unknown metric, a cutoff below 1.
    """
    wanted = _parse_names(metrics, cutoffs)
    if no_relevant not in ("zero", "skip", "raise"):
        raise ValueError(f'no_relevant must be "zero", "skip" or "raise", not {no_relevant!r}.')
    judgements = Judgements.of(qrels, relevance_level)
    depth = max(k or max(1, int(judgements.relevant.max())) for _, k in wanted.values())
    hits = find_hits(retrieved, judgements, depth, scores=scores)
    keep, ids = _kept(judgements, no_relevant)
    per_query = {}
    for name, (metric, k) in wanted.items():
        options = {"k": k} if k else {}
        if metric == "ndcg":
            options["gain"] = gain
        per_query[name] = METRICS[metric](hits, **options)[keep]
    mean = {name: float(values.sum() / len(ids)) for name, values in per_query.items()}
    empty = int(np.count_nonzero(judgements.relevant == 0))
    missing = int(np.count_nonzero(hits.retrieved == 0))
    return Evaluation(mean, per_query, ids, len(ids), empty, missing, hits.unjudged, hits.tied)


# --- from rankings and judgements to hits ----------------------------------------------------------------


def find_hits(retrieved: Any, qrels: Any = None, depth: int = 10, *, scores: Any = None) -> Hits:
    """Look up every judged document in its query's ranking, down to rank `depth`.

    Takes what `evaluate` takes. Given a `Hits` at least that deep it returns it, so that one search serves many
    metrics. Warns when no judged document appears anywhere.
    """
    depth = _cutoff(depth)
    if isinstance(retrieved, Hits):
        if depth > retrieved.depth:
            raise ValueError(f"These hits reach rank {retrieved.depth}, rank {depth} was asked for: find them again.")
        return retrieved
    if qrels is None:
        raise TypeError("A ranking alone cannot be scored: give the judgements (qrels) as the second argument.")
    judgements = qrels if isinstance(qrels, Judgements) else Judgements.of(qrels)
    ids, run = _as_array_or_run(retrieved, judgements)
    if run is not None:
        if scores is not None:
            raise ValueError("Scores of a run belong inside it: {query: {doc: score}}. Leave `scores` out.")
        seen, *counts = _seen_in_run(run, judgements, depth)
    else:
        seen, *counts = _seen_in_array(ids, judgements, depth, scores)
    gained = seen.at_least(1)
    found = gained.at_least(judgements.relevance_level)
    return Hits(judgements, depth, seen, gained, _numbered(found, len(judgements.query_ids)), *counts)


def _numbered(found: Ranked, queries: int) -> Ranked:
    """The same with `nth`: for each document, how many of its query stand at its rank or better."""
    so_far = np.zeros(queries, np.int64)
    nth = np.empty(len(found.query), np.int64)
    deepest = found.rank[-1] if len(found.rank) else 0
    ends = found.rank.searchsorted(np.arange(1, deepest + 1), side="right").tolist()
    for start, end in pairwise([0, *ends]):  # rank by rank; a query has one document at each
        here = found.query[start:end]
        so_far[here] += 1
        nth[start:end] = so_far[here]
    return found._replace(nth=nth)


def _best_first(query: np.ndarray, rank: np.ndarray, grade: np.ndarray) -> Ranked:
    """Order by rank; numpy sorts 16-bit integers by radix, in linear time."""
    small = rank.size == 0 or rank.max() < 1 << 16
    order = np.argsort(rank.astype(np.uint16) if small else rank, kind="stable")
    return Ranked(query[order], rank[order], grade[order])


def _as_array_or_run(retrieved: Any, judgements: Judgements) -> tuple[np.ndarray | None, Mapping | None]:
    """Sort the accepted forms into an integer array (q, k), or a run keyed by query."""
    if isinstance(retrieved, Mapping):
        if judgements.aligned:
            raise TypeError("The run is keyed by query, qrels is a list: key both by query, or neither.")
        return None, retrieved
    if not judgements.aligned:
        raise TypeError(
            "qrels is keyed by query, the ranking is not: give a run {query: [doc, …]}, or a list of qrels."
        )
    if not isinstance(retrieved, np.ndarray):
        retrieved = list(retrieved)
    if len(retrieved) != len(judgements.query_ids):
        raise ValueError(
            f"{len(retrieved)} rankings for {len(judgements.query_ids)} judged queries: there must be one each."
        )
    if isinstance(retrieved, np.ndarray) and retrieved.dtype.kind not in "OUS":
        return _checked_array(retrieved), None
    return None, dict(enumerate(retrieved.tolist() if isinstance(retrieved, np.ndarray) else retrieved))


def _checked_array(ids: np.ndarray) -> np.ndarray:
    """An integer array (q, k), or an error that says what else was given."""
    if ids.dtype.kind == "f":
        raise TypeError(
            "The ranking holds floating-point numbers, which look like scores. FAISS returns (scores, ids): "
            "pass the ids, and the scores as `scores=` if ties should be settled by them."
        )
    if ids.dtype.kind not in "iu" or ids.ndim != 2:
        raise TypeError(f"The ranking must be an integer array (queries, k), not {ids.dtype} of shape {ids.shape}.")
    return ids


def _seen_in_run(run: Mapping, judgements: Judgements, depth: int) -> tuple[Ranked, np.ndarray, int, int]:
    """Judged documents retrieved, documents retrieved per query, queries unjudged and tied."""
    known = set(judgements.query_ids)
    unjudged = sum(query not in known for query in run)
    if unjudged == len(run) and run:
        _warn_no_overlap("query", next(iter(run)), judgements.query_ids[0])
    places, tied, kinds = [], 0, set()
    for query in judgements.query_ids:
        docs, tie = _ordered(run.get(query, ()), query)
        place = {doc: rank for rank, doc in enumerate(docs, 1)}
        _check_unique(docs, query)
        kinds.update(map(type, docs))
        places.append(place)
        tied += tie
    _check_kinds(kinds, set(map(type, judgements.docs)))
    pairs = zip(judgements.query.tolist(), judgements.docs, strict=True)
    ranks = np.array([places[query].get(doc, 0) for query, doc in pairs], dtype=np.int64)
    if judgements.docs and kinds and not ranks.any():
        _warn_no_overlap("document", next(doc for place in places for doc in place), judgements.docs[0])
    at = np.flatnonzero((ranks > 0) & (ranks <= depth))
    seen = _best_first(judgements.query[at], ranks[at], judgements.grade[at])
    return seen, np.minimum(depth, [len(place) for place in places]), unjudged, tied


def _ordered(entry: Any, query: Hashable) -> tuple[list, bool]:
    """The documents of one query, best first, and whether two of them share a score."""
    if isinstance(entry, (str, bytes)) or not isinstance(entry, Iterable):
        raise TypeError(f"The ranking of query {query!r} is {entry!r}: expected a list of ids or {{doc: score}}.")
    if not isinstance(entry, Mapping):
        docs = entry.tolist() if isinstance(entry, np.ndarray) else list(entry)
        while docs and isinstance(docs[-1], Integral) and docs[-1] < 0:  # FAISS pads with -1
            docs.pop()
        if any(isinstance(doc, Integral) and doc < 0 for doc in docs):
            raise ValueError(f"The ranking of query {query!r} has padding (-1) before an id: move it to the end.")
        return docs, False
    docs = list(entry)
    with np.errstate(over="ignore"):
        scores = np.array(list(entry.values()), dtype=np.float32).tolist()
    if any(map(math.isnan, scores)):
        raise ValueError(f"A score of query {query!r} is not a number (NaN). Remove the document or give it a score.")
    order = sorted(range(len(docs)), key=lambda i: (scores[i], str(docs[i])), reverse=True)
    return [docs[i] for i in order], len(set(scores)) < len(scores)


def _seen_in_array(
    ids: np.ndarray, judgements: Judgements, depth: int, scores: Any
) -> tuple[Ranked, np.ndarray, int, int]:
    """Judged rows retrieved, documents retrieved per query, queries unjudged and tied."""
    width = ids.shape[1]
    if depth > width:
        warnings.warn(f"The rankings hold {width} places: a cutoff of {depth} sees no more.", stacklevel=4)
    tied, used = 0, ids[:, :depth]
    if scores is not None:
        scores, used = _checked_scores(scores, ids), ids
        tied = _count_tied(ids, scores)
    seen = _look_up(used, judgements)
    if not len(seen.rank) and judgements.docs and (ids >= 0).any() and not len(_look_up(ids, judgements).rank):
        _warn_no_overlap("document", int(ids.max()), judgements.docs[0])
    if scores is not None:
        rank = _settled(ids, scores, seen)
        seen = _best_first(seen.query, rank, seen.grade).top(depth)
    retrieved = np.full(len(ids), min(depth, width))
    padded = np.flatnonzero((ids[:, :depth][:, -1:] < 0).any(axis=1))
    retrieved[padded] = np.count_nonzero(ids[padded, :depth] >= 0, axis=1)
    return seen, retrieved, 0, tied


def _look_up(ids: np.ndarray, judgements: Judgements) -> Ranked:
    """Find every judged row in the ranking of its query, best rank first; checks the rankings too.

    In blocks of rankings that fit the cache, in 32 bits where those hold the ids, which halves the work. Short
    rankings are compared with every judged row, which costs their product; long ones are sorted.
    """
    width = ids.shape[1] + int(judgements.counts.max(initial=0))
    step = max(1, _BLOCK // (width + 1))
    blocks = [slice(start, min(start + step, len(ids))) for start in range(0, len(ids), step)]
    if width <= _SHORT:
        stands = np.zeros(ids.shape[::-1], np.min_scalar_type(len(judgements.scale)))
        for here in blocks:
            stands[:, here] = _compare(ids[here], judgements, here)
        return _standing(stands, judgements.scale)
    parts = [_sort_together(ids[here], judgements, here) for here in blocks]
    return _best_first(*map(np.concatenate, zip(*parts, strict=True)))


def _compare(ids: np.ndarray, judgements: Judgements, here: slice) -> np.ndarray:
    """At each place of the rankings of the queries `here`, (k, queries): 1 + the mark of the row judged, or 0.

    Rankings stand upright, because long rows of numbers side by side are what numpy compares fastest.
    """
    block, highest = _as_block(ids, here.start)
    kind = np.int32 if max(highest, judgements.highest) < 1 << 31 else np.int64
    columns = block.T.astype(kind, order="C")
    if any((columns[gap:] == columns[:-gap]).any() for gap in range(1, len(columns))):
        _check_rows(block, here.start)
    rows, marks = judgements.table(here)
    numbers = (marks + 1).T.astype(np.min_scalar_type(len(judgements.scale)), order="C")
    found, same = np.zeros(columns.shape, numbers.dtype), np.empty(columns.shape, bool)
    for row, number in zip(rows.T.astype(kind, order="C"), numbers, strict=True):
        np.equal(columns, row, out=same)
        found += same.view(np.uint8) * number
    return found


def _standing(stands: np.ndarray, scale: np.ndarray) -> Ranked:
    """The places, (k, queries), that do not hold 0 but 1 + the mark of a grade, best rank first."""
    query = [np.flatnonzero(row != 0) for row in stands]  # among booleans numpy finds the true ones fastest
    rank = np.repeat(np.arange(1, len(stands) + 1), list(map(len, query)))
    grade = [scale[row[at] - 1] for row, at in zip(stands, query, strict=True)]
    return Ranked(np.hstack([_NONE, *query]), rank, np.hstack([_NONE, *grade]))


def _sort_together(ids: np.ndarray, judgements: Judgements, here: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, rank and grade of the judged rows in the rankings of the queries `here`.

    Each ranking is sorted with the rows judged for its query. Neighbours of the same id are a judged row and the place
    where it was retrieved. To find both again, every id is followed by some bits more: a judged row's hold its
    mark, a retrieved one's its place in the ranking, counted on from the last mark.
    """
    block, highest = _as_block(ids, here.start)
    rows, marks = judgements.table(here)
    judged, first = rows.shape[1], len(judgements.scale)
    bits = (first + block.shape[1]).bit_length()
    highest = max(highest, judgements.highest, judged) + 1
    if highest >> (63 - bits):
        rows, short = _counted_through(rows, block)
    else:
        short = block.astype(np.int64 if highest >> (31 - bits) else np.int32)
    keys = np.empty((len(block), judged + block.shape[1] + 1), short.dtype)
    keys[:, :judged] = (rows << bits) + marks
    short <<= bits
    np.add(short, np.arange(first, first + block.shape[1], dtype=short.dtype), out=keys[:, judged:-1])
    keys[:, -1] = np.iinfo(keys.dtype).max  # no number's neighbour: keeps a query from the next
    keys.sort(axis=1)
    flat = keys.ravel()
    at = np.flatnonzero((flat[1:] ^ flat[:-1]).view(f"u{flat.itemsize}") < 1 << bits)
    at = at[flat[at] >= 0]  # padding
    mark, place = flat[at] & ((1 << bits) - 1), flat[at + 1] & ((1 << bits) - 1)
    if (mark >= first).any():
        _check_rows(block, here.start)
    return at // keys.shape[1] + here.start, place - (first - 1), judgements.scale[mark]


def _counted_through(rows: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Small numbers that compare as those of two arrays do, where these leave no bits free; negative ones stay so."""
    values, small = np.unique(np.hstack([rows, block]), return_inverse=True)
    small = small.reshape(len(block), -1) - values.searchsorted(0)
    return small[:, : rows.shape[1]], small[:, rows.shape[1] :]


def _as_block(ids: np.ndarray, first: int) -> tuple[np.ndarray, int]:
    """Rankings as int64 in which only -1 is negative, and their highest id. `first` is the number of the first one.

    Raises:
        ValueError: an id follows padding.
    """
    block = np.ascontiguousarray(ids, np.int64)
    highest = int(block.view(np.uint64).max(initial=0))  # as such, negative numbers are the highest
    if highest < 1 << 63:
        return block, highest
    late = np.flatnonzero(((block[:, :-1] < 0) & (block[:, 1:] >= 0)).any(axis=1))
    if late.size:
        raise ValueError(f"The ranking of query {first + late[0]} has padding (-1) before an id: move it to the end.")
    return np.maximum(block, -1), int(block.max())


def _check_rows(ids: np.ndarray, first: int) -> None:
    """Raise if an id is repeated within a ranking. `first` is the number of the first one."""
    ordered = np.sort(ids, axis=1)
    twice = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
    for row in twice[:1].tolist():
        _check_unique([doc for doc in ids[row].tolist() if doc >= 0], first + row)


def _check_unique(docs: list, query: Hashable) -> None:
    """Raise if a document is listed twice in a ranking."""
    if len(set(docs)) != len(docs):
        twice = next(doc for i, doc in enumerate(docs) if doc in docs[:i])
        raise ValueError(f"The ranking of query {query!r} holds {twice!r} twice. Remove the repetition.")


def _checked_scores(scores: Any, ids: np.ndarray) -> np.ndarray:
    """Scores of the shape of the ids, or an error."""
    scores = np.asarray(scores)
    if scores.dtype.kind != "f":
        raise TypeError(f"scores must be floating-point numbers, not {scores.dtype}: are these ids?")
    if scores.shape != ids.shape:
        raise ValueError(f"scores have shape {scores.shape}, the ids {ids.shape}: they must agree.")
    return scores


def _count_tied(ids: np.ndarray, scores: np.ndarray) -> int:
    """How many rankings hold two documents with the same score; raises on NaN, warns when all scores rise."""
    step, tied, rising, falling = max(1, _BLOCK // max(1, ids.shape[1])), 0, False, False
    for start in range(0, len(ids), step):
        block = scores[start : start + step].astype(np.float32)
        padding = ids[start : start + step] < 0
        block[padding] = np.nan  # equal to nothing, and sorted last
        if np.count_nonzero(np.isnan(block)) != np.count_nonzero(padding):
            raise ValueError("A score is not a number (NaN). Remove the document or give it a score.")
        up, down = block[:, 1:] > block[:, :-1], block[:, 1:] < block[:, :-1]
        rising, falling = rising or bool(up.any()), falling or bool(down.any())
        loose = up.any(axis=1)
        block[loose] = np.sort(block[loose], axis=1)
        tied += int(np.count_nonzero((block[:, 1:] == block[:, :-1]).any(axis=1)))
    if rising and not falling:
        warnings.warn("Scores rise along the rankings. If they are distances, pass their negative.", stacklevel=5)
    return tied


def _settled(ids: np.ndarray, scores: np.ndarray, seen: Ranked) -> np.ndarray:
    """Ranks under trec_eval's order: 1 + documents that score higher + tied documents whose text is greater."""
    settled = seen.rank.copy()
    step = max(1, _BLOCK // ids.shape[1])
    for start in range(0, len(settled), step):
        block = slice(start, start + step)
        rows, place = seen.query[block], seen.rank[block] - 1
        real, score = ids[rows] >= 0, scores[rows].astype(np.float32)
        mine = score[np.arange(len(rows)), place][:, None]
        rank = 1 + np.count_nonzero((score > mine) & real, axis=1)
        same = (score == mine) & real
        several = np.flatnonzero(np.count_nonzero(same, axis=1) > 1)
        if several.size:
            keys, own = _text_order(ids[rows[several]], ids[rows[several], place[several]])
            rank[several] += np.count_nonzero(same[several] & (keys > own), axis=1)
        settled[block] = rank
    return settled


def _text_order(ids: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that compare as the ids do when written as text, for ids (n, k) and one of each row, as (n, 1)."""
    values, inverse = np.unique(ids, return_inverse=True)
    place = np.empty(len(values), np.int64)
    place[np.argsort(values.astype(str))] = np.arange(len(values))
    return place[inverse.reshape(ids.shape)], place[np.searchsorted(values, own)][:, None]


# --- small parts -----------------------------------------------------------------------------------------


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, and 0 where whole is 0."""
    return part / (whole if whole.all() else np.where(whole > 0, whole, np.inf))


@lru_cache(maxsize=8)
def _discounts(depth: int) -> np.ndarray:
    """log2(rank + 1) at index rank, to rank depth. From the C library: numpy's differs in the last bit for some."""
    return np.array([1.0] + [math.log2(rank + 1) for rank in range(1, depth + 1)])


def _parse_names(metrics: str | Iterable[str], cutoffs: Iterable[int] | None) -> dict[str, tuple[str, int | None]]:
    """Canonical name -> (metric, cutoff), where R-precision has no cutoff."""
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    ks = [_cutoff(k) for k in cutoffs] if cutoffs is not None else []
    wanted: dict[str, tuple[str, int | None]] = {}
    for name in names:
        match = re.fullmatch(r"([a-z_]+)(?:@(\S*))?", str(name).strip().lower())
        if not match or match[1] not in METRICS:
            raise ValueError(f"Unknown metric {name!r}. Known: {', '.join(METRICS)}, with a cutoff such as ndcg@10.")
        metric, given = match.groups()
        if metric == "rprec":
            if given is not None:
                raise ValueError(f"{name!r}: R-precision takes no cutoff, its depth is each query's R. Write rprec.")
            wanted["rprec"] = ("rprec", None)
            continue
        if given is None and not ks:
            raise ValueError(f"{name!r} needs a cutoff: write {metric}@10, or give cutoffs=[10].")
        for k in [_cutoff(given)] if given is not None else ks:
            wanted[f"{metric}@{k}"] = (metric, k)
    if not wanted:
        raise ValueError("No metric was asked for. Give at least one, such as recall@10.")
    return wanted


def _level(level: Any) -> int:
    """A relevance level of at least 1: at 0 every judged document would be relevant."""
    if isinstance(level, bool) or not isinstance(level, Integral) or level < 1:
        raise ValueError(f"relevance_level must be a whole number of at least 1, not {level!r}.")
    return int(level)


def _cutoff(k: Any) -> int:
    """A whole number of at least 1, or an error."""
    try:
        number = int(k) if isinstance(k, str) else operator.index(k)
    except (TypeError, ValueError):
        number = 0
    if number < 1 or isinstance(k, bool):
        raise ValueError(f"A cutoff must be a whole number of at least 1, not {k!r}.")
    return number


def _kept(judgements: Judgements, no_relevant: str) -> tuple[slice | np.ndarray, Sequence[Hashable]]:
    """Which queries the means run over: an index, and their ids."""
    ids = judgements.query_ids
    empty = judgements.relevant == 0
    if no_relevant == "zero" or not empty.any():
        return slice(None), ids
    if no_relevant == "raise":
        raise ValueError(
            f"{np.count_nonzero(empty)} judged queries have no relevant document, the first is "
            f'{ids[int(empty.argmax())]!r}. Remove them, or choose no_relevant="zero" or "skip".'
        )
    keep = np.flatnonzero(~empty)
    if not keep.size:
        raise ValueError("No judged query has a relevant document, so none is left to score.")
    return keep, [ids[i] for i in keep]


def _uniform(entries: list) -> list:
    """Entries of qrels as dicts, or as lists without repetitions."""
    kinds = set(map(type, entries))
    if all(issubclass(kind, dict) for kind in kinds):
        return entries
    if all(issubclass(kind, Mapping) for kind in kinds):
        return [dict(entry) for entry in entries]
    for kind in kinds:
        if issubclass(kind, (str, bytes, Mapping)) or not issubclass(kind, Iterable):
            raise TypeError(
                "Each query of qrels needs a dict {doc: grade} or a list of ids, all of one form; "
                f"found {kind.__name__}."
            )
    lists = [entry.tolist() if isinstance(entry, np.ndarray) else list(entry) for entry in entries]
    for i, docs in enumerate(lists):
        if len(set(docs)) != len(docs):
            raise ValueError(f"qrels lists a document twice for query number {i}: {docs}. List each once.")
    return lists


def _whole_numbers(grades: list) -> np.ndarray:
    """Grades as (n,) int64, or an error that names the first that is no whole number."""
    try:
        return np.array(array("q", grades), dtype=np.int64)
    except (TypeError, OverflowError):
        pass
    for grade in grades:
        if not isinstance(grade, (int, float, np.number)) or not float(grade).is_integer() or abs(grade) > 1 << 31:
            raise ValueError(f"A grade must be a whole number, not {grade!r}: 0 is not relevant, 1 and above are.")
    return np.array([int(grade) for grade in grades], dtype=np.int64)


def _check_kinds(retrieved: set[type], judged_kinds: set[type]) -> None:
    """Raise if scores were given for ids, or text ids meet integer ids."""
    if any(issubclass(kind, (float, np.floating)) for kind in retrieved):
        raise TypeError("A ranking holds floating-point numbers, which look like scores. Pass ids, best first.")
    texts = [{issubclass(kind, str) for kind in kinds} for kinds in (retrieved, judged_kinds)]
    if texts[0] and texts[1] and not texts[0] & texts[1]:
        names = ["text" if True in kind else "numbers" for kind in texts]
        raise TypeError(f"The ids of the ranking are {names[0]}, those of qrels are {names[1]}: use one type for both.")


def _warn_no_overlap(what: str, ours: Any, theirs: Any) -> None:
    """Say that run and qrels share nothing, with an example of each."""
    warnings.warn(
        f"No {what} of the run occurs in qrels (for example {ours!r} against {theirs!r}): every metric is 0. "
        f"Check that both use the same {what} ids.",
        stacklevel=5,
    )
