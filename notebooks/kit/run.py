"""Execute lessons and compare their outputs with the recorded ones."""

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from .compare import Difference, compare
from .execute import CELL_LIMIT, execute_lesson
from .notebooks import dumps, lesson_path, read, relative, write_files

REPORT = "build/differences.md"


def report(root: Path, language: str, name: str, differences: list[Difference]) -> str:
    """Return the failure message of one lesson: every difference, and how to record again."""
    lines = [f"{relative(root, lesson_path(root, language, name))} differs from its record:"]
    lines += map(str, differences)
    lines.append(
        f"If the change is meant: `python -m notebooks.kit record {name}` (or `make record`), then read the git diff."
    )
    return "\n".join(lines)


def machine() -> dict[str, str]:
    """Return the facts that decide the last digits of a number: processor, instruction set, threads, versions."""
    import torch

    names = ("numpy", "torch", "faiss-cpu", "FlagEmbedding", "transformers", "scikit-learn", "scipy", "matplotlib")
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return {
        "system": platform.platform(),
        "processor": model or platform.processor() or platform.machine(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": str(torch.get_num_threads()),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in names},
    }


def write_report(root: Path, differences: dict[str, list[Difference]]) -> str:
    """Write a report for the project's issues below build/ and return its path: the machine, cells and both values."""
    lines = ["# Lessons that differ from their record", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in machine().items()]
    for name, unlike in differences.items():
        lines += ["", f"## {name}", "", "```text", *map(str, unlike), "```"]
    path = root / REPORT
    path.parent.mkdir(exist_ok=True)
    write_files({path: "\n".join(lines) + "\n"})
    return REPORT


def run_lesson(root: Path, language: str, name: str, *, limit: int = CELL_LIMIT, **options: Any) -> list[Difference]:
    """Execute one lesson into build/, and return how it differs from the recorded one.

    Raises NotebookError if it cannot be read or executed.
    """
    path = lesson_path(root, language, name)
    recorded = read(path, root)
    fresh = execute_lesson(root, path, limit=limit, **options)
    target = root / "build" / "notebooks" / language / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_files({target: dumps(fresh)})
    return compare(recorded, fresh)
