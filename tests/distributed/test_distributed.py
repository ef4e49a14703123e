"""Encoding and searching on a cluster: what one process gives, from workers that are processes or threads."""

import logging
import warnings

import faiss
import numpy as np
import pytest
import torch
from distributed import Client, LocalCluster

from helpers import distributed
from helpers.distributed import encode_shard, origin_of
from helpers.embeddings import encode_shards, encoding
from helpers.embeddings.shards import Manifest
from helpers.index import build_index, search
from helpers.models import load_model
from helpers.models.transformer import static
from tests.checkpoints import save_checkpoint
from tests.distributed.samples import files, in_one_process, texts
from tests.embeddings.test_shards import fill

SIZE = 32
TEXTS = texts(300)
TEXTS[6 * SIZE : 7 * SIZE] = TEXTS[2 * SIZE : 3 * SIZE]  # two equal shards, in one file: every score in them is a tie


@pytest.fixture(scope="module")
def alone(model, tmp_path_factory):
    """Give the vectors as one process with one thread makes them."""
    return in_one_process(model, TEXTS, SIZE, tmp_path_factory.mktemp("alone") / "v")


@pytest.fixture(scope="module")
def client():
    """Give a cluster whose workers are threads of this process, which takes a second, and can be patched."""
    options = {"protocol": "tcp://", "host": "127.0.0.1", "dashboard_address": None, "silence_logs": logging.CRITICAL}
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **options)
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(autouse=True)
def other_models_are_forgotten():
    """Let no test find a model that another one loaded on a worker."""
    distributed._model.cache_clear()


def test_a_cluster_gives_what_one_process_gives_and_is_left_alone(model, alone, client, tmp_path, monkeypatch):
    """A run on somebody's cluster would fail, differ, close the cluster, or take all cores in each worker."""
    threads = []
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    monkeypatch.setattr(faiss, "omp_set_num_threads", threads.append)
    shards = distributed.encode(model, iter(TEXTS), tmp_path, client=client, shard_size=SIZE, progress=False)
    assert np.array_equal(np.asarray(shards), np.asarray(alone))
    distributed.search(shards, np.asarray(alone[:2]), 1, client=client)
    assert set(threads) == {1}
    assert client.submit(sum, [1, 2]).result() == 3


def test_a_rerun_computes_only_what_is_missing(model, alone, client, tmp_path, monkeypatch):
    """After an interruption hours of work would be done twice, or a damaged shard would be kept."""
    options = {"client": client, "shard_size": SIZE, "progress": False}
    shards = distributed.encode(model, TEXTS, tmp_path, **options)
    paths = [tmp_path / shard.file for shard in shards.manifest.shards]
    paths[1].unlink()
    paths[4].write_bytes(paths[3].read_bytes())
    computed = []
    forward = encoding.forward
    monkeypatch.setattr(encoding, "forward", lambda *a: (computed.append(a[1]), forward(*a))[1])
    again = distributed.encode(model, TEXTS, tmp_path, **options)
    assert sorted(computed) == sorted([TEXTS[SIZE : 2 * SIZE], TEXTS[4 * SIZE : 5 * SIZE]])
    assert np.array_equal(np.asarray(again), np.asarray(alone))
    computed.clear()
    one = encode_shards(model, TEXTS, folder=tmp_path, shard_size=SIZE)
    assert (computed, one.manifest) == ([], again.manifest), "one process would not find what the cluster wrote"


def test_texts_are_read_only_a_few_shards_ahead(model, client, tmp_path):
    """The driver's memory would grow with the corpus."""
    most = 0

    def stream():
        nonlocal most
        for row, text in enumerate(TEXTS * 2):
            most = max(most, row - SIZE * len(files(tmp_path / "v")))
            yield f"{text} {'a ' * (row // len(TEXTS))}"

    distributed.encode(model, stream(), tmp_path / "v", client=client, shard_size=SIZE, progress=False)
    threads = sum(client.nthreads().values())
    assert SIZE < most <= SIZE * (distributed.AHEAD * threads + 1)


def test_search_gives_what_one_index_gives(client, tmp_path, monkeypatch):
    """Results would depend on how vectors are divided: at ties, or at the end of a part."""
    monkeypatch.setattr(distributed, "PART", 2 * SIZE + 3)
    # Sums of small whole numbers are exact, whatever kernel multiplies a part whose size is no multiple of its blocks.
    vectors = np.random.default_rng(0).integers(-2, 3, (300, 4)).astype(np.float32)
    shards = fill(tmp_path / "v", vectors)
    index = build_index(vectors, "Flat")
    for k in (1, 10, 2 * SIZE + 5, len(vectors)):
        expected = search(index, vectors[:20], k)
        results = distributed.search(shards, vectors[:20], k, client=client)
        assert [np.array_equal(a, b) for a, b in zip(expected, results, strict=True)] == [True, True], k
        assert [a.dtype for a in results] == [a.dtype for a in expected]


