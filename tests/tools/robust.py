"""Execute a lesson under conditions that should not change its results, and show what they do change.

Every variant but `warm cache` starts with an empty embedding cache, or it would only read what another one computed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from .compare import Difference, compare
from .execute import CELL_LIMIT, execute_lesson, parameter_names
from .notebooks import Node, NotebookError, lesson_path, read
from .run import table

BATCHES = (1, 16, 256)
INSTRUCTIONS = {
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "FAISS_OPT_LEVEL": "avx2",
    },
    "AVX512": {"ATEN_CPU_CAPABILITY": "avx512"},
}


def _threads(number: int) -> dict[str, str]:
    """Return the variables that hold every numeric library to so many threads."""
    return {f"{name}_NUM_THREADS": str(number) for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")}


def _instructions() -> dict[str, dict[str, str]]:
    """Return the instruction sets that this processor has, as variables that choose them."""
    import torch

    names = list(INSTRUCTIONS)
    best = torch.backends.cpu.get_cpu_capability()
    return {name: INSTRUCTIONS[name] for name in names[: names.index(best) + 1]} if best in names else {}


def variants(notebook: Node) -> dict[str, tuple[dict[str, str], dict[str, int]]]:
    """Return the variants of a lesson by name: variables and parameters.

    Batch sizes are tried if the cell tagged `parameters` has a `BATCH_SIZE`.
    """
    found: dict[str, tuple[dict[str, str], dict[str, int]]] = {"cold cache": ({}, {}), "warm cache": ({}, {})}
    found |= {f"{number} thread(s)": (_threads(number), {}) for number in (1, 2)}
    found |= {name: (environment, {}) for name, environment in _instructions().items()}
    if "BATCH_SIZE" in parameter_names(notebook):
        found |= {f"batch size {number}": ({}, {"BATCH_SIZE": number}) for number in BATCHES}
    return found


def _try(
    root: Path, name: str, environment: dict[str, str], parameters: dict[str, int], cold: bool
) -> list[Difference]:
    """Return how one execution of a lesson differs from the record."""
    path = lesson_path(root, "en", name)
    with tempfile.TemporaryDirectory(prefix="cache-") as cache:
        chosen = {"EVAL_CACHE_DIR": cache} | environment if cold else environment
        fresh = execute_lesson(root, path, limit=4 * CELL_LIMIT, environment=chosen, parameters=parameters)
    return compare(read(path, root), fresh)


def robust(root: Path, name: str) -> str:
    """Return a table of all variants of a lesson, with the time and the differences of each."""
    notebook = read(lesson_path(root, "en", name), root)
    rows, details = [], []
    for variant, (environment, parameters) in variants(notebook).items():
        start = time.perf_counter()
        try:
            gaps = _try(root, name, environment, parameters, variant != "warm cache")
            result = f"{len(gaps)} differences" if gaps else "as recorded"
            details += [f"{variant}: {gap}" for gap in gaps]
        except NotebookError as error:
            result = "failed"
            details.append(f"{variant}: {error}")
        rows.append((name, variant, f"{time.perf_counter() - start:.0f} s", result))
    missing = "" if "BATCH_SIZE" in parameter_names(notebook) else "\n(no parameter BATCH_SIZE: batches not tried)"
    return "\n".join([table(("lesson", "variant", "time", "result"), rows) + missing, *details])
