"""The English words in figures and tables, and the Chinese that the Chinese site shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from .cells import code_cells
from .drawings import WORDS
from .listed import read_yaml
from .markdown import has_han
from .notebooks import lesson_names, lesson_path, read
from .tables import parse, text_of

NUMBER = re.compile(r"[-−]?[\d,]*\.?\d+(?:[%k])?")


def labels(root: Path) -> Any:
    """The content of docs/labels.yml: Chinese for labels; names that stay."""
    path = root / "docs" / "labels.yml"
    return read_yaml(path) if path.exists() else {"labels": {}, "names": []}


def printed_labels(root: Path, lessons: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the labels of tables and figures in the outputs of Chinese lessons: where each stands, and its words."""
    for name in lessons:
        for cell in code_cells(read(lesson_path(root, "zh", name), root)):
            for data in [output.get("data", {}) for output in cell.outputs]:
                words = [text_of(head) for head in parse(data.get("text/html", "")).find_all("th")]
                words += [unescape(word).strip() for word in WORDS.findall(data.get("image/svg+xml", ""))]
                yield from ((f"{name} [{cell.id}]", word) for word in words if word)


def missing_labels(root: Path) -> list[str]:
    """Return a line for each label in a Chinese lesson that docs/labels.yml should know and does not.

    What is Chinese, a number, or a name that no language translates, it need not know.
    """
    known = labels(root)
    named = [NUMBER, *map(re.compile, known["names"])]
    printed = printed_labels(root, lesson_names(root))
    lacking = {label: place for place, label in printed if label not in known["labels"] and not has_han(label)}
    return [
        f"docs/labels.yml has no Chinese for '{label}', a label of {place}"
        for label, place in lacking.items()
        if not any(pattern.fullmatch(label) for pattern in named)
    ]
