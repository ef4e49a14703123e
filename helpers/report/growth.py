"""How scores change as the corpus grows, from one deep ranking of the whole."""

import warnings

import numpy as np

from helpers.data import RetrievalDataset
from helpers.metrics import evaluate
from helpers.systems.pipeline import Ranking

POINTS = 6
SEED = 0


def sizes(answers: int, whole: int) -> list[int]:
    """Return sizes from that of the answers alone to the whole corpus, evenly spaced on a logarithmic scale."""
    return sorted({round(size) for size in np.geomspace(max(1, answers), whole, POINTS)})


def grown(ranking: Ranking, data: RetrievalDataset, metric: str, k: int) -> dict[int, float]:
    """Score smaller corpora: first the passages with a grade above 0 alone, then others added in random order.

    The ranking of a smaller corpus is what is left of that of the whole. A size at which fewer than k passages are
    left for some query, because the ranking is not deep enough, is passed over.

    Args:
        ranking: scores and ids (q, depth) over the whole corpus.
        data: the collection.
        metric: which to compute.
        k: the rank down to which the metric looks.

    Returns:
        The mean of the metric by number of passages; empty where there are fewer than two sizes.
    """
    answers = sorted({p for judged in data.qrels for p, grade in judged.items() if grade > 0 and p < len(data.corpus)})
    others = np.setdiff1d(np.arange(len(data.corpus)), answers)
    order = np.concatenate([answers, np.random.default_rng(SEED).permutation(others)]).astype(np.int64)
    curve = {}
    for size in sizes(len(answers), len(data.corpus)):
        inside = np.zeros(len(data.corpus) + 1, bool)  # the last place is for padding, -1
        inside[order[:size]] = True
        remains = inside[ranking.ids]
        cut_short = (ranking.ids >= 0).all(axis=1) & (ranking.ids.shape[1] < len(data.corpus))
        if (remains.sum(axis=1)[cut_short] < min(k, size)).any():
            continue
        order_of = np.argsort(~remains, axis=1, kind="stable")
        ids = np.where(np.take_along_axis(remains, order_of, 1), np.take_along_axis(ranking.ids, order_of, 1), -1)
        scores = np.take_along_axis(ranking.scores, order_of, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            scored = evaluate(ids, data.qrels, [metric], scores=scores, doc_ids=data.corpus_ids,
                              relevance_level=data.relevance_level)  # fmt: skip
        curve[size] = scored.mean[metric]
    return curve if len(curve) > 1 else {}
