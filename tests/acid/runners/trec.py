"""trec_eval's C code through pytrec_eval; the mean is over the queries that it returns."""

import pytrec_eval

from tests.acid.runners import renamed, scored

PACKAGE = "pytrec-eval-terrier"
LANGUAGE = "C"
NAMES = {"recall": "recall", "precision": "P", "map": "map_cut", "ndcg": "ndcg_cut", "success": "success"}


def evaluate(run, qrels, metric):
    """The mean of the values of RelevanceEvaluator."""
    name, k = renamed(metric, NAMES)
    run = {query: scored(ranking) for query, ranking in run.items()}
    values = pytrec_eval.RelevanceEvaluator(qrels, {f"{name}.{k}"}).evaluate(run)
    return sum(value[f"{name}_{k}"] for value in values.values()) / len(values)
