"""The metrics: each one function of the hits, one value a query.

Each can be called with rankings and judgements, `recall(retrieved, qrels, k)`, or with hits, `recall(hits, k)`:
`@metric` adds the first form to the second. R is `hits.n_relevant`, the number of relevant documents of a query;
`hits.relevant` are those that were retrieved, with their ranks.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from helpers.metrics.hits import Hits
from helpers.metrics.qrels import Judgements, Ranked
from helpers.metrics.registry import metric

__all__ = [
    "average_precision", "bpref", "capped_recall", "dcg", "err", "judged", "ndcg", "precision", "r_precision", "rbp",
    "rbp_residual", "recall", "reciprocal_rank", "success",
]  # fmt: skip


def divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, and 0 where whole is 0."""
    share: np.ndarray = part / (whole if whole.all() else np.where(whole > 0, whole, np.inf))
    return share


@metric("recall")
def recall(hits: Hits, k: int) -> np.ndarray:
    """Recall@k: relevant documents in the top k / R. Shape (q,).

    trec_eval's `recall`. Not the share of min(k, R), which is `capped_recall`: with R > k this one stays
    below 1 however good the ranking is.
    """
    return divide(hits.count(k), hits.n_relevant)


@metric("capped_recall")
def capped_recall(hits: Hits, k: int) -> np.ndarray:
    """Capped recall@k: relevant documents in the top k / min(k, R). Shape (q,).

    trec_eval's `relative_P`, BEIR's `R_cap`. A perfect top k scores 1 at every k; not comparable with
    trec_eval's `recall`.
    """
    return divide(hits.count(k), np.minimum(k, hits.n_relevant))


@metric("precision")
def precision(hits: Hits, k: int) -> np.ndarray:
    """Precision@k: relevant documents in the top k / k. Shape (q,).

    trec_eval's `P`. Divides by k even when fewer documents were retrieved.
    """
    return hits.count(k) / k


@metric("mrr")
def reciprocal_rank(hits: Hits, k: int) -> np.ndarray:
    """Reciprocal rank@k: 1 / rank of the first relevant document, 0 if that is beyond k. Shape (q,).

    Its mean is MRR@k. trec_eval's `recip_rank` is the same without a cutoff.
    """
    first = hits.first.top(k)
    return hits.per_query(first.query, 1 / first.rank)


@metric("map")
def average_precision(hits: Hits, k: int) -> np.ndarray:
    """Average precision@k: sum of the precision at each relevant rank ≤ k, / R. Shape (q,).

    trec_eval's `map_cut`; its mean is MAP@k. Not divided by the hits found (that value can fall as k
    grows), nor by min(k, R).
    """
    top = hits.relevant.top(k)
    return divide(hits.per_query(top.query, top.so_far / top.rank), hits.n_relevant)


@metric("ndcg")
def ndcg(hits: Hits, k: int, *, gain: str = "linear") -> np.ndarray:
    """nDCG@k: DCG of the ranking / DCG of the ideal ranking of all judged documents. Shape (q,).

    trec_eval's `ndcg_cut`: the idea of Järvelin and Kekäläinen (2002) with the discount log2(rank + 1) and the
    grade as gain. `gain="exponential"` is 2^grade - 1 (Burges et al. 2005), the same for grades 0 and 1. The
    ideal is not limited to what was retrieved.
    """
    return divide(dcg(hits.gains.top(k), hits.n_queries, gain), ideal_dcg(hits.judgements, k, gain))


def dcg(ranking: Ranked, queries: int, gain: str = "linear") -> np.ndarray:
    """Discounted cumulative gain: sum of gain / log2(rank + 1) over a query's documents. Shape (queries,).

    Raises:
        ValueError: `gain` is neither "linear" (the grade) nor "exponential" (2^grade - 1).
    """
    if gain not in ("linear", "exponential"):
        raise ValueError(f'gain must be "linear" or "exponential", not {gain!r}.')
    gains = ranking.grade if gain == "linear" else 2.0**ranking.grade - 1
    deepest = int(ranking.rank[-1]) if len(ranking) else 0
    return np.bincount(ranking.query, gains / discounts(deepest)[ranking.rank], minlength=queries)


def ideal_dcg(judgements: Judgements, k: int, gain: str) -> np.ndarray:
    """DCG of the ideal ranking down to rank k, (q,). Computed once for each k and gain."""
    key = ("ideal dcg", k, gain)
    if key not in judgements.computed:
        judgements.computed[key] = dcg(judgements.ideal.top(k), judgements.n_queries, gain)
    return judgements.computed[key]


@lru_cache(maxsize=8)
def discounts(depth: int) -> np.ndarray:
    """log2(rank + 1) at index rank, to rank depth. From the C library: numpy's differs in the last bit for some."""
    return np.array([1.0] + [math.log2(rank + 1) for rank in range(1, depth + 1)])


@metric("success")
def success(hits: Hits, k: int) -> np.ndarray:
    """Success@k: 1 if the top k holds a relevant document, else 0. Shape (q,).

    trec_eval's `success`, elsewhere called hit rate or top-k accuracy.
    """
    return (hits.count(k) > 0).astype(np.float64)


