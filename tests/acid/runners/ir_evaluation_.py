"""ir_evaluation's functions of two lists of ids."""

from ir_evaluation import metrics as functions

from tests.acid.runners import listed, not_offered, one_by_one, parsed, relevant

PACKAGE = "ir-evaluation"
LANGUAGE = "Python"
NAMES = {"recall": "recall", "precision": "precision", "mrr": "reciprocal_rank", "map": "average_precision",
         "ndcg": "ndcg"}  # fmt: skip


def evaluate(run, qrels, metric):
    """The mean of one function over the queries."""
    name, k = parsed(metric)
    if name not in NAMES:
        not_offered("has no success")
    function = getattr(functions, NAMES[name])
    return sum(function(relevant(grades), listed(ranking), k) for ranking, grades in one_by_one(run, qrels)) / len(
        qrels
    )
