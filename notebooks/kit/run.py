"""Execute lessons and hold what they give against what is recorded."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from .compare import Difference, compare
from .execute import CELL_LIMIT, execute_lesson
from .figures import markers, notebook_figures
from .notebooks import dumps, lesson_path, read, relative, write_files


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


Row = tuple[str, str, str]


def figures_table(root: Path, language: str, name: str, fresh: NotebookNode) -> list[Row]:
    """Return (figure, recorded, got) for every figure that the prose of a lesson quotes."""
    recorded = read(lesson_path(root, language, name), root)
    old, new = notebook_figures(recorded), notebook_figures(fresh)
    quoted = [m for cell in recorded.cells if cell.cell_type == "markdown" for m, _ in markers(cell.source)]
    own = [figure for figure in dict.fromkeys(quoted) if figure in old]
    return [(f"{name}: {figure}", old[figure], new.get(figure, "(gone)")) for figure in own]


def width(text: str) -> int:
    """Return how many columns a terminal needs for text; a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under their heads as text in aligned columns."""
    widths = [max(width(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [head, ["-" * size for size in widths], *rows]
    padded = [[text + " " * (size - width(text)) for text, size in zip(line, widths, strict=True)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in padded)


def unlike(rows: list[Row]) -> str:
    """Return the figures as a table, those that differ from the record marked."""
    marked = [(*row, "" if row[1] == row[2] else "differs") for row in rows]
    return table(("figure", "recorded", "got", ""), marked) if rows else "no lesson quotes a figure"
