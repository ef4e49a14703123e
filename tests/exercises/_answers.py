"""Answers as readers write them: right ones of every exercise, of some in two styles, and wrong ones of some."""

import math
from collections import Counter
from itertools import chain

import numpy as np
import scipy.stats
from sklearn.metrics import cohen_kappa_score, ndcg_score

from helpers.judgements import condense, pool
from helpers.metrics import evaluate
from helpers.significance import paired_test


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


def loop_dcg(retrieved, grades, k):
    total = 0.0
    for place in range(min(k, len(retrieved))):
        total += grades.get(retrieved[place], 0) / math.log2(place + 2)
    return total


def sklearn_ndcg(retrieved, grades, k):
    """scikit-learn's, which sees every document once it is given the scores of all."""
    documents = list(dict.fromkeys([*retrieved, *grades]))
    gain = [grades.get(doc, 0) for doc in documents]
    score = [len(retrieved) - retrieved.index(doc) if doc in retrieved else 0 for doc in documents]
    tail = [doc for doc in documents if doc not in retrieved]
    if len(retrieved) < k and any(grades[doc] for doc in tail):  # it would rank what was not retrieved
        return discounted(grades_of(retrieved, grades, k)) / discounted(ideal(grades, k))
    return ndcg_score([gain], [score], k=k) if len(documents) > 1 else 1.0


def gallery_ndcg(retrieved, grades, k):
    """As the gallery calls scikit-learn's, with the retrieved documents alone."""
    if len(retrieved) == 1:  # which it refuses
        return float(grades.get(retrieved[0], 0) > 0)
    return ndcg_score([grades_of(retrieved, grades, None)], [range(len(retrieved), 0, -1)], k=k)


def exponential(retrieved, grades, k):
    return discounted(2 ** grades_of(retrieved, grades, k) - 1) / discounted(2 ** ideal(grades, k) - 1)


def by_evaluate(name):
    """An answer of the package itself, on several queries."""

    def answer(run, qrels, k):
        grades = {query: dict.fromkeys(relevant, 1) for query, relevant in qrels.items()}
        return evaluate(run, grades, f"{name}@{k}").mean[f"{name}@{k}"]

    return answer


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


def swap_sums(first, second):
    """The sums of differences for all patterns of signs, those observed first."""
    difference = np.array(first) - np.array(second)
    patterns = np.arange(2 ** len(difference))[:, None] >> np.arange(len(difference)) & 1
    return (1 - 2 * patterns) @ difference


def array_paired_test(first, second):
    sums = np.abs(swap_sums(first, second))
    return np.mean(sums >= sums[0])


def dealt_out(first, second):
    """The test of two groups, which forgets the pairs."""
    result = scipy.stats.permutation_test(
        (first, second), lambda x, y, axis: np.mean(x, axis) - np.mean(y, axis), vectorized=True, n_resamples=np.inf
    )
    return result.pvalue


RIGHT = {
    "recall": [scored("recall"), loop_recall],
    "capped_recall": [scored("capped_recall")],
    "precision": [scored("precision")],
    "success": [scored("success")],
    "reciprocal_rank": [scored("mrr")],
    "average_precision": [scored("map"), loop_average_precision],
    "rbp": [scored("rbp")],
    "r_precision": [scored("rprec")],
    "dcg": [lambda r, g, k: scored("ndcg")(r, g, k) * discounted(ideal(g, k))],
    "ideal_dcg": [lambda r, g, k: loop_dcg(sorted(g, key=g.get, reverse=True), g, k)],
    "ndcg": [scored("ndcg"), sklearn_ndcg],
    "ndcg_exponential": [exponential],
    "judged": [scored("judged")],
    "rbp_residual": [scored("rbp_residual")],
    "mean_recall": [by_evaluate("recall")],
    "mrr": [by_evaluate("mrr")],
    "ranking": [two_sorts],
    "documents": [loop_documents],
    "kappa": [table_kappa, cohen_kappa_score],
    "tau": [loop_tau],
    "pool": [pool_of_helpers],
    "condensed": [condense_of_helpers],
    "bpref": [scored("bpref"), loop_bpref],
    "bonferroni": [lambda p: np.minimum(len(p) * np.array(p), 1)],
    "search": [lambda q, p, k: np.argsort(-(np.array(p) @ q))[:k]],
    "paired_test": [lambda a, b: paired_test(np.array(a), np.array(b)).p_value, array_paired_test],
}


def at_ranks(retrieved, relevant, k):
    """The ranks of the relevant documents of the top k as an array."""
    return np.flatnonzero(flags(retrieved, relevant, k)) + 1


def over_queries(metric, queries, summary=np.mean):
    """A wrong mean: over other queries, or another summary."""

    def answer(run, qrels, k):
        values = [metric(run.get(q, []), qrels.get(q, {"none"}), k) for q in queries(run, qrels)]
        return float(summary(values))

    return answer


def means(metric):
    """What goes wrong with a mean over queries, whatever the metric."""
    return {
        "mean_of_answered": over_queries(metric, lambda run, qrels: set(run) & set(qrels)),
        "mean_over_run": over_queries(metric, lambda run, qrels: run),
        "mean_over_all": over_queries(metric, lambda run, qrels: set(run) | set(qrels)),
        "median": over_queries(metric, lambda run, qrels: qrels, np.median),
        "sum": over_queries(metric, lambda run, qrels: qrels, np.sum),
    }


