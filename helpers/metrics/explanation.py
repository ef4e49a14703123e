"""Which convention gives this number? All known ways to compute a metric, tried on one run and its judgements.

What people do differently is in `conventions.toml`, by axis. Lists that come out equal are computed once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from helpers._trec_order import single_precision
from helpers.metrics import definitions as metric
from helpers.metrics.hits import Hits
from helpers.metrics.inputs import Retrieved, checked_cutoff
from helpers.metrics.qrels import Judgements, Qrels, Ranked
from helpers.metrics.registry import METRICS, our_name

WHOLE = sys.maxsize  # the depth of a list, or a cutoff, that leaves nothing out
FARTHEST, LIKELY = 4.0, 0.03  # the highest cost that is tried; the chance above which a match is a likely coincidence
KEPT, ROWS, EACH = 5, 300, 24  # candidates, rows of the table looked at, and combinations of each
Settings = dict[str, Any]  # {axis: option}; depth and level may be numbers
Places = tuple[int, np.ndarray, dict[tuple[str, int], np.ndarray]]  # of a list: length, grades, ranks of the judged


@cache
def conventions() -> dict[str, Any]:
    """What people do differently, axis by axis; `families` has the metrics."""
    import tomllib  # it takes as long to import as half of this package

    return dict(tomllib.loads(Path(__file__).with_name("conventions.toml").read_text("utf-8")))


class Figure(NamedTuple):
    """A figure of a metric, and with how many decimal places it was given."""

    name: str
    family: str
    k: int
    value: float
    places: int


def read_figure(name: str, text: str) -> Figure:
    """Check a metric's name and the figure."""
    family, _, k = our_name(name).partition("@")
    if family not in (known := conventions()["families"]):
        raise ValueError(f"{name!r} cannot be explained: give one of {', '.join(known)} with a cutoff, as ndcg@10.")
    match = isinstance(text, str) and re.fullmatch(r"(?:[01]?\.(\d+)|[01])", text.strip())
    if not match or float(text) > 1:
        raise ValueError(f'{name}: expected a figure from 0 to 1, as text with all its digits: "0.596"; got {text!r}.')
    return Figure(name, family, checked_cutoff(k) if k else WHOLE, float(text), len(match[1] or ""))


@dataclass(frozen=True)
class Candidate:
    """A convention that gives all the figures."""

    settings: Settings  # the option on each axis
    chance: float  # the share of made-up figures of as many digits, near these, that some convention as plain gives
    coincidence: bool  # whether one is likely
    agreeing: list[Settings]  # the settings of others that give the same values here

    def formula(self, language: str = "en") -> str:
        """What differs from trec_eval's convention, in words, English ("en") or Chinese ("zh")."""
        said = [row[language].format(n=name) for (_, name), row in departures(self.settings).items()]
        return str(conventions()["words"][language]["join"].join(said) or conventions()["words"][language]["reference"])


@dataclass(frozen=True)
class Explanation:
    """What `explain` found; `str` gives it in words."""

    figures: dict[str, str]  # as given
    reference: dict[str, float]  # what trec_eval's convention gives, by figure
    candidates: list[Candidate]  # plainest first; none is an answer too
    tried: int  # how many conventions
    scored: bool  # whether the rankings have scores

    def text(self, language: str = "en") -> str:
        """In words, English ("en") or Chinese ("zh")."""
        words = conventions()["words"][language]
        given = zip(self.figures.items(), self.reference.values(), strict=True)
        lines = [words["gives"].format(metric=name, told=told, ours=f"{ours:.6f}") for (name, told), ours in given]
        lines += [] if self.scored else [words["unscored"]]
        if not self.candidates:
            lines.append(words["nothing" if len(self.figures) == 1 else "apart"].format(tried=self.tried))
        for number, found in enumerate(self.candidates, 1):
            lines.append(words["candidate"].format(n=number, formula=found.formula(language)))
            lines += [words["known"].format(who=row["who"]) for row in departures(found.settings).values()]
            if others := plainest([[settings] for settings in (found.settings, *found.agreeing)])[1:]:
                plain = replace(found, settings=others[0][0]).formula(language)
                lines.append(words["same"].format(n=len(others), formula=plain))
            lines.append(words["chance"].format(percent=f"{found.chance:.1%}"))
            lines += [words["likely"]] if found.coincidence else []
        return "\n".join(lines)

    __str__ = text


