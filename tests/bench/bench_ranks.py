"""What ranks and small sets of queries can decide: `python -m tests.bench.bench_ranks --results CLONE`.

CLONE is a clone of https://github.com/embeddings-benchmark/results (CC0), the public results of MTEB: of the models
with a score on each of the ten retrieval tasks of MTEB(eng, v2) the scores are kept in docs/benchmarks/ranks.json, and
`leaderboard` computes its figures from them; of C-MTEB's retrieval tasks the means are kept. `decisions` draws sets of
50 and of 500 queries from two thousand.
"""

import argparse
import itertools
import json
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from helpers.data import load_dataset
from helpers.metrics import evaluate
from helpers.models import load_model
from helpers.significance import tukey_hsd
from helpers.systems import rank
from tests.bench.reports import head, save

TASKS = (
    "ArguAna", "CQADupstackGamingRetrieval", "CQADupstackUnixRetrieval", "ClimateFEVERHardNegatives",
    "FEVERHardNegatives", "FiQA2018", "HotpotQAHardNegatives", "SCIDOCS", "TRECCOVID", "Touche2020Retrieval.v3",
)  # fmt: skip
CHINESE = (
    "T2Retrieval", "MMarcoRetrieval", "DuRetrieval", "CovidRetrieval", "CmedqaRetrieval", "EcomRetrieval",
    "MedicalRetrieval", "VideoRetrieval",
)  # fmt: skip
LEVEL = 0.05
SYSTEMS = ("BM25", "BM25:stem=english", "BM25:k1=0.9,b=0.4", "TF-IDF", "TF-IDF:stem=english")
QUERIES, DRAWS, SIZES = 2000, 500, (50, 500)


def read_results(clone: Path, tasks: Sequence[str], split: str) -> dict[tuple[str, str], list[float]]:
    """Read nDCG@10 on each of some tasks, of each model and revision that has them all."""

    def git(*command: str) -> str:
        return subprocess.run(["git", "-C", clone, *command], check=True, capture_output=True, text=True).stdout

    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for path in git("ls-tree", "-r", "--name-only", "HEAD", "results/").splitlines():
        _, *folders, file = Path(path).parts
        task = file.removesuffix(".json")
        if len(folders) == 2 and task in tasks:
            scores = json.loads(git("show", f"HEAD:{path}")).get("scores", {}).get(split)
            if scores:
                found[folders[0].replace("__", "/", 1), folders[1]][task] = scores[0]["ndcg_at_10"]
    return {key: [values[task] for task in tasks] for key, values in found.items() if len(values) == len(tasks)}


def read_scores(clone: Path) -> dict[str, list[float]]:
    """Read the scores that mteb itself computed, of one revision a model, on the tasks of the leaderboard."""
    found = sorted(read_results(clone, TASKS, "test").items())
    return {model: [round(v, 5) for v in values] for (model, revision), values in found if revision != "external"}


def read_chinese(clone: Path) -> dict[str, float]:
    """Read the mean over C-MTEB's tasks; behind a name ", stated" if the authors state the scores on the model's card.

    These are in the folder ``external``.
    """
    means = {
        model + ", stated" * (revision == "external"): round(float(np.mean(values)), 4)
        for (model, revision), values in sorted(read_results(clone, CHINESE, "dev").items())
    }
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def leaderboard(scores: dict[str, list[float]]) -> dict[str, float]:
    """Count the neighbours whose difference the tasks can tell from 0, in the order by mean and in that by Borda count.

    A pair is separated if Student's interval of the mean of its differences excludes 0: the tasks are the sample.
    """
    table = np.array(sorted(scores.values(), key=lambda row: -np.mean(row)))
    models, tasks = table.shape
    pairs = np.array(list(itertools.combinations(range(models), 2)))
    p = stats.ttest_rel(table[pairs[:, 0]], table[pairs[:, 1]], axis=1).pvalue
    apart = p < LEVEL
    neighbours, with_first = pairs[:, 1] == pairs[:, 0] + 1, pairs[:, 0] == 0
    points = stats.rankdata(table, axis=0).sum(axis=1)  # Borda: on each task, one for each model that is worse
    by_points = np.argsort(-points, kind="stable")
    borda = stats.ttest_rel(table[by_points[:-1]], table[by_points[1:]], axis=1).pvalue
    adjusted = tukey_hsd(table, 2000)[tuple(pairs.T)] < LEVEL
    return {
        "models": models,
        "tasks": tasks,
        "neighbours": int(neighbours.sum()),
        "neighbours apart": int(apart[neighbours].sum()),
        "neighbours apart, corrected": int(adjusted[neighbours].sum()),
        "highest place apart from the next": int(np.argmax(apart[neighbours])) + 1,
        "neighbours apart, by Borda count": int((borda < LEVEL).sum()),
        "pairs apart": float(apart.mean()),
        "pairs apart, corrected": float(adjusted.mean()),
        "not apart from the first": int((~apart[with_first]).sum()),
        "median gap of neighbours": float(np.median(-np.diff(table.mean(axis=1)))),
    }


