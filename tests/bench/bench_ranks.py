"""What ranks and small sets of queries can decide: `python -m tests.bench.bench_ranks --results CLONE`.

CLONE is a clone of https://github.com/embeddings-benchmark/results (CC0), the public results of MTEB: of the models
with a score on each of the ten retrieval tasks of MTEB(eng, v2) the scores are kept in docs/benchmarks/ranks.json, and
`leaderboard` computes its figures from them; of C-MTEB's
retrieval tasks the means are kept. `decisions` draws sets of 50 and of 500 queries from two thousand.
"""

import argparse
import itertools
import json
import subprocess
from collections import defaultdict
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


def read_scores(clone: Path) -> dict[str, list[float]]:
    """Read nDCG@10 of each model that has all tasks, of the revision with most of them."""

    def git(*command: str) -> str:
        return subprocess.run(["git", "-C", clone, *command], check=True, capture_output=True, text=True).stdout

    paths: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for path in git("ls-tree", "-r", "--name-only", "HEAD", "results/").splitlines():
        parts = Path(path).parts
        if len(parts) == 4 and Path(path).stem in TASKS:
            paths[parts[1], parts[2]][Path(path).stem] = path
    scores = {}
    for (model, _), files in sorted(paths.items()):
        if set(files) == set(TASKS):
            records = [json.loads(git("show", f"HEAD:{files[task]}"))["scores"].get("test", []) for task in TASKS]
            if all(records):
                name = model.replace("__", "/", 1)
                scores[name] = [round(float(np.mean([r["ndcg_at_10"] for r in record])), 5) for record in records]
    return scores


def read_chinese(clone: Path) -> dict[str, float]:
    """Read the mean nDCG@10 over C-MTEB's retrieval tasks of each model that has all eight; "external" ones too.

    The folder ``external`` holds what the authors of a model state on its card.
    """

    def git(*command: str) -> str:
        return subprocess.run(["git", "-C", clone, *command], check=True, capture_output=True, text=True).stdout

    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for path in git("ls-tree", "-r", "--name-only", "HEAD", "results/").splitlines():
        parts = Path(path).parts
        if len(parts) == 4 and Path(path).stem in CHINESE:
            scores = json.loads(git("show", f"HEAD:{path}")).get("scores", {}).get("dev")
            if scores:
                found[parts[1].replace("__", "/", 1), parts[2]].append(scores[0]["ndcg_at_10"])
    whole = {key: float(np.mean(values)) for key, values in found.items() if len(values) == len(CHINESE)}
    own = {model: round(mean, 4) for (model, revision), mean in whole.items() if revision != "external"}
    stated = {f"{model}, stated": round(mean, 4) for (model, revision), mean in whole.items() if revision == "external"}
    return dict(sorted((own | stated).items(), key=lambda item: -item[1]))


def leaderboard(scores: dict[str, list[float]]) -> dict[str, float]:
    """Count the neighbours in the order by mean whose difference the tasks can tell from 0.

    A pair is separated if Student's interval of the mean of its differences excludes 0: the tasks are the sample.
    """
    table = np.array(sorted(scores.values(), key=lambda row: -np.mean(row)))
    models, tasks = table.shape
    pairs = np.array(list(itertools.combinations(range(models), 2)))
    p = stats.ttest_rel(table[pairs[:, 0]], table[pairs[:, 1]], axis=1).pvalue
    apart = p < LEVEL
    neighbours, with_first = pairs[:, 1] == pairs[:, 0] + 1, pairs[:, 0] == 0
    adjusted = tukey_hsd(table, 2000)[tuple(pairs.T)] < LEVEL
    return {
        "models": models,
        "tasks": tasks,
        "neighbours": int(neighbours.sum()),
        "neighbours apart": int(apart[neighbours].sum()),
        "neighbours apart, corrected": int(adjusted[neighbours].sum()),
        "pairs apart": float(apart.mean()),
        "pairs apart, corrected": float(adjusted.mean()),
        "not apart from the first": int((~apart[with_first]).sum()),
        "median gap of neighbours": float(np.median(-np.diff(table.mean(axis=1)))),
    }


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
        "decisions": decisions(),
        "chinese": read_chinese(clone),
        "tasks": list(TASKS),
        "scores": {model: " ".join(map(str, row)) for model, row in scores.items()},
    }
    save("ranks", report)


if __name__ == "__main__":
    main()
