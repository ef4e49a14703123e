"""Systems: whatever ranks a corpus for queries, described in a line of text, ranked by one pipeline, compared.

pipeline     rank: the one line from texts to ranking, for vectors, token vectors and words
combine      systems made of rankings: a run file, fusion, reranking
describe     a system as text (`path?pooling=cls`) or as a table of a TOML file
check        what can be found wrong with a description before anything is computed
assemble     a description turned into a system
comparison   compare: any systems on one collection, with intervals, tests and costs
causes       what of it another evaluation may do otherwise
failures     what kind of failure ended a system
saved        the comparison as files: results.json, per_query.csv, runs and judgements
contenders   the models of lesson 03
"""

from helpers.systems.combine import Fusion, Rerank, Run
from helpers.systems.comparison import Comparison, compare
from helpers.systems.contenders import (
    UPSTREAM_MODELS,
    Contender,
    load_contenders,
    rank_all,
    short_name,
)
from helpers.systems.describe import Description
from helpers.systems.pipeline import Dense, Ranking, Retrieval, System, Words, rank
from helpers.systems.results import Result

__all__ = [
    "UPSTREAM_MODELS",
    "Comparison",
    "Contender",
    "Dense",
    "Description",
    "Fusion",
    "Ranking",
    "Rerank",
    "Result",
    "Retrieval",
    "Run",
    "System",
    "Words",
    "compare",
    "load_contenders",
    "rank",
    "rank_all",
    "short_name",
]
