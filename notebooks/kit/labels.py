"""The English words in figures and tables, and the Chinese that the Chinese site shows."""

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


def labels(root: Path) -> Any:
    """The content of docs/labels.yml: Chinese for labels; names that stay."""
    path = root / "docs" / "labels.yml"
    known = read_yaml(path) if path.exists() else {}
    known.setdefault("labels", {})
    known.setdefault("names", [])
    return known


def is_name(label: str, root: Path) -> bool:
    """Whether a label is Chinese, or a name or a number, which no language translates."""
    names = labels(root)["names"]
    return bool(has_han(label) or NUMBER.fullmatch(label)) or any(re.fullmatch(pattern, label) for pattern in names)


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
    """Return a line for each label, English in a Chinese lesson, that docs/labels.yml does not know."""
    known = labels(root)
    lacking = {
        label: f"a label of {place}"
        for place, label in printed_labels(root, lesson_names(root))
        if label not in known["labels"] and not is_name(label, root)
    }
    return [f"docs/labels.yml has no Chinese for '{label}', {place}" for label, place in lacking.items()]
