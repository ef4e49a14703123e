"""One run as the lists, and one metric as the formulas, that people make of them: what `explain` tries.

Everything up to a list of ranks is done once for each order; lists that come out equal are computed once, so the
answer is exact though most combinations are not run.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from helpers._trec_order import single_precision
from helpers.metrics import definitions as metric
from helpers.metrics.definitions import dcg, discounts, divide
from helpers.metrics.hits import Hits
from helpers.metrics.inputs import Retrieved
from helpers.metrics.qrels import Judgements, Ranked

WHOLE = sys.maxsize  # the depth of a list, or a cutoff, that leaves nothing out
Settings = dict[str, Any]  # {axis: option}; depth and level are numbers
FAMILIES = {  # the axes of one metric's formula
    **{name: (name,) for name in ("recall", "precision", "success")},
    **{"map": ("map", "cutoff"), "mrr": ("mrr", "cutoff"), "ndcg": ("gain", "ideal", "discount", "cutoff")},
}


@lru_cache(maxsize=1)
def conventions() -> dict[str, Any]:
    """The axes with their options, and the words of the answer."""
    return tomllib.loads(Path(__file__).with_name("conventions.toml").read_text(encoding="utf-8"))


@dataclass
class OneList:
    """The list of one query, in the order given; scores in single precision, ids as text."""

    query: Any
    docs: list[Any]
    scores: np.ndarray | None
    names: Sequence[Any] | None = None  # of rows

    def only(self, keep: list[int]) -> OneList:
        """The list of some of its documents, by their places."""
        scores = None if self.scores is None else self.scores[keep]
        return replace(self, docs=[self.docs[place] for place in keep], scores=scores)

    def merged(self) -> OneList:
        """Without documents that were listed before."""
        first = {doc: place for place, doc in reversed(list(enumerate(self.docs)))}
        return self if len(first) == len(self.docs) else self.only(sorted(first.values()))

    def by_text(self) -> np.ndarray:
        """For each document, its place among the ids sorted as text."""
        names = [str(doc if self.names is None else self.names[doc]) for doc in self.docs]
        place = {name: number for number, name in enumerate(sorted(set(names)))}
        return np.array([place[name] for name in names])

    def numbers(self) -> np.ndarray | None:
        """The ids as numbers, if all of them are."""
        try:
            return np.array([int(doc) for doc in self.docs], np.int64)
        except (ValueError, OverflowError):
            return None

    def ranks(self, where: np.ndarray, grade: np.ndarray, depths: set[int]) -> dict[tuple[str, int], np.ndarray]:
        """The ranks of the documents at places `where`, in every order and depth; 0 is not in the list."""
        place, mine = np.arange(len(self.docs)), where[:, None]
        found, numbers = {}, self.numbers() if len(where) else place

        def rank(key: np.ndarray, among: np.ndarray | bool = True) -> np.ndarray:
            ahead = (key > key[mine]) | ((key == key[mine]) & (place < place[mine]))
            number: np.ndarray = 1 + np.count_nonzero(ahead & among, axis=1)
            return number

        if self.scores is None:
            found["trec", WHOLE] = where + 1
        else:
            better, tied = self.scores > self.scores[mine], self.scores == self.scores[mine]
            above, ties = np.count_nonzero(better, axis=1), np.count_nonzero(tied) > len(where)
            text, grades = self.by_text() if ties else place, np.zeros(len(place))
            grades[where] = grade
            keys = {
                "trec": text,
                "stable": 0 * place,
                "ascending": -text,
                "favourable": grades,
                "unfavourable": -grades,
            }
            found = {(order, WHOLE): above + (rank(key, tied) if ties else 1) for order, key in keys.items()}
            found["listed", WHOLE] = where + 1
            by_score = np.argsort(-self.scores, kind="stable")
            listed = place.copy()
            listed[by_score] = place
        for depth in depths:
            at = place if self.scores is None else listed
            inside = at < depth
            for order, key in (
                ("reversed", at),
                ("ids", numbers),
                ("ranks", None if self.scores is None else -self.scores),
            ):
                if key is not None:
                    found[order, depth] = np.where(inside[where], rank(key, inside), 0)
        return found


class Lists:
    """The lists of the judged queries; each is made when it is asked for."""

    def __init__(
        self, retrieved: Retrieved, judgements: Judgements, scores: np.ndarray | None, names: Sequence[Any] | None
    ):
        """Check that rankings and judgements are of the same queries."""
        self.run: Mapping[Any, Any] = retrieved if isinstance(retrieved, Mapping) else dict(enumerate(retrieved))
        self.judgements, self.scores, self.names = judgements, scores, names
        if isinstance(retrieved, Mapping) == judgements.aligned or (
            judgements.aligned and len(self.run) != judgements.n_queries
        ):
            raise ValueError(
                f"{len(self.run)} rankings for {judgements.n_queries} judged queries: key both by query, or neither."
            )
        self.scored = scores is not None or any(isinstance(docs, Mapping) for docs in self.run.values())

    def __iter__(self) -> Iterator[OneList]:
        """The lists as given, without padding."""
        for number, query in enumerate(self.judgements.query_ids):
            ranking: Any = self.run.get(query, {} if self.scored else ())
            docs = ranking.tolist() if isinstance(ranking, np.ndarray) else list(ranking)
            values = ranking.values() if isinstance(ranking, Mapping) else None
            values = values if self.scores is None else self.scores[number]
            one = OneList(query, docs, None if values is None else single_precision([*values]), self.names)
            yield one.only([place for place, doc in enumerate(docs) if doc != -1]) if -1 in docs else one

    def views(self, texts: Mapping[Any, str] | None) -> Iterator[tuple[str, Judgements, Iterator[OneList]]]:
        """What counts as a document, and which: with the judgements and the lists."""
        repeated = own = False
        for one in self:
            repeated |= len(set(one.docs)) < len(one.docs)
            own |= not self.judgements.aligned and one.query in one.docs
        yield "given", self.judgements, (one.merged() for one in self)
        if repeated:
            yield "twice", self.judgements, iter(self)
        if own:
            keep = (one.only([i for i, doc in enumerate(one.docs) if doc != one.query]) for one in self)
            yield "own", self.judgements, (one.merged() for one in keep)
        if texts:
            first: dict[str, Any] = {}
            same = {doc: first.setdefault(text, doc) for doc, text in texts.items()}
            entries = [
                {same.get(doc, doc): grade for doc, grade in sorted(docs.items(), key=lambda item: item[1])}
                for docs in by_query(self.judgements)
            ]
            judged = Judgements.of(dict(zip(self.judgements.query_ids, entries, strict=True)))
            judged = Judgements.of(judged, self.judgements.relevance_level)
            renamed = (replace(one, docs=[same.get(doc, doc) for doc in one.docs]) for one in self)
            yield "text", judged, (one.merged() for one in renamed)


def by_query(judgements: Judgements) -> Iterator[dict[Any, int]]:
    """The judgements of each query, {doc: grade}."""
    pairs = zip(judgements.docs, judgements.grade.tolist(), strict=True)
    return (dict(islice(pairs, n)) for n in judgements.n_judged.tolist())


def variants(lists: Iterator[OneList], judgements: Judgements, depths: set[int]) -> list[tuple[list[Settings], Hits]]:
    """Every order, depth and treatment of unjudged documents; those with equal lists together, plainest first."""
    parts: dict[tuple[str, int], list[np.ndarray]] = {}
    query, grade, lengths = [], [], []
    for number, (one, grades) in enumerate(zip(lists, by_query(judgements), strict=True)):
        where = [place for place, doc in enumerate(one.docs) if doc in grades]
        query.append(np.full(len(where), number))
        grade.append(np.array([grades[one.docs[place]] for place in where], np.int64))
        lengths.append(len(one.docs))
        for key, ranks in one.ranks(np.array(where, np.intp), grade[-1], depths).items():
            parts.setdefault(key, []).append(ranks)
    queries, grades_, length = np.concatenate(query), np.concatenate(grade), np.array(lengths)
    found: dict[bytes, tuple[list[Settings], Hits]] = {}
    for (order, cut), each in parts.items():
        rank = np.concatenate(each)
        for depth in depths if cut == WHOLE and (order, min(depths)) not in parts else {cut}:
            if len(rank) < len(queries) or WHOLE > depth >= length.max():
                continue
            keep = (rank > 0) & (rank <= depth)
            judged = Ranked.best_first(queries[keep], rank[keep], grades_[keep])
            hits = Hits(judgements, WHOLE, WHOLE, judged, np.minimum(length, depth), 0, 0)
            for unjudged, of in (("wrong", hits), ("removed", hits.condensed())):
                names = {"order": order, "unjudged": unjudged, "depth": depth}
                same = b"|".join(a.tobytes() for a in (of.judged.query, of.judged.rank, of.judged.grade, of.retrieved))
                found.setdefault(same, ([], of))[0].append(names)
    return list(found.values())


def formulas(hits: Hits, family: str, k: int) -> dict[tuple[str, ...], np.ndarray]:
    """One value a query by every formula of a metric, keyed by the options on its axes but the cutoff."""
    if family == "ndcg":
        return ndcg_formulas(hits, k)
    top, got = hits.relevant.top(k), np.minimum(k, hits.retrieved)
    if family == "map":
        total = hits.per_query(top.query, top.so_far / top.rank)
        parts = {"min": np.minimum(k, hits.n_relevant), "hits": hits.count(k), "retrieved": got}
        return {("R",): metric.average_precision(hits, k)} | {
            (name,): divide(total, part) for name, part in parts.items()
        }
    if family == "mrr":
        found = divide(hits.per_query(top.query, 1 / top.rank), hits.count(k))
        return {("first",): metric.reciprocal_rank(hits, k), ("found",): found}
    every = {"R": metric.recall(hits, k), "min": metric.capped_recall(hits, k), "k": metric.precision(hits, k)}
    every |= {"hit": metric.success(hits, k), "retrieved": divide(hits.count(k), got)}
    every["listed"] = divide(hits.count(k), hits.count(WHOLE))
    return {(name,): every[name] for name in conventions()[family]}


def ndcg_formulas(hits: Hits, k: int) -> dict[tuple[str, ...], np.ndarray]:
    """nDCG by every gain, ideal and discount. A discount is that of log2(rank + 1) at another rank."""
    judged, q = hits.judgements, hits.n_queries
    values: dict[tuple[str, ...], np.ndarray] = {}
    ones = replace(judged, grade=(judged.grade >= judged.relevance_level).astype(np.int64))
    binary = Ranked(hits.relevant.query, hits.relevant.rank, np.ones(len(hits.relevant), np.int64))
    got = np.minimum(k, hits.retrieved)
    for gain, ranked, truth in (
        ("linear", hits.gains, judged),
        ("exponential", hits.gains, judged),
        ("binary", binary, ones),
    ):
        kind, top = "linear" if gain == "binary" else gain, ranked.top(k)
        ideals = {"judged": truth.ideal.top(k), "uncut": truth.ideal, "retrieved": best(ranked, judged).top(k)}
        ideals["top"] = best(top, judged)
        for discount, shift in SHIFTS.items():
            value = dcg(shift(top), q, kind)
            for ideal, ranking in ideals.items():
                values[gain, ideal, discount] = divide(value, dcg(shift(ranking), q, kind))
            ranks = shift(Ranked(got, np.arange(1, got.max(initial=1) + 1), got)).rank
            sums = np.append(0, np.cumsum(1 / discounts(int(ranks[-1]))[ranks]))
            values[gain, "constant", discount] = divide(value, sums[got])
    return values


SHIFTS: dict[str, Callable[[Ranked], Ranked]] = {
    "rank1": lambda ranked: ranked,
    "rank2": lambda ranked: Ranked(ranked.query, ranked.rank + 1, ranked.grade),
    "jarvelin": lambda ranked: Ranked(ranked.query, np.maximum(1, ranked.rank - 1), ranked.grade),
}


def best(ranked: Ranked, judgements: Judgements) -> Ranked:
    """The same documents, highest grade first."""
    order = np.argsort(ranked.query, kind="stable")
    return replace(judgements, query=ranked.query[order], grade=ranked.grade[order]).ideal
