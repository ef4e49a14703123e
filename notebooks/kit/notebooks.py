"""Find, read and write the notebooks of the lessons."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.validator import iter_validate

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "zh")
HINT = "read again"  # the rule of a problem that may be none


class NotebookError(Exception):
    """A notebook that cannot be read, executed or recorded; the message names the remedy."""


@dataclass(frozen=True, order=True)
class Problem:
    """A finding of a check: its place, the rule that it breaks, and a message with the remedy."""

    file: str
    cell: str
    rule: str
    message: str

    def __str__(self) -> str:
        """Return one line: file, cell, rule and message."""
        location = f"{self.file} [{self.cell}]" if self.cell else self.file
        return f"{location} {self.rule}: {self.message}"


def lesson_path(root: Path, language: str, name: str) -> Path:
    """Return the path of a lesson in one language."""
    return root / "notebooks" / language / f"{name}.ipynb"


def lesson_names(root: Path, wanted: list[str] | None = None) -> list[str]:
    """Return the names of all lessons in either language, or of those that wanted selects.

    A wish is a name (`02_metrics`), its beginning (`02`) or a path to the notebook.
    Raises NotebookError for a wish that selects nothing; the message lists the lessons.
    """
    names = sorted({p.stem for lang in LANGUAGES for p in (root / "notebooks" / lang).glob("*.ipynb")})
    chosen: list[str] = []
    for wish in wanted or []:
        stem = Path(wish).name.removesuffix(".ipynb")
        matching = [n for n in names if n == stem] or [n for n in names if n.startswith(stem)]
        if not matching:
            raise NotebookError(f"no lesson '{wish}'; there are: {', '.join(names) or 'none'}")
        chosen += [n for n in matching if n not in chosen]
    return chosen if wanted else names


def relative(root: Path, path: Path) -> str:
    """Return path below root with forward slashes, for messages and hashes."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _check_format(raw: Any, label: str) -> None:
    major, minor = (raw.get(key) if isinstance(raw, dict) else None for key in ("nbformat", "nbformat_minor"))
    if major != 4 or not isinstance(minor, int) or minor < 5:
        raise NotebookError(
            f"{label} has nbformat {major}.{minor}, expected 4.5 or later (Colab saves 4.0 and drops "
            "the cell ids): put the edit into the committed file instead of replacing it"
        )
    for fault in iter_validate(raw, version=major, version_minor=minor):
        place = "/".join(map(str, list(fault.absolute_path)[:2]))
        raise NotebookError(f"{label} is no valid notebook: {place}: {fault.message[-160:]}; restore it")
    counts = Counter(cell["id"] for cell in raw["cells"])
    if repeated := sorted(cell_id for cell_id, count in counts.items() if count > 1):
        raise NotebookError(f"{label} repeats the cell id {', '.join(repeated)}; give each cell its own")


def read(path: Path, root: Path = ROOT) -> NotebookNode:
    """Return the notebook at path. Raises NotebookError, which names it, if it is unusable."""
    label = relative(root, path)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotebookError(f"{label} cannot be read ({error}); restore it or save it again") from error
    _check_format(raw, label)
    notebook: NotebookNode = nbformat.v4.to_notebook_json(raw)
    return notebook


def dumps(notebook: NotebookNode) -> str:
    """Return the notebook as Jupyter itself writes it: sorted keys, indent 1, UTF-8, a newline at the end."""
    text: str = nbformat.v4.writes(notebook)
    return text + "\n"
