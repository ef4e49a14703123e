"""Rankings in the forms that people have, checked and put in trec_eval's order."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np

from helpers._trec_order import single_precision, trec_order, trec_rows
from helpers.metrics.lookup import check_padding, check_unique, match_rows, row_blocks
from helpers.metrics.qrels import Judgements, Ranked

OneRanking = Mapping[Any, float] | Iterable[Hashable]  # of one query: {doc: score}, or documents, the best first
Retrieved = np.ndarray | Mapping[Any, OneRanking] | Sequence[OneRanking]


@dataclass(frozen=True, eq=False)
class Rankings:
    """The rankings of the judged queries, in their final order."""

    counts: np.ndarray  # (q,) how many documents each holds
    tied: int  # in how many two documents have the same score
    unjudged: int  # queries of the run that have no judgements and were ignored
    match: Callable[[int], Ranked]  # the judged documents down to a rank; warns if there are none at any rank

    @property
    def longest(self) -> int:
        """The rank of the last document of the longest ranking."""
        return int(self.counts.max(initial=0))


def read_rankings(
    retrieved: Retrieved, judgements: Judgements, scores: np.ndarray | None = None, doc_ids: Sequence[Any] | None = None
) -> Rankings:
    """Read the accepted forms: an integer array, lists of ids, or a run keyed by query; see `evaluate`."""
    if isinstance(retrieved, Mapping):
        if judgements.aligned:
            raise TypeError("The run is keyed by query, qrels is a list: key both by query, or neither.")
        run: Mapping[Any, OneRanking] = retrieved
    else:
        if not judgements.aligned:
            raise TypeError(
                "qrels is keyed by query, the ranking is not: give a run {query: [doc, …]}, or a list of qrels."
            )
        rankings = retrieved if isinstance(retrieved, np.ndarray) else list(retrieved)
        if len(rankings) != judgements.n_queries:
            raise ValueError(
                f"{len(rankings)} rankings for {judgements.n_queries} judged queries: there must be one each."
            )
        if isinstance(rankings, np.ndarray) and rankings.dtype.kind not in "OUS":
            return _of_rows(*_ordered_rows(rankings, scores, doc_ids), judgements)
        run = dict(enumerate(rankings.tolist() if isinstance(rankings, np.ndarray) else rankings))
    if scores is not None:
        raise ValueError("Scores of a run belong inside it: {query: {doc: score}}. Leave `scores` out.")
    return _read_run(run, judgements)


def _of_rows(ids: np.ndarray, tied: int | None, judgements: Judgements) -> Rankings:
    """Rankings of rows of a corpus, (q, k) with -1 as padding; `tied` is None if their order is not that of scores."""

    def match(depth: int) -> Ranked:
        if depth > ids.shape[1]:
            warn(f"The rankings hold {ids.shape[1]} places: a cutoff of {depth} sees no more.")
        # by scores every document had a part in the order, so all are checked
        ranked = match_rows(ids[:, :depth] if tied is None else ids, judgements)
        if not len(ranked) and judgements.docs and (ids >= 0).any() and not len(match_rows(ids, judgements)):
            _warn_no_overlap("document", int(ids.max()), judgements.docs[0])
        return ranked.top(depth)

    counts = np.full(len(ids), ids.shape[1])
    padded = np.flatnonzero((ids[:, -1:] < 0).any(axis=1))
    counts[padded] = np.count_nonzero(ids[padded] >= 0, axis=1)
    return Rankings(counts, tied or 0, 0, match)


def _ordered_rows(
    ids: np.ndarray, scores: np.ndarray | None, doc_ids: Sequence[Any] | None
) -> tuple[np.ndarray, int | None]:
    """An integer array (q, k), ordered by scores if there are any, and how many rankings have ties by them."""
    if ids.dtype.kind == "f":
        raise TypeError(
            "The ranking holds floating-point numbers, which look like scores. FAISS returns (scores, ids): "
            "pass the ids, and the scores as `scores=` if ties should be settled by them."
        )
    if ids.dtype.kind not in "iu" or ids.ndim != 2:
        raise TypeError(f"The ranking must be an integer array (queries, k), not {ids.dtype} of shape {ids.shape}.")
    if scores is None:
        return ids, None
    scores = np.asarray(scores)
    if scores.dtype.kind != "f":
        raise TypeError(f"scores must be floating-point numbers, not {scores.dtype}: are these ids?")
    if scores.shape != ids.shape:
        raise ValueError(f"scores have shape {scores.shape}, the ids {ids.shape}: they must agree.")
    return order_rows(ids, scores, str if doc_ids is None else lambda row: str(doc_ids[row]))


def _read_run(run: Mapping[Any, OneRanking], judgements: Judgements) -> Rankings:
    """The rankings of the judged queries; a query that the run lacks has an empty one."""
    judged = set(judgements.query_ids)
    unjudged = sum(query not in judged for query in run)
    if unjudged == len(run) and run:
        _warn_no_overlap("query", next(iter(run)), judgements.query_ids[0])
    ranks, counts, tied, docs = [], [], 0, iter(judgements.docs)
    kinds: dict[type, Any] = {}
    for query, n in zip(judgements.query_ids, judgements.n_judged.tolist(), strict=True):
        ranking, wanted = run.get(query, ()), list(islice(docs, n))
        if isinstance(ranking, Mapping):
            ranking = {doc: score for doc, score in ranking.items() if doc != -1} if -1 in ranking else ranking
            found, has_ties = _ranks_by_score(ranking, wanted, query)
            tied += has_ties
        else:
            ranking = _listed(ranking, query)
            place = {doc: rank for rank, doc in enumerate(ranking, 1)}
            found = [place.get(doc, 0) for doc in wanted]
        ranks += found
        counts.append(len(ranking))
        for kind in set(map(type, ranking)) - kinds.keys():
            kinds[kind] = next(doc for doc in ranking if type(doc) is kind)

    def match(depth: int) -> Ranked:
        _check_kinds(set(kinds), set(map(type, judgements.docs)))
        rank = np.array(ranks, np.int64)
        found = np.flatnonzero(rank)
        if judgements.docs and kinds and not len(found):
            _warn_no_overlap("document", next(iter(kinds.values())), judgements.docs[0])
        return Ranked.best_first(judgements.query[found], rank[found], judgements.grade[found]).top(depth)

    return Rankings(np.array(counts), tied, unjudged, match)


def _listed(ranking: Iterable[Hashable], query: Hashable) -> list[Any]:
    if isinstance(ranking, (str, bytes)) or not isinstance(ranking, Iterable):
        raise TypeError(f"The ranking of query {query!r} is {ranking!r}: expected a list of ids or {{doc: score}}.")
    docs = ranking.tolist() if isinstance(ranking, np.ndarray) else list(ranking)
    while docs and isinstance(docs[-1], Integral) and docs[-1] < 0:  # FAISS pads with -1
        docs.pop()
    if any(isinstance(doc, Integral) and doc < 0 for doc in docs):
        raise ValueError(f"The ranking of query {query!r} has padding (-1) before an id: move it to the end.")
    check_unique(docs, query)
    return docs


def _ranks_by_score(ranking: Mapping[Any, float], wanted: list[Any], query: Hashable) -> tuple[list[int], bool]:
    """The ranks of the documents wanted in trec_eval's order, 0 if not retrieved, and whether two of all are tied."""
    scores = single_precision(list(ranking.values()))
    if np.isnan(scores).any():
        raise ValueError(f"A score of query {query!r} is not a number (NaN). Remove the document or give it a score.")
    ascending = np.sort(scores)
    if (ascending[1:] == ascending[:-1]).any():
        place = {doc: rank for rank, doc in enumerate(trec_order(list(ranking), scores, str), 1)}
        return [place.get(doc, 0) for doc in wanted], True
    retrieved = [doc for doc in wanted if doc in ranking]
    above = len(scores) - ascending.searchsorted(single_precision([ranking[doc] for doc in retrieved]))
    place = dict(zip(retrieved, above.tolist(), strict=True))
    return [place.get(doc, 0) for doc in wanted], False