@metric("judged")
def judged(hits: Hits, k: int) -> np.ndarray:
    """Judged@k: documents of the top k that have a judgement, of any grade / documents in the top k. Shape (q,).

    ir_measures' `Judged`: fewer than k retrieved are divided by their number. Most metrics here count an
    unjudged document as not relevant, so where this is low they may be too low.
    """
    return divide(hits.per_query(hits.judged.top(k).query), np.minimum(k, hits.retrieved))


@metric("rprec")
def r_precision(hits: Hits) -> np.ndarray:
    """R-precision: relevant documents in the top R / R. Shape (q,). trec_eval's `Rprec`; takes no cutoff."""
    in_top = hits.relevant.rank <= hits.n_relevant[hits.relevant.query]
    return divide(hits.per_query(hits.relevant.query[in_top]), hits.n_relevant)


@metric("rbp")
def rbp(hits: Hits, k: int, *, persistence: float = 0.8) -> np.ndarray:
    """Rank-biased precision@k: sum of (1 - p) · p^(rank - 1) over the relevant ranks ≤ k. Shape (q,).

    Moffat and Zobel (2008, ACM TOIS 27(1):2): the reader goes on from each document to the next with the
    probability p, `persistence`. Needs no R. ir_measures' `RBP(rel=1, p=0.8)`, which has no cutoff: a document is
    relevant or not, by `relevance_level`. The gain that unjudged documents might add is `rbp_residual`.
    """
    top = hits.relevant.top(k)
    return hits.per_query(top.query, rank_weights(top.rank, persistence))


@metric("rbp_residual")
def rbp_residual(hits: Hits, k: int, *, persistence: float = 0.8) -> np.ndarray:
    """Residual of rbp@k: its gain if every unjudged document were relevant. Shape (q,).

    Moffat and Zobel (2008): 1 less the weight of the ranks ≤ k that hold a judged document, so ranks beyond k and
    beyond a ranking's end belong to it. The true value lies between rbp and rbp + residual. As in trec_eval a
    negative grade is no judgement; its `rbp_resid` is 0, without the tail, where everything retrieved is judged.
    """
    top = hits.judged.at_least(0).top(k)
    return 1 - hits.per_query(top.query, rank_weights(top.rank, persistence))


def rank_weights(rank: np.ndarray, persistence: float) -> np.ndarray:
    """(1 - p) · p^(rank - 1): the probability that a reader's last document is the one at this rank."""
    if not 0 < persistence < 1:
        raise ValueError(f"persistence must lie between 0 and 1, not {persistence!r}: 0.8 looks at 5 documents or so.")
    return (1 - persistence) * persistence ** (rank - 1.0)


@metric("err")
def err(hits: Hits, k: int, *, max_grade: int | None = None) -> np.ndarray:
    """Expected reciprocal rank@k: sum of P(the reader stops at the rank) / rank. Shape (q,).

    Chapelle et al. (2009, CIKM): a document satisfies with the probability (2^grade - 1) / 2^max_grade, and the
    reader goes on until one does. `max_grade` is the top of the scale: by default the highest grade in the
    judgements of all queries; TREC's gdeval, and so ir_measures' `ERR`, fixes it at 4. Knows no `relevance_level`.

    Raises:
        ValueError: a judged grade exceeds `max_grade`.
    """
    highest = int(hits.judgements.grade.max(initial=0))
    if max_grade is not None and highest > max_grade:
        raise ValueError(f"max_grade is {max_grade}, but a document is judged {highest}: give the top of the scale.")
    top = hits.gains.top(k)
    scale = 2.0 ** (highest if max_grade is None else max_grade)
    satisfies = (2.0**top.grade - 1) / scale
    still_reading, value = np.ones(hits.n_queries), np.zeros(hits.n_queries)
    for rank, documents in top.ranks():
        query = top.query[documents]
        value[query] += still_reading[query] * satisfies[documents] / rank
        still_reading[query] *= 1 - satisfies[documents]
    return value


@metric("bpref")
def bpref(hits: Hits) -> np.ndarray:
    """bpref: share of the judged non-relevant documents that each relevant one is ranked above, / R. Shape (q,).

    Buckley and Voorhees (2004, SIGIR), as in trec_eval: the mean over the R relevant documents of
    1 - min(n, R) / min(N, R), where n of the query's N documents judged not relevant are ranked above it; a relevant
    document that was not retrieved adds 0. Unjudged documents are passed over, a negative grade is no judgement.
    Looks at the whole ranking, so it takes no cutoff.
    """
    known = hits.judged.at_least(0)
    is_relevant = known.grade >= hits.judgements.relevance_level
    query = hits.relevant.query
    above = known.so_far[is_relevant] - hits.relevant.so_far  # judged documents above it less the relevant ones
    limit = hits.n_relevant[query]
    wrong = divide(np.minimum(above, limit), np.minimum(hits.judgements.n_nonrelevant[query], limit))
    return divide(hits.per_query(query, 1 - wrong), hits.n_relevant)
