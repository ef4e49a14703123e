"""Runs on the pocket collection that several test modules share."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.index import build_index, search
from helpers.metrics import Evaluation, evaluate
from helpers.models import load_model

METRICS = ["ndcg@10", "success@1", "judged@10"]


@pytest.fixture(scope="session")
def runs() -> dict[str, np.ndarray]:
    """Give the top ten of the bundled dense model and BM25 in English and of BM25 in Chinese, (q, 10) each."""
    en, zh, model = load_dataset("pocket-en"), load_dataset("pocket-zh"), load_model()
    index = build_index(encode(model, en.corpus))
    return {
        "dense": search(index, encode(model, en.queries, kind="query"), 10)[1],
        "bm25": search(build_index(en.corpus, "BM25"), en.queries, 10)[1],
        "bm25 zh": search(build_index(zh.corpus, "BM25"), zh.queries, 10)[1],
    }


@pytest.fixture(scope="session")
def scores(runs: dict[str, np.ndarray]) -> dict[str, Evaluation]:
    """Give the evaluation of each run."""
    data = load_dataset("pocket-en")
    return {name: evaluate(ids, data.qrels, METRICS, relevance_level=2) for name, ids in runs.items()}
