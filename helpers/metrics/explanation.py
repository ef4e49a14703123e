"""Which convention gives this number? All known ways to compute a metric, tried on one run and its judgements.

What people do differently is in `conventions.toml`, by axis. Lists that come out equal are computed once, so the
answer is exact though most combinations are not run.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from helpers._trec_order import single_precision
from helpers.metrics import definitions as metric
from helpers.metrics.definitions import discounts, divide
from helpers.metrics.hits import Hits
from helpers.metrics.inputs import Retrieved, checked_cutoff
from helpers.metrics.qrels import Judgements, Qrels, Ranked
from helpers.metrics.registry import METRICS, our_name

CONVENTIONS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("conventions.toml").read_text("utf-8"))
FAMILIES = {  # the axes of one metric's formula
    **{name: (name,) for name in ("recall", "precision", "success")},
    **{"map": ("map", "cutoff"), "mrr": ("mrr", "cutoff"), "ndcg": ("gain", "ideal", "discount", "cutoff")},
}
WHOLE = sys.maxsize  # the depth of a list, or a cutoff, that leaves nothing out
DEPTHS = (10, 100, 1000)
FARTHEST = 4.0  # cost of the least likely combination that is tried
LIKELY = 0.03  # from this chance on, a match is called a likely coincidence
KEPT = 5  # candidates
ROWS, EACH = 300, 24  # rows of the table looked at, and combinations of each
Settings = dict[str, Any]  # {axis: option}; depth and level may be numbers
OneList = tuple[Any, list[Any], np.ndarray]  # a query, its documents in the order given, their scores


@dataclass(frozen=True)
class Figure:
    """A figure of a metric."""

    name: str
    family: str
    k: int
    value: float
    places: int  # how many decimal places it was given with

    @classmethod
    def read(cls, name: str, text: str) -> Figure:
        """Check a metric's name and the figure."""
        family, _, k = our_name(name).partition("@")
        if family not in FAMILIES:
            known = ", ".join(FAMILIES)
            raise ValueError(f"{name!r} cannot be explained: give one of {known} with a cutoff, as ndcg@10.")
        if not isinstance(text, str):
            raise TypeError(f'{name}: give the figure as text, "{text}", so that the number of its digits is known.')
        match = re.fullmatch(r"(?:[01]?\.(\d+)|[01])", text.strip())
        if match is None or float(text) > 1:
            raise ValueError(f"{name}: expected a figure from 0 to 1, such as 0.596, not {text!r}.")
        return cls(name, family, checked_cutoff(k) if k else WHOLE, float(text), len(match[1] or ""))


