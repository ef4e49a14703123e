"""Systems: whatever ranks a corpus for queries, ranked by one pipeline.

pipeline     rank: the one line from texts to ranking, for vectors, token vectors and words
combine      systems made of rankings: a run file, fusion, reranking
contenders   the models of lesson 03
cost         how long a ranking took, and how large its index is
"""

from helpers.systems.combine import Fusion, Rerank, Run
from helpers.systems.contenders import UPSTREAM_MODELS, Contender, load_contenders, rank_all, short_name
from helpers.systems.pipeline import Dense, Ranking, Retrieval, System, Words, rank

__all__ = [
    "UPSTREAM_MODELS",
    "Contender",
    "Dense",
    "Fusion",
    "Ranking",
    "Rerank",
    "Retrieval",
    "Run",
    "System",
    "Words",
    "load_contenders",
    "rank",
    "rank_all",
    "short_name",
]
