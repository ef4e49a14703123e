"""Haystack's evaluators, on the first k documents, compared by id."""

from haystack import Document
from haystack.components import evaluators

from tests.acid.runners import listed, one_by_one, renamed

PACKAGE = "haystack-ai"
NAMES = {"recall": ("Recall", {"mode": "multi_hit"}), "success": ("Recall", {"mode": "single_hit"}),
         "mrr": ("MRR", {}), "map": ("MAP", {}), "ndcg": ("NDCG", {})}  # fmt: skip


def evaluate(run, qrels, metric):
    """The score of one evaluator."""
    (name, options), k = renamed(metric, NAMES)
    evaluator = getattr(evaluators, f"Document{name}Evaluator")(document_comparison_field="id", **options)
    truth, retrieved = [], []
    for ranking, grades in one_by_one(run, qrels):
        truth.append([Document(id=doc, score=float(grade)) for doc, grade in grades.items() if grade > 0])
        retrieved.append([Document(id=doc) for doc in listed(ranking)[:k]])
    return evaluator.run(ground_truth_documents=truth, retrieved_documents=retrieved)["score"]
