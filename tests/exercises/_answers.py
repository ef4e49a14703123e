"""Answers as readers write them, three right ones an exercise: with a library, with a loop, with arrays or a set."""

import math
from collections import Counter
from heapq import nlargest
from itertools import chain

import numpy as np
import scipy.stats
from sklearn.metrics import cohen_kappa_score, ndcg_score

from helpers.judgements import agreement, condense, pool
from helpers.metrics import evaluate
from helpers.significance import kendall_tau


def scored(name):
    """An answer of the package itself, on one query."""

    def answer(retrieved, judged, *cutoff):
        grades = judged if isinstance(judged, dict) else dict.fromkeys(judged, 1)
        metric = "@".join([name, *map(str, cutoff)])
        return evaluate({"q": retrieved}, {"q": grades}, metric).mean[metric]

    return answer


def flags(retrieved, relevant, k):
    """One for each relevant document of the top k, zero for the others."""
    return np.isin(retrieved[:k], list(relevant)).astype(float)


def grades_of(retrieved, grades, k):
    """The grades of the top k as an array."""
    return np.array([grades.get(doc, 0) for doc in retrieved[:k]], dtype=float)


def ideal(grades, k):
    """The highest grades as an array."""
    return np.sort(np.array(list(grades.values()), dtype=float))[::-1][:k]


def discounted(gains):
    """The sum of discounted gains."""
    return float(np.sum(gains / np.log2(np.arange(len(gains)) + 2)))


def loop_recall(retrieved, relevant, k):
    found = 0
    for doc in retrieved[:k]:
        if doc in relevant:
            found += 1
    return found / len(relevant)


def any_success(retrieved, relevant, k):
    return any(doc in relevant for doc in retrieved[:k])


def loop_reciprocal_rank(retrieved, relevant, k):
    for rank, doc in enumerate(retrieved, 1):
        if rank > k:
            break
        if doc in relevant:
            return 1 / rank
    return 0


def loop_average_precision(retrieved, relevant, k):
    so_far, total = 0, 0.0
    for rank, doc in enumerate(retrieved[:k], 1):
        if doc in relevant:
            so_far += 1
            total += so_far / rank
    return total / len(relevant)


def array_average_precision(retrieved, relevant, k):
    hit = flags(retrieved, relevant, k)
    return (hit * hit.cumsum() / np.arange(1, len(hit) + 1)).sum() / len(relevant)


def loop_rbp(retrieved, relevant, k):
    reading, total = 1.0, 0.0
    for doc in retrieved[:k]:
        total += reading * 0.2 * (doc in relevant)
        reading *= 0.8
    return total


def loop_dcg(retrieved, grades, k):
    total = 0.0
    for place in range(min(k, len(retrieved))):
        total += grades.get(retrieved[place], 0) / math.log2(place + 2)
    return total


def loop_residual(retrieved, grades, k):
    """What the unjudged of the top k weigh, and all that is below."""
    top = retrieved[:k]
    return sum(0.2 * 0.8**place for place, doc in enumerate(top) if doc not in grades) + 0.8 ** len(top)


def sklearn_ndcg(retrieved, grades, k):
    """scikit-learn's, which sees every document once it is given the scores of all."""
    documents = list(dict.fromkeys([*retrieved, *grades]))
    gain = [grades.get(doc, 0) for doc in documents]
    score = [len(retrieved) - retrieved.index(doc) if doc in retrieved else 0 for doc in documents]
    tail = [doc for doc in documents if doc not in retrieved]
    if len(retrieved) < k and any(grades[doc] for doc in tail):  # it would rank what was not retrieved
        return discounted(grades_of(retrieved, grades, k)) / discounted(ideal(grades, k))
    return ndcg_score([gain], [score], k=k) if len(documents) > 1 else 1.0


def exponential(retrieved, grades, k):
    return discounted(2 ** grades_of(retrieved, grades, k) - 1) / discounted(2 ** ideal(grades, k) - 1)


def by_evaluate(name):
    """An answer of the package itself, on several queries."""

    def answer(run, qrels, k):
        grades = {query: dict.fromkeys(relevant, 1) for query, relevant in qrels.items()}
        return evaluate(run, grades, f"{name}@{k}").mean[f"{name}@{k}"]

    return answer