def explain(
    retrieved: Retrieved,
    qrels: Qrels,
    figures: Mapping[str, str],
    *,
    scores: np.ndarray | None = None,
    relevance_level: int | None = None,
    texts: Mapping[Any, str] | None = None,
    groups: Mapping[Any, str] | None = None,
) -> Explanation:
    """Say which convention gives the figures, and how likely a coincidence is.

    Args:
        retrieved, qrels, scores: as `evaluate` takes them; here a list may repeat a document.
        figures: {metric@k: the figure with all its digits, such as "0.596"}; one convention has to give them all.
        relevance_level: the lowest grade that counts as relevant for you; others are tried too.
        texts: the text of each document, if they may have been compared by text.
        groups: the group of each query, if means may have been averaged group by group.
    """
    if not (read := [read_figure(*figure) for figure in figures.items()]):
        raise ValueError('There is no figure to explain: give some, such as {"ndcg@10": "0.596"}.')
    judgements, n = Judgements.of(qrels, relevance_level), len(retrieved)
    if isinstance(retrieved, Mapping) == judgements.aligned or (judgements.aligned and n != judgements.n_queries):
        raise ValueError(f"{n} rankings for {judgements.n_queries} judged queries: key both by query, or neither.")
    run = retrieved if isinstance(retrieved, Mapping) else dict(enumerate(retrieved))
    scored = scores is not None or any(isinstance(docs, Mapping) for docs in run.values())
    table, longest = Table(read, judgements, groups), max(map(len, run.values()), default=0)
    table.depths = {depth for depth in table.depths if depth < longest or depth == WHOLE}
    table.fill(read_lists(run, judgements, scores, table.depths, texts or {}), scored)
    return Explanation(dict(figures), *table.search(), scored)


def read_lists(
    run: Mapping[Any, Any], of: Judgements, scores: np.ndarray | None, depths: set[int], texts: Mapping[Any, str]
) -> dict[str, list[Places]]:
    """The list of each query by every view of what counts as a document; those that change nothing are left out."""
    views: dict[str, list[Places]] = {}
    judged = zip(of.docs, of.grade.tolist(), strict=True)
    for number, (query, n) in enumerate(zip(of.query_ids, of.n_judged.tolist(), strict=True)):
        ranking, grades = run.get(query, ()), dict(islice(judged, n))
        docs = ranking.tolist() if isinstance(ranking, np.ndarray) else list(ranking)
        values: Any = -np.arange(len(docs)) if scores is None else scores[number]
        values = single_precision([*ranking.values()] if isinstance(ranking, Mapping) else values)
        if -1 in docs:  # padding
            values, docs = values[[doc != -1 for doc in docs]], [doc for doc in docs if doc != -1]
        given = once(docs, values)
        lists = {"given": given, "twice": (docs, values), "own": given if of.aligned else once(*given, query)}
        if texts:
            lists["text"] = once([texts.get(doc, doc) for doc in docs], values)
            grades |= {texts.get(doc, doc): grade for doc, grade in sorted(grades.items(), key=lambda one: one[1])}
        every = in_every_order(*given, grades, depths)
        for view, one in lists.items():
            views.setdefault(view, []).append(every if one[0] is given[0] else in_every_order(*one, grades, depths))
    ids = {view: [id(one) for one in lists] for view, lists in views.items()}  # one object where nothing changes
    return {view: lists for view, lists in views.items() if view == "given" or ids[view] != ids["given"]}


def once(docs: list[Any], scores: np.ndarray, unwanted: Any = None) -> tuple[list[Any], np.ndarray]:
    """The list without a document, and without those that stood in it before."""
    if unwanted not in docs and len(set(docs)) == len(docs):
        return docs, scores
    first = dict(zip(docs[::-1], range(len(docs))[::-1], strict=True))
    keep = sorted(place for doc, place in first.items() if doc != unwanted)
    return [docs[place] for place in keep], scores[keep]


