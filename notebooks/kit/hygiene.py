"""Check what a committed notebook may hold: clean outputs, nothing private, nothing of one machine."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from .cells import alt_text, code_cells, code_hashes, output_hashes, output_texts, tags
from .compare import provenance
from .drawings import drawn_by, svg_fault
from .listed import FILE, listed
from .markdown import without_blocks
from .notebooks import NotebookError, Problem, dumps, relative

SIZE_LIMIT = 500_000  # bytes of outputs in one notebook
TAGS = {"parameters", "volatile", "provenance"}
CELL_KEYS = {"tags": TAGS, "mystnb": {"image"}, "verify": {"atol", "rtol"}, "translation": {"of"},
             "slideshow": {"slide_type"}}  # fmt: skip
BOOK_KEYS = {"kernelspec", "language_info", "recorded", "outputs"}

_FOLDERS = "home|Users|root|tmp|work|private|mnt|opt|srv|var/folders"
PRIVATE = re.compile(rf"(?<![\w.~:/])/(?:{_FOLDERS})/[\w.][^\s'\"<>]*|\b[A-Za-z]:\\+Users\\+\w+")
HOST = re.compile(
    r"(?<![\w.])(?:localhost:\d+|127\.0\.0\.1|10(?:\.\d{1,3}){3}|(?:192\.168|172\.16)(?:\.\d{1,3}){2})(?![\w.])"
    r"|--(?:extra-)?index-url\s+\S+"
)
_PIP = re.compile(r"^[!%]\s*(?:pip3?|conda|mamba|uv|python3? -m pip)\b.*", re.M)
_BAR = re.compile(r"\r(?!\n)|\d+%\|[^|\n]*\||\bit/s\]|\bs/it\]")


def _cell_ids(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    for cell in notebook.cells:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", cell.id):
            yield cell.id, "id", "an id is made of a-z, 0-9 and '-': it stands in markers and messages"
        extra = {
            f"{key} {item}".strip()
            for key, value in cell.metadata.items()
            for item in (set(value) - CELL_KEYS[key] if key in CELL_KEYS else [""])
        }
        if extra:
            yield cell.id, "metadata", f"volatile or unknown metadata: {', '.join(sorted(extra))}"


def _counts(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    for number, cell in enumerate((c for c in code_cells(notebook) if c.source.strip()), 1):
        if cell.execution_count != number:
            yield cell.id, "count", f"execution count {cell.execution_count}, expected {number}: record the lesson"
            return
    for cell in code_cells(notebook):
        if not cell.source.strip():
            yield cell.id, "empty", "an empty code cell: delete it"


def _outputs(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    for output in cell.outputs:
        if output.output_type == "error":
            yield "error", f"stores the error {output.ename}: {output.evalue}"
        elif output.get("name") == "stderr":
            yield "stderr", f"stores stderr: '{output.text.strip()[:60]}'"
        if any("widget" in mime for mime in output.get("data", {})):
            yield "progress", "stores a widget, which no page can show"
    if any(_BAR.search(text) for text in output_texts(cell)):
        yield "progress", "stores a progress bar"
    if any(mime.startswith("image/") for o in cell.outputs for mime in o.get("data", {})) and not alt_text(cell):
        yield "alt", 'a figure without alternative text: cell metadata {"mystnb": {"image": {"alt": "..."}}}'


def _figures(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the figures of a cell as SVG, and figures that are there in one format only."""
    for output in cell.outputs:
        formats = {mime for mime in output.get("data", {}) if mime.startswith("image/")}
        if formats and formats != {"image/png", "image/svg+xml"}:
            named = ", ".join(sorted(formats))
            yield "formats", f"a figure as {named} only, not as PNG and SVG: call helpers.show.vector.keep_as_svg"
        if (svg := output.get("data", {}).get("image/svg+xml")) and (fault := svg_fault(svg)):
            yield "svg", fault


