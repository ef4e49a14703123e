"""Retrieval metrics as one would write them on a page, for faults to be put into: see `test_mutants.py`."""

import math
import struct


def evaluate(run, qrels, metric):
    """The mean of a metric over the judged queries."""
    name, _, cutoff = metric.partition("@")
    values = [METRICS[name](ordered(run.get(query, {})), grades, int(cutoff)) for query, grades in qrels.items()]
    return sum(values) / len(values)


def ordered(ranking):
    """Documents, best first."""
    if not isinstance(ranking, dict):
        if len(set(ranking)) < len(ranking):
            raise ValueError("a document is listed twice")
        return ranking
    scores = {doc: single(score) for doc, score in ranking.items()}
    return sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)


def single(score):
    """A score in single precision."""
    if math.isnan(score):
        raise ValueError("a score is not a number")
    try:
        return struct.unpack("<f", struct.pack("<f", score))
    except OverflowError:
        return (math.copysign(math.inf, score),)


def hits(docs, grades, k):
    """Ranks of the relevant documents in the top k."""
    return [rank for rank, doc in enumerate(docs, 1) if rank <= k and grades.get(doc, 0) >= 1]


def relevant(grades):
    """How many documents are relevant."""
    return sum(grade >= 1 for grade in grades.values())


def divided(part, whole):
    """A share, 0 of nothing."""
    return part / whole if whole else 0


def recall(docs, grades, k):
    """Of the relevant documents."""
    return divided(len(hits(docs, grades, k)), relevant(grades))


def precision(docs, grades, k):
    """Of the top k."""
    return len(hits(docs, grades, k)) / k


def reciprocal_rank(docs, grades, k):
    """Of the first hit."""
    return max((1 / rank for rank in hits(docs, grades, k)), default=0)


def average_precision(docs, grades, k):
    """Of the precision at each hit."""
    total = sum(number / rank for number, rank in enumerate(hits(docs, grades, k), 1))
    return divided(total, relevant(grades))


def dcg(gains, k):
    """Of gains in the order of their ranks."""
    return sum(max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))


def ndcg(docs, grades, k):
    """Of the grades."""
    ideal = sorted(grades.values(), reverse=True)
    return divided(dcg([grades.get(doc, 0) for doc in docs], k), dcg(ideal, k))


def success(docs, grades, k):
    """Whether there is a hit."""
    return int(len(hits(docs, grades, k)) > 0)


METRICS = {"recall": recall, "precision": precision, "mrr": reciprocal_rank, "map": average_precision, "ndcg": ndcg,
           "success": success}  # fmt: skip
