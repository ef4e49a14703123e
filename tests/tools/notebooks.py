"""Find, read and write lesson notebooks without changing anything but what is meant."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "zh")
TWIN = {"en": "zh", "zh": "en"}


class Node(dict):
    """A JSON object of a notebook whose entries are attributes too (nbformat's own takes seconds to import)."""

    def __getattr__(self, name: str) -> Any:
        """Return the entry called name. Raises AttributeError if there is none."""
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no entry '{name}' in {sorted(self)}") from None

    def __setattr__(self, name: str, value: object) -> None:
        """Set the entry called name."""
        self[name] = value

    def __deepcopy__(self, memo: dict) -> Node:
        """Return a copy that shares nothing with this one."""
        return Node({key: deepcopy(value, memo) for key, value in self.items()})


class NotebookError(Exception):
    """A notebook that cannot be read, executed or recorded; the message says what to do."""


@dataclass(frozen=True, order=True)
class Problem:
    """One thing a check found: where it is, which rule it breaks and what to do about it."""

    file: str
    cell: str
    rule: str
    message: str

    def __str__(self) -> str:
        """Return one line: file, cell, rule and message."""
        where = f"{self.file} [{self.cell}]" if self.cell else self.file
        return f"{where} {self.rule}: {self.message}"


def lesson_path(root: Path, language: str, name: str) -> Path:
    """Return where the lesson called name is kept in one language."""
    return root / "notebooks" / language / f"{name}.ipynb"


def lesson_names(root: Path, wanted: list[str] | None = None) -> list[str]:
    """Return the names of all lessons in either language, or of those that wanted selects.

    A wish is a name (`02_metrics`), its beginning (`02`) or a path to the notebook.
    Raises NotebookError for a wish that selects nothing, listing what there is.
    """
    names = sorted({p.stem for lang in LANGUAGES for p in (root / "notebooks" / lang).glob("*.ipynb")})
    chosen: list[str] = []
    for wish in wanted or []:
        stem = Path(wish).name.removesuffix(".ipynb")
        found = [n for n in names if n == stem] or [n for n in names if n.startswith(stem)]
        if not found:
            raise NotebookError(f"no lesson '{wish}'; there are: {', '.join(names) or 'none'}")
        chosen += [n for n in found if n not in chosen]
    return chosen if wanted else names


def relative(root: Path, path: Path) -> str:
    """Return path below root with forward slashes, for messages and hashes."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _parse(text: str, label: str) -> Node:
    """Return the JSON of a notebook if it is one of format 4.5 or later."""
    try:
        raw = json.loads(text, object_hook=Node)
    except json.JSONDecodeError as error:
        raise NotebookError(
            f"{label} is not valid JSON (line {error.lineno}: {error.msg}); restore it or save it again"
        ) from error
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list) or "metadata" not in raw:
        raise NotebookError(f"{label} is not a notebook of format 4 (an object with 'cells' and 'metadata')")
    version = (raw.get("nbformat"), raw.get("nbformat_minor"))
    if version[0] != 4 or not isinstance(version[1], int) or version[1] < 5:
        raise NotebookError(
            f"{label} has nbformat {version[0]}.{version[1]}, expected 4.5 or later (Colab saves 4.0 and drops "
            "the cell ids): put the edit into the committed file instead of replacing it"
        )
    return raw


def _check_cells(cells: list[Node], label: str) -> None:
    """Raise NotebookError for the first cell that lacks what the format asks for."""
    needed = {"markdown": {"source", "metadata"}, "raw": {"source", "metadata"}}
    needed["code"] = needed["raw"] | {"outputs", "execution_count"}
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") not in needed:
            raise NotebookError(f"{label}: cell number {number} is no markdown, code or raw cell")
        if not isinstance(cell.get("id"), str):
            raise NotebookError(f"{label} has a cell without an id (cell number {number})")
        lacking = sorted(needed[cell.cell_type] - set(cell))
        if lacking or any("output_type" not in output for output in cell.get("outputs", ())):
            raise NotebookError(f"{label} [{cell.id}] lacks {', '.join(lacking) or 'the type of an output'}")
    ids = [cell.id for cell in cells]
    repeated = sorted({i for i in ids if ids.count(i) > 1})
    if repeated:
        raise NotebookError(f"{label} repeats the cell id {', '.join(repeated)}; give each cell its own")


def _multiline(cell: Node) -> Iterator[tuple[Node, str]]:
    """Yield (object, key) of each text that a notebook file keeps as a list of lines, as nbformat does."""
    yield cell, "source"
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            yield output, "text"
        for mime in output.get("data", {}):
            if mime.startswith("text/") or mime in ("application/javascript", "image/svg+xml", "image/png"):
                yield output.data, mime


def loads(text: str, label: str) -> Node:
    """Return the notebook written in text, multi-line texts joined; label names it. Raises NotebookError."""
    notebook = _parse(text, label)
    _check_cells(notebook.cells, label)
    for cell in notebook.cells:
        for place, key in _multiline(cell):
            if isinstance(place[key], list):
                place[key] = "".join(place[key])
    return notebook


def read(path: Path, root: Path = ROOT) -> Node:
    """Return the notebook at path, multi-line strings joined. Raises NotebookError if it is unusable."""
    label = relative(root, path)
    try:
        return loads(path.read_text(encoding="utf-8"), label)
    except FileNotFoundError as error:
        raise NotebookError(f"{label} does not exist") from error
    except UnicodeDecodeError as error:
        raise NotebookError(f"{label} is not UTF-8 text: {error}") from error


def dumps(notebook: Node) -> str:
    """Return the notebook as Jupyter itself writes it: sorted keys, indent 1, UTF-8, a newline at the end."""
    notebook = deepcopy(notebook)
    for cell in notebook.cells:
        for place, key in _multiline(cell):
            if isinstance(place[key], str) and key != "image/png":
                place[key] = place[key].splitlines(keepends=True)
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False, separators=(",", ": ")) + "\n"


def write_files(texts: dict[Path, str]) -> None:
    """Write each text to its path, all or none as far as a crash allows: temporary files first, then renames."""
    pending: list[tuple[str, Path]] = []
    try:
        for path, text in texts.items():
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            pending.append((name, path))
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        while pending:
            os.replace(*pending[0])
            pending.pop(0)
    finally:
        for name, _ in pending:
            Path(name).unlink(missing_ok=True)


def cell_hash(cell_id: str, source: str) -> str:
    """Return the first 16 hex digits of SHA-256 over id, newline and source: a hash fits one cell only."""
    return hashlib.sha256(f"{cell_id}\n{source}".encode()).hexdigest()[:16]


def tags(cell: Node) -> list[str]:
    """Return the tags of a cell."""
    return list(cell.get("metadata", {}).get("tags", []))


def is_volatile(cell: Node) -> bool:
    """Tell whether the outputs of a cell may vary from run to run."""
    return bool({"volatile", "provenance"} & set(tags(cell)))


def code_cells(notebook: Node) -> list[Node]:
    """Return the code cells in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def by_id(notebook: Node) -> dict[str, Node]:
    """Return the cells by their id, in order."""
    return {cell.id: cell for cell in notebook.cells}


def alt_text(cell: Node) -> str:
    """Return the alternative text of a code cell's figures, or an empty string."""
    return str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "") or "").strip()