def order_rows(ids: np.ndarray, scores: np.ndarray, text_of: Callable[[int], str]) -> tuple[np.ndarray, int]:
    """Put rankings of rows, (q, k), in trec_eval's order, and count those in which two documents share a score.

    Only rankings out of order are touched: they are sorted where a score rises, and then the documents of equal score
    by id.
    """
    ordered, tied, rises, falls = ids, 0, False, False
    for queries in row_blocks(*ids.shape):
        block, block_scores = ids[queries], single_precision(scores[queries])
        padding = block < 0
        block_scores[padding] = np.nan  # equal to nothing, and sorted last
        if np.count_nonzero(np.isnan(block_scores)) != np.count_nonzero(padding):
            raise ValueError("A score is not a number (NaN). Remove the document or give it a score.")
        rising = bool((block_scores[:, 1:] > block_scores[:, :-1]).any())
        rises, falls = rises or rising, falls or bool((block_scores[:, 1:] < block_scores[:, :-1]).any())
        check_padding(block, queries.start)
        if rising:
            best_first = np.argsort(-block_scores)
            block = np.take_along_axis(block, best_first, axis=1)
            block_scores = np.take_along_axis(block_scores, best_first, axis=1)
        equal = block_scores[:, 1:] == block_scores[:, :-1]
        if equal.any():
            block = _order_ties(block, equal, text_of)
            tied += int(np.count_nonzero(equal.any(axis=1)))
        if block.base is not ids:
            ordered = ids.copy() if ordered is ids else ordered
            ordered[queries] = block
    if rises and not falls:
        warn("Scores rise along the rankings. If they are distances, pass their negative.")
    return ordered, tied


