"""ir_measures' calc_aggregate."""

import ir_measures

from tests.acid.runners import parsed, scored

PACKAGE = "ir_measures"
NAMES = {"recall": "R", "precision": "P", "mrr": "RR", "map": "AP", "ndcg": "nDCG", "success": "Success"}


def evaluate(run, qrels, metric):
    """The aggregate of one measure."""
    name, k = parsed(metric)
    measure = getattr(ir_measures, NAMES[name]) @ k
    return ir_measures.calc_aggregate([measure], qrels, {query: scored(docs) for query, docs in run.items()})[measure]
