"""ir_evaluation's functions of two lists of ids."""

from ir_evaluation import metrics as functions

from tests.acid.runners import listed, one_by_one, relevant, renamed

PACKAGE = "ir-evaluation"
NAMES = {"recall": "recall", "precision": "precision", "mrr": "reciprocal_rank", "map": "average_precision",
         "ndcg": "ndcg"}  # fmt: skip


def evaluate(run, qrels, metric):
    """The mean of one function over the queries."""
    name, k = renamed(metric, NAMES)
    function = getattr(functions, name)
    values = [function(relevant(grades), listed(ranking), k) for ranking, grades in one_by_one(run, qrels)]
    return sum(values) / len(values)
