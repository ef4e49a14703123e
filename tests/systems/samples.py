"""A small graded collection over the vocabulary of the tiny checkpoints, systems of every kind for it, and a judge."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytrec_eval
import transformers

from helpers.data import RetrievalDataset, from_ids
from helpers.data.trec import export, read_qrels, read_run, write_run
from helpers.systems import Run
from tests.checkpoints import CONFIGS, save_checkpoint, save_tokenizer

QUERIES = {
    "q1": "apple bread", "q2": "the cat", "q3": "good house", "q4": "dog eat fish", "q5": "bread", "q6": "the fish",
}  # fmt: skip
CORPUS = {
    "d1": "the apple is good", "d2": "bread of apple", "d3": "a cat is not a dog", "d4": "the cat eat fish",
    "d5": "the good house", "d6": "a house of bread", "d7": "dog eat fish", "d8": "the dog is good", "d9": "fish",
    "d10": "bread is good", "d11": "not the apple", "d12": "a good cat",
}  # fmt: skip
QRELS = {
    "q1": {"d2": 2, "d1": 1, "d9": 0}, "q2": {"d4": 1, "d3": 2}, "q3": {"d5": 3, "d8": 0}, "q4": {"d7": 2, "d9": 1},
    "q5": {"d1": 0}, "q6": {"d9": 1, "d4": 2, "d7": -1},
}  # fmt: skip
MEASURES = {
    "recall@1": "recall_1", "recall@10": "recall_10", "mrr@10": "recip_rank", "map@10": "map_cut_10",
    "ndcg@10": "ndcg_cut_10",
}  # fmt: skip


def collection() -> RetrievalDataset:
    """Give the collection; q5 has no relevant passage."""
    return from_ids("tiny", QUERIES, CORPUS, QRELS)


def numbered(size: int) -> RetrievalDataset:
    """Give queries of which number n is answered by passage n alone; the last two passages answer none."""
    queries, corpus = {f"q{n}": f"text {n}" for n in range(size)}, {f"d{n}": f"passage {n}" for n in range(size + 2)}
    return from_ids("clear", queries, corpus, {f"q{n}": {f"d{n}": 1} for n in range(size)})


def shifted(size: int, by: int) -> Run:
    """Give a run for such queries that is right on all where ``by`` is 0, and else on none."""
    return Run({f"q{n}": {f"d{n + by}": 1.0} for n in range(size)})


def failing(message: str) -> SimpleNamespace:
    """Give a system that fails with a message."""
    return SimpleNamespace(rank=Mock(side_effect=ValueError(message)))


def write_collection(folder: Path) -> Path:
    """Write it in the layout of BEIR."""
    export(collection(), folder)
    return folder


def write_embeddings(folder: Path, seed: int = 0) -> Path:
    """Write random embeddings of its texts."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for stem, texts in {"passages": CORPUS, "queries": QUERIES}.items():
        np.save(folder / f"{stem}.npy", rng.standard_normal((len(texts), 8)).astype(np.float32))
        lines = [json.dumps({"text": text}) + "\n" for text in texts.values()]
        (folder / f"{stem}.jsonl").write_text("".join(lines))
    return folder


def write_reranker(folder: Path, labels: int = 1, positions: int = 64) -> Path:
    """Write a tiny cross-encoder as FlagEmbedding's rerankers are saved."""
    sizes = {"num_labels": labels, "max_position_embeddings": positions}
    config = transformers.BertConfig(**CONFIGS["bert"].to_dict() | sizes)
    transformers.set_seed(3)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def write_foreign_run(path: Path) -> Path:
    """Write a run of another engine: ties, an unknown document, an unknown query, and no line for q2."""
    scores = {
        "q1": {"d9": 3.0, "d2": 3.0, "unknown": 2.0, "d1": 1.0}, "q3": {"d8": 0.5, "d5": 0.5}, "q4": {"d7": 1e-3},
        "q5": {"d1": 1.0}, "q6": {"d7": 2.0, "d4": 2.0, "d9": 2.0}, "elsewhere": {"d1": 1.0},
    }  # fmt: skip
    write_run(path, scores)
    return path


def write_systems(folder: Path) -> Path:
    """Write a TOML file with a system of every kind, and what it names."""
    save_checkpoint(folder / "model", pooling="mean")
    write_embeddings(folder / "vectors")
    write_reranker(folder / "reranker")
    write_foreign_run(folder / "theirs.trec")
    (folder / "systems.toml").write_text(
        """
[systems]
model = {model = "model", backend = "transformers"}
cut = {model = "model", pooling = "cls", max_length = 4, query_instruction = "good ", backend = "transformers"}
tokens = {model = "model", pooling = "maxsim"}
approximate = {model = "model", backend = "transformers", index = "HNSW4"}
vectors = {model = "vectors"}
theirs = {run = "theirs.trec"}
words = {words = "bm25"}
rrf = {fuse = ["model", "theirs", "tfidf"]}
weighted = {fuse = ["vectors", "words"], how = "weighted", weights = [0.7, 0.3]}
crossed = {rerank = "rrf", by = "reranker", depth = 11}
""",
        encoding="utf-8",
    )
    return folder / "systems.toml"


def judged_by_trec_eval(run: Path, qrels: Path, level: int = 1) -> dict[str, dict[str, float]]:
    """Score an exported run with pytrec_eval: the values of each query under the names used here."""
    measures = {"recall.1,10", "recip_rank", "map_cut.10", "ndcg_cut.10"}
    evaluator = pytrec_eval.RelevanceEvaluator(read_qrels(qrels), measures, relevance_level=level)
    found = evaluator.evaluate(top(read_run(run), 10))
    return {query: {name: values[theirs] for name, theirs in MEASURES.items()} for query, values in found.items()}


def top(run: dict[str, dict[str, float]], k: int) -> dict[str, dict[str, float]]:
    """Cut a run at rank k in trec_eval's order, since its reciprocal rank knows no cutoff."""
    order = lambda item: (np.float32(item[1]), item[0])  # noqa: E731
    return {query: dict(sorted(docs.items(), key=order, reverse=True)[:k]) for query, docs in run.items()}
