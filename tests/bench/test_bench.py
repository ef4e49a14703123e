"""The benchmarks, each in seconds: that they still run against the package, and measure what they say."""

import json

import numpy as np
import pytest

from tests.bench import (
    bench_distributed,
    bench_encode,
    bench_metrics,
    bench_million,
    bench_ranks,
    bench_sizes,
    bench_streaming,
)
from tests.bench.reports import FOLDER
from tests.distributed.samples import thread_cluster


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """Keep vectors of earlier runs out of the times."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))


def test_encoding_is_timed_beside_its_peers():
    """A contestant would be another model, or its call be gone unseen until somebody measures again."""
    seconds, gaps = bench_encode.measure_times(1, 6)
    assert seconds.keys() == gaps.keys()
    assert min(seconds.values()) > 0
    assert max(gaps.values()) < 1e-5
    assert bench_encode.measure_half(1, 6)["seconds"].keys() == {"float32", "bfloat16"}
    assert bench_encode.measure_memory(1, 6)["passages"] == 6


def test_a_cluster_is_timed_beside_one_process():
    """The page on scaling up would quote a script that no longer runs."""
    with thread_cluster() as client:
        times = bench_distributed.measure(1, 4, client)
    assert (times["passages"], len(times["one"]), len(times["two"])) == (4, 1, 1)


def test_streaming_is_measured_in_memory_and_time():
    """Its search would compare blocks with a flat index that finds something else."""
    assert bench_streaming.measure_memory(64)["microseconds a text"] > 0
    assert bench_streaming.measure_search(1, 1500).keys() == {"flat", "blocks of an array", "blocks of shards"}


def test_metrics_are_timed_beside_their_peers(monkeypatch):
    """A peer would compute something else than what is measured. (ranx would be compiled first, for half a minute.)"""
    quick = {name: peer for name, peer in bench_metrics.PEERS.items() if "ranx" not in name}
    monkeypatch.setattr(bench_metrics, "PEERS", quick)
    assert min(bench_metrics.measure_times(20, 10, "binary", rounds=1).values()) > 0


@pytest.mark.filterwarnings("ignore")
def test_indexes_are_compared_with_exact_search(monkeypatch):
    """An index kind would be gone, or exact search disagree with itself."""
    small = {
        name: factory.replace("1024", "8").replace("PQ96", "PQ24") for name, factory in bench_million.INDEXES.items()
    }
    monkeypatch.setattr(bench_million, "INDEXES", small)
    real = np.random.default_rng(0).standard_normal((400, 96)).astype(np.float32)
    table, likeness = bench_million.measure(1200, 1, real / np.linalg.norm(real, axis=1, keepdims=True))
    assert table.keys() == bench_million.INDEXES.keys()
    assert table["exact"]["agreement@10"] == 1
    assert likeness


def test_what_a_leaderboard_tells_apart_follows_from_its_scores():
    """The page on ranks would quote figures that its own record of MTEB's scores does not give."""
    record = json.loads((FOLDER / "ranks.json").read_text(encoding="utf-8"))
    scores = {model: [float(value) for value in row.split()] for model, row in record["scores"].items()}
    found = record["leaderboard"]
    assert bench_ranks.leaderboard(scores) == found
    assert bench_ranks.intervals(scores) == record["intervals"]
    drawn = {name: np.array(row.split(), float) for name, row in record["intervals"].items()}
    assert (drawn["first"] <= drawn["half, first"]).sum() == found["not apart from the first"]
    assert (drawn["next"] > drawn["half, next"]).sum() == found["neighbours apart"]
    means = sorted(np.mean(list(scores.values()), axis=1), reverse=True)
    assert record["leaderboard"]["median gap of neighbours"] == pytest.approx(np.median(-np.diff(means)))
    by_hand = {"a": [0.9, 0.8, 0.9, 0.8], "b": [0.5, 0.42, 0.51, 0.4], "c": [0.5, 0.4, 0.5, 0.41]}
    counted = bench_ranks.leaderboard(by_hand)
    assert (counted["neighbours"], counted["neighbours apart"], counted["not apart from the first"]) == (2, 1, 0)


def test_sizes_are_measured_in_a_process_of_their_own(monkeypatch):
    """A command of the sizes would be gone, and its seconds be those of an error message."""
    shape = bench_sizes.Shape(queries=40, depth=20, documents=500, judged=5, runs=2)
    monkeypatch.setattr(bench_sizes, "SHAPES", {"small": shape})
    monkeypatch.setattr(bench_sizes, "CALLS", {"paired_test": "paired_test(x[0][:40], x[1][:40])"})
    found = dict(bench_sizes.measure())
    assert found.keys() == {"report, small", "paired_test"}
    assert all(min(values.values()) > 0 for values in found.values())
    with pytest.raises(RuntimeError, match="nothing_of_that_name"):
        bench_sizes.measured(["-c", "nothing_of_that_name()"])
