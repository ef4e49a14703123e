"""The benchmarks, each in seconds: that they still run against the package, and measure what they say."""

import json
import sys

import numpy as np
import pytest

from tests.bench import __main__ as bench
from tests.bench import bench_encode, bench_metrics, bench_million, bench_ranks, bench_streaming


def test_the_benches_named_are_run_and_no_others(tmp_path, monkeypatch, capsys):
    """A name would be ignored and an hour spent on others, or a typo be found out at the end of the first bench."""
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setattr(bench_streaming, "report", lambda: {"tables": [1]})
    assert bench.main(["streaming"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["streaming.json"]
    written = json.loads((tmp_path / "streaming.json").read_text(encoding="utf-8"))
    assert (written["command"], written["tables"]) == ("python -m tests.bench streaming", [1])
    assert "torch" in written["versions"]
    for wrong, message in ((["streaming", "sizes"], "no bench 'sizes'"), (["ranks"], "needs --results")):
        with pytest.raises(SystemExit):
            bench.main(wrong)
        assert message in capsys.readouterr().err


def test_encoding_is_timed_beside_its_peers():
    """A contestant would be another model, or its call be gone unseen until somebody measures again."""
    found = bench_encode.report(1, 6)
    assert min(found["seconds"].values()) > 0
    assert max(found["largest difference of a value"].values()) < 1e-5


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_streaming_is_measured_in_a_process_of_its_own():
    """The page would quote the memory of an error, or of a process that holds more than the stream."""
    assert bench_streaming.in_fresh_process(64)["MiB of the vectors"] == 0


def test_metrics_are_timed_beside_their_peers(monkeypatch):
    """A peer would compute something else than what is measured. (ranx would be compiled first, for half a minute.)"""
    quick = {name: peer for name, peer in bench_metrics.PEERS.items() if "ranx" not in name}
    monkeypatch.setattr(bench_metrics, "PEERS", quick)
    assert min(bench_metrics.measure(20, 10, "binary", rounds=1).values()) > 0


@pytest.mark.filterwarnings("ignore")
def test_indexes_are_compared_with_exact_search(monkeypatch):
    """An index kind would be gone, or exact search disagree with itself."""
    small = {
        name: factory.replace("1024", "8").replace("PQ96", "PQ24") for name, factory in bench_million.INDEXES.items()
    }
    monkeypatch.setattr(bench_million, "INDEXES", small)
    real = np.random.default_rng(0).standard_normal((400, 96)).astype(np.float32)
    table = bench_million.measure(1200, 1, real / np.linalg.norm(real, axis=1, keepdims=True))
    assert table.keys() == bench_million.INDEXES.keys()
    assert table["exact"]["agreement@10"] == 1


def test_what_a_leaderboard_tells_apart_follows_from_its_scores():
    """The page on ranks would quote figures that its own record of MTEB's scores does not give."""
    record = json.loads((bench.FOLDER / "ranks.json").read_text(encoding="utf-8"))
    scores = {model: [float(value) for value in row.split()] for model, row in record["scores"].items()}
    assert bench_ranks.leaderboard(scores) == record["leaderboard"]
    by_hand = {"a": [0.9, 0.8, 0.9, 0.8], "b": [0.5, 0.42, 0.51, 0.4], "c": [0.5, 0.4, 0.5, 0.41]}
    counted = bench_ranks.leaderboard(by_hand)
    assert (counted["neighbours"], counted["neighbours apart"], counted["not apart from the first"]) == (2, 1, 0)
