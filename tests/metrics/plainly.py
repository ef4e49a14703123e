"""Metrics by every convention in plain Python, a query at a time: what `explain` is compared with, and cases drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from helpers.metrics.explanation import WHOLE, conventions

ORDERS = {  # keys by which a list of (place, doc, score, grade) is sorted
    "trec": lambda x: (-x[2], [-ord(letter) for letter in str(x[1]) + "\0"]),
    "listed": lambda x: x[0],
    "stable": lambda x: (-x[2], x[0]),
    "ascending": lambda x: (-x[2], str(x[1])),
    "favourable": lambda x: (-x[2], -x[3], x[0]),
    "unfavourable": lambda x: (-x[2], x[3], x[0]),
    "ids": lambda x: -x[1],
    "ranks": lambda x: (x[2], x[0]),
    "reversed": lambda x: (x[2], -x[0]),
}
DISCOUNTS = {"rank1": lambda i: math.log2(i + 1), "rank2": lambda i: math.log2(i + 2),
             "jarvelin": lambda i: max(1.0, math.log2(i))}  # fmt: skip


def ranked(run: dict, qrels: dict, query: Any, how: dict) -> list:
    """The list of one query, after the settings of the list."""
    judged = qrels[query]
    rows = [(place, doc, score, judged.get(doc, 0)) for place, (doc, score) in enumerate(run.get(query, {}).items())]
    rows = sorted(rows, key=ORDERS["stable"])[: how["depth"]]  # what was retrieved, by score, to the depth
    rows = sorted(rows, key=ORDERS[how["order"]])
    return [row[1] for row in rows if how["unjudged"] == "wrong" or row[1] in judged]


def ndcg(docs: list, judged: dict, k: int, how: dict) -> float:
    """nDCG of one query."""
    gain = {"linear": float, "exponential": lambda g: 2.0**g - 1, "binary": lambda g: float(g >= how["level"])}
    gains, weight = [gain[how["gain"]](judged.get(doc, 0)) for doc in docs], DISCOUNTS[how["discount"]]
    everything = sorted((gain[how["gain"]](grade) for grade in judged.values()), reverse=True)
    ideal = {
        "judged": everything[:k],
        "uncut": everything,
        "retrieved": sorted(gains, reverse=True)[:k],
        "top": sorted(gains[:k], reverse=True),
        "constant": [1.0] * len(gains[:k]),
    }[how["ideal"]]
    best = sum(value / weight(rank) for rank, value in enumerate(ideal, 1))
    return sum(value / weight(rank) for rank, value in enumerate(gains[:k], 1)) / best if best else 0.0


def one_value(docs: list, judged: dict, family: str, k: int, how: dict) -> float:
    """The value of one query."""
    k = WHOLE if how.get("cutoff") == "whole" else k
    if family == "ndcg":
        return ndcg(docs, judged, k, how)
    hits = [rank for rank, doc in enumerate(docs[:k], 1) if judged.get(doc, 0) >= how["level"]]
    relevant = sum(grade >= how["level"] for grade in judged.values())
    divisor = {"R": relevant, "min": min(k, relevant), "hits": len(hits), "retrieved": min(k, len(docs)), "k": k}
    divisor["listed"] = sum(judged.get(doc, 0) >= how["level"] for doc in docs)
    if how[family] in ("hit", "first"):
        return (1.0 if family != "mrr" else 1 / hits[0]) if hits else 0.0
    total = sum({"map": n / rank, "mrr": 1 / rank}.get(family, 1) for n, rank in enumerate(hits, 1))
    below = divisor[how[family]]
    return total / below if below else 0.0


def figure(run: dict, qrels: dict, metric: str, how: dict) -> float:
    """The mean by a convention."""
    family, _, k = metric.partition("@")
    values, wanted = [], {
        "all": lambda q, docs: True,
        "relevant": lambda q, docs: any(grade >= how["level"] for grade in qrels[q].values()),
        "run": lambda q, docs: bool(docs),
        "hit": lambda q, docs: any(qrels[q].get(doc, 0) >= how["level"] for doc in docs[: int(k)]),
    }[how["mean"]]  # fmt: skip
    for query, judged in qrels.items():
        docs = ranked(run, qrels, query, how)
        if wanted(query, docs):
            value = one_value(docs, judged, family, int(k), how)
            values.append(value if how["rounding"] == "none" else round(value, int(how["rounding"])))
    return sum(values) / len(values) if values else 0.0


def figures(run: dict, qrels: dict, metric: str, how: dict, digits: int) -> str:
    """The figure as it would be printed."""
    return f"{figure(run, qrels, metric, how):.{digits}f}"


def sample(rng: np.random.Generator) -> tuple[dict, dict]:
    """A run of 30 queries with ties, a gap and unjudged documents, and graded judgements."""
    qrels = {}
    for number in range(30):
        docs, grades = rng.permutation(90)[:14].tolist(), rng.choice([0, 0, 1, 1, 2, 3], 14).tolist()
        qrels[f"q{number}"] = dict(zip(docs, grades, strict=True))
    qrels |= {"q3": dict.fromkeys(qrels["q3"], 0)}
    run = {}
    for query, judged in qrels.items():
        docs = rng.permutation(90)[: int(rng.integers(8, 40))].tolist()
        scores = {doc: float(round(rng.random() * 4 + judged.get(doc, 0), 1)) for doc in docs}
        run[query] = dict(sorted(scores.items(), key=lambda item: -item[1] + 0.3 * (item[0] % 2)))
    return {query: docs for query, docs in run.items() if query != "q7"}, qrels


DEFAULTS = {"order": "trec", "unjudged": "wrong", "depth": WHOLE, "level": 1, "mean": "all", "rounding": "none",
            "recall": "R", "precision": "k", "success": "hit", "map": "R", "mrr": "first", "cutoff": "named",
            "gain": "linear", "ideal": "judged", "discount": "rank1"}  # fmt: skip
OPTIONS = {"order": [*ORDERS], "unjudged": ["removed"], "depth": [10], "level": [2, 3],
           "mean": ["relevant", "run", "hit"], "rounding": ["4", "3", "2"],
           "recall": ["min", "hit", "k", "retrieved", "listed"],
           "precision": ["retrieved", "min", "R"], "success": ["R"], "map": ["min", "hits", "retrieved"],
           "mrr": ["hits"], "cutoff": ["whole"], "gain": ["exponential", "binary"],
           "ideal": ["uncut", "retrieved", "top", "constant"], "discount": ["rank2", "jarvelin"]}  # fmt: skip


def drawn(rng: np.random.Generator, departures: int) -> tuple[str, dict]:
    """A metric and a convention that departs from trec_eval's on so many axes."""
    families = conventions()["families"]
    family = str(rng.choice([*families]))
    axes = ["order", "unjudged", "depth", "level", "mean", "rounding", *families[family]]
    how = {axis: DEFAULTS[axis] for axis in axes}
    for axis in rng.choice(axes, departures, replace=False):
        how[axis] = OPTIONS[axis][rng.integers(len(OPTIONS[axis]))]
    return family, how


def case(seed: int, digits: int = 4) -> tuple[dict, dict, dict[str, str], dict]:
    """A run, judgements, three figures and the convention they are of: one in which every departure shows."""
    rng = np.random.default_rng(seed)
    run, qrels = sample(rng)
    while True:
        family, how = drawn(rng, 1 + seed % 2)
        told = {f"{family}@{k}": figures(run, qrels, f"{family}@{k}", how, digits) for k in (1, 5, 10)}
        plainer = [how | {axis: DEFAULTS[axis]} for axis in how if how[axis] != DEFAULTS[axis]]
        shows = all(any(told[m] != figures(run, qrels, m, other, digits) for m in told) for other in plainer)
        if shows and max(map(float, told.values())) <= 1:
            return run, qrels, told, how
