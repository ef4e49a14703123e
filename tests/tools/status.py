"""What a translator works from: a table of what is left, and both languages of a cell side by side."""

from __future__ import annotations

import shutil
from itertools import zip_longest
from pathlib import Path

from .notebooks import (
    Node,
    NotebookError,
    Problem,
    alt_text,
    by_id,
    lesson_names,
    lesson_path,
    read,
    relative,
)
from .run import table, width
from .translation import notebook_problems, page_pairs, page_problems

WORK = ("missing", "extra", "unmarked", "foreign-mark", "stale", "untranslated")


def _problems(root: Path, name: str) -> list[Problem]:
    """Return what a translator has to do in one lesson; without a Chinese notebook, all of it."""
    english, path = read(lesson_path(root, "en", name), root), lesson_path(root, "zh", name)
    if not path.exists():
        return [Problem(relative(root, path), "", "missing", "no Chinese notebook: run `python -m tests.tools sync`")]
    return [p for p in notebook_problems(english, read(path, root), name, root) if p.rule in WORK]


def _has_words(cell: Node) -> bool:
    """Tell whether a cell has something to translate: prose, or the words for a figure."""
    return cell.cell_type == "markdown" or bool(alt_text(cell))


def _summary(name: str, cells: int, problems: list[Problem]) -> tuple[str, ...]:
    """Return one row: the text, its cells, how many are current, and how many are in each state."""
    todo = {p.cell for p in problems if p.rule != "extra"}
    current = 0 if "" in todo else cells - len(todo)
    return (name, str(cells), str(current), *(str(sum(p.rule == rule for p in problems)) for rule in WORK))


def status(root: Path, wanted: list[str] | None = None) -> str:
    """Return a table of every lesson and page, then one line for each cell or page that needs a translator."""
    rows, work = [], []
    for name in lesson_names(root, wanted):
        try:
            problems = _problems(root, name)
            cells = sum(_has_words(cell) for cell in read(lesson_path(root, "en", name), root).cells)
        except NotebookError as error:
            rows.append((name, str(error), *("" for _ in range(len(WORK) + 1))))
            continue
        rows.append(_summary(name, cells, problems))
        work += problems
    for pair in [] if wanted else page_pairs(root):
        problems = [p for p in page_problems(*pair, root) if p.rule in WORK]
        rows.append(_summary(relative(root, pair[1]), 1, problems))
        work += problems
    text = table(("text", "cells", "current", *WORK), rows)
    places = dict.fromkeys((p.file, p.cell) for p in work)
    left = [(*place, ", ".join(p.rule for p in work if (p.file, p.cell) == place)) for place in places]
    return f"{text}\n\n{table(('file', 'cell', 'state'), left) if left else 'nothing to translate'}"


def _wrapped(text: str, columns: int) -> list[str]:
    """Return text in lines of at most so many terminal columns, broken at blanks or between Chinese characters."""
    lines = []
    for line in text.split("\n"):
        current = ""
        for character in line:
            if width(current + character) > columns:
                cut = current.rfind(" ") + 1 if character != " " and width(character) == 1 else 0
                cut = cut or len(current)
                lines.append(current[:cut].rstrip())
                current = current[cut:]
            current += character
        lines.append(current)
    return lines


def side_by_side(english: str, chinese: str) -> str:
    """Return two texts in two columns as wide as the terminal allows."""
    columns = (shutil.get_terminal_size((160, 24)).columns - 3) // 2
    pairs = zip_longest(_wrapped(english, columns), _wrapped(chinese, columns), fillvalue="")
    return "\n".join(f"{left}{' ' * (columns - width(left))} | {right}".rstrip() for left, right in pairs)


def todo(root: Path, name: str) -> str:
    """Return, for each cell of a lesson that needs a translator, its state and its text in both languages."""
    problems = _problems(root, name)
    if any(not problem.cell for problem in problems):
        return str(problems[0])
    books = [by_id(read(lesson_path(root, language, name), root)) for language in ("en", "zh")]
    parts = []
    for cell in dict.fromkeys(problem.cell for problem in problems):
        reasons = "; ".join(f"{p.rule}: {p.message}" for p in problems if p.cell == cell)
        texts = [book[cell].source if cell in book else "(no such cell)" for book in books]
        parts.append(f"== {name} [{cell}] {reasons}\n{side_by_side(*texts)}")
    return "\n\n".join(parts) or f"{name}: nothing to translate"
