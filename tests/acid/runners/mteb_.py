"""mteb's calculate_retrieval_scores."""

from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

from tests.acid.runners import parsed, scored

PACKAGE = "mteb"
NAMES = {"recall": ("recall", "Recall"), "precision": ("precision", "P"), "map": ("map", "MAP"),
         "ndcg": ("ndcg", "NDCG"), "mrr": ("mrr", "MRR"), "success": ("hit_rate", "HitRate")}  # fmt: skip


def evaluate(run, qrels, metric):
    """One of the scores."""
    name, k = parsed(metric)
    field, label = NAMES[name]
    scores = calculate_retrieval_scores({query: scored(docs) for query, docs in run.items()}, qrels, [k])
    values = getattr(scores, field, None)
    if values is None:
        raise NotImplementedError(field)
    return float(values[f"{label}@{k}"])
