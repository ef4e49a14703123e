"""Retrieval systems: everything that ranks a corpus for queries, run by one pipeline."""

# pipeline     rank: represent, index and search, for vectors, token vectors and words
# combine      run files, fusion and reranking
# contenders   the models of lesson 3
# cost         the seconds of each stage
# stages       the stage at which a pipeline loses relevant passages

from helpers.systems.combine import FlagScorer, Fusion, Rerank, Run
from helpers.systems.contenders import UPSTREAM_MODELS, Contender, load_contenders, rank_all, short_name
from helpers.systems.pipeline import Dense, Ranking, Retrieval, System, Words, rank
from helpers.systems.stages import ceiling, losses, oracle, union, ways

__all__ = [
    "UPSTREAM_MODELS", "Contender", "Dense", "FlagScorer", "Fusion", "Ranking", "Rerank", "Retrieval",
    "Run", "System", "Words", "ceiling", "load_contenders", "losses", "oracle", "rank", "rank_all",
    "short_name", "union", "ways",
]  # fmt: skip
