"""What the acid test asks of other libraries: each module has `evaluate(run, qrels, metric)` and says which `PACKAGE`.

A runner calls the library as its own documentation does. Where a library cannot be asked, because it lacks the metric
or takes no such input, the runner raises NotImplementedError. Its `LANGUAGE` is Python unless the module names another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NoReturn, TypeVar

from tests.acid.reference import Grades, Ranking, single

Run = Mapping[str, Ranking]
Qrels = Mapping[str, Grades]
Name = TypeVar("Name")


def parsed(metric: str) -> tuple[str, int]:
    """Name and cutoff."""
    name, _, k = metric.partition("@")
    return name, int(k)


def renamed(metric: str, names: Mapping[str, Name]) -> tuple[Name, int]:
    """What the library calls a metric, and the cutoff."""
    name, k = parsed(metric)
    if name not in names:
        not_offered(f"has no {name} with a cutoff")
    return names[name], k


def not_offered(reason: str) -> NoReturn:
    """Say why the library cannot be asked."""
    raise NotImplementedError(reason)


def scored(ranking: Ranking) -> dict[str, float]:
    """A ranking for a library that takes {document: score}."""
    if isinstance(ranking, Mapping):
        return dict(ranking)
    if len(set(ranking)) < len(ranking):
        not_offered("takes a dictionary, in which a document cannot be repeated")
    return {doc: float(len(ranking) - place) for place, doc in enumerate(ranking)}


def listed(ranking: Ranking) -> list[str]:
    """A ranking for a library that takes documents in order."""
    if not isinstance(ranking, Mapping):
        return list(ranking)
    scores = [single(score) for score in ranking.values()]
    if len(set(scores)) < len(scores) or any(map(math.isnan, scores)):
        not_offered("takes a list, whose order at equal scores or NaN is its caller's")
    return sorted(ranking, key=lambda doc: single(ranking[doc]), reverse=True)


def one_by_one(run: Run, qrels: Qrels) -> Sequence[tuple[Ranking, Grades]]:
    """Ranking and judgements of each query, for a library that takes one query at a time or aligned lists."""
    if set(run) != set(qrels):
        not_offered("takes aligned queries: which ones are missing is its caller's")
    return [(run[query], qrels[query]) for query in qrels]


def relevant(grades: Grades) -> list[str]:
    """The relevant documents, for a library that takes no grades."""
    return [doc for doc, grade in grades.items() if grade > 0]