def intervals(scores: dict[str, list[float]]) -> dict[str, str]:
    """Return what the page draws of the models, the best mean first: means, leads, half the widths of their intervals.

    A lead is that of the first model over each other one, and of each model over the next; its interval is Student's.
    """
    table = np.array(sorted(scores.values(), key=lambda row: -np.mean(row)))
    tasks = table.shape[1]
    quantile = stats.t.ppf(1 - LEVEL / 2, tasks - 1)
    found = {"means": table.mean(axis=1)}
    for name, leads in {"first": table[0] - table[1:], "next": table[:-1] - table[1:]}.items():
        found[name] = leads.mean(axis=1)
        found[f"half, {name}"] = quantile * leads.std(axis=1, ddof=1) / np.sqrt(tasks)
    return {name: " ".join(f"{value:.5f}" for value in values) for name, values in found.items()}


def decisions() -> dict[str, Any]:
    """Compare what 50 and 500 queries say of each pair of systems with what all of them say."""
    data = load_dataset("docstrings", max_queries=QUERIES, corpus_queries=QUERIES)
    systems: dict[str, Any] = {"MiniLM": load_model(), **{name: name for name in SYSTEMS}}
    scored = {}
    for name, system in systems.items():
        ranking = rank(system, data, 10)
        options = {"doc_ids": data.corpus_ids, "relevance_level": data.relevance_level}
        result = evaluate(ranking.ids, data.qrels, ["ndcg@10"], scores=ranking.scores, **options)
        scored[name] = result.per_query["ndcg@10"]
    rng = np.random.default_rng(0)
    draws = [rng.permutation(QUERIES)[: sum(SIZES)] for _ in range(DRAWS)]
    rows: list[dict[str, Any]] = []
    for one, other in itertools.combinations(scored, 2):
        each = scored[one] - scored[other]
        row: dict[str, Any] = {"one": one, "other": other, "difference": float(each.mean())}
        found = {}
        for size, drawn in zip(SIZES, zip(*(np.split(draw, [SIZES[0]]) for draw in draws), strict=True), strict=True):
            sample = each[np.array(drawn)]
            p = stats.ttest_1samp(sample, 0, axis=1).pvalue
            found[size] = np.sign(sample.mean(axis=1)), np.where(p < LEVEL, np.sign(sample.mean(axis=1)), 0)
        small, large = (found[size] for size in SIZES)
        row["same order"] = float((small[0] == large[0]).mean())
        row["same decision"] = float((small[1] == large[1]).mean())
        row["opposite decisions"] = float((small[1] * large[1] < 0).mean())
        row["decided by 50"], row["decided by 500"] = (float((f[1] != 0).mean()) for f in (small, large))
        rows.append(row)
    keys = ("same order", "same decision", "opposite decisions", "decided by 50", "decided by 500")
    means = {key: float(np.mean([row[key] for row in rows])) for key in keys}
    counts = {"queries": len(data.queries), "passages": len(data.corpus), "draws": DRAWS, "systems": len(scored)}
    return {**counts, "pairs": len(rows), **means, "each": {f"{r.pop('one')}, {r.pop('other')}": r for r in rows}}


def main(arguments: list[str] | None = None) -> None:
    """Measure both, and write docs/benchmarks/ranks.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="a clone of embeddings-benchmark/results")
    clone = parser.parse_args(arguments).results
    commit = subprocess.run(["git", "-C", clone, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    scores = read_scores(clone)
    report = head("ranks", ("numpy", "scipy", "bm25s"), 1) | {
        "source": "https://github.com/embeddings-benchmark/results",
        "commit": commit.stdout.strip(),
        "leaderboard": leaderboard(scores),
        "intervals": intervals(scores),
        "decisions": decisions(),
        "chinese": read_chinese(clone),
        "tasks": list(TASKS),
        "scores": {model: " ".join(map(str, row)) for model, row in scores.items()},
    }
    save("ranks", report)


if __name__ == "__main__":
    main()
