"""Encoding: the same vectors as FlagEmbedding's own call, once computed kept, and never half a file."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from helpers import embeddings
from helpers.embeddings import encode, encode_shards
from helpers.models import load_model
from tests.checkpoints import save_checkpoint

TEXTS = [f"the {animal} is {'not ' * times}good" for animal in ("cat", "dog", "fish") for times in range(5)]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """Give a tiny BERT on disk."""
    return save_checkpoint(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def model(checkpoint):
    """Give the tiny BERT, loaded."""
    return load_model(checkpoint)


@pytest.fixture
def forwards(monkeypatch) -> list[int]:
    """Count how many texts really went through the model."""
    counted = []
    real = embeddings._forward
    monkeypatch.setattr(embeddings, "_forward", lambda m, texts, b: counted.append(len(texts)) or real(m, texts, b))
    return counted


def test_vectors_equal_those_of_flagembedding(model, tmp_path):
    """The lesson says FlagModel's embeddings; ours must be them, for passages and for queries."""
    ours = encode(model, TEXTS, cache_dir=tmp_path, batch_size=4)
    assert ours.dtype == np.float32
    assert ours.shape == (len(TEXTS), 16)
    np.testing.assert_allclose(ours, model.encode_corpus(TEXTS), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-6)


def test_bundled_model_gives_the_vectors_of_flagembedding(tmp_path):
    """As above with real weights and texts of very different lengths."""
    model = load_model()
    texts = ["short", "a longer text about nothing much " * 20, "二〇二六年", "middle sized, it is"]
    np.testing.assert_allclose(encode(model, texts, cache_dir=tmp_path), model.encode(texts), atol=1e-6)


def test_a_query_gets_the_instruction_and_a_passage_does_not(checkpoint, tmp_path):
    """Forgetting the instruction, or giving it to passages, is a classic silent loss."""
    model = load_model(checkpoint, query_instruction="eat the ")
    passages = encode(model, ["fish"], cache_dir=tmp_path)
    queries = encode(model, ["fish"], kind="query", cache_dir=tmp_path)
    np.testing.assert_allclose(queries, model.encode_queries(["fish"]), atol=1e-6)
    np.testing.assert_allclose(queries, encode(model, ["eat the fish"], cache_dir=tmp_path), atol=1e-6)
    assert np.abs(queries - passages).max() > 1e-3


def test_second_run_computes_nothing(model, tmp_path, forwards):
    """Without the cache each rerun of a lesson would encode everything again."""
    first = encode(model, TEXTS, cache_dir=tmp_path)
    second = encode(model, TEXTS, cache_dir=tmp_path)
    assert forwards == [len(TEXTS)]
    assert np.array_equal(first, second)


def test_changed_text_or_model_is_not_served_from_the_cache(model, checkpoint, tmp_path, forwards):
    """A stale vector would be scored as if it were the new text's or the new model's."""
    encode(model, TEXTS, cache_dir=tmp_path)
    encode(model, [*TEXTS[:-1], "the house"], cache_dir=tmp_path)
    encode(load_model(checkpoint, pooling="cls"), TEXTS, cache_dir=tmp_path)
    assert forwards == [len(TEXTS)] * 3


def test_damaged_shards_are_computed_again(model, tmp_path, forwards):
    """A file cut short by a full disk, or overwritten, must not become somebody's embeddings."""
    first = encode(model, TEXTS, cache_dir=tmp_path)
    [path] = tmp_path.glob("*.npy")
    whole = path.read_bytes()
    for damage in (whole[:-40], b"", whole[:200] + bytes(len(whole) - 200), b"not an array"):
        path.write_bytes(damage)
        assert np.array_equal(encode(model, TEXTS, cache_dir=tmp_path), first)
    assert len(forwards) == 5


def test_a_stream_comes_out_in_memory_mapped_shards(model, tmp_path, forwards):
    """A corpus larger than memory must go through without being held."""
    stream = (text for text in TEXTS)
    shards = list(encode_shards(model, stream, cache_dir=tmp_path, shard_size=4))
    assert [len(shard) for shard in shards] == [4, 4, 4, 3]
    assert all(isinstance(shard, np.memmap) and not shard.flags.writeable for shard in shards)
    np.testing.assert_allclose(np.concatenate(shards), encode(model, TEXTS, cache_dir=tmp_path / "b"), atol=1e-6)


