"""All static checks of a checkout: no notebook is executed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from . import figures, hygiene, translation
from .notebooks import LANGUAGES, ROOT, Node, NotebookError, Problem, lesson_names, lesson_path, read, relative


def _lesson(root: Path, name: str, known: figures.Figures) -> Iterator[Problem]:
    """Yield what is wrong with one lesson in both languages and between them."""
    books = {}
    for language in LANGUAGES:
        path = lesson_path(root, language, name)
        file = relative(root, path)
        if not path.exists():
            yield Problem(file, "", "missing", "does not exist, its twin does: a lesson has two languages")
            continue
        try:
            books[language] = read(path, root)
        except NotebookError as error:
            yield Problem(file, "", "unreadable", str(error))
            continue
        yield from hygiene.format_problem(path.read_text(encoding="utf-8"), books[language], file)
        yield from hygiene.notebook_problems(books[language], file, language)
        yield from figures.notebook_problems(books[language], file, known)
    if len(books) == len(LANGUAGES):
        yield from translation.notebook_problems(books["en"], books["zh"], name, root)
        for cell in books["en"].cells:
            if cell.cell_type == "markdown":
                file = relative(root, lesson_path(root, "en", name))
                found = [*translation.link_gaps(cell.source, "en")]
                found += [("bold", f"'{p}' is not bold in CommonMark") for p in translation.bold_traps(cell.source)]
                yield from (Problem(file, cell.id, rule, message) for rule, message in found)


def _pages(root: Path, known: figures.Figures) -> Iterator[Problem]:
    """Yield what is wrong with both README files and the pages of docs."""
    pairs = translation.page_pairs(root)
    for english, chinese in pairs:
        yield from translation.page_problems(english, chinese, root)
    others = [p for p in sorted((root / "docs").glob("*.md")) if p.name.lower() != "changelog.md"]
    for path in [p for pair in pairs for p in pair if p.exists()] + others:
        yield from figures.check_text(path.read_text(encoding="utf-8"), relative(root, path), "", known)


def _readable(root: Path, names: list[str]) -> dict[Path, Node]:
    """Return the English notebooks that can be read, by their path."""
    books = {}
    for name in names:
        with contextlib.suppress(NotebookError):
            books[lesson_path(root, "en", name).resolve()] = read(lesson_path(root, "en", name), root)
    return books


def check(root: Path = ROOT, lessons: list[str] | None = None) -> list[Problem]:
    """Return every problem of the lessons, and (unless lessons are named) of the README files and docs pages."""
    root = root.resolve()
    known = figures.Figures(root)
    names = lesson_names(root, lessons)
    found = [problem for name in names for problem in _lesson(root, name, known)]
    found += hygiene.ruff_problems(_readable(root, names), root)
    if not lessons:
        found += _pages(root, known)
    return sorted(dict.fromkeys(found))
