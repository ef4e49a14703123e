"""Systems built on rankings: runs of other engines, fusion of several systems, reranking."""

import contextlib
import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from helpers._optional import Note
from helpers._trec_order import single_precision, trec_rows
from helpers.data import RetrievalDataset
from helpers.data.runs import RunTable
from helpers.systems.pipeline import Ranking, System

if TYPE_CHECKING:
    from FlagEmbedding import FlagReranker

PADDING = -1
DEPTH = 100  # candidates per query
RRF_K = 60  # Cormack, Clarke and Büttcher (2009)
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Run:
    """A run of any engine: ``{query: {doc: score}}``, as :func:`helpers.data.trec.read_run` returns it.

    The order is trec_eval's: score in single precision descending, then id as text descending. A document that is not
    in the corpus keeps its rank and its judgement, as in trec_eval; its row is past the end of the corpus, see
    :meth:`doc_ids`. Duplicate passages that were merged count once, with the highest of their scores.
    """

    run: Mapping[str, Mapping[str, float]] | RunTable = field(repr=False)

    @cached_property
    def table(self) -> RunTable:
        """The run as arrays."""
        return self.run if isinstance(self.run, RunTable) else RunTable.of(self.run)

    def doc_ids(self, data: RetrievalDataset) -> list[str]:
        """Return the document id of each row in :meth:`rank`: those of the data, then those of the run alone."""
        known = {*data.doc_ids, *data.same_as}
        return [*data.doc_ids, *(doc for doc in self.table.documents if doc not in known)]

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Return the k best documents of each query of the collection; -1 fills the rest.

        Raises ValueError for a run that matches nothing, and warns of documents that the data lack.
        """
        table, ids = self.table, self.doc_ids(data)
        if not len(table.scores):
            raise ValueError("The run is empty: there is nothing to score.")
        known = (*data.doc_ids, *data.same_as)
        for kind, theirs, ours in (("query", table.queries, data.query_ids), ("document", table.documents, known)):
            if set(ours).isdisjoint(theirs):
                raise ValueError(
                    f"No {kind} of the run is in the data (for example {theirs[0]!r} against {ours[0]!r}): check "
                    "that both use the same ids."
                )
        if (foreign := len(ids) - len(data.doc_ids)) and not data.judged_alone:
            text = "{count} of the run's {of} documents are not in the corpus: they keep their ranks and count "
            warnings.warn(Note(text + "as unjudged.", count=foreign, of=len(table.documents)), stacklevel=2)
        row_of = dict(zip(ids, range(len(ids)), strict=True))
        row_of |= {doc: row_of[kept] for doc, kept in data.same_as.items() if kept in row_of}
        query_of = {query: row for row, query in enumerate(data.query_ids)}
        queries = np.array([query_of.get(query, PADDING) for query in table.queries], np.int32)[table.query]
        documents = np.array([row_of[doc] for doc in table.documents], np.int32)[table.document]
        scores = np.clip(single_precision(table.scores), -LARGEST, LARGEST)
        order = trec_rows(queries, scores, documents, ids.__getitem__)
        order = order[queries[order] >= 0]
        if data.same_as:  # of copies that were merged the first counts
            pairs = queries[order].astype(np.int64) * len(ids) + documents[order]
            order = order[np.sort(np.unique(pairs, return_index=True)[1])]
        queries, scores, documents = queries[order], scores[order], documents[order]
        del order  # of millions of lines the memory is needed
        return stacked(queries, scores, documents, (len(data.queries), k))


@dataclass(frozen=True)
class Fusion:
    """Fusion of the rankings of several systems.

    ``how="rrf"``: reciprocal-rank fusion, the sum of 1 / (rrf_k + rank) over the systems that retrieved the passage
    (Cormack, Clarke and Büttcher 2009). ``how="weighted"``: the weighted sum of min-max scaled scores. For each system
    and query, the last retrieved passage scores 0 and the first 1; a passage that was not retrieved scores 0.

    Passages of equal score, in single precision, are in trec_eval's order, id as text descending, also where the list
    is cut. ``weights``, one a system, are equal by default; ``depth`` passages are taken from each, by default 100, or
    k if that is more; a smaller ``rrf_k`` favours the first ranks.
    """

    parts: Sequence[System]
    how: str = "rrf"
    weights: Sequence[float] | None = None
    depth: int | None = None
    rrf_k: float = RRF_K

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown fusion, a wrong number of weights, or a constant below 0 or infinite."""
        if self.how not in ("rrf", "weighted"):
            raise ValueError(f"how={self.how!r}: expected 'rrf' or 'weighted'.")
        if not 0 <= self.rrf_k < float("inf"):
            raise ValueError(f"rrf_k={self.rrf_k!r}: expected a number of at least 0, such as {RRF_K}.")
        weights = [1] * len(self.parts) if self.weights is None else self.weights
        numbers = [weight for weight in weights if isinstance(weight, int | float) and weight >= 0]
        if not len(numbers) == len(weights) == len(self.parts) or not sum(numbers):
            raise ValueError(f"weights={weights!r}: expected {len(self.parts)} numbers of at least 0, one a system.")

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Return the k best passages of each query, padded with -1 where fewer were retrieved."""
        depth = min(self.depth or max(k, DEPTH), len(data.corpus))
        rankings = [part.rank(data, depth) for part in self.parts]
        pairs, gains = [], []  # a pair of query and passage is one number
        for (scores, ids), weight in zip(rankings, self.weights or [1.0] * len(rankings), strict=True):
            values = np.broadcast_to(1.0 / (self.rrf_k + 1 + np.arange(ids.shape[1])), ids.shape)
            if self.how == "weighted":
                scores = scores.astype(np.float64)
                low = np.where(ids >= 0, scores, np.inf).min(axis=1, keepdims=True)
                spread = scores[:, :1] - low  # 0 where all are equal, which become 1
                values = np.divide(scores - low, spread, out=np.ones_like(scores), where=spread > 0)
            inside = (ids >= 0) & (ids < len(data.corpus))
            pairs.append((ids + np.arange(len(ids), dtype=np.int64)[:, None] * len(data.corpus))[inside])
            gains.append(weight * values[inside])
        found, places = np.unique(np.concatenate(pairs), return_inverse=True)
        totals = np.bincount(places, np.concatenate(gains))  # adds system by system
        return best_of(*np.divmod(found, len(data.corpus)), totals, data, k)


class Scorer(Protocol):
    """A scorer of candidates for reranking."""

    def scores(self, data: RetrievalDataset, candidates: np.ndarray) -> list[np.ndarray]:
        """Score the candidates of each query, corpus rows (q, depth) padded with -1; higher is better."""


@dataclass(frozen=True)
class Rerank:
    """The first ``depth`` passages of a system, reordered by a scorer."""

    part: System
    scorer: Scorer
    depth: int = DEPTH

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Return the k best passages of each query, padded with -1 beyond the depth."""
        depth = min(self.depth, len(data.corpus))
        ids = self.part.rank(data, depth).ids
        ids = np.where(ids < len(data.corpus), ids, PADDING)  # documents that only a run has: they have no text
        values = self.scorer.scores(data, ids)
        for query, candidates, scores in zip(data.query_ids, ids, values, strict=True):
            passages, bad = int((candidates >= 0).sum()), int((~np.isfinite(scores)).sum())
            if len(scores) != passages or bad:
                raise ValueError(
                    f"The reranker gave {len(scores)} scores for query {query!r}, {bad} of them NaN or infinite: "
                    f"expected a finite number for each of its {passages} candidates."
                )
        return best_of(np.nonzero(ids >= 0)[0], ids[ids >= 0], np.concatenate(values), data, k)


