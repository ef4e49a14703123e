"""The words in figures, in tables, before printed values and in comments, English in notebooks, and their Chinese.

The Chinese site shows the Chinese; a Chinese notebook has a folded list of all but comments below its title, which
`sync` writes from docs/labels.yml.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator, Sequence
from copy import deepcopy
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from .cells import code_cells
from .companions import PARAMETERS, read_companion
from .drawings import parts, svg_fault
from .listed import read_yaml
from .notebooks import lesson_names, lesson_path, read
from .tables import parse, text_of

NAMES = re.compile(r'\n*<details class="names">.*?</details>', re.S)
NUMBER = re.compile(r"[-−]?[\d,]*\.?\d+(?:[%k])?")
PRINTED = re.compile(r"(?!def |class )([A-Za-z\d][^=\n]{0,90}?)(?: = |: )")  # the name before a printed value
SOME = re.compile(r"(?<![A-Za-z@\d.])\d+(?:[.,]\d+)*")  # a number that a text of labels.yml writes as #


def labels(root: Path) -> Any:
    """The content of docs/labels.yml: Chinese for labels, printed names, values and comments; names that stay."""
    path = root / "docs" / "labels.yml"
    known = read_yaml(path) if path.exists() else {}
    for table in ("labels", "printed", "values", "comments"):
        known.setdefault(table, {})
    known.setdefault("names", [])
    return known


def is_name(label: str, root: Path) -> bool:
    """Whether a label is a name or a number, which no language translates."""
    return bool(NUMBER.fullmatch(label)) or any(re.fullmatch(pattern, label) for pattern in labels(root)["names"])


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


def comments(source: str) -> Iterator[tuple[tokenize.TokenInfo, str]]:
    """Yield the comments and docstrings of Python code: the token, and its words."""
    before = tokenize.ENCODING
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token, token.string[1:].strip()
        elif token.type == tokenize.STRING and before == tokenize.INDENT:
            yield token, token.string[3:-3]
        before = token.type


def comments_of(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield the comments and docstrings in the cells of a notebook: the id of the cell, and the words."""
    for cell in code_cells(notebook):
        yield from ((cell.id, words) for _, words in comments(cell.source))


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


def books(root: Path, lessons: Sequence[str]) -> Iterator[tuple[str, NotebookNode]]:
    """Yield the Chinese notebooks of lessons and their companions, with their names."""
    for name in lessons:
        yield name, read(lesson_path(root, "zh", name), root)
        if name in PARAMETERS:
            yield name, read_companion(root, name)


def printed_labels(root: Path, lessons: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the labels that lessons and their companions recorded: where each stands, and its words."""
    for name, book in books(root, lessons):
        yield from ((f"{name} [{cell}]", label) for cell, label in labels_of(book))


def missing_labels(root: Path) -> list[str]:
    """Return a line for each label, printed name or comment that docs/labels.yml does not know."""
    known = labels(root)
    lacking = {
        label: f"a label of {place}"
        for place, label in printed_labels(root, lesson_names(root))
        if label not in known["labels"] and not is_name(label, root)
    }
    for lesson, book in books(root, lesson_names(root)):
        for cell, name in names_of(book):
            if not form(name, known["printed"]) and not is_name(name, root):
                lacking[name] = f"which {lesson} [{cell}] prints"
    for lesson in lesson_names(root):
        for cell, words in comments_of(read(lesson_path(root, "zh", lesson), root)):
            if words not in known["comments"]:
                lacking[words] = f"a comment of {lesson} [{cell}]"
    return [f"docs/labels.yml has no Chinese for '{label}', {place}" for label, place in lacking.items()]


def without_names(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without its list of names."""
    notebook = deepcopy(notebook)
    for cell in notebook.cells:
        cell.source = NAMES.sub("", cell.source)
    return notebook


def with_names(notebook: NotebookNode, root: Path) -> NotebookNode:
    """Return a copy of a Chinese notebook with the list of the English names in its outputs, below its title."""
    notebook, known = without_names(notebook), labels(root)
    names = {label: str(known["labels"][label]) for _, label in labels_of(notebook) if label in known["labels"]}
    for table, texts in (("values", values_of(notebook, known["values"])), ("printed", names_of(notebook))):
        forms = dict.fromkeys(form(text, known[table]) for _, text in texts)
        for name in filter(None, forms):
            names.setdefault(name.replace("#", "…"), str(known[table][name]).replace("#", "…"))
    if names:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(name_zh)}</td></tr>\n" for name, name_zh in names.items()
        )
        table = f"<summary>输出里的英文名称</summary>\n<table>\n{rows}</table>"
        notebook.cells[0].source += f'\n\n<details class="names">{table}\n</details>'
    return notebook
