"""Results as the files that ``mteb`` writes, which its ``ResultCache`` loads, and a block for a model card of the hub.

mteb counts every grade above 0 as relevant, whatever the collection says, so these scores are computed anew.
"""

import json
import re

from helpers._extras import from_extra
from helpers._hub import split_revision
from helpers.report.results import Result, Results, evaluate_quietly
from helpers.report.spec import Record

CUTOFFS = (1, 3, 5, 10, 20, 100, 1000)  # mteb's
NAMES = {
    "ndcg": "ndcg", "map": "map", "recall": "recall", "precision": "precision", "mrr": "mrr", "success": "hit_rate",
}  # fmt: skip
MAIN = "ndcg_at_10"
LANGUAGES = {"en": "eng-Latn", "zh": "cmn-Hans"}  # of the bundled collections
UNKNOWN = "und-Zyyy"  # ISO 639-3 and 15924: undetermined; mteb takes no mean of scores without a language


def mteb_files(comparison: Results, task: str | None = None) -> dict[str, str]:
    """Return for each scored system its results, its metadata for mteb, and a block for its model card.

    Args:
        comparison: of rankings at least ten deep.
        task: the name of mteb's task; by default that of the data set.

    Returns:
        Text by path: ``mteb/results/MODEL/REVISION/TASK.json``, ``model_meta.json`` and ``model-index.yml`` beside it.

    Raises:
        ValueError: a name of a task that is no name of a file.
    """
    source, data_revision = split_revision(comparison.data.name)
    task = task or re.sub(r"[^\w.-]+", "-", source.rpartition("/")[2])
    if not re.fullmatch(r"\w[\w.-]*", task):
        raise ValueError(f"--export mteb={task}: the name of a task is letters, digits, full stops and hyphens.")
    language = LANGUAGES.get(source.rpartition("-")[2], UNKNOWN)
    files: dict[str, str] = {}
    for result in comparison.results.values():
        if result.ranking is None:
            continue
        name, revision = split_revision(result.name)
        revision = revision or str(result.metadata.get("model", {}).get("sha256") or "no_revision_available")[:40]
        plain = re.sub(r"[^\w.-]+", "_", name.replace("/", "__"))
        folder = f"mteb/results/{plain}/{revision}"
        scores = _scores(comparison, result)
        record = {
            "dataset_revision": data_revision or comparison.data.sha256,
            "task_name": task,
            "mteb_version": None,  # mteb computed nothing of this
            "evaluation_time": sum(result.cost.seconds.values()),
            "scores": {comparison.data.split or "test": [
                {**scores, "main_score": scores[MAIN], "hf_subset": "default", "languages": [language]}
            ]},
        }  # fmt: skip
        files[f"{folder}/{task}.json"] = _json(record)
        files[f"{folder}/model_meta.json"] = _json({"name": name, "revision": revision, **_meta(result)})
        files[f"{folder}/model-index.yml"] = _model_index(name, task, record)
    return files


def _scores(comparison: Results, result: Result) -> dict[str, float]:
    """Return the means at mteb's cutoffs, as far as the ranking goes, by mteb's names and to its five places."""
    data, ranking = comparison.data, result.ranking
    assert ranking is not None
    depth = ranking.ids.shape[1]
    cutoffs = [k for k in CUTOFFS if k <= depth or depth >= len(data.corpus) or result.is_run]
    means = evaluate_quietly(
        ranking.ids, data.qrels, [f"{metric}@{k}" for metric in NAMES for k in cutoffs], scores=ranking.scores,
        doc_ids=result.doc_ids, relevance_level=1,
    ).mean  # fmt: skip
    return {f"{theirs}_at_{k}": round(means[f"{ours}@{k}"], 5) for ours, theirs in NAMES.items() for k in cutoffs}


def _meta(result: Result) -> Record:
    """Return the facts of a system under the names of mteb's model_meta.json, null where there is none."""
    model = result.metadata.get("model", {})
    return {
        "n_parameters": result.metadata.get("parameters"), "max_tokens": model.get("max_length"),
        "use_instructions": bool(model.get("query_instruction")), "similarity_fn_name": "cosine" if model else None,
        **dict.fromkeys((
            "loader", "release_date", "languages", "memory_usage_mb", "embed_dim", "license", "open_weights",
            "public_training_code", "public_training_data", "training_datasets",
        )),
        "framework": [],
    }  # fmt: skip


def _model_index(name: str, task: str, record: Record) -> str:
    """Return the YAML by which a model card of the hub states results (``model-index``)."""
    with from_extra("report"):
        import yaml
    [(split, [scores])] = record["scores"].items()
    dataset = {"type": task, "name": task, "config": "default", "split": split, "revision": record["dataset_revision"]}
    metrics = [{"type": metric, "value": value} for metric, value in scores.items() if "_at_" in metric]
    results = [{"task": {"type": "Retrieval"}, "dataset": dataset, "metrics": metrics}]
    index = {"model-index": [{"name": name, "results": results}]}
    return f"---\n{yaml.safe_dump(index, sort_keys=False, allow_unicode=True)}---\n"


def _json(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"
