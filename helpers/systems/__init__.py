"""Systems: whatever ranks a corpus for queries, ranked by one pipeline.

pipeline     rank: the one line from texts to ranking, for vectors, token vectors and words
combine      systems made of rankings: a run file, fusion, reranking
contenders   the models of lesson 03
cost         how long a ranking took, and how large its index is
planning     what a large corpus will cost, before it is encoded
stages       which stage of a pipeline loses the answers
"""

from helpers.systems.combine import Fusion, Rerank, Run
from helpers.systems.contenders import UPSTREAM_MODELS, Contender, load_contenders, rank_all, short_name
from helpers.systems.pipeline import Dense, Ranking, Retrieval, System, Words, rank
from helpers.systems.planning import Estimate, estimate

__all__ = [
    "UPSTREAM_MODELS",
    "Contender",
    "Dense",
    "Estimate",
    "Fusion",
    "Ranking",
    "Rerank",
    "Retrieval",
    "Run",
    "System",
    "Words",
    "estimate",
    "load_contenders",
    "rank",
    "rank_all",
    "short_name",
]