def in_every_order(docs: list[Any], scores: np.ndarray, grades: Mapping[Any, int], depths: set[int]) -> Places:
    """Where the judged documents of a list stand in every order when it is cut to a depth, 0 beyond its end."""
    n, place = len(docs), np.arange(len(docs))
    where = [number for number, doc in enumerate(docs) if doc in grades]
    grade = np.array([grades[docs[number]] for number in where], np.int64)
    worth, at, text = np.zeros(n, np.int64), place.copy(), place
    _, by_score = np.unique(-scores, return_inverse=True)
    worth[where] = 1 + np.unique(grade, return_inverse=True)[1]  # 0 is not judged
    at[np.argsort(by_score, kind="stable")] = place
    if (np.bincount(by_score)[by_score[where]] > 1).any():
        _, text = np.unique([str(doc) for doc in docs], return_inverse=True)
    orders: dict[str, tuple[Any, Any]] = {"trec": (by_score, n - text), "ascending": (by_score, text)}
    orders |= {"stable": (at, 0), "listed": (place, 0), "reversed": (n - at, 0), "ranks": (n - by_score, 0)}
    orders |= {"favourable": (by_score, n - worth), "unfavourable": (by_score, worth)}
    with suppress(ValueError):  # ids that are not all numbers
        orders["ids"] = (np.unique([-int(doc) for doc in docs], return_inverse=True)[1], 0)
    ranks = {}
    for order, (first, then) in orders.items():
        key = (first * (n + 1) + then) * n + place
        for depth in depths:
            kept = at < depth
            ranks[order, depth] = np.where(kept[where], 1 + np.sort(key[kept]).searchsorted(key[where]), 0)
    return n, grade, ranks