def loop_mean_recall(run, qrels, k):
    total = 0
    for query, relevant in qrels.items():
        total += len(relevant & set(run.get(query, [])[:k])) / len(relevant)
    return total / len(qrels)


def two_sorts(scores):
    """By id first, then by score with a sort that keeps the order of equals."""
    by_id = sorted(scores, reverse=True)
    return sorted(by_id, key=scores.get, reverse=True)


def loop_documents(chunks, k):
    seen = []
    for chunk in chunks:
        name = chunk.partition("#")[0]
        if name not in seen and len(seen) < k:
            seen.append(name)
    return seen


def table_kappa(first, second):
    """From the table of two times two."""
    n, table = len(first), Counter(zip(first, second, strict=True))
    observed = (table[0, 0] + table[1, 1]) / n
    expected = sum(first.count(label) * second.count(label) for label in (0, 1)) / n**2
    return (observed - expected) / (1 - expected)


def loop_tau(first, second):
    sign = total = 0
    for i in range(len(first)):
        for j in range(i):
            sign += 1 if (first[i] - first[j]) * (second[i] - second[j]) > 0 else -1
            total += 1
    return sign / total


def loop_pool(rankings, depth):
    together = set()
    for documents in rankings.values():
        together |= set(documents[:depth])
    return together


def numbered(documents, *others):
    """Documents as numbers, which helpers.judgements takes."""
    row = {doc: number for number, doc in enumerate(documents)}
    return row, [[row[doc] for doc in other] for other in others]


def pool_of_helpers(rankings, depth):
    documents = sorted(set(chain(*rankings.values())))
    _, lists = numbered(documents, *rankings.values())
    (pooled,) = pool({name: np.array([ids]) for name, ids in zip(rankings, lists, strict=True)}, depth)
    return {documents[number] for number in pooled}


def condense_of_helpers(retrieved, grades):
    documents = list(dict.fromkeys([*retrieved, *grades]))
    row, (ids,) = numbered(documents, retrieved)
    (left,) = condense(np.array([ids]), [{row[doc]: grade for doc, grade in grades.items()}])
    return [documents[number] for number in left if number >= 0]


def loop_bpref(retrieved, grades):
    relevant = [doc for doc in grades if grades[doc] > 0]
    others = [doc for doc in grades if grades[doc] == 0]
    total = 0
    for doc in relevant:
        if doc in retrieved:
            above = len([other for other in others if other in retrieved[: retrieved.index(doc)]])
            total += 1 - min(above, len(relevant)) / min(len(relevant), len(others)) if above else 1
    return total / len(relevant)


def array_bpref(retrieved, grades):
    judged = np.array([grades[doc] for doc in retrieved if doc in grades])
    relevant, others = (sum(bool(grade) == kind for grade in grades.values()) for kind in (True, False))
    above = np.minimum((judged == 0).cumsum(), relevant)[judged > 0]
    return (1 - above / max(1, min(relevant, others))).sum() / relevant


