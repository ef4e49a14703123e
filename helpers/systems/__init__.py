"""Systems: whatever ranks a corpus for queries, ranked by one pipeline.

pipeline     rank: the one line from texts to ranking, for vectors, token vectors and words
combine      systems made of rankings: a run file, fusion, reranking
api          models behind an address
sparse       learned sparse retrieval
contenders   the models of lesson 03
cost         how long a ranking took, and how large its index is
latency      how long a single query takes
planning     what a large corpus will cost, before it is encoded
stages       which stage of a pipeline loses the answers
"""

from helpers.systems.api import Api
from helpers.systems.combine import FlagScorer, Fusion, Rerank, Run
from helpers.systems.contenders import UPSTREAM_MODELS, Contender, load_contenders, rank_all, short_name
from helpers.systems.pipeline import Dense, Ranking, Retrieval, System, Words, rank
from helpers.systems.planning import Estimate, estimate
from helpers.systems.sparse import Sparse, load_sparse
from helpers.systems.stages import ceiling, losses, oracle, union, ways

__all__ = [
    "UPSTREAM_MODELS",
    "Api",
    "Contender",
    "Dense",
    "Estimate",
    "FlagScorer",
    "Fusion",
    "Ranking",
    "Rerank",
    "Retrieval",
    "Run",
    "Sparse",
    "System",
    "Words",
    "ceiling",
    "estimate",
    "load_contenders",
    "load_sparse",
    "losses",
    "oracle",
    "rank",
    "rank_all",
    "short_name",
    "union",
    "ways",
]
