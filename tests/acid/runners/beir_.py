"""BEIR's EvaluateRetrieval."""

from beir.retrieval.evaluation import EvaluateRetrieval

from tests.acid.runners import not_offered, parsed, scored

PACKAGE = "beir"
PLACES = {"ndcg": (0, "NDCG"), "map": (1, "MAP"), "recall": (2, "Recall"), "precision": (3, "P")}


def evaluate(run, qrels, metric):
    """One value of evaluate, or of evaluate_custom."""
    name, k = parsed(metric)
    results = {query: scored(docs) for query, docs in run.items()}
    if name == "mrr":
        return EvaluateRetrieval.evaluate_custom(qrels, results, [k], metric="mrr")[f"MRR@{k}"]
    if name not in PLACES:
        not_offered("its top_k_accuracy has another definition for several relevant documents")
    place, label = PLACES[name]
    return EvaluateRetrieval.evaluate(qrels, results, [k])[place][f"{label}@{k}"]
