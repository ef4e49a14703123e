"""The right formula of each exercise, and the wrong formulas that `check` knows by name.

In the formulas, r is a list of retrieved documents, best first; q the set of relevant ones; g a dict of grades.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import combinations, product
from statistics import mean, median
from typing import NamedTuple, TypeAlias

Formula: TypeAlias = Callable[..., object]
Formulas: TypeAlias = dict[str, Callable[..., float]]
PERSISTENCE = 0.8  # of rank-biased precision: the probability that the reader goes on to the next document


class Exercise(NamedTuple):
    """The kind of its arguments, the right formula, and wrong ones by the names of their sentences in words/."""

    arguments: str
    right: Formula
    mistakes: dict[str, Formula]


def ranks(r: list[str], q: Collection[str], k: int) -> list[int]:
    return [rank for rank, doc in enumerate(r[:k], 1) if doc in q]


def hits(r: list[str], q: Collection[str], k: int) -> int:
    return len(ranks(r, q, k))


def precisions(r: list[str], q: Collection[str], k: int) -> float:
    return sum(so_far / rank for so_far, rank in enumerate(ranks(r, q, k), 1))


def weights(at: Iterable[int]) -> float:
    return sum((1 - PERSISTENCE) * PERSISTENCE ** (rank - 1) for rank in at)


BINARY: Formulas = {
    "recall": lambda r, q, k: hits(r, q, k) / len(q),
    "capped_recall": lambda r, q, k: hits(r, q, k) / min(k, len(q)),
    "precision": lambda r, q, k: hits(r, q, k) / k,
    "precision_of_shown": lambda r, q, k: hits(r, q, k) / min(k, len(r)),
    "hits": hits,
    "success": lambda r, q, k: min(hits(r, q, k), 1),
    "first_place": lambda r, q, k: hits(r, q, 1),
    "reciprocal_rank": lambda r, q, k: 1 / min(ranks(r, q, k), default=math.inf),
    "last_rank": lambda r, q, k: 1 / max(ranks(r, q, k), default=math.inf),
    "first_rank": lambda r, q, k: min(ranks(r, q, k), default=0),
    "average_precision": lambda r, q, k: precisions(r, q, k) / len(q),
    "ap_over_hits": lambda r, q, k: precisions(r, q, k) / max(1, hits(r, q, k)),
    "ap_over_min": lambda r, q, k: precisions(r, q, k) / min(k, len(q)),
    "ap_over_k": lambda r, q, k: precisions(r, q, k) / k,
    "rbp": lambda r, q, k: weights(ranks(r, q, k)),
    "rbp_without_factor": lambda r, q, k: 5 * weights(ranks(r, q, k)),
    "rbp_swapped": lambda r, q, k: sum(0.8 * 0.2 ** (rank - 1) for rank in ranks(r, q, k)),
}


def dcg(gains: Iterable[float], discount: Callable[[int], float] = lambda rank: math.log2(rank + 1)) -> float:
    return sum(gain / discount(rank) for rank, gain in enumerate(gains, 1))


def gains(r: list[str], g: dict[str, int], k: int) -> list[int]:
    return [g.get(doc, 0) for doc in r[:k]]


def best(grades: Iterable[float], k: int | None = None) -> list[float]:
    return sorted(grades, reverse=True)[:k]


def power(grades: Iterable[float]) -> list[float]:
    return [2**grade - 1 for grade in grades]


def ones(grades: Iterable[float]) -> list[float]:
    return [min(grade, 1) for grade in grades]


def relevant(g: dict[str, int]) -> set[str]:
    return {doc for doc, grade in g.items() if grade}


def old_discount(rank: int) -> float:
    return max(1.0, math.log2(rank))


GRADED: Formulas = {
    "dcg": lambda r, g, k: dcg(gains(r, g, k)),
    "dcg_exponential": lambda r, g, k: dcg(power(gains(r, g, k))),
    "dcg_old_discount": lambda r, g, k: dcg(gains(r, g, k), old_discount),
    "dcg_by_rank": lambda r, g, k: dcg(gains(r, g, k), float),
    "cumulative_gain": lambda r, g, k: sum(gains(r, g, k)),
    "ideal_dcg": lambda r, g, k: dcg(best(g.values(), k)),
    "ideal_of_retrieved": lambda r, g, k: dcg(best(gains(r, g, k))),
    "ideal_exponential": lambda r, g, k: dcg(power(best(g.values(), k))),
    "ndcg": lambda r, g, k: dcg(gains(r, g, k)) / dcg(best(g.values(), k)),
    "ndcg_of_retrieved": lambda r, g, k: dcg(gains(r, g, k)) / (dcg(best(gains(r, g, k))) or 1),
    "ndcg_of_all_retrieved": lambda r, g, k: dcg(gains(r, g, k)) / (dcg(best(gains(r, g, 99), k)) or 1),
    "ndcg_ideal_uncut": lambda r, g, k: dcg(gains(r, g, k)) / dcg(best(g.values())),
    "ndcg_binary": lambda r, g, k: dcg(ones(gains(r, g, k))) / dcg(ones(best(g.values(), k))),
    "ndcg_old_discount": lambda r, g, k: dcg(gains(r, g, k), old_discount) / dcg(best(g.values(), k), old_discount),
    "ndcg_exponential": lambda r, g, k: dcg(power(gains(r, g, k))) / dcg(power(best(g.values(), k))),
    "ndcg_mixed": lambda r, g, k: dcg(power(gains(r, g, k))) / dcg(best(g.values(), k)),
    "judged": lambda r, g, k: hits(r, g, k) / min(k, len(r)),
    "judged_over_k": lambda r, g, k: hits(r, g, k) / k,
    "relevant_share": lambda r, g, k: hits(r, relevant(g), k) / min(k, len(r)),
    "unjudged": lambda r, g, k: 1 - hits(r, g, k) / min(k, len(r)),
    "rbp_residual": lambda r, g, k: 1 - weights(ranks(r, g, k)),
    "residual_without_tail": lambda r, g, k: weights(range(1, min(k, len(r)) + 1)) - weights(ranks(r, g, k)),
    "residual_of_rbp": lambda r, g, k: 1 - weights(ranks(r, relevant(g), k)),
    "rbp": lambda r, g, k: weights(ranks(r, relevant(g), k)),
}


Run: TypeAlias = dict[str, list[str]]
Answers: TypeAlias = dict[str, set[str]]


def means_of(name: str) -> dict[str, Formula]:
    """The mean of a metric over the judged queries, and wrong ones; a query that nobody judged has no relevant one."""

    def over(queries: Callable[[Run, Answers], Iterable[str]], summary: Callable[..., float] = mean) -> Formula:
        of = BINARY[name]
        return lambda run, qrels, k: summary([of(run.get(q, []), qrels.get(q, {""}), k) for q in queries(run, qrels)])

    return {
        "right": over(lambda run, qrels: qrels),
        "mean_of_answered": over(lambda run, qrels: [q for q in qrels if q in run]),
        "mean_over_run": over(lambda run, qrels: run),
        "mean_over_all": over(lambda run, qrels: {**run, **qrels}),
        "median": over(lambda run, qrels: qrels, median),
        "sum": over(lambda run, qrels: qrels, sum),
    }


def recall_of_pairs(run: Run, qrels: Answers, k: int) -> float:
    return sum(hits(run.get(q, []), docs, k) for q, docs in qrels.items()) / sum(len(docs) for docs in qrels.values())


def over_mean_rank(run: Run, qrels: Answers, k: int) -> float:
    first = [min(at) for q in qrels if (at := ranks(run.get(q, []), qrels[q], k))]
    return 1 / mean(first) if first else 0


def documents(chunks: Iterable[str]) -> list[str]:
    return [chunk.split("#")[0] for chunk in chunks]


def unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def by_chance(p: float, q: float) -> float:
    return p * q + (1 - p) * (1 - q)


def kappa(a: list[int], b: list[int], expected: float) -> float:
    """The agreement of two assessors beyond that expected by chance."""
    return (mean(int(x == y) for x, y in zip(a, b, strict=True)) - expected) / (1 - expected)


def same_order(a: list[float], b: list[float]) -> list[bool]:
    return [(a[i] < a[j]) == (b[i] < b[j]) for i, j in combinations(range(len(a)), 2)]


def bpref(r: list[str], g: dict[str, int], *, cap: bool = True, paper: bool = False, unjudged: bool = False) -> float:
    """The sum over the relevant documents retrieved; `bpref` divides it by R."""
    size = len(relevant(g))
    divisor = size if paper else min(size, len(g) - size)
    total, above = 0.0, 0
    for doc in r:
        if g.get(doc):
            total += 1 - (min(above, size) if cap else above) / max(1, divisor)
        elif doc in g or unjudged:
            above += 1
    return total


R_PRECISION: dict[str, Formula] = {
    "right": lambda r, q: hits(r, q, len(q)) / len(q),
    "no_cutoff": lambda r, q: hits(r, q, len(r)) / len(q),
    "precision_of_shown": lambda r, q: hits(r, q, len(r)) / len(r),
    "precision_at_ten": lambda r, q: hits(r, q, 10) / 10,
    **{name: lambda r, q, name=name: BINARY[name](r, q, len(q)) for name in ("success", "average_precision")},
}
RANKING: dict[str, Formula] = {
    "right": lambda s: sorted(s, key=lambda doc: (s[doc], doc), reverse=True),
    "as_listed": lambda s: sorted(s, key=lambda doc: -s[doc]),
    "ids_ascending": lambda s: sorted(s, key=lambda doc: (-s[doc], doc)),
    "ids_as_numbers": lambda s: sorted(s, key=lambda doc: (s[doc], int(doc)), reverse=True),
    "worst_first": lambda s: sorted(s, key=lambda doc: (s[doc], doc)),
    "unsorted": list,
}
DOCUMENTS: dict[str, Formula] = {
    "right": lambda chunks, k: unique(documents(chunks))[:k],
    "cut_first": lambda chunks, k: unique(documents(chunks[:k])),
    "alphabetical": lambda chunks, k: sorted(unique(documents(chunks)))[:k],
    "repeats": lambda chunks, k: documents(chunks)[:k],
    "no_cutoff": lambda chunks, k: unique(documents(chunks)),
}
KAPPA: dict[str, Formula] = {
    "right": lambda a, b: kappa(a, b, by_chance(mean(a), mean(b))),
    "agreement": lambda a, b: kappa(a, b, 0),
    "chance_is_half": lambda a, b: kappa(a, b, 0.5),
    "chance_of_relevant": lambda a, b: kappa(a, b, mean(a) * mean(b)),
    "one_distribution": lambda a, b: kappa(a, b, by_chance(mean(a + b), mean(a + b))),
}
TAU: dict[str, Formula] = {
    "right": lambda a, b: 2 * mean(same_order(a, b)) - 1,
    "kept_share": lambda a, b: mean(same_order(a, b)),
    "swapped_share": lambda a, b: 1 - mean(same_order(a, b)),
    "tau_reversed": lambda a, b: 1 - 2 * mean(same_order(a, b)),
}
POOL: dict[str, Formula] = {
    "right": lambda rankings, depth: {doc for ids in rankings.values() for doc in ids[:depth]},
    "intersection": lambda rankings, depth: set.intersection(*(set(ids[:depth]) for ids in rankings.values())),
    "no_cutoff": lambda rankings, depth: {doc for ids in rankings.values() for doc in ids},
    "one_short": lambda rankings, depth: {doc for ids in rankings.values() for doc in ids[: depth - 1]},
}
CONDENSED: dict[str, Formula] = {
    "right": lambda r, g: [doc for doc in r if doc in g],
    "relevant_only": lambda r, g: [doc for doc in r if g.get(doc)],
    "unjudged_last": lambda r, g: sorted(r, key=lambda doc: doc not in g),
    "gaps": lambda r, g: [doc if doc in g else None for doc in r],
    "unjudged_only": lambda r, g: [doc for doc in r if doc not in g],
}
BPREF: dict[str, Formula] = {
    "right": lambda r, g: bpref(r, g) / len(relevant(g)),
    "bpref_of_paper": lambda r, g: bpref(r, g, paper=True) / len(relevant(g)),
    "bpref_uncapped": lambda r, g: bpref(r, g, cap=False) / len(relevant(g)),
    "bpref_unjudged": lambda r, g: bpref(r, g, unjudged=True) / len(relevant(g)),
    "bpref_of_retrieved": lambda r, g: bpref(r, g) / max(1, hits(r, relevant(g), 99)),
    "sum": bpref,
}
BONFERRONI: dict[str, Formula] = {
    "right": lambda p: [min(1, len(p) * value) for value in p],
    "above_one": lambda p: [len(p) * value for value in p],
    "divided": lambda p: [value / len(p) for value in p],
    "uncorrected": list,
}


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def nearest(query: list[float], passages: list[list[float]]) -> list[int]:
    """The rows of the passages, the largest inner product first."""
    return sorted(range(len(passages)), key=lambda row: -dot(query, passages[row]))


def share_of_swaps(counts: Callable[[float, float], bool]) -> Formula:
    """The share of all patterns of exchanges whose sum of differences counts, beside the sum observed."""

    def share(a: list[float], b: list[float]) -> float:
        d = [x - y for x, y in zip(a, b, strict=True)]
        return mean(counts(dot(list(signs), d), sum(d)) for signs in product((1, -1), repeat=len(d)))

    return share


SEARCH: dict[str, Formula] = {
    "right": lambda q, p, k: nearest(q, p)[:k],
    "no_cutoff": lambda q, p, k: nearest(q, p),
    "one_short": lambda q, p, k: nearest(q, p)[: k - 1],
    "worst_first": lambda q, p, k: nearest(q, p)[::-1][:k],
    "scores_returned": lambda q, p, k: sorted((dot(q, passage) for passage in p), reverse=True)[:k],
    "rank_of_each": lambda q, p, k: [nearest(q, p).index(row) for row in range(len(p))][:k],
}
PAIRED_TEST: dict[str, Formula] = {
    "right": share_of_swaps(lambda swapped, observed: abs(swapped) >= abs(observed)),
    "one_sided": share_of_swaps(lambda swapped, observed: swapped >= observed),
    "without_the_observed": share_of_swaps(lambda swapped, observed: abs(swapped) > abs(observed)),
    "share_of_wins": lambda a, b: mean(x > y for x, y in zip(a, b, strict=True)),
    "mean_difference": lambda a, b: mean(a) - mean(b),
}


def exercise(arguments: str, formulas: Mapping[str, Formula], name: str = "right") -> Exercise:
    """An exercise whose known mistakes are the other formulas; where others have names, itself at other cutoffs too."""
    right = formulas[name]
    mistakes = {other: formula for other, formula in formulas.items() if other != name}
    if name != "right":
        mistakes["no_cutoff"] = lambda r, q, k: right(r, q, 99)
        mistakes["one_short"] = lambda r, q, k: right(r, q, k - 1) if k > 1 else 0
    return Exercise(arguments, right, mistakes)


ONE_QUERY = ("recall", "capped_recall", "precision", "success", "reciprocal_rank", "average_precision", "rbp")
WITH_GRADES = ("dcg", "ideal_dcg", "ndcg", "ndcg_exponential", "judged", "rbp_residual")
EXERCISES: dict[str, Exercise] = {
    **{name: exercise("binary", BINARY, name) for name in ONE_QUERY},
    **{name: exercise("graded", GRADED, name) for name in WITH_GRADES},
    "r_precision": exercise("whole", R_PRECISION),
    "mean_recall": exercise("run", means_of("recall") | {"recall_of_pairs": recall_of_pairs}),
    "mrr": exercise("run", means_of("reciprocal_rank") | {"over_mean_rank": over_mean_rank}),
    "ranking": exercise("scores", RANKING),
    "documents": exercise("chunks", DOCUMENTS),
    "kappa": exercise("labels", KAPPA),
    "tau": exercise("orders", TAU),
    "pool": exercise("pool", POOL),
    "condensed": exercise("judged", CONDENSED),
    "bpref": exercise("judged", BPREF),
    "bonferroni": exercise("p_values", BONFERRONI),
    "search": exercise("vectors", SEARCH),
    "paired_test": exercise("pairs", PAIRED_TEST),
}
