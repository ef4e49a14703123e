"""The words in figures and in the heads of tables, which notebooks record in English, and their Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from docs.site.project import Edition, read_yaml
from notebooks.kit.cells import code_cells
from notebooks.kit.companions import PARAMETERS, read_companion
from notebooks.kit.drawings import parts
from notebooks.kit.notebooks import lesson_names
from notebooks.kit.tables import parse, text_of

NUMBER = re.compile(r"[-−]?[\d,]*\.?\d+(?:[%k])?")


def labels(root: Path) -> Any:
    """What docs/labels.yml of a checkout says: Chinese for labels, patterns of names that stay."""
    return read_yaml(root / "docs" / "labels.yml")


def is_name(label: str, root: Path) -> bool:
    """Whether a label is a name or a number, which no language translates."""
    return bool(NUMBER.fullmatch(label)) or any(re.fullmatch(pattern, label) for pattern in labels(root)["names"])


def translated(label: str, edition: Edition) -> str:
    """Return a label in the language of an edition; a label that docs/labels.yml does not have stays."""
    return str(labels(edition.root)["labels"].get(label, label)) if edition.language == "zh" else label


def printed_labels(root: Path, lessons: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the labels of the tables and figures that lessons recorded: where each stands, and its words."""
    edition = Edition(root, "zh")
    for name in lessons:
        companion = [read_companion(root, name)] if name in PARAMETERS else []
        for cell in [cell for book in (edition.lesson(name), *companion) for cell in code_cells(book)]:
            for output in cell.outputs:
                data, place = output.get("data", {}), f"{name} [{cell.id}]"
                heads = parse(data.get("text/html", "")).find_all("th")
                yield from ((place, text_of(head)) for head in heads if text_of(head))
                if svg := data.get("image/svg+xml"):
                    yield from ((place, part.text) for part in parts(svg) if part.text)


def missing_labels(root: Path) -> list[str]:
    """Return a line for each label of the lessons that docs/labels.yml neither translates nor takes for a name."""
    known = labels(root)["labels"]
    lacking = {
        label: place
        for place, label in printed_labels(root, lesson_names(root))
        if label not in known and not is_name(label, root)
    }
    return [f"docs/labels.yml has no Chinese for '{label}', a label of {place}" for label, place in lacking.items()]
