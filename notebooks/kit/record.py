"""Record a lesson: execute the English notebook, carry code and outputs into Chinese, write only changed files.

Every machine must give the same record, so a new one is tried on moved vectors before it is stored; `matrix` tries all
conditions (conditions.py).
"""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode

from .cells import HOME, code_cells, code_hashes, output_hashes
from .companions import (
    PARAMETERS,
    companion_path,
    companion_problems,
    dumps_companion,
    lesson_of_companion,
    read_companion,
)
from .compare import compare
from .conditions import AS_RECORDED, differences, recording_conditions, temporary_cache, write_matrix
from .execute import CELL_LIMIT, Parameters, execute
from .labels import with_names
from .listed import home
from .notebooks import LANGUAGES, NotebookError, dumps, lesson_path, loads, read, relative, write_files
from .translation import carry


def is_unchanged(recorded: NotebookNode, fresh: NotebookNode) -> bool:
    """Tell whether recording again would change nothing that matters: same code, versions, data and results."""
    return (
        recorded.metadata.get("recorded") == code_hashes(fresh)
        and [c.execution_count for c in code_cells(recorded)] == [c.execution_count for c in code_cells(fresh)]
        and not compare(recorded, fresh)
    )


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
        for key in ("execution", "papermill", "collapsed", "scrolled", "ExecuteTime", "colab", "vscode", "trusted"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "markdown":
            heading = cell.source.startswith(("# ", "## "))
            cell.metadata["slideshow"] = {"slide_type": "slide" if heading else "subslide"}
    return notebook


def _require_stable(
    fresh: NotebookNode, label: str, root: Path, limit: int, parameters: Parameters | None = None
) -> None:
    """Raise NotebookError naming every output that another condition changes."""
    unstable = []
    for name, condition in recording_conditions(fresh).items():
        own = replace(condition, parameters=(parameters or {}) | condition.parameters)
        with temporary_cache(root, condition.seed) as cache:
            unlike = differences(fresh, label, own, cache, root=root, limit=4 * limit)
        unstable += [f"{name}: {difference}" for difference in unlike]
    if unstable:
        listed = "\n".join(unstable)
        raise NotebookError(
            f"{label} is not recorded, because another machine would give other outputs. Show fewer digits, or keep "
            f"thresholds and ties away from the data:\n{listed}"
        )


def record(root: Path, name: str, *, limit: int = CELL_LIMIT) -> list[str]:
    """Record one lesson in both languages and return its differences from before.

    Nothing is written when execution fails, when the Chinese twin is missing, when a file was edited meanwhile, or when
    a changed output is not the same under every recording condition: each raises NotebookError.
    """
    paths = [lesson_path(root, language, name) for language in LANGUAGES]
    missing = [relative(root, p) for p in paths if not p.exists()]
    if missing:
        raise NotebookError(f"{missing[0]} does not exist: a lesson has two languages (`sync` makes the Chinese one)")
    before = {path: path.read_text(encoding="utf-8") for path in paths}
    english, chinese = (loads(text, relative(root, path)) for path, text in before.items())
    fresh = execute(english, relative(root, paths[0]), root=root, limit=limit)
    changed: list[str] = []
    if not is_unchanged(english, fresh):
        changed = [str(difference) for difference in compare(english, fresh)] or [
            "same outputs; new code, versions or data"
        ]
        _require_stable(fresh, relative(root, paths[0]), root, limit)
        write_matrix(root, {label: {name: AS_RECORDED} for label in recording_conditions(fresh)}, anew=name)
    result = stamp(fresh if changed else english)
    for path, text in before.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            raise NotebookError(f"{relative(root, path)} was edited while it ran; nothing is written: record it again")
    write_files({paths[0]: dumps(result), paths[1]: dumps(with_names(carry(result, chinese), root))})
    return changed


def record_companion(root: Path, name: str, *, limit: int = CELL_LIMIT) -> list[str]:
    """Record the companion of a lesson and return its differences from before; raises NotebookError as `record`."""
    lesson, path, parameters = lesson_of_companion(root, name), companion_path(root, name), PARAMETERS[name]
    fresh = execute(lesson, relative(root, path), root=root, limit=limit, parameters=parameters)
    known = not companion_problems(root, name, lesson)
    changed = list(map(str, compare(read_companion(root, name), fresh))) if known else ["a new record"]
    if changed:
        _require_stable(fresh, relative(root, path), root, limit, parameters)
        path.parent.mkdir(exist_ok=True)
        write_files({path: dumps_companion(fresh, parameters)})
    return changed


def sync(root: Path, name: str) -> list[str]:
    """Bring the Chinese notebook to the cells, code and outputs of the English one without executing anything.

    Lets both install from where pyproject.toml says. Makes the Chinese notebook if there is none, writes both in the
    recorder's layout and returns the files changed.
    """
    paths = [lesson_path(root, language, name) for language in LANGUAGES]
    english = read(paths[0], root)
    for cell in code_cells(english):
        cell.source = HOME.sub("@".join(home(root)), cell.source)
    chinese = read(paths[1], root) if paths[1].exists() else None
    texts = {paths[0]: dumps(english), paths[1]: dumps(with_names(carry(english, chinese), root))}
    changed = {p: t for p, t in texts.items() if not p.exists() or p.read_text(encoding="utf-8") != t}
    write_files(changed)
    return [relative(root, path) for path in changed]
