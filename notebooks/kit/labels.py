"""The words in figures and in the heads of tables, which notebooks record in English, and their Chinese.

The Chinese site shows the labels themselves in Chinese; a Chinese notebook has a folded list of them below its title,
which `sync` writes from docs/labels.yml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from html import escape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from .cells import code_cells
from .companions import PARAMETERS, read_companion
from .drawings import parts, svg_fault
from .listed import read_yaml
from .notebooks import Problem, lesson_names, lesson_path, read
from .tables import parse, text_of

NAMES = re.compile(r'\n*<details class="names">.*?</details>', re.S)
NUMBER = re.compile(r"[-−]?[\d,]*\.?\d+(?:[%k])?")


def labels(root: Path) -> Any:
    """What docs/labels.yml of a checkout says: Chinese for labels, patterns of names that stay."""
    path = root / "docs" / "labels.yml"
    return read_yaml(path) if path.exists() else {"labels": {}, "names": []}


def is_name(label: str, root: Path) -> bool:
    """Whether a label is a name or a number, which no language translates."""
    return bool(NUMBER.fullmatch(label)) or any(re.fullmatch(pattern, label) for pattern in labels(root)["names"])


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
    """Yield the labels that lessons and their companions recorded: where each stands, and its words."""
    for name in lessons:
        companion = [read_companion(root, name)] if name in PARAMETERS else []
        for book in (read(lesson_path(root, "zh", name), root), *companion):
            yield from ((f"{name} [{cell}]", label) for cell, label in labels_of(book))


def missing_labels(root: Path) -> list[str]:
    """Return a line for each label of the lessons that docs/labels.yml neither translates nor takes for a name."""
    known = labels(root)["labels"]
    lacking = {
        label: place
        for place, label in printed_labels(root, lesson_names(root))
        if label not in known and not is_name(label, root)
    }
    return [f"docs/labels.yml has no Chinese for '{label}', a label of {place}" for label, place in lacking.items()]


def without_names(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without its list of names."""
    notebook = deepcopy(notebook)
    for cell in notebook.cells:
        cell.source = NAMES.sub("", cell.source)
    return notebook


def with_names(notebook: NotebookNode, root: Path) -> NotebookNode:
    """Return a copy of a Chinese notebook with the list of the English names in its outputs, below its title."""
    notebook, known = without_names(notebook), labels(root)["labels"]
    names = dict.fromkeys(label for _, label in labels_of(notebook) if label in known)
    if names:
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(str(known[name]))}</td></tr>\n" for name in names)
        table = f"<summary>输出里的英文名称</summary>\n<table>\n{rows}</table>"
        notebook.cells[0].source += f'\n\n<details class="names">{table}\n</details>'
    return notebook


def names_problems(notebook: NotebookNode, file: str, root: Path) -> Iterator[Problem]:
    """Yield it if the list of names of a Chinese notebook is not that of its outputs."""
    if with_names(notebook, root) != notebook:
        yield Problem(
            file, notebook.cells[0].id, "names", "not those of the outputs: run `python -m notebooks.kit sync`"
        )
