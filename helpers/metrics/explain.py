"""Which convention gives this number? All known ways to compute a metric, tried on one run and its judgements.

What people do differently is in `conventions.toml`, by axis. Everything up to a list of ranks is done once for each
kind of list; lists that come out equal are computed once, so the answer is exact though most combinations are not run.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from helpers._trec_order import single_precision
from helpers.metrics.definitions import (
    average_precision,
    capped_recall,
    dcg,
    discounts,
    divide,
    precision,
    recall,
    reciprocal_rank,
    success,
)
from helpers.metrics.hits import Hits
from helpers.metrics.inputs import Retrieved, checked_cutoff
from helpers.metrics.qrels import Judgements, Qrels, Ranked
from helpers.metrics.registry import our_name

WHOLE = sys.maxsize  # the depth of a list, or a cutoff, that leaves nothing out
DEPTHS = (10, 100, 1000)
FARTHEST = 4.0  # cost of the least likely combination that is tried
LIKELY = 0.03  # from this chance on, a match is called a likely coincidence
SHOWN, ROWS = 5, 300
Settings = dict[str, Any]  # {axis: option}; depth and level are numbers
AXES = ("view", "order", "unjudged", "depth", "level", "mean", "rounding")  # shared by all figures
FAMILIES = {  # the axes of one metric's formula
    **{name: (name,) for name in ("recall", "precision", "success")},
    **{"map": ("map", "cutoff"), "mrr": ("mrr", "cutoff"), "ndcg": ("gain", "ideal", "discount", "cutoff")},
}


@dataclass(frozen=True)
class Figure:
    """A figure as it was told."""

    name: str
    family: str
    k: int
    told: str
    value: float
    places: int

    def fits(self, values: np.ndarray) -> np.ndarray:
        """Which values are the figure at the digits it has: half a unit away at most."""
        return np.abs(values - self.value) <= 0.5 * 10.0**-self.places + 1e-12


@dataclass(frozen=True)
class Candidate:
    """A convention that gives all the figures.

    Attributes:
        settings: the option on each axis.
        cost: how far it is from trec_eval's convention, which has 0.
        values: what it gives, by figure.
        chance: the share of made-up figures of as many digits, near these, that some convention at least as plain gives.
        tried: how many different values those conventions give.
        agreeing: the settings of others that give the same values here.
    """

    settings: Settings
    cost: float
    values: dict[str, float]
    chance: float = 1.0
    tried: int = 0
    agreeing: list[Settings] = field(default_factory=list)

    @property
    def coincidence(self) -> bool:
        """Whether a coincidence is likely."""
        return self.chance > LIKELY

    @property
    def known(self) -> list[str]:
        """Who is known to do what differs from trec_eval."""
        return [who for axis, value in departures(self.settings) if (who := entry(axis, value).get("who"))]


@dataclass(frozen=True)
class Explanation:
    """What `explain` found: the candidates, plainest first; `str` gives it in words.

    Attributes:
        told: the figures as given.
        reference: what trec_eval's convention gives, by figure.
        candidates: conventions that give all the figures; none is an answer too.
        tried: how many conventions were tried.
        scored: whether the rankings have scores.
    """

    told: dict[str, str]
    reference: dict[str, float]
    candidates: list[Candidate]
    tried: int
    scored: bool

    def text(self, language: str = "en") -> str:
        """In words, English ("en") or Chinese ("zh")."""
        words = conventions()["words"][language]
        lines = [
            words["gives"].format(metric=name, told=told, ours=f"{self.reference[name]:.6f}")
            for name, told in self.told.items()
        ]
        lines += [] if self.scored else [words["unscored"]]
        if not self.candidates:
            lines.append(words["nothing"].format(tried=self.tried))
        elif not self.candidates[0].cost:
            return "\n".join([*lines, words["agrees"]])
        for number, found in enumerate(self.candidates[:SHOWN], 1):
            lines.append(words["candidate"].format(n=number, formula=in_words(found.settings, language)))
            lines += [words["known"].format(who=who) for who in found.known]
            if found.agreeing:
                formula = in_words(found.agreeing[0], language)
                lines.append(words["same"].format(n=len(found.agreeing), formula=formula))
            lines.append(words["chance"].format(percent=f"{found.chance:.1%}", tried=found.tried))
            lines += [words["likely"]] if found.coincidence else []
        return "\n".join(lines)

    __str__ = text


def explain(
    retrieved: Retrieved,
    qrels: Qrels,
    figures: Mapping[str, str],
    *,
    scores: np.ndarray | None = None,
    doc_ids: Sequence[Any] | None = None,
    relevance_level: int | None = None,
    texts: Mapping[Any, str] | None = None,
    groups: Mapping[Any, str] | None = None,
) -> Explanation:
    """Say which convention gives the figures, and how likely a coincidence is.

    Args:
        retrieved, qrels, scores, doc_ids, relevance_level: as `evaluate` takes them. Here a list may repeat a document.
        figures: {metric@k: the figure as text, such as "0.596"}, so that the number of its digits is known; recall,
            precision, success, map, mrr or ndcg. With several, one convention has to give them all.
        texts: the text of each document, if they may have been compared by text.
        groups: the group of each query, if means may have been averaged group by group.

    Raises:
        ValueError: a figure that is not a number from 0 to 1, a metric that is none of the six.
        TypeError: a figure that is not text.
    """
    read = [read_figure(name, told) for name, told in figures.items()]
    if not read:
        raise ValueError('There is no figure to explain: give some, such as {"ndcg@10": "0.596"}.')
    judgements = Judgements.of(qrels, relevance_level)
    lists, table = Lists(retrieved, judgements, scores, doc_ids), Table(read, judgements, groups)
    for view, judged, rankings in lists.views(texts):
        for settings, hits in variants(rankings, judged, {WHOLE, *DEPTHS, *(figure.k for figure in read)}):
            table.add([{"view": view, **setting} for setting in settings], hits)
    candidates = table.candidates()
    return Explanation(dict(figures), table.reference, candidates, table.tried, lists.scored)


def read_figure(name: str, told: str) -> Figure:
    """A metric and a figure of it, checked."""
    family, _, k = our_name(name).partition("@")
    if family not in FAMILIES:
        raise ValueError(f"{name!r} cannot be explained: give one of {', '.join(FAMILIES)} with a cutoff, as ndcg@10.")
    if not isinstance(told, str):
        raise TypeError(f'{name}: give the figure as text, "{told}", so that the number of its digits is known.')
    match = re.fullmatch(r"(?:[01]?\.(\d+)|[01])", told.strip())
    if match is None or float(told) > 1:
        raise ValueError(f"{name}: expected a figure from 0 to 1, such as 0.596, not {told!r}.")
    return Figure(name, family, checked_cutoff(k) if k else WHOLE, told, float(told), len(match[1] or ""))


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
            return 1 + np.count_nonzero(ahead & among, axis=1)

        if self.scores is None:
            found["trec", WHOLE] = where + 1
        else:
            better, tied = self.scores > self.scores[mine], self.scores == self.scores[mine]
            above, ties = np.count_nonzero(better, axis=1), np.count_nonzero(tied) > len(where)
            text, grades = self.by_text() if ties else place, np.zeros(len(place))
            grades[where] = grade
            keys = {"trec": text, "stable": 0 * place, "ascending": -text, "favourable": grades, "unfavourable": -grades}
            found = {(order, WHOLE): above + (rank(key, tied) if ties else 1) for order, key in keys.items()}
            found["listed", WHOLE] = where + 1
            by_score = np.argsort(-self.scores, kind="stable")
            listed = place.copy()
            listed[by_score] = place
        for depth in depths:
            at = place if self.scores is None else listed
            inside = at < depth
            for order, key in (("reversed", at), ("ids", numbers), ("ranks", None if self.scores is None else -self.scores)):
                if key is not None:
                    found[order, depth] = np.where(inside[where], rank(key, inside), 0)
        return found


class Lists:
    """The lists of the judged queries; each is made when it is asked for."""

    def __init__(
        self, retrieved: Retrieved, judgements: Judgements, scores: np.ndarray | None, names: Sequence[Any] | None
    ):
        """Check that rankings and judgements are of the same queries."""
        self.run = retrieved if isinstance(retrieved, Mapping) else dict(enumerate(retrieved))
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
            ranking = self.run.get(query, {} if self.scored else ())
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
    for (order, cut), ranks in parts.items():
        rank = np.concatenate(ranks)
        for depth in depths if cut == WHOLE and (order, min(depths)) not in parts else {cut}:
            if len(rank) < len(queries) or WHOLE > depth >= length.max():
                continue
            keep = (rank > 0) & (rank <= depth)
            judged = Ranked.best_first(queries[keep], rank[keep], grades_[keep])
            hits = Hits(judgements, WHOLE, WHOLE, judged, np.minimum(length, depth), 0, 0)
            for unjudged, of in (("wrong", hits), ("removed", hits.condensed())):
                names = {"order": order, "unjudged": unjudged, "depth": depth}
                key = b"|".join(a.tobytes() for a in (of.judged.query, of.judged.rank, of.judged.grade, of.retrieved))
                found.setdefault(key, ([], of))[0].append(names)
    return list(found.values())


def formulas(hits: Hits, family: str, k: int) -> dict[tuple[str, ...], np.ndarray]:
    """One value a query by every formula of a metric, keyed by the options on its axes but the cutoff."""
    if family == "ndcg":
        return ndcg_formulas(hits, k)
    top, got = hits.relevant.top(k), np.minimum(k, hits.retrieved)
    if family == "map":
        total = hits.per_query(top.query, top.so_far / top.rank)
        parts = {"min": np.minimum(k, hits.n_relevant), "hits": hits.count(k), "retrieved": got}
        return {("R",): average_precision(hits, k)} | {(name,): divide(total, part) for name, part in parts.items()}
    if family == "mrr":
        found = divide(hits.per_query(top.query, 1 / top.rank), hits.count(k))
        return {("first",): reciprocal_rank(hits, k), ("found",): found}
    every = {"R": recall(hits, k), "min": capped_recall(hits, k), "hit": success(hits, k), "k": precision(hits, k)}
    every["retrieved"] = divide(hits.count(k), got)
    return {(name,): every[name] for name in conventions()[family]}


def ndcg_formulas(hits: Hits, k: int) -> dict[tuple[str, ...], np.ndarray]:
    """nDCG by every gain, ideal and discount. A discount is that of log2(rank + 1) at another rank."""
    judged, q, values = hits.judgements, hits.n_queries, {}
    ones = replace(judged, grade=(judged.grade >= judged.relevance_level).astype(np.int64))
    binary = Ranked(hits.relevant.query, hits.relevant.rank, np.ones(len(hits.relevant), np.int64))
    got = np.minimum(k, hits.retrieved)
    for gain, ranked, truth in (("linear", hits.gains, judged), ("exponential", hits.gains, judged), ("binary", binary, ones)):
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


SHIFTS = {
    "rank1": lambda ranked: ranked,
    "rank2": lambda ranked: Ranked(ranked.query, ranked.rank + 1, ranked.grade),
    "jarvelin": lambda ranked: Ranked(ranked.query, np.maximum(1, ranked.rank - 1), ranked.grade),
}


def best(ranked: Ranked, judgements: Judgements) -> Ranked:
    """The same documents, highest grade first."""
    order = np.argsort(ranked.query, kind="stable")
    return replace(judgements, query=ranked.query[order], grade=ranked.grade[order]).ideal


class Table:
    """What every convention gives for every figure: by shared settings (rows) and formulas (columns)."""

    def __init__(self, figures: list[Figure], judgements: Judgements, groups: Mapping[Any, str] | None):
        """Nothing is computed yet."""
        self.figures, self.given, self.groups = figures, judgements.relevance_level, groups
        self.levels = sorted({self.given, *np.unique(judgements.grade[judgements.grade > 0]).tolist()})
        self.rows: list[tuple[list[Settings], Settings]] = []
        self.columns: dict[str, list[tuple[str, ...]]] = {}
        self.blocks: list[list[np.ndarray]] = [[] for _ in figures]

    def add(self, lists: list[Settings], hits: Hits) -> None:
        """Compute everything for one list and those equal to it."""
        lists = sorted(lists, key=self.cost)
        for level in self.levels:
            leveled = replace(hits, judgements=Judgements.of(hits.judgements, level))
            for place, figure in enumerate(self.figures):
                values = formulas(leveled, figure.family, figure.k)
                keyed = {(*key, "named"): value for key, value in values.items()}
                if "cutoff" not in FAMILIES[figure.family]:
                    keyed = dict(values)
                elif figure.k != WHOLE:
                    whole = formulas(leveled, figure.family, WHOLE)
                    keyed |= {(*key, "whole"): value for key, value in whole.items()}
                self.columns[figure.family] = list(keyed)
                each, weights = np.array(list(keyed.values())), self.weights(leveled, figure.k)
                rounded = [each, *(np.round(each, digits) for digits in (4, 3, 2))]
                self.blocks[place] += [weights[mean] @ some.T for some in rounded for mean in weights]
            names = product(("none", "4", "3", "2"), weights)
            self.rows += [(lists, {"level": level, "mean": mean, "rounding": rounding}) for rounding, mean in names]

    def weights(self, hits: Hits, k: int) -> dict[str, np.ndarray]:
        """The weight of each query in every kind of mean."""
        masks = {"all": hits.n_relevant >= 0, "relevant": hits.n_relevant > 0}
        masks |= {"run": hits.retrieved > 0, "hit": hits.count(k) > 0}
        weights = {mean: mask / max(1, np.count_nonzero(mask)) for mean, mask in masks.items()}
        if self.groups:
            _, group, size = np.unique(
                [self.groups[query] for query in hits.judgements.query_ids], return_inverse=True, return_counts=True
            )
            weights["groups"] = 1 / size[group] / len(size)
        return weights

    def cost(self, settings: Settings) -> float:
        """How far settings are from trec_eval's convention."""
        return float(sum(entry(axis, value, self.given)["cost"] for axis, value in settings.items()))

    def candidates(self) -> list[Candidate]:
        """The conventions that give all the figures, plainest first, those that agree everywhere together."""
        values = [np.array(block) for block in self.blocks]
        shared = np.array([self.cost(lists[0] | rest) for lists, rest in self.rows])
        families = list(dict.fromkeys(figure.family for figure in self.figures))
        own = {f: np.array([self.cost(dict(zip(FAMILIES[f], c))) for c in self.columns[f]]) for f in families}
        fits = {
            f: np.logical_and.reduce(
                [figure.fits(v) for figure, v in zip(self.figures, values) if figure.family == f]
            )
            for f in families
        }
        least = {f: np.where(fits[f], own[f], np.inf).min(axis=1) for f in families}
        bound = shared + sum(least.values())
        found: dict[tuple[float, ...], list[tuple[float, Settings]]] = {}
        for row in np.argsort(bound, kind="stable")[:ROWS].tolist():
            if bound[row] > FARTHEST:
                break
            columns = [sorted(np.flatnonzero(fits[f][row]).tolist(), key=own[f].__getitem__) for f in families]
            for chosen in islice(product(*columns), ROWS):
                column = dict(zip(families, chosen, strict=True))
                key = tuple(round(float(v[row, column[f.family]]), 11) for f, v in zip(self.figures, values, strict=True))
                lists, rest = self.rows[row]
                formula = {a: o for f in families for a, o in zip(FAMILIES[f], self.columns[f][column[f]], strict=True)}
                settings = [{**names, **rest, **formula} for names in lists]
                found.setdefault(key, []).extend((self.cost(one), one) for one in settings)
        self.tried = int(len(shared) * np.prod([len(own[f]) for f in families]))
        plain = self.reference_row(shared, own, values)
        self.reference = {f.name: v for f, v in zip(self.figures, plain, strict=True)}
        result = []
        for key, members in found.items():
            members.sort(key=lambda member: member[0])
            cost, settings = members[0]
            tried, chance = self.chance(cost, shared, own, values)
            named = {figure.name: value for figure, value in zip(self.figures, key, strict=True)}
            result.append(Candidate(settings, cost, named, chance, tried, [one for _, one in members[1:]]))
        return sorted(result, key=lambda candidate: candidate.cost)

    def reference_row(
        self, shared: np.ndarray, own: dict[str, np.ndarray], values: list[np.ndarray]
    ) -> list[float]:
        """What trec_eval's convention gives for each figure."""
        row = int(shared.argmin())
        return [float(v[row, own[f.family].argmin()]) for f, v in zip(self.figures, values, strict=True)]

    def chance(
        self, cost: float, shared: np.ndarray, own: dict[str, np.ndarray], values: list[np.ndarray]
    ) -> tuple[int, float]:
        """How many different figures conventions of this cost or less give, and the share of made-up ones they match.

        Counted among the figures within .05 and within .25 of those told, whichever share is larger; figures of
        different metrics are taken to vary on their own, which makes the share rather too large.
        """
        shares, many = [], 1
        for width in (0.05, 0.25):
            share = 1.0
            for family, costs in own.items():
                mine = [(f, v) for f, v in zip(self.figures, values, strict=True) if f.family == family]
                allowed = shared[:, None] + costs[None, :] <= cost + 1e-9
                cells = np.stack([np.round(v[allowed] * 10.0**f.places) for f, v in mine], axis=1)
                told = np.array([f.value for f, _ in mine])
                near = (np.abs(cells / [10.0**f.places for f, _ in mine] - told) <= width).all(axis=1)
                count = len(np.unique(cells[near], axis=0))
                many = max(many, count)
                for f, _ in mine:
                    count /= max(1.0, (min(1, f.value + width) - max(0, f.value - width)) * 10.0**f.places)
                share *= min(1.0, count)
            shares.append(share)
        return many, max(shares)


def entry(axis: str, value: Any, given: int | None = None) -> dict[str, Any]:
    """The row of an option in `conventions.toml`."""
    options = conventions()[axis]
    if axis == "depth":
        return options["whole" if value == WHOLE else "n"]
    if axis == "level":
        return options["given" if value == given else "n"]
    return options[value]


def departures(settings: Settings) -> list[tuple[str, Any]]:
    """The options that differ from trec_eval's."""
    return [(axis, value) for axis, value in settings.items() if axis != "level" and entry(axis, value)["cost"]]


def in_words(settings: Settings, language: str) -> str:
    """What differs from trec_eval's convention, in words."""
    words = conventions()["words"][language]
    told = [entry(axis, value)[language].format(n=value) for axis, value in departures(settings)]
    return words["join"].join(told) or words["reference"]


@lru_cache(maxsize=1)
def conventions() -> dict[str, Any]:
    """The axes with their options, and the words of the answer."""
    return tomllib.loads(Path(__file__).with_name("conventions.toml").read_text(encoding="utf-8"))
