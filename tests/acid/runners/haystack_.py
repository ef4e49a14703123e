"""Haystack's evaluators, on the first k documents, compared by id."""

from haystack import Document
from haystack.components import evaluators

from tests.acid.runners import listed, not_offered, one_by_one, parsed

PACKAGE = "haystack-ai"
LANGUAGE = "Python"
NAMES = {"recall": "Recall", "mrr": "MRR", "map": "MAP", "ndcg": "NDCG", "success": "Recall"}


def evaluate(run, qrels, metric):
    """The score of one evaluator."""
    name, k = parsed(metric)
    if name not in NAMES:
        not_offered("has no precision")
    modes = {"recall": {"mode": "multi_hit"}, "success": {"mode": "single_hit"}}
    evaluator = getattr(evaluators, f"Document{NAMES[name]}Evaluator")(document_comparison_field="id",
                                                                       **modes.get(name, {}))  # fmt: skip
    truth, retrieved = [], []
    for ranking, grades in one_by_one(run, qrels):
        truth.append([Document(id=doc, score=float(grade)) for doc, grade in grades.items() if grade > 0])
        retrieved.append([Document(id=doc) for doc in listed(ranking)[:k]])
    return evaluator.run(ground_truth_documents=truth, retrieved_documents=retrieved)["score"]
