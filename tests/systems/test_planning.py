"""What a large corpus will cost, estimated from a sample."""

import time

import faiss
import numpy as np
import pytest

from helpers.data import load_dataset
from helpers.index import build_index, search
from helpers.models import load_model
from helpers.systems import planning
from helpers.systems.planning import choose_index, estimate


def test_the_fastest_run_counts_and_the_corpus_is_in_proportion(monkeypatch):
    """A reader would rent a machine for ten times the hours, or for a tenth."""
    clock = iter([0.0, 9.0, 10.0, 12.0, 20.0, 25.0])  # runs of 9, 2 and 5 seconds
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(planning, "encode", lambda model, texts, **_: np.zeros((len(texts), 384), np.float32))
    model, texts = load_model(), load_dataset("pocket-en").corpus[:10]
    cost = estimate(model, texts, 72_000)
    tokens = sum(len(model.tokenizer(text)["input_ids"]) for text in texts)
    assert (cost.passages_per_second, cost.tokens_per_second) == (5.0, tokens / 2)
    assert (cost.hours, cost.index) == (4.0, "Flat")
    assert cost.disk_gb == cost.memory_gb == 72_000 * 384 * 4 / 1e9


def test_a_real_sample_is_encoded_each_time():
    """Vectors from the cache would make the model seem a thousand times as fast as it is."""
    model, texts = load_model(), load_dataset("pocket-en").corpus[:64]
    assert estimate(model, texts, 900).passages_per_second < 5000


@pytest.mark.parametrize("n", [20_000, 60_000])
def test_the_chosen_index_can_be_built_and_takes_what_was_said(n, monkeypatch):
    """The description would be refused after hours of encoding, or the index would not fit into memory."""
    monkeypatch.setattr(planning, "EXACT", 10_000)
    vectors = np.random.default_rng(0).standard_normal((n, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    factory, size = choose_index(n, 64)
    index = build_index(vectors, factory)
    assert factory.startswith("IVF128," if n == 20_000 else "IVF256,")
    assert 0.9 < len(faiss.serialize_index(index)) / size < 1.2
    assert (search(index, vectors[:50], 1)[1][:, 0] == np.arange(50)).mean() > 0.9


def test_no_passages_are_refused():
    """Zero hours for a corpus whose size was forgotten would be believed."""
    with pytest.raises(ValueError, match="at least 1, not 0"):
        estimate(load_model(), ["text"], 0)
