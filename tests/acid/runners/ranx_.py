"""ranx's evaluate."""

import ranx

from tests.acid.runners import parsed, scored

PACKAGE = "ranx"
NAMES = {"success": "hit_rate"}


def evaluate(run, qrels, metric):
    """The mean that `evaluate` returns."""
    name, k = parsed(metric)
    rankings = ranx.Run({query: scored(docs) for query, docs in run.items()})
    return ranx.evaluate(ranx.Qrels(qrels), rankings, f"{NAMES.get(name, name)}@{k}", make_comparable=True)


evaluate({"q": {"a": 1.0}}, {"q": {"a": 1}}, "ndcg@1")  # compiles
