"""Record a lesson: execute the English notebook, keep what did not change, carry code and outputs into Chinese."""

from __future__ import annotations

import re
from copy import deepcopy
from importlib import metadata
from pathlib import Path

from .compare import compare, provenance
from .execute import CELL_LIMIT, execute
from .notebooks import (
    ROOT,
    Node,
    NotebookError,
    alt_text,
    by_id,
    cell_hash,
    code_cells,
    dumps,
    lesson_path,
    loads,
    read,
    relative,
    tags,
    write_files,
)

PASSING = {"date", "device", "platform", "machine", "python", "threads"}  # of provenance: not worth a new record


def environment_gaps(root: Path = ROOT) -> list[str]:
    """Return one line for each installed package whose version is not the one in constraints.txt."""
    lock = root / "constraints.txt"
    if not lock.exists():
        return ["constraints.txt does not exist"]
    gaps = []
    for name, wanted in re.findall(r"^([\w.-]+)==([^\s;#]+)", lock.read_text(encoding="utf-8"), re.M):
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        if found.split("+")[0] != wanted.split("+")[0]:
            gaps.append(f"{name} {found}, constraints.txt has {wanted}")
    return gaps


def code_hashes(notebook: Node) -> dict[str, str]:
    """Return the hash of each code cell's source: what the recorded outputs belong to."""
    return {cell.id: cell_hash(cell.id, cell.source) for cell in code_cells(notebook)}


def _origin(notebook: Node) -> dict:
    """Return the recorded provenance without what may differ between two equal recordings."""
    cells = [cell for cell in code_cells(notebook) if "provenance" in tags(cell)]
    found = provenance(cells[-1]) if cells else None
    return {k: v for k, v in (found or {}).items() if k not in PASSING}


def is_unchanged(recorded: Node, fresh: Node) -> bool:
    """Tell whether recording again would change nothing that matters: same code, versions, data and results."""
    return (
        recorded.metadata.get("recorded") == code_hashes(fresh)
        and _origin(recorded) == _origin(fresh)
        and [c.execution_count for c in code_cells(recorded)] == [c.execution_count for c in code_cells(fresh)]
        and not compare(recorded, fresh)
    )


def stamp(notebook: Node) -> Node:
    """Return notebook with the metadata that every lesson has and nothing volatile.

    That is hashes of the code run, and where slides begin: at a heading, and below it at each further text.
    """
    notebook = deepcopy(notebook)
    notebook.metadata = Node(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        language_info={"name": "python"},
        recorded=code_hashes(notebook),
    )
    for cell in notebook.cells:
        for key in ("execution", "papermill", "collapsed", "scrolled", "ExecuteTime", "colab", "vscode", "trusted"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "markdown":
            heading = cell.source.startswith(("# ", "## "))
            cell.metadata["slideshow"] = {"slide_type": "slide" if heading else "subslide"}
    return notebook


def _with_alt(cell: Node, alt: str) -> Node:
    """Return a copy of a code cell with the alternative text of the other language's cell, if it has one."""
    cell = deepcopy(cell)
    if alt and alt_text(cell):
        cell.metadata["mystnb"]["image"]["alt"] = alt
    return cell


def carry(english: Node, chinese: Node | None) -> Node:
    """Return the Chinese notebook with the cells, order, code and outputs of the English one.

    Its markdown and the alternative texts of its figures stay. A cell not translated yet appears in English without
    a translation mark, and a Chinese markdown cell that English no longer has stays after the cell before it, so
    that no text is lost; the check names both.
    """
    old = by_id(chinese) if chinese else {}
    cells: list[Node] = []
    for cell in english.cells:
        mine = old.get(cell.id)
        if cell.cell_type == "code":
            cells.append(_with_alt(cell, alt_text(mine) if mine else ""))
        elif mine is not None and mine.cell_type == cell.cell_type:
            cells.append(deepcopy(mine))
            mark = {"translation": mine.metadata.translation} if "translation" in mine.metadata else {}
            cells[-1].metadata = Node({**deepcopy(cell.metadata), **mark})
        else:
            cells.append(deepcopy(cell))
    present = {cell.id for cell in cells}
    before = ""
    for cell in old.values():
        if cell.id not in present and cell.cell_type == "markdown":
            place = next((n for n, c in enumerate(cells, 1) if c.id == before), 0)
            cells.insert(place, deepcopy(cell))
        before = cell.id
    result = deepcopy(english)
    result.cells = cells
    return result


def _unchanged_files(before: dict[Path, str], root: Path) -> None:
    """Raise NotebookError if a file is no longer as it was read: somebody edited it during the run."""
    for path, text in before.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            raise NotebookError(f"{relative(root, path)} was edited while it ran; nothing is written: record it again")


def record(root: Path, name: str, *, force: bool = False, limit: int = CELL_LIMIT) -> list[str]:
    """Record one lesson in both languages and return what differs from before.

    Nothing is written when execution fails, when the Chinese twin is missing, when a file was edited meanwhile, or
    (without force) when installed versions differ from constraints.txt: each raises NotebookError.
    """
    gaps = [] if force else environment_gaps(root)
    if gaps:
        raise NotebookError(
            "this environment is not the locked one: " + "; ".join(gaps) + ". Install constraints.txt, or --force"
        )
    paths = [lesson_path(root, language, name) for language in ("en", "zh")]
    missing = [relative(root, p) for p in paths if not p.exists()]
    if missing:
        raise NotebookError(f"{missing[0]} does not exist: a lesson has two languages (`sync` makes the Chinese one)")
    before = {path: path.read_text(encoding="utf-8") for path in paths}
    english, chinese = (loads(text, relative(root, path)) for path, text in before.items())
    fresh = execute(english, relative(root, paths[0]), root=root, limit=limit)
    changed: list[str] = []
    if not is_unchanged(english, fresh):
        changed = [str(gap) for gap in compare(english, fresh)] or ["same outputs; new code, versions or data"]
    result = stamp(fresh if changed else english)
    _unchanged_files(before, root)
    write_files({paths[0]: dumps(result), paths[1]: dumps(carry(result, chinese))})
    return changed


def sync(root: Path, name: str) -> list[str]:
    """Bring the Chinese notebook to the cells, code and outputs of the English one without executing anything.

    Makes the Chinese notebook if there is none, writes both in the recorder's layout and returns the files changed.
    """
    paths = [lesson_path(root, language, name) for language in ("en", "zh")]
    english = read(paths[0], root)
    chinese = read(paths[1], root) if paths[1].exists() else None
    texts = {paths[0]: dumps(english), paths[1]: dumps(carry(english, chinese))}
    changed = {p: t for p, t in texts.items() if not p.exists() or p.read_text(encoding="utf-8") != t}
    write_files(changed)
    return [relative(root, path) for path in changed]
