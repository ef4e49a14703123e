"""Which convention gives this number? All known ways to compute a metric, tried on one run and its judgements.

What people do differently is in `conventions.toml`, by axis. Everything up to a list of ranks is done once for each
kind of list; lists that come out equal are computed once, so the answer is exact though most combinations are not run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any

import numpy as np

from helpers.metrics.hits import Hits
from helpers.metrics.inputs import Retrieved, checked_cutoff
from helpers.metrics.qrels import Judgements, Qrels
from helpers.metrics.registry import our_name
from helpers.metrics.variants import FAMILIES, WHOLE, Lists, Settings, conventions, formulas, variants

DEPTHS = (10, 100, 1000)
FARTHEST = 4.0  # cost of the least likely combination that is tried
LIKELY = 0.03  # from this chance on, a match is called a likely coincidence
SHOWN, KEPT = 5, 20  # candidates in words, and in all
ROWS, EACH = 300, 24  # rows of the table looked at, and combinations of each


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
        given: the relevance level of your own evaluation.
        cost: how far it is from trec_eval's convention, which has 0.
        values: what it gives, by figure.
        chance: the share of made-up figures of as many digits, near these, that some convention as plain would give.
        plainer: how many different values the conventions as plain give there.
        agreeing: the settings of others that give the same values here.
    """

    settings: Settings
    given: int
    cost: float
    values: dict[str, float]
    chance: float
    plainer: int
    agreeing: list[Settings]

    @property
    def coincidence(self) -> bool:
        """Whether a coincidence is likely."""
        return self.cost > 0 and self.chance > LIKELY

    @property
    def known(self) -> list[str]:
        """Who is known to do what differs from trec_eval."""
        rows = [entry(axis, value, self.given) for axis, value in self.settings.items()]
        return [row["who"] for row in rows if row["cost"] and "who" in row]

    @property
    def rivals(self) -> list[Settings]:
        """Those of `agreeing` that are not a plainer one, or this one, with something more that shows nowhere."""
        return plainest([self.settings, *self.agreeing], self.given)[1:]

    def formula(self, language: str = "en") -> str:
        """What differs from trec_eval's convention, in words, English ("en") or Chinese ("zh")."""
        return in_words(self.settings, self.given, language)

    def lines(self, number: int, words: dict[str, str], language: str) -> list[str]:
        """The candidate with all that is known of it, in words."""
        lines = [words["candidate"].format(n=number, formula=self.formula(language))]
        lines += [words["known"].format(who=who) for who in self.known]
        if rivals := self.rivals:
            other = in_words(rivals[0], self.given, language)
            lines.append(words["same"].format(n=len(rivals), formula=other))
        lines.append(words["chance"].format(percent=f"{self.chance:.1%}", tried=self.plainer))
        return [*lines, words["likely"]] if self.coincidence else lines


