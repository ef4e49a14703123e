"""What ranks and small sets of queries can decide.

`read_scores` reads a clone of https://github.com/embeddings-benchmark/results (CC0), the public results of MTEB: of the
models with a score on each of the ten retrieval tasks of MTEB(eng, v2) the scores are kept in
docs/benchmarks/ranks.json, and `leaderboard` computes its figures from them. `decisions` draws sets of 50 and of 500
queries from two thousand.
"""

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from helpers.data import load_dataset
from helpers.metrics import evaluate
from helpers.models import load_model
from helpers.systems import rank

PACKAGES, ROUNDS = ("numpy", "scipy", "bm25s"), 1
TASKS = (
    "ArguAna", "CQADupstackGamingRetrieval", "CQADupstackUnixRetrieval", "ClimateFEVERHardNegatives",
    "FEVERHardNegatives", "FiQA2018", "HotpotQAHardNegatives", "SCIDOCS", "TRECCOVID", "Touche2020Retrieval.v3",
)  # fmt: skip
LEVEL = 0.05
SYSTEMS = ("BM25", "BM25:stem=english", "BM25:k1=0.9,b=0.4", "TF-IDF", "TF-IDF:stem=english")
QUERIES, DRAWS, SIZES = 2000, 500, (50, 500)


def git(clone: Path, *command: str) -> str:
    """Return what a command of git prints in a clone."""
    return subprocess.run(["git", "-C", clone, *command], check=True, capture_output=True, text=True).stdout


def read_scores(clone: Path) -> dict[str, list[float]]:
    """Read nDCG@10 as mteb itself computed it, of one revision a model that has all tasks of the leaderboard."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for path in git(clone, "ls-tree", "-r", "--name-only", "HEAD", "results/").splitlines():
        _, *folders, file = Path(path).parts
        task = file.removesuffix(".json")
        if len(folders) == 2 and folders[1] != "external" and task in TASKS:
            scores = json.loads(git(clone, "show", f"HEAD:{path}")).get("scores", {}).get("test")
            if scores:
                found.setdefault((folders[0].replace("__", "/", 1), folders[1]), {})[task] = scores[0]["ndcg_at_10"]
    complete = {model: values for (model, _), values in sorted(found.items()) if len(values) == len(TASKS)}
    return {model: [round(values[task], 5) for task in TASKS] for model, values in complete.items()}


def leaderboard(scores: dict[str, list[float]]) -> dict[str, float]:
    """Count the neighbours, in the order by mean, whose difference the tasks can tell from 0.

    A pair is apart if Student's interval of the mean of its differences excludes 0: the tasks are the sample.
    """
    table = np.array(sorted(scores.values(), key=lambda row: -np.mean(row)))
    models, tasks = table.shape
    neighbours = stats.ttest_rel(table[:-1], table[1:], axis=1).pvalue < LEVEL
    with_first = stats.ttest_rel(table[:1], table[1:], axis=1).pvalue < LEVEL
    return {
        "models": models,
        "tasks": tasks,
        "neighbours": len(neighbours),
        "neighbours apart": int(neighbours.sum()),
        "highest place apart from the next": int(np.argmax(neighbours)) + 1,
        "not apart from the first": int((~with_first).sum()),
    }


def decisions() -> dict[str, float]:
    """Return the share of pairs of systems, over many draws, that 50 and 500 queries of two thousand tell apart."""
    data = load_dataset("docstrings", max_queries=QUERIES, corpus_queries=QUERIES)
    options: dict[str, Any] = {"doc_ids": data.corpus_ids, "relevance_level": data.relevance_level}
    scored = []
    for system in (load_model(), *SYSTEMS):
        ranking = rank(system, data, 10)
        result = evaluate(ranking.ids, data.qrels, ["ndcg@10"], scores=ranking.scores, **options)
        scored.append(result.per_query["ndcg@10"])
    rng = np.random.default_rng(0)
    draws = np.array([rng.permutation(QUERIES)[: sum(SIZES)] for _ in range(DRAWS)])
    shares: dict[str, float] = {}
    for size, drawn in zip(SIZES, np.split(draws, [SIZES[0]], axis=1), strict=True):
        p = [stats.ttest_1samp((a - b)[drawn], 0, axis=1).pvalue for a, b in itertools.combinations(scored, 2)]
        shares[f"decided by {size}"] = float(np.mean(np.array(p) < LEVEL))
    return {"queries": len(data.queries), "passages": len(data.corpus), "draws": DRAWS, "pairs": len(p), **shares}


def report(clone: Path) -> dict[str, Any]:
    """Read the scores of a clone, and measure both."""
    scores = read_scores(clone)
    return {
        "source": "https://github.com/embeddings-benchmark/results",
        "commit": git(clone, "rev-parse", "HEAD").strip(),
        "leaderboard": leaderboard(scores),
        "decisions": decisions(),
        "tasks": list(TASKS),
        "scores": {model: " ".join(map(str, row)) for model, row in scores.items()},
    }
