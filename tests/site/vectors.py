"""Random rankings and judgements, which the pages must score as helpers.metrics does."""

from __future__ import annotations

from typing import Any

import numpy as np

METRICS = ["recall", "capped_recall", "precision", "success", "mrr", "map", "ndcg", "rbp"]


def _case(rng: np.random.Generator) -> dict[str, Any]:
    """One ranking of rows with its judgements; half with scores on a coarse grid, so that many are equal."""
    corpus, depth = int(rng.integers(1, 40)), int(rng.integers(1, 25))
    docs = rng.permutation(corpus)[:depth].tolist()
    scores = (rng.integers(0, 4, len(docs)) / 3).tolist() if rng.random() < 0.5 else None
    if rng.random() < 0.3:
        docs += [-1] * int(rng.integers(1, 5))
        scores = None
    lowest, highest = int(rng.choice([-1, 0, 1])), int(rng.choice([1, 1, 3, 5]))
    judged = rng.permutation(corpus)[: int(rng.integers(1, corpus + 1))].tolist()
    return {
        "docs": docs,
        "scores": scores,
        "judged": [[doc, int(rng.integers(lowest, highest + 1))] for doc in judged],
        "k": int(rng.integers(1, 26)),
        "level": int(rng.choice([1, 1, 1, 2, 3])),
        "gain": str(rng.choice(["linear", "exponential"])),
        "persistence": float(rng.choice([0.5, 0.8, 0.95])),
    }


def random_cases() -> list[dict[str, Any]]:
    """A thousand random cases, the same each time."""
    rng = np.random.default_rng(21)
    return [_case(rng) for _ in range(1000)]


def random_runs() -> list[dict[str, Any]]:
    """Whole runs and judgements as TREC text: queries on one side only, equal scores, ids that sort as text."""
    rng = np.random.default_rng(5)
    cases = []
    for _ in range(60):
        run, qrels = "", "q0 0 d0 1\n"
        for query in range(int(rng.integers(2, 12))):
            names = [f"d{doc}" for doc in rng.permutation(30)] + ["文档", "Ωmega", "😀"]
            if rng.random() < 0.8:
                docs = rng.permutation(names)[: int(rng.integers(1, 20))]
                run += "".join(f"q{query} Q0 {doc} 1 {rng.integers(-3, 4) / 7} me\n" for doc in docs)
            if query and rng.random() < 0.8:
                docs = rng.permutation(names)[: int(rng.integers(1, 20))]
                qrels += "".join(f"q{query} 0 {doc} {rng.integers(-1, 4)}\n" for doc in docs)
        run = "q0 Q0 d0 1 1 me\n" + run.replace("q0 Q0 d0 ", "q0 Q0 d00 ")
        cases.append({"run": run, "qrels": qrels, "k": int(rng.integers(1, 15)), "level": int(rng.choice([1, 2]))})
    return cases