@dataclass(frozen=True)
class Explanation:
    """What `explain` found, plainest first; `str` gives it in words.

    Attributes:
        told: the figures as given.
        reference: what trec_eval's convention gives, by figure.
        candidates: conventions that give all the figures; none is an answer too.
        tried: how many conventions were tried.
        scored: whether the rankings have scores.
        parts: if nothing gives all the figures of several metrics, the explanations metric by metric.
    """

    told: dict[str, str]
    reference: dict[str, float]
    candidates: list[Candidate]
    tried: int
    scored: bool
    parts: list[Explanation] = field(default_factory=list)

    def text(self, language: str = "en") -> str:
        """In words, English ("en") or Chinese ("zh")."""
        words = conventions()["words"][language]
        if self.parts:
            return "\n".join([words["apart"], *(part.text(language) for part in self.parts)])
        lines = [
            words["gives"].format(metric=name, told=told, ours=f"{self.reference[name]:.6f}")
            for name, told in self.told.items()
        ]
        lines += [] if self.scored else [words["unscored"]]
        if not self.candidates:
            lines.append(words["nothing"].format(tried=self.tried))
        settings = [found.settings for found in self.candidates]
        plain = plainest(settings, self.candidates[0].given) if settings else []
        for number, chosen in enumerate(plain[:SHOWN], 1):
            lines += self.candidates[settings.index(chosen)].lines(number, words, language)
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
        retrieved: rankings, as `evaluate` takes them; here a list may repeat a document.
        qrels: judgements, as `evaluate` takes them.
        figures: {metric@k: the figure as text, such as "0.596"}, so that the number of its digits is known; recall,
            precision, success, map, mrr or ndcg. With several, one convention has to give them all.
        scores: of an array of ids, as `evaluate` takes them.
        doc_ids: the id of each row of the corpus, as `evaluate` takes them.
        relevance_level: the lowest grade that counts as relevant in your own evaluation; others are tried too.
        texts: the text of each document, if they may have been compared by text.
        groups: the group of each query, if means may have been averaged group by group.

    Raises:
        ValueError: a figure that is not a number from 0 to 1, a metric that is none of the six, other queries.
        TypeError: a figure that is not text.
    """
    read = [read_figure(name, told) for name, told in figures.items()]
    if not read:
        raise ValueError('There is no figure to explain: give some, such as {"ndcg@10": "0.596"}.')
    judgements = Judgements.of(qrels, relevance_level)
    lists = Lists(retrieved, judgements, scores, doc_ids)
    table = Table(read, judgements, lists.scored, groups)
    for view, judged, rankings in lists.views(texts):
        for settings, hits in variants(rankings, judged, {WHOLE, *DEPTHS, *(figure.k for figure in read)}):
            table.add([{"view": view, **setting} for setting in settings], hits)
    return table.explain()


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


class Table:
    """What every convention gives for every figure: by shared settings (rows) and formulas (columns)."""

    def __init__(self, figures: list[Figure], judgements: Judgements, scored: bool, groups: Mapping[Any, str] | None):
        """Nothing is computed yet."""
        self.figures, self.given, self.scored, self.groups = figures, judgements.relevance_level, scored, groups
        self.levels = sorted({self.given, *np.unique(judgements.grade[judgements.grade > 0]).tolist()})
        self.rows: list[tuple[list[Settings], Settings]] = []
        self.columns: dict[str, list[Settings]] = {}
        self.blocks: list[list[np.ndarray]] = [[] for _ in figures]

    def add(self, lists: list[Settings], hits: Hits) -> None:
        """Compute everything for one list and those equal to it."""
        lists = sorted(lists, key=self.cost)
        for level in self.levels:
            leveled = replace(hits, judgements=Judgements.of(hits.judgements, level))
            for place, figure in enumerate(self.figures):
                each, weights = self.each(leveled, figure), self.weights(leveled, figure.k)
                rounded = [each, *(np.round(each, digits) for digits in (4, 3, 2))]
                self.blocks[place] += [weight @ some.T for some in rounded for weight in weights.values()]
            names = product(("none", "4", "3", "2"), weights)
            self.rows += [(lists, {"level": level, "mean": mean, "rounding": rounding}) for rounding, mean in names]

    def each(self, hits: Hits, figure: Figure) -> np.ndarray:
        """The values of every query by every formula, (formulas, q)."""
        axes = FAMILIES[figure.family]
        cut = {"named": figure.k} | ({"whole": WHOLE} if "cutoff" in axes else {})
        values = {(*f, cutoff): v for cutoff, k in cut.items() for f, v in formulas(hits, figure.family, k).items()}
        self.columns[figure.family] = [dict(zip(axes, options, strict=False)) for options in values]
        return np.array(list(values.values()))

    def weights(self, hits: Hits, k: int) -> dict[str, np.ndarray]:
        """The weight of each query in every kind of mean."""
        masks: dict[str, np.ndarray] = {"all": hits.n_relevant >= 0, "relevant": hits.n_relevant > 0}
        masks |= {"run": hits.retrieved > 0, "hit": hits.count(k) > 0}
        weights = {mean: mask / max(1, np.count_nonzero(mask)) for mean, mask in masks.items()}
        if self.groups:
            names = np.array([self.groups[query] for query in hits.judgements.query_ids])
            _, group, size = np.unique(names, return_inverse=True, return_counts=True)
            weights["groups"] = 1 / size[group] / len(size)
        return weights

    def cost(self, settings: Settings) -> float:
        """How far settings are from trec_eval's convention."""
        return sum(float(entry(axis, value, self.given)["cost"]) for axis, value in settings.items())

    def explain(self) -> Explanation:
        """What gives all the figures; where nothing does, what gives those of each metric."""
        families = list(dict.fromkeys(figure.family for figure in self.figures))
        found = self.explanation(families)
        if found.candidates or len(families) == 1:
            return found
        return replace(found, parts=[self.explanation([family]) for family in families])

    def explanation(self, families: list[str]) -> Explanation:
        """The conventions that give all the figures of some metrics; those that give the same values are together."""
        told = [
            (f, np.array(block)) for f, block in zip(self.figures, self.blocks, strict=True) if f.family in families
        ]
        shared = np.array([self.cost(lists[0] | rest) for lists, rest in self.rows])
        own = {family: np.array([self.cost(formula) for formula in self.columns[family]]) for family in families}
        fits = {family: np.all([f.fits(v) for f, v in told if f.family == family], axis=0) for family in families}
        bound = shared + sum(np.where(fits[family], own[family], np.inf).min(axis=1) for family in families)
        found: dict[tuple[float, ...], list[tuple[float, Settings]]] = {}
        for row in np.argsort(bound, kind="stable")[:ROWS].tolist():
            columns = [sorted(np.flatnonzero(fits[f][row]).tolist(), key=own[f].__getitem__) for f in families]
            for chosen in islice(product(*columns), EACH if bound[row] <= FARTHEST else 0):
                column = dict(zip(families, chosen, strict=True))
                formula = {axis: o for f in families for axis, o in self.columns[f][column[f]].items()}
                every = [{**names, **self.rows[row][1], **formula} for names in self.rows[row][0]]
                value = tuple(round(float(v[row, column[f.family]]), 11) for f, v in told)
                found.setdefault(value, []).extend((self.cost(settings), settings) for settings in every)
        candidates: list[Candidate] = []
        chances: dict[float, tuple[float, int]] = {}
        ordered = [(value, sorted(members, key=lambda member: member[0])) for value, members in found.items()]
        ordered.sort(key=lambda item: item[1][0][0])
        for value, ((cost, settings), *others) in ordered[:KEPT]:
            chances[cost] = chance, plainer = chances.get(cost) or chance_of(told, shared, own, cost)
            values = {f.name: one for (f, _), one in zip(told, value, strict=True)}
            known = [settings for _, settings in others]
            candidates.append(Candidate(settings, self.given, cost, values, chance, plainer, known))
        reference = {f.name: float(v[shared.argmin(), own[f.family].argmin()]) for f, v in told}
        tried = len(shared) * int(np.prod([len(costs) for costs in own.values()]))
        return Explanation({f.name: f.told for f, _ in told}, reference, candidates, tried, self.scored)


