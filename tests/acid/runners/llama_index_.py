"""LlamaIndex' retrieval metrics, on the first k ids."""

from llama_index.core.evaluation.retrieval import metrics

from tests.acid.runners import listed, one_by_one, parsed, relevant

PACKAGE = "llama-index-core"
NAMES = {"recall": "Recall", "precision": "Precision", "mrr": "MRR", "map": "AveragePrecision", "ndcg": "NDCG",
         "success": "HitRate"}  # fmt: skip


def evaluate(run, qrels, metric):
    """The mean of `compute` over the queries."""
    name, k = parsed(metric)
    compute = getattr(metrics, NAMES[name])().compute
    values = [compute(expected_ids=relevant(grades), retrieved_ids=listed(ranking)[:k]).score
              for ranking, grades in one_by_one(run, qrels)]  # fmt: skip
    return sum(values) / len(values)
