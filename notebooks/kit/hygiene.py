"""Check the content of a committed notebook: clean outputs, and nothing private or of one machine alone."""

import re
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from .cells import alt_text, by_id, code_cells, code_hashes, output_hashes, output_texts, tags
from .compare import provenance
from .drawings import svg_fault
from .listed import FILE, editions, listed
from .notebooks import Problem

TAGS = {"parameters", "volatile", "provenance", "hide-input", "hide-output", "hide-table"}
CELL_KEYS = {"tags": TAGS, "mystnb": {"image"}, "verify": {"atol", "rtol"}, "translation": {"of"},
             "slideshow": {"slide_type"}}  # fmt: skip
BOOK_KEYS = {"kernelspec", "language_info", "recorded", "outputs"}

_FOLDERS = "home|Users|root|tmp|work|private|mnt|opt|srv|var/folders"
PRIVATE = re.compile(
    rf"(?<![\w.~:/])/(?:{_FOLDERS})/[\w.][^\s'\"<>]*|\b[A-Za-z]:\\+Users\\+\w+|--(?:extra-)?index-url\s+\S+"
    r"|(?<![\w.])(?:localhost:\d+|127\.0\.0\.1|10(?:\.\d{1,3}){3}|(?:192\.168|172\.16)(?:\.\d{1,3}){2})(?![\w.])"
)


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
        data = output.get("data", {})
        if output.output_type == "error":
            yield "error", f"stores the error {output.ename}: {output.evalue}"
        elif output.get("name") == "stderr":
            yield "stderr", f"stores stderr: '{output.text.strip()[:60]}'"
        if any("widget" in mime for mime in data):
            yield "progress", "stores a widget, which no page can show"
        formats = {mime for mime in data if mime.startswith("image/")}
        if formats and formats != {"image/png", "image/svg+xml"}:
            named = ", ".join(sorted(formats))
            yield "formats", f"a figure as {named} only, not as PNG and SVG: call helpers.show.vector.keep_as_svg"
        if formats and not alt_text(cell):
            yield "alt", 'a figure without alternative text: cell metadata {"mystnb": {"image": {"alt": "..."}}}'
        if fault := svg_fault(data["image/svg+xml"]) if "image/svg+xml" in data else "":
            yield "svg", fault


def notebook_problems(notebook: NotebookNode, file: str, root: Path) -> Iterator[Problem]:
    """Yield the content that a committed notebook must not hold; unrecorded code only where it has its own record."""
    name, language = Path(file).stem, Path(file).parent.name
    recorded = language in editions(root, name)
    spared = listed(root, name, "chinese" if language == "zh" and recorded else "cells")
    faults, last = [*_metadata(notebook, spared)], code_cells(notebook)[-1:]
    if [cell for cell in notebook.cells if "provenance" in tags(cell)] != last:
        faults.append(("", "provenance", "the last code cell, and no other, is tagged 'provenance'"))
    elif not {"date", "packages"} <= (provenance(last[0]) or {}).keys():
        faults.append((last[0].id, "provenance", "does not print one JSON object with 'packages' and 'date'"))
    gone = [cell_id for cell_id in spared if cell_id not in by_id(notebook)]
    faults += [("", "listed", f"{FILE} lists '{cell_id}', which is no cell: delete the entry") for cell_id in gone]
    extra = [*(set(notebook.metadata) - BOOK_KEYS), *(set(notebook.metadata.get("language_info", {})) - {"name"})]
    if extra:
        faults.append(("", "metadata", f"volatile metadata of the notebook ({', '.join(extra)}): record the lesson"))
    if recorded:
        message = "its code or output is not as it was recorded: `make record`"
        for part, hashes in (("recorded", code_hashes(notebook)), ("outputs", output_hashes(notebook))):
            stored = notebook.metadata.get(part, {})
            faults += [(cell, "not-recorded", message) for cell, digest in hashes.items() if stored.get(cell) != digest]
    for cell in notebook.cells:
        for text in [cell.source, *(output_texts(cell) if cell.cell_type == "code" else ())]:
            if match := PRIVATE.search(text):
                faults.append((cell.id, "private", f"a path or address of one machine or network: '{match[0]}'"))
        faults += [(cell.id, *fault) for fault in (_code(cell) if cell.cell_type == "code" else ())]
    yield from (Problem(file, *fault) for fault in dict.fromkeys(faults))