class Table:
    """What every convention gives for every figure: rows are settings that metrics share, columns their formulas."""

    def __init__(self, figures: list[Figure], judgements: Judgements, groups: Mapping[Any, str] | None = None):
        """Nothing is computed yet."""
        self.figures, self.judgements, self.groups = figures, judgements, groups
        self.depths = {WHOLE, 10, 100, 1000, *(figure.k for figure in figures)}
        self.rows: list[tuple[list[Settings], Settings]] = []
        self.columns: dict[str, list[Settings]] = {}
        self.blocks: list[list[np.ndarray]] = [[] for _ in figures]

    def fill(self, views: dict[str, list[Places]], scored: bool) -> None:
        """Compute everything for each view, order, depth and treatment of the unjudged; once for those that agree."""
        found: dict[tuple[bytes, ...], tuple[list[Settings], Hits]] = {}
        for view, lists in views.items():
            length, grade = np.array([n for n, *_ in lists]), np.concatenate([grade for _, grade, _ in lists])
            query = np.repeat(np.arange(len(lists)), [len(grade) for _, grade, _ in lists])
            for order, depth in product(conventions()["order"], self.depths):
                ranks = [ranks[order, depth] for *_, ranks in lists if (order, depth) in ranks]
                if len(ranks) < len(lists) or (order == "ranks" and not scored):
                    continue
                rank = np.concatenate(ranks)
                keep = rank > 0
                judged = Ranked.best_first(query[keep], rank[keep], grade[keep])
                hits = Hits(self.judgements, WHOLE, judged, np.minimum(length, depth), 0, 0)
                for unjudged, of in (("wrong", hits), ("removed", hits.condensed())):
                    same = tuple(a.tobytes() for a in (of.judged.query, of.judged.rank, of.judged.grade, of.retrieved))
                    cut = "whole" if depth == WHOLE else depth
                    settings = {"view": view, "order": order, "unjudged": unjudged, "depth": cut}
                    found.setdefault(same, ([], of))[0].append(settings)
        given = self.judgements
        for equal, hits in found.values():
            for level in sorted({given.relevance_level, *given.grade[given.grade > 0].tolist()}):
                named = "given" if level == given.relevance_level else level
                self.add(sorted(equal, key=cost), named, replace(hits, judgements=Judgements.of(given, level)))

    def add(self, lists: list[Settings], level: str | int, hits: Hits) -> None:
        """Compute everything for one list and those equal to it, at one relevance level, with every kind of mean."""
        for (_, family, k, *_), block in zip(self.figures, self.blocks, strict=True):
            masks = np.array([hits.n_relevant >= 0, hits.n_relevant > 0, hits.retrieved > 0, hits.count(k) > 0])
            means: np.ndarray = masks / np.maximum(1, masks.sum(axis=1, keepdims=True))  # the weight of each query
            if self.groups:
                groups = [self.groups[query] for query in self.judgements.query_ids]
                _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
                means = np.vstack([means, 1 / size[group] / len(size)])
            cuts = {"named": k, "whole": WHOLE} if "cutoff" in conventions()["families"][family] else {"": k}
            tried = {name: (ndcgs if family == "ndcg" else quotients)(hits, cut, family) for name, cut in cuts.items()}
            values = {(*options, name): value for name, one in tried.items() for options, value in one.items()}
            self.columns[family] = [dict(zip(conventions()["families"][family], one, strict=False)) for one in values]
            each = np.array([*values.values()])
            for rounded in (each, *(np.round(each, digits) for digits in (4, 3, 2))):
                block.extend(means @ rounded.T)
        names = product(conventions()["rounding"], [*conventions()["mean"]][: len(means)])
        self.rows += [(lists, {"level": level, "mean": mean, "rounding": rounding}) for rounding, mean in names]

    def search(self) -> tuple[dict[str, float], list[Candidate], int]:
        """What trec_eval's convention gives, the conventions that give all the figures, and how many were tried."""
        tables = [(figure, np.array(block)) for figure, block in zip(self.figures, self.blocks, strict=True)]
        row_costs = np.array([cost(lists[0] | rest) for lists, rest in self.rows])
        costs = {family: np.array([cost(formula) for formula in options]) for family, options in self.columns.items()}
        fits = {family: np.ones((len(row_costs), len(each)), bool) for family, each in costs.items()}
        for figure, values in tables:
            fits[figure.family] &= np.abs(values - figure.value) <= 0.5 * 10.0**-figure.places + 1e-12
        bound = row_costs + sum(np.where(fit, costs[family], np.inf).min(axis=1) for family, fit in fits.items())
        found: dict[tuple[float, ...], list[Settings]] = {}
        for row in np.argsort(bound, kind="stable")[:ROWS].tolist():
            columns = [sorted(np.flatnonzero(fits[f][row]).tolist(), key=costs[f].__getitem__) for f in costs]
            for chosen in islice(product(*columns), EACH if bound[row] <= FARTHEST else 0):
                column = dict(zip(costs, chosen, strict=True))
                formula = {axis: one for f in costs for axis, one in self.columns[f][column[f]].items()}
                same = tuple(round(float(values[row, column[f.family]]), 11) for f, values in tables)
                lists, rest = self.rows[row]
                found.setdefault(same, []).extend({**one, **rest, **formula} for one in lists)
        ordered = sorted((sorted(each, key=cost) for each in found.values()), key=lambda each: cost(each[0]))
        distances = {family: row_costs[:, None] + each for family, each in costs.items()}
        candidates = []
        for settings, *others in plainest(ordered)[:KEPT]:
            chance = chance_of(tables, distances, cost(settings))
            candidates.append(Candidate(settings, chance, cost(settings) > 0 and chance > LIKELY, others))
        reference = {f.name: float(values[row_costs.argmin(), costs[f.family].argmin()]) for f, values in tables}
        return reference, candidates, len(row_costs) * int(np.prod([len(each) for each in costs.values()]))


