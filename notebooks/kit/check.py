"""All static checks of a checkout: no notebook is executed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from . import figures, hygiene, translation, twins
from .listed import idle, unknown_texts
from .notebooks import LANGUAGES, ROOT, NotebookError, Problem, lesson_names, lesson_path, read, relative


def _lesson(root: Path, name: str, known: figures.Texts | None, books: dict[Path, NotebookNode]) -> Iterator[Problem]:
    """Yield what is wrong with one lesson in both languages and between them; puts what can be read into books."""
    paths = {language: lesson_path(root, language, name) for language in LANGUAGES}
    for path in paths.values():
        file = relative(root, path)
        if not path.exists():
            yield Problem(file, "", "missing", "does not exist, its twin does: run `python -m notebooks.kit sync`")
            continue
        try:
            books[path] = read(path, root)
        except NotebookError as error:
            yield Problem(file, "", "unreadable", str(error))
            continue
        yield from hygiene.format_problem(path.read_text(encoding="utf-8"), books[path], file)
        yield from hygiene.notebook_problems(books[path], file, root)
        if known is not None and paths["en"] in books:
            yield from figures.notebook_problems(books[path], file, known)
        yield from twins.notebook_problems(books[path], file, root)
    if paths["en"] in books:
        yield from idle(root, name, (cell.id for cell in books[paths["en"]].cells))
    if all(path in books for path in paths.values()):
        yield from translation.notebook_problems(books[paths["en"]], books[paths["zh"]], name, root)


def _changed_benchmarks(root: Path) -> Iterator[Problem]:
    """Yield a problem for each benchmark file that has another digest than docs/benchmarks/SHA256SUMS."""
    sums = root / "docs" / "benchmarks" / "SHA256SUMS"
    lines = sums.read_text(encoding="utf-8").splitlines() if sums.exists() else []
    known = {name: digest for digest, name in map(str.split, lines)}
    for path in sorted(sums.parent.glob("*.json")):
        if known.get(path.name) != hashlib.sha256(path.read_bytes()).hexdigest():
            message = "was edited after it was measured: restore it, or run `sha256sum *.json > SHA256SUMS` beside it"
            yield Problem(relative(root, path), "", "benchmark", message)


def _pages(root: Path, known: figures.Texts | None) -> Iterator[Problem]:
    """Yield what is wrong with both README files and the pages of docs."""
    pairs = translation.page_pairs(root)
    for english, chinese in pairs:
        yield from translation.page_problems(english, chinese, root)
        if chinese.exists():
            yield from twins.text_problems(chinese.read_text(encoding="utf-8"), relative(root, chinese), "", root)
    sources = [relative(root, page) for page, _ in pairs]
    for path in [p for pair in pairs for p in pair if p.exists()]:
        file = relative(root, path)
        if known is not None:
            listings = figures.listings(root, file, "page") if file in sources else None
            yield from figures.check_text(path.read_text(encoding="utf-8"), file, "", known, listings=listings)
        yield from idle(root, file, ["page"])
    yield from _changed_benchmarks(root)
    yield from unknown_texts(root, [*sources, *lesson_names(root)])


def check(
    root: Path = ROOT, lessons: list[str] | None = None, *, lint: bool = True, numbers: bool = True
) -> list[Problem]:
    """Return every problem of the lessons, and (unless lessons are named) of the README files and docs pages.

    lint is whether ruff looks at the code, which takes as long as all the rest; numbers is whether those of the prose
    are compared with the recorded ones.
    """
    root = root.resolve()
    books: dict[Path, NotebookNode] = {}
    known = figures.Texts(figures.Figures(root, books)) if numbers else None
    problems = [problem for name in lesson_names(root, lessons) for problem in _lesson(root, name, known, books)]
    if lint:
        english = {path: book for path, book in books.items() if path.parent.name == "en"}
        problems += hygiene.ruff_problems(english, root)
    if not lessons:
        problems += _pages(root, known)
        problems += hygiene.provenance_problems(books, root)
    return sorted(dict.fromkeys(problems))
