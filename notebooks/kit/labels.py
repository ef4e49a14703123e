"""The English words in figures, in tables and before printed values, and the Chinese that the Chinese site shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from .cells import code_cells
from .drawings import parts, svg_fault
from .listed import read_yaml
from .markdown import has_han
from .notebooks import lesson_names, lesson_path, read
from .tables import parse, text_of

NUMBER = re.compile(r"[-−]?[\d,]*\.?\d+(?:[%k])?")
PRINTED = re.compile(r"(?!def |class )([A-Za-z\d][^=\n]{0,90}?)(?: = |: )")  # the name before a printed value
SOME = re.compile(r"(?<![A-Za-z@\d.])\d+(?:[.,]\d+)*")  # a number that a text of labels.yml writes as #


def labels(root: Path) -> Any:
    """The content of docs/labels.yml: Chinese for labels, printed names and values; names that stay."""
    path = root / "docs" / "labels.yml"
    known = read_yaml(path) if path.exists() else {}
    for table in ("labels", "printed", "values"):
        known.setdefault(table, {})
    known.setdefault("names", [])
    return known


def is_name(label: str, root: Path) -> bool:
    """Whether a label is Chinese, or a name or a number, which no language translates."""
    names = labels(root)["names"]
    return bool(has_han(label) or NUMBER.fullmatch(label)) or any(re.fullmatch(pattern, label) for pattern in names)


def form(text: str, known: dict[str, str]) -> str:
    """Return how a table of labels.yml writes a text, with # for its numbers or as it is; "" if it has none."""
    return next((form for form in (text, SOME.sub("#", text)) if form in known), "")


def chinese(text: str, known: dict[str, str]) -> str:
    """Return the Chinese that a table of labels.yml has for a text, with its numbers; "" if it has none."""
    key = form(text, known)
    numbers = iter(SOME.findall(text) if key != text else ())
    return re.sub("#", lambda _: next(numbers), str(known[key])) if key else ""


def names_before(text: str) -> list[str]:
    """Return the names before the values that a text prints, one a line, each once."""
    return list(dict.fromkeys(match[1] for line in text.splitlines() if (match := PRINTED.match(line))))


def names_of(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield the names before the values that the cells of a notebook print: the id of the cell, and the name."""
    for cell in code_cells(notebook):
        for output in cell.outputs:
            yield from ((cell.id, name) for name in names_before(output.get("text", "")))


def values_of(notebook: NotebookNode, known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the values in a notebook's tables that labels.yml has: the id of the cell, and the words."""
    for cell in code_cells(notebook):
        for output in cell.outputs:
            tables = parse(output.get("data", {}).get("text/html", ""))
            yield from ((cell.id, text_of(value)) for value in tables.find_all("td") if form(text_of(value), known))


def labels_of(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield the labels of the tables and figures in a notebook's outputs: the id of the cell, and the words."""
    for cell in code_cells(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            heads = parse(data.get("text/html", "")).find_all("th")
            yield from ((cell.id, text_of(head)) for head in heads if text_of(head))
            svg = data.get("image/svg+xml")
            if svg and not svg_fault(svg):
                yield from ((cell.id, part.text) for part in parts(svg) if part.text)


def printed_labels(root: Path, lessons: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the labels in the outputs of Chinese lessons: where each stands, and its words."""
    for name in lessons:
        yield from ((f"{name} [{cell}]", label) for cell, label in labels_of(read(lesson_path(root, "zh", name), root)))


def missing_labels(root: Path) -> list[str]:
    """Return a line for each label or printed name, English in a Chinese lesson, that docs/labels.yml does not know."""
    known = labels(root)
    lacking = {
        label: f"a label of {place}"
        for place, label in printed_labels(root, lesson_names(root))
        if label not in known["labels"] and not is_name(label, root)
    }
    for lesson in lesson_names(root):
        for cell, name in names_of(read(lesson_path(root, "zh", lesson), root)):
            if not form(name, known["printed"]) and not is_name(name, root):
                lacking[name] = f"which {lesson} [{cell}] prints"
    return [f"docs/labels.yml has no Chinese for '{label}', {place}" for label, place in lacking.items()]
