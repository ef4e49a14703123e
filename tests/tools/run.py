"""Execute lessons and hold what they give against what is recorded."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode

from .compare import Difference, compare
from .execute import CELL_LIMIT, execute_lesson
from .notebooks import ROOT, dumps, lesson_path, read, relative, write_files


def save_pictures(root: Path, language: str, name: str, gap: Difference) -> list[Path]:
    """Save the recorded, the fresh and the difference picture of a figure below build/ and return the paths."""
    folder = root / "build" / "differences" / language / name
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for label, png in gap.images.items():
        paths.append(folder / f"{gap.cell}-{label}.png")
        paths[-1].write_bytes(png)
    return paths


def report(root: Path, language: str, name: str, gaps: list[Difference]) -> str:
    """Return the failure message of one lesson: every difference, the saved pictures and how to record again."""
    lines = [f"{relative(root, lesson_path(root, language, name))} differs from what is recorded:"]
    for gap in gaps:
        lines.append(str(gap))
        lines += [f"    saved:    {relative(root, p)}" for p in save_pictures(root, language, name, gap)]
    lines.append(
        f"If the change is meant: `python -m tests.tools record {name}` (or `make record`), then read the git diff."
    )
    return "\n".join(lines)


def run_lesson(
    root: Path, language: str, name: str, *, limit: int = CELL_LIMIT, **options: object
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


def verify(root: Path = ROOT, language: str = "en", name: str = "") -> None:
    """Raise AssertionError with a full report if a lesson gives something else than it has recorded."""
    _, gaps = run_lesson(root, language, name)
    if gaps:
        raise AssertionError(report(root, language, name, gaps))
