"""All static checks of a checkout: no notebook is executed."""

from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from . import figures, hygiene, translation
from .cells import alt_text
from .labels import missing_labels
from .listed import editions
from .notebooks import LANGUAGES, ROOT, NotebookError, Problem, dumps, lesson_names, lesson_path, read, relative


def _lesson(root: Path, name: str, books: dict[Path, NotebookNode]) -> Iterator[Problem]:
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
        if path.read_text(encoding="utf-8") != dumps(books[path]):
            yield Problem(file, "", "format", "not in the recorder's JSON layout: run `python -m notebooks.kit sync`")
        yield from hygiene.notebook_problems(books[path], file, root)
    if all(path in books for path in paths.values()):
        yield from translation.notebook_problems(books[paths["en"]], books[paths["zh"]], name, root)


def check(root: Path = ROOT, lessons: list[str] | None = None, *, numbers: bool = True) -> list[Problem]:
    """Return every problem of the lessons, and (unless lessons are named) of the README files and docs pages.

    Those with the rule HINT are for a person to read again, and may be none. numbers: those of numbers and claims too,
    which take half of the time.
    """
    root = root.resolve()
    books: dict[Path, NotebookNode] = {}
    problems = [problem for name in lesson_names(root, lessons) for problem in _lesson(root, name, books)]
    pairs = [] if lessons else translation.page_pairs(root)
    problems += [problem for pair in pairs for problem in translation.page_problems(*pair, root)]
    if numbers:
        known = {language: figures.Figures(root, books, language) for language in LANGUAGES}
        for path, book in books.items():
            own = known[path.parent.name if path.parent.name in editions(root, path.stem) else "en"]
            for cell in book.cells if lesson_path(root, own.language, path.stem) in books else ():
                text = cell.source if cell.cell_type == "markdown" else alt_text(cell)
                problems += figures.check_text(text, relative(root, path), cell.id, own, path.stem)
        for page, language in [item for pair in pairs for item in zip(pair, LANGUAGES, strict=True)]:
            text = page.read_text(encoding="utf-8") if page.exists() else ""
            problems += figures.check_text(text, relative(root, page), "", known[language], "")
    if numbers and not lessons and len(books) == len(LANGUAGES) * len(lesson_names(root)):
        problems += [Problem("docs/labels.yml", "", "labels", line) for line in missing_labels(root)]
    return sorted(dict.fromkeys(problems))
