"""Check the content of a committed notebook: clean outputs, nothing private, nothing of one machine."""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from .cells import HOME, alt_text, code_cells, code_hashes, output_hashes, output_texts, tags
from .compare import provenance
from .drawings import svg_fault
from .listed import FILE, editions, home, listed
from .markdown import without_blocks
from .notebooks import Problem, relative

SIZE_LIMIT = 500_000  # bytes of outputs in one notebook
TAGS = {"parameters", "volatile", "provenance", "hide-input", "hide-output", "hide-table"}
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


def _metadata(notebook: NotebookNode, listings: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield metadata that no lesson has, and unlisted metadata that spares outputs from the comparison."""
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
        spared = ["volatile"] if "volatile" in tags(cell) and "provenance" not in tags(cell) else []
        spared += [f"{key}={value}" for key, value in sorted(cell.metadata.get("verify", {}).items())]
        if (listing := listings.get(cell.id, "")) != " ".join(spared):
            has = " ".join(spared) or "nothing"
            yield cell.id, "hidden", f"the cell has {has}, {FILE} lists {listing or 'nothing'}: list it with a reason"


def _code(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    for output in cell.outputs:
        if output.output_type == "error":
            yield "error", f"stores the error {output.ename}: {output.evalue}"
        elif output.get("name") == "stderr":
            yield "stderr", f"stores stderr: '{output.text.strip()[:60]}'"
        if any("widget" in mime for mime in output.get("data", {})):
            yield "progress", "stores a widget, which no page can show"
        formats = {mime for mime in output.get("data", {}) if mime.startswith("image/")}
        if formats and formats != {"image/png", "image/svg+xml"}:
            named = ", ".join(sorted(formats))
            yield "formats", f"a figure as {named} only, not as PNG and SVG: call helpers.show.vector.keep_as_svg"
        if (svg := output.get("data", {}).get("image/svg+xml")) and (fault := svg_fault(svg)):
            yield "svg", fault
    if any(_BAR.search(text) for text in output_texts(cell)):
        yield "progress", "stores a progress bar"
    if any(mime.startswith("image/") for o in cell.outputs for mime in o.get("data", {})) and not alt_text(cell):
        yield "alt", 'a figure without alternative text: cell metadata {"mystnb": {"image": {"alt": "..."}}}'
    if match := _PIP.search(cell.source):
        yield "pip", f"'{match[0]}' installs without asking: put it inside the guard that looks first"


def _texts(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    host = socket.gethostname()
    for text in [cell.source, *(output_texts(cell) if cell.cell_type == "code" else ())]:
        if match := PRIVATE.search(text):
            yield "private-path", f"a path of one machine: '{match[0]}'"
        if match := HOST.search(text):
            yield "host", f"an address of one machine or mirror: '{match[0]}'"
        if len(host) > 5 and re.search(rf"(?<![\w-]){re.escape(host)}(?![\w-])", text):
            yield "host", f"the name of this machine: '{host}'"


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
    size = sum(len(json.dumps(c.outputs, ensure_ascii=False).encode()) for c in code_cells(notebook))
    if size > SIZE_LIMIT:
        yield "", "size", f"outputs of {size / 1000:.0f} kB, allowed are {SIZE_LIMIT / 1000:.0f} kB: draw or show less"
    run = [cell for cell in code_cells(notebook) if cell.source.strip()]
    wrong = next(((number, cell) for number, cell in enumerate(run, 1) if cell.execution_count != number), None)
    if wrong:
        number, cell = wrong
        yield cell.id, "count", f"execution count {cell.execution_count}, expected {number}: record the lesson"
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


def _address(notebook: NotebookNode, address: str) -> Iterator[tuple[str, str, str]]:
    for cell in code_cells(notebook):
        for url in {*HOME.findall(cell.source)} - {address}:
            yield cell.id, "address", f"installs from {url}, pyproject.toml says {address}: run notebooks.kit sync"


def locked_versions(root: Path) -> dict[str, str]:
    """Return the version of each package in constraints.txt, by its name in lower case; nothing without the file."""
    lock = root / "constraints.txt"
    text = lock.read_text(encoding="utf-8") if lock.exists() else ""
    pins = re.findall(r"^([\w.-]+)==([^\s;#+]+)", text, re.M)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins}


def provenance_problems(books: dict[Path, NotebookNode], root: Path) -> Iterator[Problem]:
    """Yield where recorded versions contradict constraints.txt, or those of another lesson."""
    locked = locked_versions(root)
    known: dict[str, str] = {}
    for path, book in books.items():
        record = provenance(code_cells(book)[-1]) if code_cells(book) else None
        file, cell = relative(root, path), code_cells(book)[-1].id if code_cells(book) else ""
        for name, version in ((record or {}).get("packages") or {}).items():
            pin = locked.get(re.sub(r"[-_.]+", "-", name).lower(), known.setdefault(name, version))
            if str(version).split("+")[0] != pin:
                message = f"recorded with {name} {version}, constraints.txt or another lesson has {pin}: record again"
                yield Problem(file, cell, "provenance", message)


def notebook_problems(notebook: NotebookNode, file: str, root: Path) -> Iterator[Problem]:
    """Yield the content that a committed notebook must not hold; unrecorded code only where it has its own record."""
    name, language = Path(file).stem, Path(file).parent.name
    recorded = language in editions(root, name)
    spared = listed(root, name, "chinese" if language == "zh" and recorded else "cells")
    faults = [*_metadata(notebook, spared), *_book(notebook), *_provenance(notebook)]
    if recorded:
        faults += [*_current(notebook), *_address(notebook, "@".join(home(root)))]
    for cell in notebook.cells:
        looks = (_texts, _code if cell.cell_type == "code" else _markdown)
        faults += dict.fromkeys((cell.id, *fault) for look in looks for fault in look(cell))
    yield from (Problem(file, cell_id, rule, message) for cell_id, rule, message in faults)
