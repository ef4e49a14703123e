"""torchmetrics' retrieval functions, which take the scores and the targets of what was retrieved."""

import torch
from torchmetrics.functional import retrieval

from tests.acid.runners import one_by_one, parsed, scored

PACKAGE = "torchmetrics"
NAMES = {"recall": "recall", "precision": "precision", "mrr": "reciprocal_rank", "map": "average_precision",
         "ndcg": "normalized_dcg", "success": "hit_rate"}  # fmt: skip


def evaluate(run, qrels, metric):
    """The mean of one function over the queries."""
    name, k = parsed(metric)
    total = 0.0
    for ranking, grades in one_by_one(run, qrels):
        docs = scored(ranking)
        target = torch.tensor([grades.get(doc, 0) for doc in docs], dtype=torch.long)
        target = target if name == "ndcg" else target > 0
        function = getattr(retrieval, f"retrieval_{NAMES[name]}")
        total += float(function(torch.tensor(list(docs.values()), dtype=torch.float32), target, top_k=k))
    return total / len(qrels)
