"""Retrieval metrics with trec_eval's conventions: per query first, mean second. Needs numpy alone.

Every metric follows one line: ranked ids and judgements -> ranks of the judged documents -> one value per query.
`find_hits` does the first step once, each metric is the few lines of its formula on the `Hits` it returns, and
`evaluate` computes many metrics at many cutoffs from the same hits. The files, in that order::

    qrels        judgements as arrays             inputs    the forms of rankings, and their order
    lookup       the ranks of judged documents    hits      judged documents with their ranks
    definitions  the metrics                      registry  `@metric`: a name, a cutoff, options
    evaluation   many metrics at once

Ranks start at 1. R is the number of relevant documents of a query, that is of documents whose grade is at least
`relevance_level` (by default 1; trec_eval's `-l`). nDCG and ERR have no such level: every grade above 0 is a gain.
A judged query with nothing relevant, or for which nothing was retrieved, scores 0.
"""

from helpers.metrics import definitions
from helpers.metrics.definitions import *  # noqa: F403  its __all__ lists the metrics
from helpers.metrics.evaluation import Evaluation, evaluate
from helpers.metrics.hits import Hits, find_hits
from helpers.metrics.qrels import Judgements, Ranked
from helpers.metrics.registry import METRICS

__all__ = ["METRICS", "Evaluation", "Hits", "Judgements", "Ranked", "evaluate", "find_hits"]
__all__ += definitions.__all__
