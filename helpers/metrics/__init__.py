"""Retrieval metrics with trec_eval's conventions: per query first, mean second. Needs numpy alone.

>>> from helpers.metrics import evaluate
>>> run = {  # scores
...   "q1": {"a": 9.1, "b": 7.4, "c": 5.0},
...   "q2": {"d": 3.2, "a": 1.5},
... }
>>> qrels = {  # grades of a judge
...   "q1": {"b": 2, "c": 1},
...   "q2": {"d": 1, "e": 1},
... }
>>> metrics = ["recall@2", "mrr@10", "ndcg@10"]
>>> result = evaluate(run, qrels, metrics)
>>> for metric, mean in result.mean.items():
...     print(f"{metric}: {mean:.3f}")
recall@2: 0.500
mrr@10: 0.750
ndcg@10: 0.641
>>> result.per_query["mrr@10"]  # of q1 and q2
array([0.5, 1. ])

Every metric follows one line: ranked ids and judgements → ranks of the judged documents → one value per query.
`find_hits` does the first step once, each metric is the few lines of its formula on the `Hits` it returns, and
`evaluate` computes many metrics at many cutoffs from the same hits.

Ranks start at 1. R is the number of relevant documents of a query, that is of documents whose grade is at least
`relevance_level` (by default 1; trec_eval's `-l`). nDCG and ERR have no such level: every grade above 0 is a gain.
A judged query with nothing relevant, or for which nothing was retrieved, scores 0.
"""

# In the order of these steps:
# qrels        judgements as arrays
# inputs       the forms of rankings, and the ranks of judged documents in them
# hits         judged documents with their ranks
# definitions  the metrics
# registry     `@metric`: a name, a cutoff, options
# evaluation   many metrics at once
# explanation  which way to compute a metric gives a number

from helpers.metrics import definitions
from helpers.metrics.definitions import *  # noqa: F403  its __all__ lists the metrics
from helpers.metrics.evaluation import Evaluation, evaluate
from helpers.metrics.explanation import Candidate, Explanation, explain
from helpers.metrics.hits import Hits, find_hits
from helpers.metrics.qrels import Judgements, Ranked
from helpers.metrics.registry import METRICS

__all__ = [
    "METRICS",
    "Candidate",
    "Evaluation",
    "Explanation",
    "Hits",
    "Judgements",
    "Ranked",
    "evaluate",
    "explain",
    "find_hits",
]
__all__ += definitions.__all__