def chance_of(
    told: list[tuple[Figure, np.ndarray]], shared: np.ndarray, own: dict[str, np.ndarray], cost: float
) -> tuple[float, int]:
    """The share of made-up figures that conventions of this cost or less give, and how many different ones they give.

    Counted among the figures within .05 and within .25 of those told, whichever share is larger; figures of different
    metrics are taken to vary on their own, which makes the share rather too large.
    """
    shares, many = [], 1
    for width in (0.05, 0.25):
        share = 1.0
        for family, costs in own.items():
            mine = [(f, v) for f, v in told if f.family == family]
            allowed = shared[:, None] + costs[None, :] <= cost + 1e-9
            cells = np.stack([np.round(v[allowed] * 10.0**f.places) for f, v in mine], axis=1)
            away = np.stack([np.abs(v[allowed] - f.value) for f, v in mine], axis=1)
            count = len(np.unique(cells[(away <= width).all(axis=1)], axis=0))
            room = [(min(1, f.value + width) - max(0, f.value - width)) * 10.0**f.places for f, _ in mine]
            many, share = max(many, count), share * min(1.0, count / float(np.prod(np.maximum(1, room))))
        shares.append(share)
    return max(shares), many


def entry(axis: str, value: Any, level: int) -> dict[str, Any]:
    """The row of an option in `conventions.toml`."""
    if axis in ("depth", "level"):
        value = {"depth": {WHOLE: "whole"}, "level": {level: "given"}}[axis].get(value, "n")
    row: dict[str, Any] = conventions()[axis][value]
    return row


def in_words(settings: Settings, level: int, language: str) -> str:
    """What differs from trec_eval's convention, in words."""
    words: dict[str, str] = conventions()["words"][language]
    rows = [(entry(axis, value, level), value) for axis, value in settings.items()]
    return words["join"].join(row[language].format(n=n) for row, n in rows if row["cost"]) or words["reference"]


def plainest(every: list[Settings], level: int) -> list[Settings]:
    """Those that are not an earlier one with something more."""
    kept: list[tuple[set[tuple[str, Any]], Settings]] = []
    for settings in every:
        departs = {(axis, value) for axis, value in settings.items() if entry(axis, value, level)["cost"]}
        if not any(plain <= departs for plain, _ in kept):
            kept.append((departs, settings))
    return [settings for _, settings in kept]