def test_a_stopped_run_computes_only_what_is_missing(model, tmp_path, forwards):
    """Hours of encoding would be lost to one interruption."""
    stopped = encode_shards(model, TEXTS, cache_dir=tmp_path, shard_size=4)
    next(stopped), next(stopped)
    list(encode_shards(model, TEXTS, cache_dir=tmp_path, shard_size=4))
    assert forwards == [4, 4, 4, 3]


SLOW_RUN = """
    import itertools, sys, time
    from helpers.embeddings import encode_shards
    from helpers.models import load_model
    model = load_model(sys.argv[1])
    texts = ("the cat " + "not " * n for n in range(40))
    for shard in encode_shards(model, texts, cache_dir=sys.argv[2], shard_size=1):
        print("shard", flush=True)
        time.sleep(float(sys.argv[3]))
"""


def start(checkpoint: Path, cache: Path, pause: float) -> subprocess.Popen:
    """Start a run in a process of its own that encodes 40 shards with a pause after each."""
    command = [sys.executable, "-c", textwrap.dedent(SLOW_RUN), str(checkpoint), str(cache), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX's")
def test_a_killed_run_leaves_whole_shards_only(model, checkpoint, tmp_path, forwards):
    """Power cuts and out-of-memory kills must cost one shard, and leave nothing broken."""
    run = start(checkpoint, tmp_path, 0.05)
    for _ in range(5):
        assert run.stdout.readline() == "shard\n"
    run.send_signal(signal.SIGKILL)
    run.wait()
    finished = len(list(tmp_path.glob("*.npy")))
    assert 5 <= finished < 40
    list(encode_shards(model, ("the cat " + "not " * n for n in range(40)), cache_dir=tmp_path, shard_size=1))
    assert len(forwards) == 40 - finished


def test_two_processes_may_fill_one_cache(model, checkpoint, tmp_path, forwards):
    """Two notebooks opened at once must not spoil each other's files."""
    runs = [start(checkpoint, tmp_path, 0) for _ in range(2)]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    shards = list(encode_shards(model, ("the cat " + "not " * n for n in range(40)), cache_dir=tmp_path, shard_size=1))
    assert len(shards) == 40
    assert not forwards
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "No texts"),
        (["a", None], "Text 1 is of type NoneType"),
        (["a", "  "], "Text 1 is blank"),
        ([3], "type int"),
    ],
)
def test_texts_that_cannot_be_embedded_are_refused(model, tmp_path, texts, message):
    """A model gives a vector to anything, also to nothing."""
    with pytest.raises(ValueError, match=message):
        encode(model, texts, cache_dir=tmp_path)


def test_unknown_kind_is_refused(model, tmp_path):
    """A slip such as kind="queries" would embed queries without their instruction."""
    with pytest.raises(ValueError, match="'passage' or 'query'"):
        encode(model, ["a"], kind="queries", cache_dir=tmp_path)


def test_vectors_that_are_not_finite_are_refused(checkpoint, tmp_path):
    """NaN compares false with everything: FAISS would return arbitrary passages."""
    import torch

    model = load_model(checkpoint)
    with torch.no_grad():
        model.model.embeddings.LayerNorm.bias[0] = float("nan")
    with pytest.raises(ValueError, match="NaN or infinite values for 'the cat"):
        encode(model, TEXTS, cache_dir=tmp_path)
    assert not list(tmp_path.iterdir())


def test_unusable_cache_folder_is_named(model, tmp_path):
    """The reader must learn which folder, and how to name another."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match=r"file.*EVAL_CACHE_DIR"):
        encode(model, ["a"], cache_dir=tmp_path / "file" / "cache")


def test_cache_folder_comes_from_the_environment(model, tmp_path, monkeypatch):
    """The tests and the build share one cache through this variable."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "here"))
    encode(model, ["a"])
    assert list((tmp_path / "here").glob("*.npy"))
