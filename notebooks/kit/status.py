"""What a translator works from: a table of what is left, and both languages of a cell."""

from pathlib import Path

from .cells import alt_text, by_id
from .check import check
from .notebooks import LANGUAGES, NotebookError, Problem, lesson_names, lesson_path, read, relative
from .run import table
from .translation import page_pairs

WORK = ("missing", "unreadable", "extra", "unmarked", "stale", "untranslated")


def _work(root: Path, wanted: list[str] | None) -> list[Problem]:
    return [problem for problem in check(root, wanted) if problem.rule in WORK]


def _cells(root: Path, name: str) -> int:
    try:
        book = read(lesson_path(root, "en", name), root)
    except NotebookError:
        return 0
    return sum(cell.cell_type == "markdown" or bool(alt_text(cell)) for cell in book.cells)


def status(root: Path, wanted: list[str] | None = None) -> str:
    """Return a table of every lesson and page, then one line for each cell or page that needs a translator."""
    texts = [(name, lesson_path(root, "zh", name), _cells(root, name)) for name in lesson_names(root, wanted)]
    texts += [] if wanted else [(relative(root, page), page, 1) for _, page in page_pairs(root)]
    work, rows = _work(root, wanted), []
    for label, path, cells in texts:
        rules = [p.rule for p in work if p.file == relative(root, path)]
        todo = {p.cell for p in work if p.file == relative(root, path) and p.rule != "extra"}
        current = 0 if "" in todo else cells - len(todo)
        rows.append((label, str(cells), str(current), *(str(rules.count(rule)) for rule in WORK)))
    text = table(("text", "cells", "current", *WORK), rows)
    cells_left = dict.fromkeys((p.file, p.cell) for p in work)
    left = [(*cell, ", ".join(p.rule for p in work if (p.file, p.cell) == cell)) for cell in cells_left]
    return f"{text}\n\n{table(('file', 'cell', 'state'), left) if left else 'nothing to translate'}"


def todo(root: Path, name: str) -> str:
    """Return, for each cell of a lesson that needs a translator, its state and its text in both languages."""
    problems = _work(root, [name])
    if any(not problem.cell for problem in problems):
        return str(problems[0])
    books = [by_id(read(lesson_path(root, language, name), root)) for language in LANGUAGES]
    parts = []
    for cell in dict.fromkeys(problem.cell for problem in problems):
        reasons = "; ".join(f"{p.rule}: {p.message}" for p in problems if p.cell == cell)
        texts = [book[cell].source if cell in book else "(no such cell)" for book in books]
        parts.append("\n\n".join([f"== {name} [{cell}] {reasons}", *texts]))
    return "\n\n".join(parts) or f"{name}: nothing to translate"
