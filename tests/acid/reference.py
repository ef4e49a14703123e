"""What each case of the acid test must give: exact fractions and closed forms, from nothing but the standard library.

Written from the definitions and kept apart from `helpers.metrics`, so that a fault in one does not hide in the other.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

Grades = Mapping[str, int]
Ranking = Sequence[str] | Mapping[str, float]
Terms = list[tuple[int, int]]  # grade and rank of each addend of a DCG


def single(score: float) -> float:
    """The score in single precision, as trec_eval keeps it; infinite where it is too large."""
    try:
        return struct.unpack("<f", struct.pack("<f", score))[0]
    except OverflowError:
        return math.copysign(math.inf, score)


def order(ranking: Ranking) -> list[str]:
    """Documents best first: score descending, then id as text descending; a list keeps its order.

    Raises:
        ValueError: a score that is not a number.
    """
    if not isinstance(ranking, Mapping):
        return list(ranking)
    if any(math.isnan(score) for score in ranking.values()):
        raise ValueError("A score that is not a number has no place in an order.")
    return sorted(ranking, key=lambda doc: (single(ranking[doc]), doc.encode()), reverse=True)


def gains(docs: Sequence[str], grades: Grades, k: int) -> Terms:
    """Grade and rank of the documents with a gain in the top k; a repeated document counts at its first place."""
    first = [(doc, rank) for rank, doc in enumerate(docs[:k], 1) if doc not in docs[: rank - 1]]
    return [(grades[doc], rank) for doc, rank in first if grades.get(doc, 0) > 0]


def of_query(docs: Sequence[str], grades: Grades, name: str, k: int) -> tuple[Fraction, Terms, Terms]:
    """One query's value as a fraction; of nDCG instead the addends of DCG and of the ideal."""
    found = gains(docs, grades, k)
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    relevant = len(ideal)
    if not relevant:
        return Fraction(0), [], []
    if name == "ndcg":
        best = [(grade, rank) for rank, grade in enumerate(ideal[:k], 1)]
        return (Fraction(1), [], []) if found == best else (Fraction(0), found, best if found else [])
    ranks = [rank for _, rank in found]
    values = {
        "recall": Fraction(len(ranks), relevant),
        "precision": Fraction(len(ranks), k),
        "mrr": Fraction(1, ranks[0]) if ranks else Fraction(0),
        "map": sum((Fraction(number, rank) for number, rank in enumerate(ranks, 1)), Fraction(0)) / relevant,
        "success": Fraction(bool(ranks)),
    }
    return values[name], [], []


def written(terms: Terms) -> str:
    """A DCG as text."""
    return " + ".join(f"{grade}/log2({rank + 1})" for grade, rank in terms)


def summed(terms: Terms) -> Decimal:
    """A DCG to fifty digits."""
    return sum((Decimal(grade) * Decimal(2).ln() / Decimal(rank + 1).ln() for grade, rank in terms), Decimal(0))


def exact(run: Mapping[str, Ranking], qrels: Mapping[str, Grades], metric: str) -> tuple[str, float]:
    """The mean over all judged queries: its closed form, and the double nearest to it.

    Raises:
        ValueError: a score that is not a number.
    """
    name, _, cutoff = metric.partition("@")
    whole, parts, value = Fraction(0), [], Decimal(0)
    with localcontext() as context:
        context.prec = 50
        for query, grades in qrels.items():
            fraction, found, best = of_query(order(run.get(query, [])), grades, name, int(cutoff))
            whole += fraction
            value += Decimal(fraction.numerator) / Decimal(fraction.denominator)
            if found:
                parts.append(f"({written(found)})/({written(best)})")
                value += summed(found) / summed(best)
        if not parts:
            mean = whole / len(qrels)
            return str(mean), mean.numerator / mean.denominator
        text = " + ".join([*([str(whole)] if whole else []), *parts])
        return text if len(qrels) == 1 else f"({text})/{len(qrels)}", float(value / len(qrels))