def quotients(hits: Hits, k: int, family: str) -> dict[tuple[str, ...], np.ndarray]:
    """A metric that is a sum over the relevant documents of the top k, by every divisor."""
    top, found, relevant = hits.relevant.top(k), hits.count(k), hits.n_relevant
    weight = top.so_far / top.rank if family == "map" else 1 / top.rank if family == "mrr" else None
    total = hits.per_query(top.query, weight)
    parts = {"R": relevant, "min": np.minimum(k, relevant), "hits": found, "listed": hits.count(WHOLE)}
    parts |= {"retrieved": np.minimum(k, hits.retrieved), "k": np.full(hits.n_queries, k)}
    values = {option: metric.divide(total, part) for option, part in parts.items()} | {"hit": metric.success(hits, k)}
    values |= {next(iter(conventions()[family])): METRICS[family].of(hits, k)}
    return {(option,): values[option] for option in conventions()[family]}


def ndcgs(hits: Hits, k: int, _: str) -> dict[tuple[str, ...], np.ndarray]:
    """nDCG by every gain, ideal and discount; a discount is that of log2(rank + 1) at another rank."""
    judged, top, got, n = hits.judgements, hits.gains.top(k), np.minimum(k, hits.retrieved), hits.n_queries

    def best(ranked: Ranked) -> Ranked:  # the same documents, highest grade first
        order = np.argsort(ranked.query, kind="stable")
        return replace(judged, query=ranked.query[order], grade=ranked.grade[order]).ideal

    listed = {"retrieved": best(hits.gains).top(k), "top": best(top)}
    lists = {"ranked": top, "judged": judged.ideal.top(k), "uncut": judged.ideal, **listed}
    gains: dict[str, Callable[..., np.ndarray]] = {"linear": np.asarray, "exponential": lambda grade: 2.0**grade - 1}
    gains["binary"] = lambda grade: grade >= judged.relevance_level
    shifts = {"rank1": np.asarray, "rank2": lambda rank: rank + 1, "jarvelin": lambda rank: np.maximum(1, rank - 1)}
    values: dict[tuple[str, ...], np.ndarray] = {}
    for (gain, worth), (discount, shift) in product(gains.items(), shifts.items()):
        dcgs = {of: metric.dcg(Ranked(a.query, shift(a.rank), worth(a.grade)), n) for of, a in lists.items()}
        ranks = shift(np.arange(1, got.max(initial=1) + 1))
        dcgs["constant"] = np.append(0, np.cumsum(1 / metric.discounts(int(ranks[-1]))[ranks]))[got]
        values |= {(gain, one, discount): metric.divide(dcgs["ranked"], dcgs[one]) for one in conventions()["ideal"]}
    return values


def chance_of(tables: list[tuple[Figure, np.ndarray]], distances: dict[str, np.ndarray], far: float) -> float:
    """The share of made-up figures that conventions as near as `far` give, between the least and the greatest of these.

    Without the tenth farthest from those told. Metrics are taken to vary on their own, which makes the share too large.
    """
    share = 1.0
    for family, distance in distances.items():
        mine = [(values, f.value, 10.0**f.places) for f, values in tables if f.family == family]
        off = np.unique([np.round(v[distance <= far + 1e-9] * n) - round(told * n) for v, told, n in mine], axis=1)
        off = off[:, np.argsort(np.abs(off).max(axis=0), kind="stable")[: off.shape[1] - off.shape[1] // 10]]
        room = np.maximum(np.ptp(off, axis=1) + 1, [scale / 10 for *_, scale in mine])
        share *= off.shape[1] / float(room.prod())
    return share


def departures(settings: Settings) -> dict[tuple[str, Any], dict[str, Any]]:
    """The options that are not trec_eval's, each with its row of `conventions.toml`."""
    rows = {(axis, name): conventions()[axis].get(name) or conventions()[axis]["n"] for axis, name in settings.items()}
    return {option: row for option, row in rows.items() if row["cost"]}


def cost(settings: Settings) -> float:
    """How far settings are from trec_eval's convention."""
    return sum(float(row["cost"]) for row in departures(settings).values())


def plainest(groups: list[list[Settings]]) -> list[list[Settings]]:
    """Those groups whose first settings are not an earlier group's with something more."""
    kept: dict[frozenset[tuple[str, Any]], list[Settings]] = {}
    for group in groups:
        departs = frozenset(departures(group[0]))
        if not any(plain <= departs for plain in kept):
            kept[departs] = group
    return [*kept.values()]
