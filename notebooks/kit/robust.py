"""Execute a lesson under conditions that should not change its results, and show what they do change.

Every variant but `warm cache` starts with an empty embedding cache, or it would only read what another one computed.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from .compare import Difference, compare
from .execute import CELL_LIMIT, Parameters, execute_lesson, parameter_names
from .notebooks import NotebookError, lesson_path, read
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


@dataclass(frozen=True)
class Variant:
    """A condition of execution: environment variables and parameters, and whether the embedding cache starts empty."""

    environment: dict[str, str] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=dict)
    cold: bool = True


def variants(notebook: NotebookNode) -> dict[str, Variant]:
    """Return the variants of a lesson by name; batch sizes if the cell tagged `parameters` has a `BATCH_SIZE`."""
    named = {"cold cache": Variant(), "warm cache": Variant(cold=False)}
    named |= {f"{number} thread(s)": Variant(_threads(number)) for number in (1, 2)}
    named |= {name: Variant(environment) for name, environment in _instructions().items()}
    if "BATCH_SIZE" in parameter_names(notebook):
        named |= {f"batch size {number}": Variant(parameters={"BATCH_SIZE": number}) for number in BATCHES}
    return named


def _try(root: Path, name: str, variant: Variant) -> list[Difference]:
    """Return how one execution of a lesson differs from the record."""
    path = lesson_path(root, "en", name)
    with tempfile.TemporaryDirectory(prefix="cache-") as cache:
        environment = variant.environment | ({"EVAL_CACHE_DIR": cache} if variant.cold else {})
        fresh = execute_lesson(root, path, limit=4 * CELL_LIMIT, environment=environment, parameters=variant.parameters)
    return compare(read(path, root), fresh)


def robust(root: Path, name: str) -> str:
    """Return a table of all variants of a lesson, with the time and the differences of each."""
    notebook = read(lesson_path(root, "en", name), root)
    rows, details = [], []
    for label, variant in variants(notebook).items():
        start = time.perf_counter()
        try:
            differences = _try(root, name, variant)
            result = f"{len(differences)} differences" if differences else "as recorded"
            details += [f"{label}: {difference}" for difference in differences]
        except NotebookError as error:
            result = "failed"
            details.append(f"{label}: {error}")
        rows.append((name, label, f"{time.perf_counter() - start:.0f} s", result))
    missing = "" if "BATCH_SIZE" in parameter_names(notebook) else "\n(no parameter BATCH_SIZE: batches not tried)"
    return "\n".join([table(("lesson", "variant", "time", "result"), rows) + missing, *details])