def _texts(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    host = socket.gethostname()
    for text in [cell.source, *(output_texts(cell) if cell.cell_type == "code" else ())]:
        if match := PRIVATE.search(text):
            yield "private-path", f"a path of one machine: '{match[0]}'"
        if match := HOST.search(text):
            yield "host", f"an address of one machine or mirror: '{match[0]}'"
        if len(host) > 5 and re.search(rf"(?<![\w-]){re.escape(host)}(?![\w-])", text):
            yield "host", f"the name of this machine: '{host}'"


def _installs(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    if match := _PIP.search(cell.source):
        yield "pip", f"'{match[0]}' installs without asking: put it inside the guard that looks first"


def _markdown(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    text = without_blocks(cell.source)
    if re.search(r"!\[\s*\]\(", text) or re.search(r"<img\b(?![^>]*\balt=\"[^\"]+\")[^>]*>", text):
        yield "alt", "a picture without alternative text"
    if "attachments" in cell:
        yield "attachment", "a pasted picture: draw it in a code cell or link a file"


def _provenance(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    last = code_cells(notebook)[-1:]
    if [cell for cell in notebook.cells if "provenance" in tags(cell)] != last:
        yield "", "provenance", "the last code cell, and no other, is tagged 'provenance' and prints JSON"
        return
    record = provenance(last[0])
    if record is None:
        yield last[0].id, "provenance", "does not print one JSON object"
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", str(record.get("date", ""))) or not record.get("packages"):
        yield last[0].id, "provenance", "needs 'packages' and 'date' (YYYY-MM-DD)"


def _book(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    extra = set(notebook.metadata) - BOOK_KEYS
    if extra or set(notebook.metadata.get("language_info", {})) - {"name"}:
        named = ", ".join(sorted(extra)) or "language_info"
        yield "", "metadata", f"volatile metadata of the notebook ({named}): record the lesson"
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "", "kernel", "the kernel must be 'python3'"
    size = sum(len(json.dumps(c.outputs, ensure_ascii=False).encode()) for c in code_cells(notebook))
    if size > SIZE_LIMIT:
        yield "", "size", f"outputs of {size / 1000:.0f} kB, allowed are {SIZE_LIMIT / 1000:.0f} kB: draw or show less"
    parameters = [c.id for c in notebook.cells if "parameters" in tags(c)]
    if len(parameters) > 1:
        yield parameters[1], "parameters", f"a second cell tagged 'parameters' (the first is '{parameters[0]}')"


def _current(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    if not notebook.metadata.get("recorded"):
        yield "", "not-recorded", "was never recorded: run `python -m notebooks.kit record`"
        return
    for part, hashes in (("recorded", code_hashes(notebook)), ("outputs", output_hashes(notebook))):
        for cell_id, digest in hashes.items():
            if notebook.metadata.get(part, {}).get(cell_id) != digest:
                subject = "code" if part == "recorded" else "output"
                yield cell_id, "not-recorded", f"its {subject} has changed since it was recorded: record the lesson"


def _hidden(notebook: NotebookNode, pinned: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield cells whose tags or metadata spare outputs from the comparison, unless they are listed."""
    for cell in notebook.cells:
        spared = ["volatile"] if "volatile" in tags(cell) and "provenance" not in tags(cell) else []
        spared += [f"{key}={value}" for key, value in sorted(cell.metadata.get("verify", {}).items())]
        if (listing := pinned.get(cell.id, "")) != " ".join(spared):
            has = " ".join(spared) or "nothing"
            yield cell.id, "hidden", f"the cell has {has}, {FILE} lists {listing or 'nothing'}: list it with a reason"


def _drawn(notebook: NotebookNode, root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield cells with a figure that another matplotlib than the locked one drew."""
    locked = locked_versions(root).get("matplotlib")
    for cell in code_cells(notebook) if locked else ():
        for output in cell.outputs:
            versions = {_drawer(mime, value) for mime, value in output.get("data", {}).items()} - {None, locked}
            for drawn in sorted(filter(None, versions)):
                yield cell.id, "drawn", f"drawn by matplotlib {drawn}, constraints.txt has {locked}: record again"


def _drawer(mime: str, data: str) -> str | None:
    """Return the version of the matplotlib that drew a figure, "unknown" if it does not say; None for other outputs."""
    if mime == "image/svg+xml":
        return drawn_by(data) or "unknown"
    if mime != "image/png":
        return None
    software = re.search(rb"tEXtSoftware\0Matplotlib version([\w.]+)", b64decode(data))
    return software[1].decode() if software else "unknown"


def locked_versions(root: Path) -> dict[str, str]:
    """Return the version of each package in constraints.txt, by its name in lower case; nothing without the file."""
    lock = root / "constraints.txt"
    text = lock.read_text(encoding="utf-8") if lock.exists() else ""
    pins = re.findall(r"^([\w.-]+)==([^\s;#+]+)", text, re.M)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins}


def _named(value: object, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield name, key and value of all that a provenance record says of something it names, digests of data too."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _named(item, key)
            if isinstance(value.get("name"), str) and not isinstance(item, dict):
                yield value["name"], key, str(item)
            elif path == "collections":
                yield key, "sha256", str(item)


def provenance_problems(books: dict[Path, NotebookNode], root: Path) -> Iterator[Problem]:
    """Yield where recorded provenance contradicts constraints.txt, or that of another lesson."""
    locked: dict[str, str] = locked_versions(root)
    known: dict[tuple[str, str], str] = {}
    for path, book in books.items():
        record = provenance(code_cells(book)[-1]) if code_cells(book) else None
        file, cell = relative(root, path), code_cells(book)[-1].id if code_cells(book) else ""
        for name, version in ((record or {}).get("packages") or {}).items():
            pin = locked.get(re.sub(r"[-_.]+", "-", name).lower(), known.setdefault((name, "version"), version))
            if str(version).split("+")[0] != pin:
                message = f"recorded with {name} {version}, constraints.txt or another lesson has {pin}: record again"
                yield Problem(file, cell, "provenance", message)
        for name, key, value in _named(record):
            if known.setdefault((name, key), value) != value:
                message = f"says '{value}' for {key} of {name}, another lesson '{known[name, key]}': record both again"
                yield Problem(file, cell, "provenance", message)


def notebook_problems(notebook: NotebookNode, file: str, root: Path) -> Iterator[Problem]:
    """Yield what a committed notebook must not hold; whether code is recorded is asked of the English one only."""
    checks = [_cell_ids, _counts, _book, _provenance]
    if Path(file).parent.name == "en":
        checks.append(_current)
    found = [problem for check in checks for problem in check(notebook)]
    found += [*_hidden(notebook, listed(root, Path(file).stem, "cells")), *_drawn(notebook, root)]
    yield from (Problem(file, cell, rule, message) for cell, rule, message in found)
    for cell in notebook.cells:
        own = (_outputs, _figures, _installs) if cell.cell_type == "code" else (_markdown,)
        faults = dict.fromkeys(fault for look in (_texts, *own) for fault in look(cell))
        yield from (Problem(file, cell.id, rule, message) for rule, message in faults)


def format_problem(text: str, notebook: NotebookNode, file: str) -> Iterator[Problem]:
    """Yield a problem if the file is not written the way Jupyter and the recorder write it."""
    if text != dumps(notebook):
        yield Problem(file, "", "format", "not in the recorder's JSON layout: run `python -m notebooks.kit sync`")


def ruff_problems(books: dict[Path, NotebookNode], root: Path) -> Iterator[Problem]:
    """Yield what ruff finds in notebooks, with the settings of pyproject.toml."""
    if not books:
        return
    command = [sys.executable, "-m", "ruff", "check", "--output-format=json", "--no-cache", *map(str, books)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    if done.returncode not in (0, 1):
        raise NotebookError(f"ruff did not run: {done.stderr.strip() or done.stdout.strip()}")
    for item in json.loads(done.stdout or "[]"):
        path = Path(item["filename"])
        cell = books[path].cells[item["cell"] - 1].id if item.get("cell") else ""
        message = f"line {item['location']['row']}: {item['code']} {item['message']}"
        yield Problem(relative(root, path), cell, "ruff", message)