def discount_from_two(gains):
    """The sum of gains, discounted by log2(rank) from rank 2 on (Järvelin and Kekäläinen 2002)."""
    return sum(gain if place == 0 else gain / math.log2(place + 1) for place, gain in enumerate(gains))


def chance(first, second):
    """The agreement by chance of two assessors who each say 1 as often as they do."""
    a, b = np.mean(first), np.mean(second)
    return a * b + (1 - a) * (1 - b)


def same_labels(first, second):
    return float(np.mean(np.array(first) == np.array(second)))


def bpref_with(*, paper=False, cap=True, unjudged=False, over=None):
    """The mistakes of bpref; `over` is what to divide by instead of R."""

    def answer(retrieved, grades):
        n_relevant = sum(grade > 0 for grade in grades.values())
        n_others = len(grades) - n_relevant
        total = 0.0
        for place, doc in enumerate(retrieved):
            if grades.get(doc, 0) > 0:
                before = retrieved[:place]
                above = sum((doc not in grades and unjudged) or grades.get(doc) == 0 for doc in before)
                above = min(above, n_relevant) if cap else above
                total += 1 - above / max(1, n_relevant if paper else min(n_relevant, n_others))
        found = sum(grades.get(doc, 0) > 0 for doc in retrieved)
        return total / {None: n_relevant, "retrieved": max(1, found), "nothing": 1}[over]

    return answer


# Wrong answers as readers write them: mistake -> answer.
WRONG = {
    "recall": {
        "no_cutoff": lambda r, q, k: len(q.intersection(r)) / len(q),
        "one_short": lambda r, q, k: sum(r[place] in q for place in range(min(k - 1, len(r)))) / len(q),
        "hits": lambda r, q, k: len(q.intersection(r[:k])),
        "precision": RIGHT["precision"][0],
        "success": any_success,
    },
    "reciprocal_rank": {
        "last_rank": lambda r, q, k: min([1 / rank for rank in at_ranks(r, q, k)], default=0),
        "first_rank": lambda r, q, k: next(iter(at_ranks(r, q, k)), 0),
        "average_precision": loop_average_precision,
    },
    "average_precision": {
        "ap_over_hits": lambda r, q, k: loop_average_precision(r, set(r[:k]) & q, k) if set(r[:k]) & q else 0,
        "ap_over_min": lambda r, q, k: array_average_precision(r, q, k) * len(q) / min(k, len(q)),
        "ap_over_k": lambda r, q, k: array_average_precision(r, q, k) * len(q) / k,
        "reciprocal_rank": loop_reciprocal_rank,
    },
    "ndcg": {
        "ndcg_of_retrieved": lambda r, g, k: loop_dcg(r, g, k) / (discounted(-np.sort(-grades_of(r, g, k))) or 1),
        "ndcg_of_all_retrieved": gallery_ndcg,
        "ndcg_ideal_uncut": lambda r, g, k: loop_dcg(r, g, k) / discounted(ideal(g, None)),
        "ndcg_binary": lambda r, g, k: discounted(grades_of(r, g, k) > 0) / discounted(ideal(g, k) > 0),
        "ndcg_old_discount": lambda r, g, k: discount_from_two(grades_of(r, g, k)) / discount_from_two(ideal(g, k)),
        "ndcg_exponential": exponential,
        "ideal_dcg": RIGHT["ideal_dcg"][0],
    },
    "mean_recall": means(loop_recall)
    | {
        "recall_of_pairs": lambda run, qrels, k: (
            sum(len(qrels[q] & set(run.get(q, [])[:k])) for q in qrels)
            / len([doc for relevant in qrels.values() for doc in relevant])
        )
    },
    "kappa": {
        "agreement": same_labels,
        "chance_is_half": lambda a, b: 2 * same_labels(a, b) - 1,
        "chance_of_relevant": lambda a, b: 1 - (1 - same_labels(a, b)) / (1 - np.mean(a) * np.mean(b)),
        "one_distribution": lambda a, b: cohen_kappa_score(a + b, b + a),
        "not_rescaled": lambda a, b: same_labels(a, b) - chance(a, b),
    },
    "bpref": {
        "bpref_of_paper": bpref_with(paper=True),
        "bpref_uncapped": bpref_with(cap=False),
        "bpref_unjudged": bpref_with(unjudged=True),
        "bpref_of_retrieved": bpref_with(over="retrieved"),
        "sum": bpref_with(over="nothing"),
    },
    "paired_test": {
        "one_sided": lambda a, b: np.mean(swap_sums(a, b) >= swap_sums(a, b)[0]),
        "without_the_observed": lambda a, b: np.mean(np.abs(swap_sums(a, b)) > np.abs(swap_sums(a, b)[0])),
        "unpaired": dealt_out,
        "share_of_wins": lambda a, b: np.mean(np.array(a) > np.array(b)),
        "mean_difference": lambda a, b: np.mean(np.subtract(a, b)),
    },
}