@dataclass(frozen=True)
class Candidate:
    """A convention that gives all the figures."""

    settings: Settings  # the option on each axis
    cost: float  # how far it is from trec_eval's convention, which has 0
    chance: float  # the share of made-up figures of as many digits, near these, that some convention as plain gives
    plainer: int  # how many different values the conventions as plain give there
    agreeing: list[Settings]  # the settings of others that give the same values here

    @property
    def coincidence(self) -> bool:
        """Whether a coincidence is likely."""
        return self.cost > 0 and self.chance > LIKELY

    def formula(self, language: str = "en") -> str:
        """What differs from trec_eval's convention, in words, English ("en") or Chinese ("zh")."""
        return in_words(self.settings, language)


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
        words = CONVENTIONS["words"][language]
        ours = {name: f"{value:.6f}" for name, value in self.reference.items()}
        lines = [words["gives"].format(metric=name, told=text, ours=ours[name]) for name, text in self.figures.items()]
        lines += [] if self.scored else [words["unscored"]]
        if not self.candidates:
            lines.append(words["nothing" if len(self.figures) == 1 else "apart"].format(tried=self.tried))
        for number, found in enumerate(self.candidates, 1):
            lines.append(words["candidate"].format(n=number, formula=found.formula(language)))
            lines += [words["known"].format(who=row["who"]) for row in departures(found.settings).values()]
            others = plainest([[settings] for settings in (found.settings, *found.agreeing)])[1:]
            formulas = [in_words(settings, language) for [settings] in others]
            lines += [words["same"].format(n=len(formulas), formula=formulas[0])] if formulas else []
            lines.append(words["chance"].format(percent=f"{found.chance:.1%}", tried=found.plainer))
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
        retrieved: rankings, as `evaluate` takes them; here a list may repeat a document. So are `scores` and `doc_ids`.
        qrels: judgements, as `evaluate` takes them.
        figures: {metric@k: the figure as text, such as "0.596"}, so that the number of its digits is known; recall,
            precision, success, map, mrr or ndcg. With several, one convention has to give them all.
        relevance_level: the lowest grade that counts as relevant in your own evaluation; others are tried too.
        texts: the text of each document, if they may have been compared by text.
        groups: the group of each query, if means may have been averaged group by group.

    Raises:
        ValueError: a figure that is not a number from 0 to 1, a metric that is none of the six, other queries.
        TypeError: a figure that is not text.
    """
    read = [Figure.read(name, text) for name, text in figures.items()]
    if not read:
        raise ValueError('There is no figure to explain: give some, such as {"ndcg@10": "0.596"}.')
    judgements, n = Judgements.of(qrels, relevance_level), len(retrieved)
    if isinstance(retrieved, Mapping) == judgements.aligned or (judgements.aligned and n != judgements.n_queries):
        raise ValueError(f"{n} rankings for {judgements.n_queries} judged queries: key both by query, or neither.")
    run = retrieved if isinstance(retrieved, Mapping) else dict(enumerate(retrieved))
    scored = scores is not None or any(isinstance(docs, Mapping) for docs in run.values())
    table = Table(read, groups)
    text_of = str if doc_ids is None else lambda doc: str(doc_ids[doc])
    depths = {WHOLE, *DEPTHS, *(figure.k for figure in read)}
    for view, judged, lists in views(lambda: read_lists(run, judgements, scores), judgements, texts):
        for settings, hits in variants(lists, judged, depths, scored, text_of):
            table.add([{"view": view, **setting} for setting in settings], hits)
    return Explanation(dict(figures), *table.search(), scored)


def read_lists(run: Mapping[Any, Any], judgements: Judgements, scores: np.ndarray | None) -> Iterator[OneList]:
    """The list of each judged query, without padding; scores are in single precision, and fall where there are none."""
    for number, query in enumerate(judgements.query_ids):
        ranking = run.get(query, ())
        docs = ranking.tolist() if isinstance(ranking, np.ndarray) else list(ranking)
        values: Any = -np.arange(len(docs)) if scores is None else scores[number]
        values = single_precision([*ranking.values()] if isinstance(ranking, Mapping) else values)
        yield only((query, docs, values), -1, twice=True)


def only(one: OneList, unwanted: Any = None, twice: bool = False) -> OneList:
    """The list without a document, and without those that stood in it before unless they may stand there twice."""
    query, docs, scores = one
    if unwanted not in docs and (twice or len(set(docs)) == len(docs)):
        return one
    first = dict(zip(reversed(docs), reversed(range(len(docs))), strict=True))
    keep = [place for place, doc in enumerate(docs) if doc != unwanted and (twice or first[doc] == place)]
    return query, [docs[place] for place in keep], scores[keep]


def views(
    lists: Callable[[], Iterator[OneList]], judgements: Judgements, texts: Mapping[Any, str] | None
) -> Iterator[tuple[str, Judgements, Iterator[OneList]]]:
    """What counts as a document, and which: with the judgements and the lists."""
    repeated, own = zip(*((len(set(docs)) < len(docs), query in docs) for query, docs, _ in lists()), strict=True)
    yield "given", judgements, map(only, lists())
    if any(repeated):
        yield "twice", judgements, lists()
    if any(own) and not judgements.aligned:
        yield "own", judgements, (only(one, one[0]) for one in lists())
    if texts:
        first: dict[str, Any] = {}
        same = {doc: first.setdefault(text, doc) for doc, text in texts.items()}
        entries = [sorted(docs.items(), key=lambda item: item[1]) for docs in by_query(judgements)]
        judged = [{same.get(doc, doc): grade for doc, grade in docs} for docs in entries]
        of = Judgements.of(dict(zip(judgements.query_ids, judged, strict=True)), judgements.relevance_level)
        yield "text", of, (only((query, [same.get(doc, doc) for doc in docs], of)) for query, docs, of in lists())


def by_query(judgements: Judgements) -> Iterator[dict[Any, int]]:
    """The judgements of each query, {doc: grade}."""
    pairs = zip(judgements.docs, judgements.grade.tolist(), strict=True)
    return (dict(islice(pairs, n)) for n in judgements.n_judged.tolist())


def variants(
    lists: Iterator[OneList], judgements: Judgements, depths: set[int], scored: bool, text_of: Callable[[Any], str]
) -> list[tuple[list[Settings], Hits]]:
    """Every order, depth and treatment of unjudged documents; those with equal lists together."""
    ranks: dict[tuple[str, int | None], list[np.ndarray]] = {}
    queries, every_grade, lengths = [], [], []
    for number, ((_, docs, scores), grades) in enumerate(zip(lists, by_query(judgements), strict=True)):
        where = [place for place, doc in enumerate(docs) if doc in grades]
        grade = np.full(len(docs), -np.inf)  # without a judgement
        grade[where] = [grades[docs[place]] for place in where]
        queries.append(np.full(len(where), number))
        every_grade.append(grade[where].astype(np.int64))
        lengths.append(len(docs))
        for key, each in in_every_order(docs, scores if scored else None, grade, depths, text_of).items():
            ranks.setdefault(key, []).append(each)
    query, grade, length = np.concatenate(queries), np.concatenate(every_grade), np.array(lengths)
    found: dict[tuple[bytes, ...], tuple[list[Settings], Hits]] = {}
    for (order, cut), parts in ranks.items():
        rank = np.concatenate(parts)
        for depth in depths if cut is None else {cut}:
            if len(rank) < len(query) or WHOLE > depth >= length.max():
                continue
            keep = (rank > 0) & (rank <= depth)
            judged = Ranked.best_first(query[keep], rank[keep], grade[keep])
            hits = Hits(judgements, WHOLE, WHOLE, judged, np.minimum(length, depth), 0, 0)
            for unjudged, of in (("wrong", hits), ("removed", hits.condensed())):
                same = tuple(a.tobytes() for a in (of.judged.query, of.judged.rank, of.judged.grade, of.retrieved))
                settings = {"order": order, "unjudged": unjudged, "depth": "whole" if depth == WHOLE else depth}
                found.setdefault(same, ([], of))[0].append(settings)
    return list(found.values())


def in_every_order(
    docs: list[Any], scores: np.ndarray | None, grade: np.ndarray, depths: set[int], text_of: Callable[[Any], str]
) -> dict[tuple[str, int | None], np.ndarray]:
    """The ranks of the judged documents of a list in every order; of a list that is cut before, 0 beyond its end."""
    place, at, where = np.arange(len(docs)), np.arange(len(docs)), np.flatnonzero(grade > -np.inf)
    mine = where[:, None]

    def rank(key: np.ndarray, among: np.ndarray) -> np.ndarray:
        ahead = (key < key[mine]) | ((key == key[mine]) & (place < mine))
        number: np.ndarray = 1 + np.count_nonzero(ahead & among, axis=1)
        return number

    whole, cut = {"trec": where + 1}, {}
    if scores is not None:
        above, tied, text = np.count_nonzero(scores > scores[mine], axis=1), scores == scores[mine], place
        if np.count_nonzero(tied) > len(where):
            _, text = np.unique([text_of(doc) for doc in docs], return_inverse=True)
        keys = {"trec": -text, "stable": place, "ascending": text, "favourable": -grade, "unfavourable": grade}
        whole = {order: above + rank(key, tied) for order, key in keys.items()} | {"listed": where + 1}
        at[np.argsort(-scores, kind="stable")] = place
        cut = {"ranks": scores}
    with suppress(ValueError, OverflowError):  # ids that are not all numbers
        cut["ids"] = -np.array([int(doc) for doc in docs], np.int64)
    found: dict[tuple[str, int | None], np.ndarray] = {(order, None): each for order, each in whole.items()}
    for depth, (order, key) in product(depths, {"reversed": -at, **cut}.items()):
        found[order, depth] = np.where(at[where] < depth, rank(key, at < depth), 0)
    return found


class Table:
    """What every convention gives for every figure: rows are settings that metrics share, columns their formulas."""

    def __init__(self, figures: list[Figure], groups: Mapping[Any, str] | None):
        """Nothing is computed yet."""
        self.figures, self.groups = figures, groups
        self.rows: list[tuple[list[Settings], Settings]] = []
        self.columns: dict[str, list[Settings]] = {}
        self.blocks: list[list[np.ndarray]] = [[] for _ in figures]

    def add(self, lists: list[Settings], hits: Hits) -> None:
        """Compute everything for one list and those equal to it, at every relevance level."""
        of, lists = hits.judgements, sorted(lists, key=cost)
        for level in sorted({of.relevance_level, *np.unique(of.grade[of.grade > 0]).tolist()}):
            leveled = replace(hits, judgements=Judgements.of(of, level))
            for figure, block in zip(self.figures, self.blocks, strict=True):
                values = formulas(leveled, figure.family, figure.k)
                self.columns[figure.family] = [dict(zip(FAMILIES[figure.family], one, strict=False)) for one in values]
                each, weights = np.array([*values.values()]), self.weights(leveled, figure.k)
                rounded = [each, *(np.round(each, digits) for digits in (4, 3, 2))]
                block += [weight @ some.T for some in rounded for weight in weights.values()]
            shared = {"level": "given" if level == of.relevance_level else level}
            names = product(("none", "4", "3", "2"), weights)
            self.rows += [(lists, {**shared, "mean": mean, "rounding": rounding}) for rounding, mean in names]

    def weights(self, hits: Hits, k: int) -> dict[str, np.ndarray]:
        """The weight of each query in every kind of mean."""
        masks: dict[str, np.ndarray] = {"all": hits.n_relevant >= 0, "relevant": hits.n_relevant > 0}
        masks |= {"run": hits.retrieved > 0, "hit": hits.count(k) > 0}
        weights = {mean: mask / max(1, np.count_nonzero(mask)) for mean, mask in masks.items()}
        if self.groups:
            names = [self.groups[query] for query in hits.judgements.query_ids]
            _, group, size = np.unique(names, return_inverse=True, return_counts=True)
            weights["groups"] = 1 / size[group] / len(size)
        return weights

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
        candidates = []
        ordered = sorted((sorted(each, key=cost) for each in found.values()), key=lambda each: cost(each[0]))
        for settings, *others in plainest(ordered)[:KEPT]:
            chance, plainer = chance_of(tables, row_costs, costs, cost(settings))
            candidates.append(Candidate(settings, cost(settings), chance, plainer, others))
        reference = {f.name: float(values[row_costs.argmin(), costs[f.family].argmin()]) for f, values in tables}
        return reference, candidates, len(row_costs) * int(np.prod([len(each) for each in costs.values()]))


def formulas(hits: Hits, family: str, k: int) -> dict[tuple[str, ...], np.ndarray]:
    """One value a query by every formula of a metric, keyed by the options on its axes."""
    values: dict[tuple[str, ...], np.ndarray] = {}
    for name, cut in (("named", k), ("whole", WHOLE)) if "cutoff" in FAMILIES[family] else (("", k),):
        every = ndcg_formulas(hits, cut) if family == "ndcg" else quotients(hits, cut, family)
        values |= {(*options, name): value for options, value in every.items()}
    return values


def quotients(hits: Hits, k: int, family: str) -> dict[tuple[str, ...], np.ndarray]:
    """A metric that is a sum over the relevant documents of the top k, by every divisor."""
    top, found, relevant = hits.relevant.top(k), hits.count(k), hits.n_relevant
    weight = top.so_far / top.rank if family == "map" else 1 / top.rank if family == "mrr" else None
    total = hits.per_query(top.query, weight)
    parts = {"R": relevant, "min": np.minimum(k, relevant), "hits": found, "listed": hits.count(WHOLE)}
    parts |= {"retrieved": np.minimum(k, hits.retrieved), "k": np.full(hits.n_queries, k)}
    values = {option: divide(total, part) for option, part in parts.items()} | {"hit": metric.success(hits, k)}
    reference, *others = CONVENTIONS[family]
    return {(reference,): METRICS[family].of(hits, k), **{(option,): values[option] for option in others}}


def ndcg_formulas(hits: Hits, k: int) -> dict[tuple[str, ...], np.ndarray]:
    """nDCG by every gain, ideal and discount; a discount is that of log2(rank + 1) at another rank."""
    judged, top, got = hits.judgements, hits.gains.top(k), np.minimum(k, hits.retrieved)
    listed = {"retrieved": best(hits.gains, judged).top(k), "top": best(top, judged)}
    ideals = {"judged": judged.ideal.top(k), "uncut": judged.ideal, **listed}
    gains: dict[str, Callable[[np.ndarray], np.ndarray]] = {"linear": lambda grade: grade}
    gains |= {"exponential": lambda grade: 2.0**grade - 1, "binary": lambda grade: grade >= judged.relevance_level}
    shifts: dict[str, Callable[[np.ndarray], np.ndarray]] = {"rank1": lambda rank: rank, "rank2": lambda rank: rank + 1}
    shifts["jarvelin"] = lambda rank: np.maximum(1, rank - 1)
    values: dict[tuple[str, ...], np.ndarray] = {}
    for (gain, worth), (discount, shift) in product(gains.items(), shifts.items()):
        moved = {
            name: metric.dcg(Ranked(each.query, shift(each.rank), worth(each.grade)), hits.n_queries)
            for name, each in {"ranked": top, **ideals}.items()
        }
        ranks = shift(np.arange(1, got.max(initial=1) + 1))
        moved["constant"] = np.append(0, np.cumsum(1 / discounts(int(ranks[-1]))[ranks]))[got]
        values |= {(gain, ideal, discount): divide(moved["ranked"], moved[ideal]) for ideal in CONVENTIONS["ideal"]}
    return values


def best(ranked: Ranked, judgements: Judgements) -> Ranked:
    """The same documents, highest grade first."""
    order = np.argsort(ranked.query, kind="stable")
    return replace(judgements, query=ranked.query[order], grade=ranked.grade[order]).ideal


def chance_of(
    tables: list[tuple[Figure, np.ndarray]], row_costs: np.ndarray, costs: dict[str, np.ndarray], far: float
) -> tuple[float, int]:
    """The share of made-up figures that conventions as near as `far` give, and how many different ones they give.

    Counted among the figures within .05 and within .25 of those given, whichever share is larger; figures of different
    metrics are taken to vary on their own, which makes the share rather too large.
    """
    shares, many = [], 1
    for width in (0.05, 0.25):
        share = 1.0
        for family, each in costs.items():
            mine, allowed = [one for one in tables if one[0].family == family], row_costs[:, None] + each <= far + 1e-9
            cells = np.stack([np.round(values[allowed] * 10.0**f.places) for f, values in mine], axis=1)
            near = np.all([np.abs(values[allowed] - f.value) <= width for f, values in mine], axis=0)
            count = len(np.unique(cells[near], axis=0))
            room = [(min(1, f.value + width) - max(0, f.value - width)) * 10.0**f.places for f, _ in mine]
            many, share = max(many, count), share * min(1.0, count / float(np.prod(np.maximum(1, room))))
        shares.append(share)
    return max(shares), many


def departures(settings: Settings) -> dict[tuple[str, Any], dict[str, Any]]:
    """The options that are not trec_eval's, each with its row of `conventions.toml`."""
    rows = {(axis, name): CONVENTIONS[axis].get(name) or CONVENTIONS[axis]["n"] for axis, name in settings.items()}
    return {option: row for option, row in rows.items() if row["cost"]}


def cost(settings: Settings) -> float:
    """How far settings are from trec_eval's convention."""
    return sum(float(row["cost"]) for row in departures(settings).values())


def in_words(settings: Settings, language: str) -> str:
    """What differs from trec_eval's convention, in words."""
    words: dict[str, str] = CONVENTIONS["words"][language]
    said = [row[language].format(n=name) for (_, name), row in departures(settings).items()]
    return words["join"].join(said) or words["reference"]


def plainest(groups: list[list[Settings]]) -> list[list[Settings]]:
    """Those groups whose first settings are not an earlier group's with something more."""
    kept: list[tuple[Set[tuple[str, Any]], list[Settings]]] = []
    for group in groups:
        departs = departures(group[0]).keys()
        if not any(plain <= departs for plain, _ in kept):
            kept.append((departs, group))
    return [group for _, group in kept]