def _joined(value: object) -> str:
    return "".join(value) if isinstance(value, list) else str(value)


def output_texts(cell: Node) -> list[str]:
    """Return every textual output of a code cell: streams, then each text of each display, in order."""
    texts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            texts.append(_joined(output.text))
        for mime, value in output.get("data", {}).items():
            if mime.startswith("text/") or mime == "image/svg+xml":
                texts.append(_joined(value))
    return texts


ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
TEMPORARY = re.compile(
    r"(?:(?:/private)?/var/folders/[\w+-]+/[\w+-]+/T|/(?:var/)?tmp|[A-Za-z]:\\Users\\[^\\\s]+\\AppData\\Local\\Temp)"
    r"[/\\]+[\w.+-]+"
)
WORK, SCRATCH = "lesson", "scratch"


def plain(text: str, folder: str = "") -> str:
    """Return text with memory addresses as `0x0` and temporary folders (their random name too) as `TMP`.

    folder is the temporary folder of this run, if known: it holds WORK, where the lesson runs, and SCRATCH,
    where its own temporary files go.
    """
    if folder:
        text = re.sub(re.escape(folder) + rf"(?:[/\\]{WORK}|[/\\]{SCRATCH}(?:[/\\][\w.+-]+)?)?", "TMP", text)
    return ADDRESS.sub("0x0", TEMPORARY.sub("TMP", text))
