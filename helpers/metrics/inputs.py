"""Rankings in the forms that people have, checked, and the ranks of judged documents in them by trec_eval's order."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from helpers._trec_order import single_precision
from helpers.metrics.qrels import Judgements

BLOCK = 1 << 17  # numbers looked at together: few enough that they stay in the processor's cache
POOL = 64  # judged documents of a query above which they are sorted
OneRanking = Mapping[Any, float] | Iterable[Hashable]  # of one query: {doc: score}, or documents, the best first
Retrieved = np.ndarray | Mapping[Any, OneRanking] | Sequence[OneRanking]


class Rankings(NamedTuple):
    """Where the n judged documents stand in the rankings of the q judged queries."""

    rank: np.ndarray  # (n,) from 1; 0 if the document was not retrieved, or was not looked for so far down
    counts: np.ndarray  # (q,) how many documents each ranking holds
    unjudged: int  # queries of the run that have no judgements and were ignored
    tied: int  # in how many rankings two documents have the same score


def read_rankings(
    retrieved: Retrieved,
    judgements: Judgements,
    depth: int | None = None,
    scores: np.ndarray | None = None,
    doc_ids: Sequence[Any] | None = None,
) -> Rankings:
    """Read the accepted forms: an integer array, lists of ids, or a run keyed by query; see `evaluate`."""
    rows = retrieved if isinstance(retrieved, np.ndarray) and retrieved.dtype.kind not in "OUS" else None
    if doc_ids is not None and (rows is None or scores is None or rows.max(initial=0) >= len(doc_ids)):
        raise ValueError("doc_ids goes with `scores` and an array of rows: give the id of every row, or leave it out.")
    if isinstance(retrieved, Mapping):
        if judgements.aligned:
            raise TypeError("The run is keyed by query, qrels is a list: key both by query, or neither.")
        run: Mapping[Any, OneRanking] = retrieved
    else:
        if not judgements.aligned:
            raise TypeError("qrels is keyed by query, the ranking is not: give {query: [doc, …]}, or a list of qrels.")
        rankings = retrieved if isinstance(retrieved, np.ndarray) else list(retrieved)
        if len(rankings) != judgements.n_queries:
            raise ValueError(
                f"{len(rankings)} rankings for {judgements.n_queries} judged queries: there must be one each."
            )
        if rows is not None:
            text_of = str if doc_ids is None else lambda row: str(doc_ids[row])
            return _read_rows(rows, judgements, depth, scores, text_of)
        run = dict(enumerate(rankings.tolist() if isinstance(rankings, np.ndarray) else rankings))
    if scores is not None:
        raise ValueError("Scores of a run belong inside it: {query: {doc: score}}. Leave `scores` out.")
    return _read_run(run, judgements)


def _read_rows(
    ids: np.ndarray,
    judgements: Judgements,
    depth: int | None,
    scores: np.ndarray | None,
    text_of: Callable[[int], str],
) -> Rankings:
    """Rankings of rows of a corpus, (q, k) with -1 as padding, in the order of scores if there are any."""
    if ids.dtype.kind == "f":
        raise TypeError(
            "The ranking holds floating-point numbers, which look like scores. FAISS returns (scores, ids): "
            "pass the ids, and the scores as `scores=` if ties should be settled by them."
        )
    if ids.dtype.kind not in "iu" or ids.ndim != 2:
        raise TypeError(f"The ranking must be an integer array (queries, k), not {ids.dtype} of shape {ids.shape}.")
    whole, tied = ids.astype(np.int64, copy=False), 0
    if (cutoff := depth or 1) > ids.shape[1]:
        warn(f"The rankings hold {ids.shape[1]} places: a cutoff of {cutoff} sees no more.")
    seen = whole if scores is not None else whole[:, :depth]
    _check_rows(seen)
    rank = _places(seen, judgements)
    if not rank.any() and judgements.docs and (whole >= 0).any() and not _places(whole, judgements).any():
        _warn_no_overlap("document", int(whole.max()), judgements.docs[0])
    if scores is not None:
        tied = _order_by_score(rank, whole, judgements, np.asarray(scores), text_of)
    return Rankings(rank, np.count_nonzero(whole >= 0, axis=1), 0, tied)


def _places(ids: np.ndarray, judgements: Judgements) -> np.ndarray:
    """The place, from 1, of every judged row in the ids of its query, (q, k); 0 if it is not among them."""
    places, ends, rows = np.zeros(len(judgements.rows), np.int64), np.cumsum(judgements.n_judged), judgements.rows
    pools = judgements.n_judged > POOL
    for query in np.flatnonzero(pools).tolist():  # sorted, as comparing would take long
        judged = slice(ends[query] - judgements.n_judged[query], ends[query])
        _, column, number = np.intersect1d(ids[query], rows[judged], return_indices=True)
        places[judged][number] = column + 1
    few = np.flatnonzero(~pools[judgements.query])
    for part in _blocks(len(few), ids.shape[1]):
        equal = ids[judgements.query[few[part]]] == rows[few[part], None]
        found, column = np.divmod(np.flatnonzero(equal), ids.shape[1])
        places[few[part][found]] = column + 1
    return places


def _order_by_score(
    rank: np.ndarray, ids: np.ndarray, judgements: Judgements, scores: np.ndarray, text_of: Callable[[int], str]
) -> int:
    """Turn places into ranks by score, of equal ones by id; return in how many rankings two documents share a score."""
    if scores.dtype.kind != "f":
        raise TypeError(f"scores must be floating-point numbers, not {scores.dtype}: are these ids?")
    if scores.shape != ids.shape:
        raise ValueError(f"scores have shape {scores.shape}, the ids {ids.shape}: they must agree.")
    scores = single_precision(scores)
    if np.isnan(scores[ids >= 0]).any():
        raise ValueError("A score is not a number (NaN). Remove the document or give it a score.")
    scores[ids < 0] = np.nan  # padding: neither above a score nor equal to one
    falls = scores[:, 1:] < scores[:, :-1]
    if (scores[:, 1:] > scores[:, :-1]).any() and not falls.any():
        warn("Scores rise along the rankings. If they are distances, pass their negative.")
    unsorted: np.ndarray = np.logical_not(falls.all(axis=1))  # elsewhere places are ranks
    retrieved = np.flatnonzero((rank > 0) & unsorted[judgements.query])
    for part in _blocks(len(retrieved), ids.shape[1]):
        pairs = retrieved[part]
        query = judgements.query[pairs]
        others, score = scores[query], scores[query, rank[pairs] - 1][:, None]
        rank[pairs] = 1 + np.count_nonzero(others > score, axis=1)
        equal = others == score
        for number in np.flatnonzero(np.count_nonzero(equal, axis=1) > 1).tolist():
            text = text_of(judgements.rows[pairs[number]])
            rank[pairs[number]] += sum(text_of(row) > text for row in ids[query[number], equal[number]].tolist())
    ordered = np.sort(scores[unsorted], axis=1)
    return int(np.count_nonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)))


def _blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices of rows that hold about `BLOCK` numbers each."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def _check_rows(ids: np.ndarray) -> None:
    """Raise if an id follows padding, or is repeated within a ranking."""
    broken = np.flatnonzero(((ids[:, :-1] < 0) & (ids[:, 1:] >= 0)).any(axis=1))
    if broken.size:
        raise ValueError(f"The ranking of query {broken[0]} has padding (-1) before an id: move it to the end.")
    ordered = np.sort(ids, axis=1)
    repeats = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
    for query in repeats[:1].tolist():
        _check_unique([doc for doc in ids[query].tolist() if doc >= 0], query)


def _check_unique(docs: list[Any], query: Hashable) -> None:
    """Raise if a document is listed twice in a ranking."""
    if len(set(docs)) != len(docs):
        repeated = next(doc for position, doc in enumerate(docs) if doc in docs[:position])
        raise ValueError(f"The ranking of query {query!r} holds {repeated!r} twice. Remove the repetition.")


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
        kinds |= zip(map(type, ranking), ranking, strict=True)

    _check_kinds(set(kinds), set(map(type, judgements.docs)))
    if judgements.docs and kinds and not any(ranks):
        _warn_no_overlap("document", next(iter(kinds.values())), judgements.docs[0])
    return Rankings(np.array(ranks, np.int64), np.array(counts), unjudged, tied)


def _listed(ranking: Iterable[Hashable], query: Hashable) -> list[Any]:
    if isinstance(ranking, (str, bytes)) or not isinstance(ranking, Iterable):
        raise TypeError(f"The ranking of query {query!r} is {ranking!r}: expected a list of ids or {{doc: score}}.")
    docs = ranking.tolist() if isinstance(ranking, np.ndarray) else list(ranking)
    while docs and isinstance(docs[-1], Integral) and docs[-1] < 0:  # FAISS pads with -1
        docs.pop()
    if any(isinstance(doc, Integral) and doc < 0 for doc in docs):
        raise ValueError(f"The ranking of query {query!r} has padding (-1) before an id: move it to the end.")
    _check_unique(docs, query)
    return docs


def _ranks_by_score(ranking: Mapping[Any, float], wanted: list[Any], query: Hashable) -> tuple[list[int], bool]:
    """The ranks of the documents wanted in trec_eval's order, 0 if not retrieved, and whether two of all are tied."""
    scores = single_precision(list(ranking.values()))
    if np.isnan(scores).any():
        raise ValueError(f"A score of query {query!r} is not a number (NaN). Remove the document or give it a score.")
    ascending = np.sort(scores)
    tied = bool((ascending[1:] == ascending[:-1]).any())
    retrieved, docs = [doc for doc in wanted if doc in ranking], list(ranking) if tied else []
    values = single_precision([ranking[doc] for doc in retrieved])
    ranks = 1 + len(scores) - ascending.searchsorted(values, side="right")
    for number, doc in enumerate(retrieved if tied else ()):
        equal = np.flatnonzero(scores == values[number]).tolist()
        ranks[number] += sum(str(docs[other]) > str(doc) for other in equal)
    place = dict(zip(retrieved, ranks.tolist(), strict=True))
    return [place.get(doc, 0) for doc in wanted], tied


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
