"""The worked example, and random rankings with judgements, for the tests of this folder."""

from __future__ import annotations

import numpy as np

from helpers.metrics import METRICS

RELEVANT = [[11, 1, 7, 17, 21], [4, 16, 1], [26, 10, 22, 8]]

RETRIEVED = [
    [11, 1, 17, 7, 21, 8, 0, 28, 9, 20],
    [16, 1, 6, 18, 3, 4, 25, 19, 8, 14],
    [24, 10, 26, 2, 8, 28, 4, 23, 13, 21],
]

BARE = [name for name, metric in METRICS.items() if metric.takes_cutoff]
# what is special about the random runs: (grades, judged per query, depth, distinct scores, chance of an empty ranking)
KINDS = {
    "graded": ([0, 1, 2, 3], (1, 8), (5, 40), 10**6, 0.0),
    "short and empty": ([0, 1, 2], (1, 8), (0, 4), 10**6, 0.3),
    "ties": ([0, 1, 2], (1, 8), (5, 40), 3, 0.0),
    "many relevant": ([1, 2, 3, 7], (60, 150), (50, 200), 10**6, 0.0),
    "none retrieved": ([1, 2], (1, 5), (5, 20), 10**6, 0.0),
    "negative and nothing relevant": ([-2, -1, 0, 1], (1, 4), (5, 40), 10**6, 0.0),
}

RUNS = 100


def random_run(kind: str, seed: int) -> tuple[list[dict[int, int]], np.ndarray, np.ndarray]:
    """Judgements and a padded search result (ids and float32 scores) of six queries."""
    grades, n_judged, depths, levels, p_empty = KINDS[kind]
    rng = np.random.default_rng([seed, *kind.encode()])
    queries, universe = 6, 200 if kind == "many relevant" else 50
    qrels, ids, scores = [], np.full((queries, 200), -1), np.full((queries, 200), -np.inf, np.float32)
    for row in range(queries):
        judged = rng.choice(universe, rng.integers(*n_judged, endpoint=True), replace=False)
        graded = {int(doc): int(rng.choice(grades)) for doc in judged}
        if max(graded.values()) < 0:  # pytrec_eval 0.5.11 crashes on a query with negative grades alone
            graded[int(judged[0])] = 0
        qrels.append(graded)
        depth = 0 if rng.random() < p_empty else rng.integers(*depths, endpoint=True)
        docs = rng.permutation(universe)[:depth] + (universe if kind == "none retrieved" else 0)
        ids[row, : len(docs)] = docs
        value = rng.integers(0, levels, len(docs)).astype(np.float32)
        scores[row, : len(docs)] = -np.sort(-value)
    return qrels, ids, scores


def text_forms(qrels: list, ids: np.ndarray, scores: np.ndarray) -> tuple[dict, dict]:
    """The same as {query: {doc: …}} with ids as text."""
    run = {
        str(row): {str(doc): float(score) for doc, score in zip(docs, values, strict=True) if doc >= 0}
        for row, (docs, values) in enumerate(zip(ids.tolist(), scores.tolist(), strict=True))
    }
    return {str(row): {str(doc): grade for doc, grade in docs.items()} for row, docs in enumerate(qrels)}, run
