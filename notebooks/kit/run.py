"""Execute lessons and hold what they give against what is recorded."""

import platform
import unicodedata
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from .cells import by_id, is_volatile
from .compare import Difference, Outputs, compare
from .execute import CELL_LIMIT, execute_lesson
from .figures import markers, notebook_figures
from .notebooks import dumps, lesson_path, read, relative, write_files

REPORT = "build/differences.md"


def save_pictures(root: Path, language: str, name: str, difference: Difference) -> list[Path]:
    """Save the recorded, the fresh and the difference picture of a figure below build/ and return the paths."""
    folder = root / "build" / "differences" / language / name
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for label, png in difference.images.items():
        paths.append(folder / f"{difference.cell}-{label}.png")
        paths[-1].write_bytes(png)
    return paths


def report(root: Path, language: str, name: str, differences: list[Difference]) -> str:
    """Return the failure message of one lesson: every difference, the saved pictures and how to record again."""
    lines = [f"{relative(root, lesson_path(root, language, name))} differs from what is recorded:"]
    for difference in differences:
        lines.append(str(difference))
        lines += [f"    saved:    {relative(root, p)}" for p in save_pictures(root, language, name, difference)]
    lines.append(
        f"If the change is meant: `python -m notebooks.kit record {name}` (or `make record`), then read the git diff."
    )
    return "\n".join(lines)


def machine() -> dict[str, str]:
    """Return what decides the last digits of a number: processor, instruction set, threads, versions."""
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


def run_lesson(
    root: Path, language: str, name: str, *, limit: int = CELL_LIMIT, **options: Any
) -> tuple[NotebookNode, list[Difference]]:
    """Execute one lesson into build/, and return the executed notebook and how it differs from the recorded one.

    Raises NotebookError if it cannot be read or executed.
    """
    path = lesson_path(root, language, name)
    recorded = read(path, root)
    fresh = execute_lesson(root, path, limit=limit, **options)
    target = root / "build" / "notebooks" / language / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_files({target: dumps(fresh)})
    return fresh, compare(recorded, fresh)


Row = tuple[str, str, str, str]


def figures_table(root: Path, language: str, name: str, fresh: NotebookNode) -> list[Row]:
    """Return (figure, recorded, got, verdict) for every figure that the prose of a lesson quotes.

    The verdict is that of the comparison: `differs`, `may vary` in a volatile cell, or empty.
    """
    recorded = read(lesson_path(root, language, name), root)
    old, new, cells = notebook_figures(recorded), notebook_figures(fresh), by_id(recorded)
    quoted = [m for cell in recorded.cells if cell.cell_type == "markdown" for m, _ in markers(cell.source)]
    rows = []
    for figure in dict.fromkeys(quoted):
        if figure in old:
            cell, got = cells[figure.split("/")[0]], new.get(figure, "(gone)")
            differs = Outputs(cell.id, cell.metadata.get("verify")).text(old[figure], got)
            verdict = "" if not differs else "may vary" if is_volatile(cell) else "differs"
            rows.append((f"{name}: {figure}", old[figure], got, verdict))
    return rows


def width(text: str) -> int:
    """Return how many columns a terminal needs for text; a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under their heads as text in aligned columns."""
    widths = [max(width(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [head, ["-" * size for size in widths], *rows]
    padded = [[text + " " * (size - width(text)) for text, size in zip(line, widths, strict=True)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in padded)