@dataclass(frozen=True)
class FlagScorer:
    """A cross-encoder run by FlagEmbedding: one network reads query and passage together."""

    reranker: "FlagReranker"
    batch_size: int = 32
    progress: bool = False

    def scores(self, data: RetrievalDataset, candidates: np.ndarray) -> list[np.ndarray]:
        """Score all pairs in one call, which sorts them by length, and draws bars that no option stops."""
        pairs = [(data.queries[q], data.corpus[p]) for q, rows in enumerate(candidates) for p in rows[rows >= 0]]
        counts = (candidates >= 0).sum(axis=1)
        with contextlib.nullcontext() if self.progress else contextlib.redirect_stderr(io.StringIO()):
            values = self.reranker.compute_score(pairs, batch_size=self.batch_size) if pairs else []
        return np.split(np.atleast_1d(np.asarray(values, np.float64)), np.cumsum(counts)[:-1])


def best_of(queries: np.ndarray, passages: np.ndarray, values: np.ndarray, data: RetrievalDataset, k: int) -> Ranking:
    """Rank scored pairs, (n,) each, in trec_eval's order, as `evaluate` has it: the k best of each query."""
    scores = single_precision(values)
    order = trec_rows(queries, scores, passages, data.doc_ids.__getitem__)
    return stacked(queries[order], scores[order], passages[order], (len(data.queries), k))


def stacked(queries: np.ndarray, scores: np.ndarray, passages: np.ndarray, shape: tuple[int, int]) -> Ranking:
    """Return the first k passages of each query, of n in order, as a ranking of shape (q, k) padded with -1."""
    ranking = Ranking(np.zeros(shape, np.float32), np.full(shape, PADDING, np.int64))
    places = np.arange(len(queries)) - np.searchsorted(queries, queries)
    first = places < shape[1]
    ranking.scores[queries[first], places[first]] = scores[first]
    ranking.ids[queries[first], places[first]] = passages[first]
    return ranking
