"""Speed and peak memory of helpers.metrics beside its peers: `python -m tests.bench.bench_metrics`.

Everyone starts from what FAISS returns, scores and ids of shape (queries, depth), and computes recall, precision, MRR,
MAP and nDCG at four cutoffs; converting the arrays to the form a peer wants is part of its time. Judgements are
prepared once in each peer's own form, outside the clock. All peers run in turn in one process, warm, several rounds;
the median counts. Memory is measured in a process of its own for each peer: the highest resident memory during one
call, less what was resident before it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.metric_peers import LOOPS_LIMIT, PACKAGES, PEERS, make_search
from tests.bench.reports import head, save

os.environ.setdefault("HF_HUB_OFFLINE", "1")
SIZES = [(100, 10), (6980, 10), (6980, 1000), (100_000, 10)]
KINDS = ("binary", "graded")
ROUNDS = 3


def peers_for(queries: int, depth: int) -> list[str]:
    """The variants truncated to 100 columns make sense only where there are more."""
    return [name for name in PEERS if depth > 100 or "columns" not in name]


def scale(name: str, queries: int) -> float:
    """By how much a measured time is scaled up."""
    return max(1.0, queries / LOOPS_LIMIT) if name == "taught loops" else 1.0


def measure_times(queries: int, depth: int, kind: str, rounds: int = ROUNDS) -> dict[str, float]:
    """Median milliseconds of each peer, all run in turn in every round."""
    search = make_search(queries, depth, kind)
    calls = {name: PEERS[name](search) for name in peers_for(queries, depth)}
    repeats, times = {}, {name: [] for name in calls}
    for name, call in calls.items():  # warm up, and see that all compute the same
        began = time.perf_counter()
        value = call()
        repeats[name] = int(np.clip(0.3 / (time.perf_counter() - began), 1, 25))
        if scale(name, queries) == 1 and abs(value - calls["helpers.metrics"]()) > 1e-5:
            raise RuntimeError(f"{name} says recall@10 is {value}: it does not compute what is measured.")
    for _ in range(rounds):
        for name, call in calls.items():
            for _ in range(repeats[name]):
                began = time.perf_counter()
                call()
                times[name].append((time.perf_counter() - began) * 1e3 * scale(name, queries))
    return {name: statistics.median(values) for name, values in times.items()}


def measure_memory(name: str, queries: int, depth: int, kind: str) -> float:
    """Highest resident memory during one warm call less that before it, in MiB. For a fresh process on Linux."""
    PEERS[name](make_search(20, depth, kind))()
    call = PEERS[name](make_search(queries, depth, kind))
    before = reset_peak()
    call()
    return resident("VmHWM") - before


def reset_peak() -> float:
    """Give free memory back, forget the highest resident memory so far, and return what is resident now, in MiB."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return resident("VmRSS")


def resident(field: str) -> float:
    """Resident memory of this process in MiB: "VmRSS", now, or "VmHWM", the highest since `reset_peak` (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def measure_memory_of(name: str, sizes: list[tuple[int, int]]) -> dict[str, float]:
    """`measure_memory` of one peer in every case, each in a child of a process that has nothing else loaded."""
    peaks = {}
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for (queries, depth), kind in ((size, kind) for size in sizes for kind in KINDS):
            if name in peers_for(queries, depth):
                peaks[f"{queries}x{depth} {kind}"] = round(pool.apply(measure_memory, (name, queries, depth, kind)), 1)
    return peaks


def run_all(sizes: list[tuple[int, int]]) -> dict[str, Any]:
    """Everything that goes into the JSON file."""
    results: dict[str, dict[str, dict[str, float]]] = {}
    for (queries, depth), kind in ((size, kind) for size in sizes for kind in KINDS):
        medians = measure_times(queries, depth, kind)
        entries = results[f"{queries}x{depth} {kind}"] = {}
        for name, ms in medians.items():
            entries[name] = {"ms": round(ms, 3), "times ours": round(ms / medians["helpers.metrics"], 1)}
            if scale(name, queries) > 1:
                entries[name]["scaled up from queries"] = LOOPS_LIMIT
            print(f"{queries}x{depth} {kind:8} {name:40} {entries[name]}", flush=True)
    for name in PEERS if sys.platform == "linux" else ():
        for case, mebibytes in _in_fresh_process(name, sizes).items():
            results[case][name]["MiB"] = mebibytes
    return {
        **head("metrics", PACKAGES, ROUNDS),
        "metrics": "recall, precision, MRR, MAP and nDCG at 1, 3, 5, 10 (depth 10) or 1, 5, 10, 100 (depth 1000)",
        "results": results,
    }


def _in_fresh_process(name: str, sizes: list[tuple[int, int]]) -> dict[str, float]:
    """`measure_memory_of` in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.bench_metrics", "--memory-of", name, json.dumps(sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure, then write the report and its charts; or with `--memory-of PEER SIZES` print the memory of one peer."""
    if "--memory-of" in sys.argv:
        print(json.dumps(measure_memory_of(sys.argv[-2], json.loads(sys.argv[-1]))))
    else:
        save("metrics", run_all(SIZES))


if __name__ == "__main__":
    main()
