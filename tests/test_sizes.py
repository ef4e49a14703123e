"""Reports at the sizes of public collections: they end, in the memory of a laptop."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest


class Shape(NamedTuple):
    """How many queries, documents a query in a run, documents in all, judgements a query, and runs."""

    queries: int
    depth: int
    documents: int
    judged: int
    runs: int = 2


SHAPES = {
    "MS MARCO dev": Shape(7000, 1000, 1_000_000, 1),
    "Robust04": Shape(249, 1000, 345_438, 1250),
    "a log": Shape(50_000, 10, 1_000_000, 1),
    "a track with thirty runs": Shape(1000, 100, 100_000, 10, 30),
}


def write(shape: Shape, folder: Path) -> list[str]:
    """Write runs and judgements of a shape; return the report's arguments."""
    rng = np.random.default_rng(0)
    judged = rng.integers(0, shape.documents, (shape.queries, shape.judged))
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


def peak(arguments: list[str], folder: Path) -> float:
    """Write a report in a process of its own; return its peak memory in MB."""
    code = (
        "import resource, sys; from helpers.report import main; status = main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024); sys.exit(status)"
    )
    own = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return float(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_reports_of_public_collections_end(tmp_path, name):
    """A report of two runs of a common size, with both gates, would be killed on a laptop, or end in an error."""
    arguments = write(SHAPES[name], tmp_path)
    peak(["--qrels", "qrels", "--system", "run00", "--out", "old"], tmp_path)
    arguments[arguments.index("run00")] = "run00?name=new"
    gates = ["--baseline", "old", "--fail-if-drop", "ndcg@10=0.9"]
    assert peak([*arguments, *gates], tmp_path) < 900
