"""Processor seconds and peak memory of what people run at the sizes of public collections; no texts are needed.

`python -m tests.bench.bench_sizes` writes docs/benchmarks/sizes.json: reports from runs and judgements of the shapes of
MS MARCO dev, Robust04 and a Deep Learning track with thirty runs, and the tests and intervals behind them, each in a
process of its own with one thread.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.bench.reports import head, save


class Shape(NamedTuple):
    """How many queries, documents a query in a run, documents in all, judgements a query, and runs."""

    queries: int
    depth: int
    documents: int
    judged: int
    runs: int = 2


SHAPES = {
    "7,000 queries × 1,000": Shape(7000, 1000, 1_000_000, 1),
    "249 queries × 1,000, 311,250 judgements": Shape(249, 1000, 345_438, 1250),
    "50,000 queries × 10": Shape(50_000, 10, 1_000_000, 1),
    "1,000 queries × 100, 30 runs": Shape(1000, 100, 100_000, 10, 30),
}
CALLS = {
    "paired_test of 7,000 queries": "paired_test(x[0], x[0] + y)",
    "bootstrap_interval of 50,000 values": "bootstrap_interval(np.resize(x[0], 50_000) ** 2)",
    "tukey_hsd of 10 systems × 7,000": "tukey_hsd(x)",
}
SETUP = (
    "import numpy as np; from helpers.significance import *; rng = np.random.default_rng(0);"
    "x = rng.random((10, 7000)); y = rng.normal(0.001, 0.1, 7000);"
)


def write(shape: Shape, folder: Path, scale: float = 1.0) -> list[str]:
    """Write runs and judgements of a shape, of which the queries are scaled; return the report's arguments."""
    rng, queries = np.random.default_rng(0), max(2, round(shape.queries * scale))
    judged = rng.integers(0, shape.documents, (queries, shape.judged))
    with (folder / "qrels").open("w") as file:
        file.writelines(f"{q} 0 doc{d} {int(rng.random() < 0.4 or len(set(row)) == 1)}\n"
                        for q, row in enumerate(judged.tolist()) for d in dict.fromkeys(row))  # fmt: skip
    for run in range(shape.runs):
        with (folder / f"run{run:02}").open("w") as file:
            for q, row in enumerate(judged):
                ranking = rng.integers(0, shape.documents, shape.depth)
                ranking[rng.integers(0, min(20, shape.depth))] = row[0]
                unique = dict.fromkeys(ranking.tolist())
                file.writelines(f"{q} Q0 doc{d} {n} {20 - n / 60:.6f} t\n" for n, d in enumerate(unique, 1))
    return ["--qrels", "qrels", "--system", *(f"run{run:02}" for run in range(shape.runs)), "--quiet"]


def measured(command: list[str], folder: str | Path | None = None) -> dict[str, float]:
    """Run Python in a process of its own; return its processor seconds and peak memory. Raises if it fails."""
    code = (
        "import os, resource, subprocess, sys; code = subprocess.call([sys.executable, *sys.argv[1:]]);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024); sys.exit(code)"
    )
    root = Path(__file__).parents[2]
    place = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code, *command], cwd=folder, env=place, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    seconds, peak = map(float, done.stdout.splitlines()[-1].split())
    return {"processor seconds": round(seconds, 2), "peak MB": round(peak)}


def measure(scale: float = 1.0) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the name of each case and what it took."""
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            yield f"report, {name}", measured(["-m", "helpers.report", *write(shape, Path(folder), scale)], folder)
    for name, call in CALLS.items():
        yield name, measured(["-c", SETUP + call])


def main() -> None:
    """Measure and keep."""
    save("sizes", head("sizes", ("numpy", "scipy"), 1) | {"cases": dict(measure())})


if __name__ == "__main__":
    main()
