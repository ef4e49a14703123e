"""scikit-learn's ndcg_score over all documents that were judged or retrieved, those not retrieved below all others."""

from sklearn.metrics import ndcg_score

from tests.acid.runners import not_offered, one_by_one, parsed, scored

PACKAGE = "scikit-learn"


def evaluate(run, qrels, metric):
    """The mean of ndcg_score over the queries."""
    name, k = parsed(metric)
    if name != "ndcg":
        not_offered("its other metrics have no cutoff")
    total = 0.0
    for ranking, grades in one_by_one(run, qrels):
        scores = scored(ranking)
        below = min(scores.values(), default=0.0) - 1
        docs = list({**grades, **scores})
        total += ndcg_score([[grades.get(doc, 0) for doc in docs]], [[scores.get(doc, below) for doc in docs]], k=k)
    return total / len(qrels)
