"""Record a lesson: execute its English notebook, carry code and outputs into Chinese, write only changed files.

A Chinese lesson on Chinese data (docs/lessons.yml, `chinese`) is executed and recorded likewise, by itself.

Every machine must give the same record, so a new one is tried on moved vectors before it is stored; `matrix` tries all
conditions (conditions.py).
"""

from copy import deepcopy
from pathlib import Path

from nbformat import NotebookNode

from helpers._io import write_text

from .cells import HOME, code_cells, code_hashes, output_hashes
from .compare import compare
from .conditions import RECORDING, differences, temporary_cache
from .execute import execute
from .hygiene import CELL_KEYS
from .listed import editions, home
from .notebooks import LANGUAGES, NotebookError, dumps, lesson_path, read, relative
from .translation import carry


def stamp(notebook: NotebookNode) -> NotebookNode:
    """Return notebook with the metadata that every lesson has and nothing volatile.

    That is hashes of the code run and of its outputs, and where slides begin: at a heading, and below it at each
    further text.
    """
    notebook = deepcopy(notebook)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "recorded": code_hashes(notebook),
        "outputs": output_hashes(notebook),
    }
    for cell in notebook.cells:
        for key in cell.metadata.keys() - CELL_KEYS:  # what Jupyter, Colab or papermill left
            cell.metadata.pop(key)
        if cell.cell_type == "markdown":
            heading = cell.source.startswith(("# ", "## "))
            cell.metadata["slideshow"] = {"slide_type": "slide" if heading else "subslide"}
    return notebook


def record(root: Path, name: str, language: str = "en") -> list[str]:
    """Record one edition of a lesson and return its differences from before; the English one is carried into Chinese.

    Nothing is written when execution fails, when the Chinese twin is missing, when code was edited meanwhile, or when a
    changed output is not the same on moved vectors: each raises NotebookError.
    """
    paths = {edition: lesson_path(root, edition, name) for edition in LANGUAGES}
    missing = [relative(root, path) for path in paths.values() if not path.exists()]
    if missing:
        raise NotebookError(f"{missing[0]} does not exist: a lesson has two languages (`sync` makes the Chinese one)")
    path, label = paths[language], relative(root, paths[language])
    old = read(path, root)
    fresh = execute(old, label, root=root)
    changed = list(map(str, compare(old, fresh)))
    counts = [[cell.execution_count for cell in code_cells(book)] for book in (old, fresh)]
    if not changed and (old.metadata.get("recorded") != code_hashes(fresh) or counts[0] != counts[1]):
        changed = ["same outputs; new code, versions or data"]
    for condition in RECORDING if changed else ():
        with temporary_cache(root, condition.seed) as cache:
            unlike = differences(fresh, label, condition, cache, root=root)
        if unlike:
            raise NotebookError(
                f"{label} is not recorded, because another machine would give other outputs ({condition.name}). Show "
                "fewer digits, or keep thresholds and ties away from the data:\n" + "\n".join(map(str, unlike))
            )
    books = {edition: read(paths[edition], root) for edition in LANGUAGES}  # their texts may be newer by now
    if code_hashes(books[language]) != code_hashes(old):
        raise NotebookError(f"{label} was edited while it ran; nothing is written: record it again")
    for cell, ran in zip(code_cells(books[language]), code_cells(fresh if changed else old), strict=True):
        cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
    books[language] = stamp(books[language])
    books["zh"] = carry(books["en"], books["zh"], "zh" in editions(root, name))
    for edition, book in books.items():
        write_text(paths[edition], dumps(book))
    return changed


def sync(root: Path, name: str) -> list[str]:
    """Bring the Chinese notebook to the cells and program of the English one without executing anything.

    A Chinese notebook without a record of its own gets the English outputs.

    Lets both install from where pyproject.toml says. Makes the Chinese notebook if there is none, writes both in the
    recorder's layout and returns the files changed.
    """
    paths = [lesson_path(root, language, name) for language in LANGUAGES]
    english = read(paths[0], root)
    chinese = read(paths[1], root) if paths[1].exists() else None
    for cell in [cell for book in (english, chinese) if book for cell in code_cells(book)]:
        cell.source = HOME.sub("@".join(home(root)), cell.source)
    texts = {paths[0]: dumps(english), paths[1]: dumps(carry(english, chinese, "zh" in editions(root, name)))}
    changed = [p for p, text in texts.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    for path in changed:
        write_text(path, texts[path])
    return [relative(root, path) for path in changed]