def test_a_shard_that_fails_is_named_with_its_cause_after_three_retries(model, client, tmp_path, monkeypatch):
    """Of a million texts nobody would know which one, or a full disk would be tried for ever."""
    tried = []
    forward = encoding.forward

    def fails(model_, batch, *rest):
        if TEXTS[5 * SIZE] in batch:
            tried.append(1)
            raise OSError("No space left on device")
        return forward(model_, batch, *rest)

    monkeypatch.setattr(encoding, "forward", fails)
    with pytest.raises(RuntimeError, match=r"Shard 5: failed, 4 times \(OSError: .*No space left on device"):
        distributed.encode(model, TEXTS, tmp_path, client=client, shard_size=SIZE, progress=False)
    assert len(tried) == 4
    assert len(files(tmp_path)) >= 5, "what was finished before is lost"


def test_a_worker_with_another_model_is_refused(tmp_path, client):
    """Vectors of two models would stand in one array."""
    folder = save_checkpoint(tmp_path / "tiny")
    model = load_model(folder, backend="transformers", device="cpu")
    other = save_checkpoint(tmp_path / "other", seed=1)
    (folder / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    now = load_model(folder, device="cpu").info.sha256
    with pytest.raises(RuntimeError, match=f"Shard 0: .*{model.info.sha256}.*here .*{now}"):
        distributed.encode(model, TEXTS, tmp_path / "v", client=client, progress=False)
    assert files(tmp_path / "v") == []


def test_a_folder_that_workers_do_not_share_is_refused(model, tmp_path):
    """Shards would be written on other machines and listed here."""
    settings = Manifest.begin(model, "passage", 32, 32)
    run = (origin_of(model), settings, 32, tmp_path / "no", 1)
    with pytest.raises(FileNotFoundError, match="a disk that all machines share"):
        encode_shard(run, TEXTS[:4])


def test_what_workers_warn_of_is_said_once(model, client, tmp_path):
    """Nobody would hear that texts were truncated."""
    long = [f"{text} {'cat ' * 70}" for text in TEXTS[:100]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        distributed.encode(model, long, tmp_path, client=client, shard_size=SIZE, progress=False)
    told = [(str(one.message)[:33], one.filename) for one in caught if issubclass(one.category, UserWarning)]
    assert told == [("Texts are longer than the 64 toke", __file__)]


def test_wrong_arguments_are_said_before_any_worker_sees_them(model, alone, client, tmp_path):
    """A misspelt kind, or a search, would fail on a worker, after retries, with a message about parts."""
    with pytest.raises(ValueError, match="expected 'passage' or 'query'"):
        distributed.encode(model, TEXTS, tmp_path, client=client, progress=False, kind="passages")
    vectors = np.asarray(alone)
    with pytest.raises(ValueError, match="from 1 to 300"):
        distributed.search(alone, vectors[:2], 301, client=client)
    with pytest.raises(ValueError, match="8 dimensions, the index 16"):
        distributed.search(alone, vectors[:2, :8], 1, client=client)


def test_a_model_that_workers_cannot_load_is_refused(model, client, tmp_path):
    """Workers would load the original in the place of a variant of it."""
    with pytest.raises(ValueError, match="cannot be loaded by a worker"):
        distributed.encode(static(model), TEXTS, tmp_path, client=client)


def test_a_model_says_how_to_load_it_once_more(tmp_path, monkeypatch):
    """A worker would read a relative path from another folder, or pool in another way than was asked for."""
    save_checkpoint(tmp_path / "tiny")
    monkeypatch.chdir(tmp_path)
    options = {"pooling": "cls", "query_instruction": "q: ", "max_length": 9, "dim": 8, "device": "cpu"}
    model = load_model("tiny", **options)
    assert origin_of(model)["name_or_path"] == str(tmp_path / "tiny")
    monkeypatch.chdir("/")
    again = distributed._model(**origin_of(model), device="cpu")
    assert (again.info, type(again), origin_of(again)) == (model.info, type(model), origin_of(model))
    assert origin_of(load_model())["name_or_path"] == "sentence-transformers/all-MiniLM-L6-v2"
