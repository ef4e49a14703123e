"""Find, read and write the notebooks of the lessons."""

import json
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.validator import iter_validate

from helpers._io import whole_file

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "zh")


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
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list) or "metadata" not in raw:
        raise NotebookError(f"{label} is not a notebook of format 4 (an object with 'cells' and 'metadata')")
    major, minor = raw.get("nbformat"), raw.get("nbformat_minor")
    if major != 4 or not isinstance(minor, int) or minor < 5:
        raise NotebookError(
            f"{label} has nbformat {major}.{minor}, expected 4.5 or later (Colab saves 4.0 and drops "
            "the cell ids): put the edit into the committed file instead of replacing it"
        )
    for fault in iter_validate(raw, version=major, version_minor=minor):
        path = list(fault.absolute_path)
        label += f" [{raw['cells'][path[1]].get('id', path[1] + 1)}]" if path[:1] == ["cells"] else ""
        reason = fault.message if len(fault.message) <= 160 else f"{fault.message[:80]} … {fault.message[-70:]}"
        raise NotebookError(f"{label} is no valid notebook: {reason}; restore it or save it again")
    counts = Counter(cell["id"] for cell in raw["cells"])
    repeated = sorted(cell_id for cell_id, count in counts.items() if count > 1)
    if repeated:
        raise NotebookError(f"{label} repeats the cell id {', '.join(repeated)}; give each cell its own")


def loads(text: str, label: str) -> NotebookNode:
    """Return the notebook written in text; label names it in messages. Raises NotebookError if it is unusable."""
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotebookError(
            f"{label} is not valid JSON (line {error.lineno}: {error.msg}); restore it or save it again"
        ) from error
    _check_format(raw, label)
    notebook: NotebookNode = nbformat.v4.to_notebook_json(raw)
    return notebook


def read(path: Path, root: Path = ROOT) -> NotebookNode:
    """Return the notebook at path. Raises NotebookError if it is unusable."""
    label = relative(root, path)
    try:
        return loads(path.read_text(encoding="utf-8"), label)
    except FileNotFoundError as error:
        raise NotebookError(f"{label} does not exist") from error
    except UnicodeDecodeError as error:
        raise NotebookError(f"{label} is not UTF-8 text: {error}") from error


def dumps(notebook: NotebookNode) -> str:
    """Return the notebook as Jupyter itself writes it: sorted keys, indent 1, UTF-8, a newline at the end."""
    text: str = nbformat.v4.writes(notebook)
    return text + "\n"


def write_files(texts: dict[Path, str]) -> None:
    """Write each text to its path, all or none as far as a crash allows: temporary files first, then renames."""
    with ExitStack() as stack:
        for path, text in texts.items():
            stack.enter_context(whole_file(path)).write_text(text, encoding="utf-8", newline="\n")