RIGHT = {
    "recall": [scored("recall"), loop_recall, lambda r, q, k: len(q & set(r[:k])) / len(q)],
    "capped_recall": [
        scored("capped_recall"),
        lambda r, q, k: loop_recall(r, q, k) * len(q) / min(k, len(q)),
        lambda r, q, k: flags(r, q, k).sum() / np.minimum(k, len(q)),
    ],
    "precision": [
        scored("precision"),
        lambda r, q, k: sum(doc in q for doc in r[:k]) / k,
        lambda r, q, k: np.pad(flags(r, q, k), (0, k - len(r[:k]))).mean(),
    ],
    "success": [scored("success"), any_success, lambda r, q, k: int(not q.isdisjoint(r[:k]))],
    "reciprocal_rank": [
        scored("mrr"),
        loop_reciprocal_rank,
        lambda r, q, k: float((flags(r, q, k) / np.arange(1, len(r[:k]) + 1)).max()),
    ],
    "average_precision": [scored("map"), loop_average_precision, array_average_precision],
    "rbp": [scored("rbp"), loop_rbp, lambda r, q, k: (flags(r, q, k) * 0.2 * 0.8 ** np.arange(len(r[:k]))).sum()],
    "r_precision": [
        scored("rprec"),
        lambda r, q: loop_recall(r, q, len(q)),
        lambda r, q: flags(r, q, len(q)).sum() / len(q),
    ],
    "dcg": [
        lambda r, g, k: scored("ndcg")(r, g, k) * discounted(ideal(g, k)),
        loop_dcg,
        lambda r, g, k: discounted(grades_of(r, g, k)),
    ],
    "ideal_dcg": [
        lambda r, g, k: loop_dcg(sorted(g, key=g.get, reverse=True), g, k),
        lambda r, g, k: discounted(ideal(g, k)),
        lambda r, g, k: sum(x / math.log(i, 2) for i, x in enumerate(nlargest(k, g.values()), 2)),
    ],
    "ndcg": [scored("ndcg"), sklearn_ndcg, lambda r, g, k: loop_dcg(r, g, k) / discounted(ideal(g, k))],
    "ndcg_exponential": [
        exponential,
        lambda r, g, k: scored("ndcg")(r, {doc: 2**grade - 1 for doc, grade in g.items()}, k),
        lambda r, g, k: (
            sum((2 ** g.get(d, 0) - 1) / math.log2(i + 2) for i, d in enumerate(r[:k]))
            / sum((2**grade - 1) / math.log2(i + 2) for i, grade in enumerate(sorted(g.values())[::-1][:k]))
        ),
    ],
    "judged": [
        scored("judged"),
        lambda r, g, k: len([doc for doc in r[:k] if doc in g]) / len(r[:k]),
        lambda r, g, k: flags(r, g, k).mean(),
    ],
    "rbp_residual": [scored("rbp_residual"), loop_residual, lambda r, g, k: 1 - loop_rbp(r, set(g), k)],
    "mean_recall": [
        by_evaluate("recall"),
        loop_mean_recall,
        lambda run, qrels, k: np.mean([len(qrels[q] & set(run.get(q, ())[:k])) / len(qrels[q]) for q in qrels]),
    ],
    "mrr": [
        by_evaluate("mrr"),
        lambda run, qrels, k: sum(loop_reciprocal_rank(run.get(q, []), qrels[q], k) for q in qrels) / len(qrels),
        lambda run, qrels, k: np.mean([scored("mrr")(run.get(q, []), qrels[q], k) for q in qrels]),
    ],
    "ranking": [
        two_sorts,
        lambda s: [doc for _, doc in sorted(((score, doc) for doc, score in s.items()), reverse=True)],
        lambda s: np.array(list(s))[np.lexsort((list(s), list(s.values())))[::-1]],
    ],
    "documents": [
        loop_documents,
        lambda chunks, k: list(dict.fromkeys(chunk.split("#")[0] for chunk in chunks))[:k],
        lambda chunks, k: tuple({chunk[: chunk.index("#")]: 0 for chunk in chunks})[:k],
    ],
    "kappa": [
        table_kappa,
        cohen_kappa_score,
        lambda a, b: agreement([dict(enumerate(a))], [dict(enumerate(b))], resamples=10).kappa,
    ],
    "tau": [
        loop_tau,
        lambda a, b: scipy.stats.kendalltau(a, b).statistic,
        lambda a, b: kendall_tau(dict(enumerate(a)), dict(enumerate(b))),
    ],
    "pool": [pool_of_helpers, loop_pool, lambda rankings, depth: set().union(*(d[:depth] for d in rankings.values()))],
    "condensed": [
        condense_of_helpers,
        lambda r, g: list(filter(g.__contains__, r)),
        lambda r, g: np.array(r)[np.isin(r, list(g))],
    ],
    "bpref": [scored("bpref"), loop_bpref, array_bpref],
    "bonferroni": [
        lambda p: np.minimum(len(p) * np.array(p), 1),
        lambda p: [1 if value * len(p) > 1 else value * len(p) for value in p],
        lambda p: tuple(sorted((0, value * len(p), 1))[1] for value in p),
    ],
}
