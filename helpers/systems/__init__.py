"""Retrieval systems: everything that ranks a corpus for queries, run by one pipeline."""

# pipeline     rank: represent, index and search, for vectors, token vectors and words
# combine      run files, fusion and reranking
# contenders   the models of lesson 3
# stages       the stage at which a pipeline loses relevant passages

from helpers.systems.combine import FlagScorer, Fusion, Rerank, Run
from helpers.systems.contenders import Contender, load_contenders, rank_all, short_name
from helpers.systems.pipeline import Dense, Ranking, System, Words, rank
from helpers.systems.stages import best_possible, ideal_order, lost_by_stage, trace, union

__all__ = [
    "Contender", "Dense", "FlagScorer", "Fusion", "Ranking", "Rerank",
    "Run", "System", "Words", "best_possible", "ideal_order", "load_contenders", "lost_by_stage", "rank",
    "rank_all", "short_name", "trace", "union",
]  # fmt: skip
