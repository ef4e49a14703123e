"""sentence-transformers' InformationRetrievalEvaluator.compute_metrics on lists of hits."""

from sentence_transformers.evaluation import InformationRetrievalEvaluator

from tests.acid.runners import listed, one_by_one, parsed, relevant

PACKAGE = "sentence-transformers"
NAMES = {"success": "accuracy"}


def evaluate(run, qrels, metric):
    """One metric of compute_metrics."""
    name, k = parsed(metric)
    one_by_one(run, qrels)
    documents = {doc: doc for docs in [*run.values(), *qrels.values()] for doc in docs}
    judged = {query: set(relevant(grades)) for query, grades in qrels.items()}
    at = {f"{kind}_at_k": [k] for kind in ("mrr", "ndcg", "accuracy", "precision_recall", "map")}
    evaluator = InformationRetrievalEvaluator({query: query for query in qrels}, documents, judged, **at)
    hits = []
    for query in evaluator.queries_ids:
        docs = listed(run[query])
        hits.append([{"corpus_id": doc, "score": float(len(docs) - place)} for place, doc in enumerate(docs)])
    return float(evaluator.compute_metrics(hits)[f"{NAMES.get(name, name)}@k"][k])