def _order_ties(block: np.ndarray, equal: np.ndarray, text_of: Callable[[int], str]) -> np.ndarray:
    """A copy of sorted rankings with ties in trec_eval's order; `equal` is true where a score equals the next."""
    as_before = np.pad(equal, ((0, 0), (1, 0)))
    in_tie = as_before | np.pad(equal, ((0, 0), (0, 1)))
    group, tied = np.cumsum(~as_before[in_tie]), block[in_tie]
    ordered = block.copy()
    ordered[in_tie] = tied[trec_rows(group, np.zeros(len(group)), tied, text_of)]
    return ordered


def checked_cutoff(k: object) -> int:
    """A whole number of at least 1, or an error."""
    try:
        cutoff = int(k) if isinstance(k, str) else operator.index(k)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        cutoff = 0
    if cutoff < 1 or isinstance(k, bool):
        raise ValueError(f"A cutoff must be a whole number of at least 1, not {k!r}.")
    return cutoff


def _check_kinds(retrieved: set[type], judged: set[type]) -> None:
    if any(issubclass(kind, (float, np.floating)) for kind in retrieved):
        raise TypeError("A ranking holds floating-point numbers, which look like scores. Pass ids, best first.")
    retrieved_text, judged_text = ({issubclass(kind, str) for kind in kinds} for kinds in (retrieved, judged))
    if retrieved_text and judged_text and not retrieved_text & judged_text:
        ours, theirs = ("text" if True in is_text else "numbers" for is_text in (retrieved_text, judged_text))
        raise TypeError(f"The ids of the ranking are {ours}, those of qrels are {theirs}: use one type for both.")


def _warn_no_overlap(kind: str, retrieved: object, judged: object) -> None:
    """Warn that run and qrels share nothing, with an example of each."""
    from unicodedata import is_normalized  # for the message alone

    same, shown = f"Check that both use the same {kind} ids.", (repr(retrieved), repr(judged))
    if not all(is_normalized("NFC", str(one)) for one in (retrieved, judged)):  # "é" as one sign or as two
        same, shown = "Write the ids of both in one Unicode form, NFC.", (ascii(retrieved), ascii(judged))
    warn(f"No {kind} of the run occurs in qrels (for example {' against '.join(shown)}): every metric is 0. {same}")


def warn(message: str) -> None:
    """Warn, naming the line outside this package that called into it."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith(__package__):
        level += 1
    warnings.warn(message, stacklevel=level + 1)
