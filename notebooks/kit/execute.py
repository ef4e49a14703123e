"""Execute a lesson with papermill in an empty folder and say clearly what went wrong when it did."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nbformat import NotebookNode

from .cells import SCRATCH, WORK, code_cells, plain, tags
from .notebooks import ROOT, NotebookError, dumps, read, relative

Parameters = dict[str, int | str]
CELL_LIMIT = 240  # seconds that one cell may take

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TQDM_DISABLE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}


def cache_folder(root: Path) -> Path:
    """Return the embedding cache that all executions below root share."""
    return root / "build" / "cache"


def _explain(label: str, started: list[str], error: Any, limit: int) -> str:
    """Return one message for an execution that did not reach its end, after the cells started."""
    cell, kind = (started or ["?"])[-1], type(error).__name__
    if kind == "CellTimeoutError":
        return f"{label} [{cell}] took longer than {limit} s: shorten the cell or give --limit SECONDS"
    if kind == "DeadKernelError":
        return f"{label} [{cell}] the kernel died (out of memory, or the process was killed) while running this cell"
    if kind == "PapermillExecutionError":
        return f"{label} [{cell}] raised {error.ename}: {error.evalue}"
    return f"{label} [{cell}] could not be executed: {kind}: {error}"


def _clean(output: NotebookNode, folder: str) -> None:
    """Take volatile metadata, addresses and temporary paths out of an output."""
    output.pop("transient", None)
    if output.output_type == "stream":
        output["text"] = plain(output.text, folder)
    for mime, value in output.get("data", {}).items():
        if isinstance(value, str) and not mime.startswith("image/"):
            output["data"][mime] = plain(value, folder)


def _run_papermill(
    source: Path, target: Path, folder: Path, limit: int, parameters: Parameters, started: list[str]
) -> None:
    """Run papermill on source and note the id of each cell it starts; target is written once, at the end."""
    import papermill

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        papermill.execute_notebook(
            str(source), str(target), parameters=parameters, kernel_name="python3", language="python",
            cwd=str(folder), progress_bar=False, execution_timeout=limit, start_timeout=60,
            coalesce_streams=True, store_widget_state=False, extra_arguments=["--log-level=40"],
            request_save_on_cell_execute=False, on_cell_start=lambda cell, cell_index: started.append(cell.id),
        )  # fmt: skip


def _import_path(root: Path) -> str:
    """Let the kernel import the package of this checkout, installed or not: a lesson would else install one."""
    return os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))


def execute(
    notebook: NotebookNode,
    label: str,
    *,
    root: Path = ROOT,
    limit: int = CELL_LIMIT,
    parameters: Parameters | None = None,
    environment: dict[str, str] | None = None,
) -> NotebookNode:
    """Return a copy of notebook with fresh outputs and counts; the one given stays as it is.

    label names it in messages, limit is seconds per cell, parameters go into the cell tagged `parameters`,
    environment is added to the offline settings. Raises NotebookError naming the cell that failed.
    """
    cache_folder(root).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        folder = Path(name).resolve()
        source, target = folder / "source.ipynb", folder / "executed.ipynb"
        source.write_text(dumps(notebook), encoding="utf-8")
        for below in (WORK, SCRATCH):
            (folder / below).mkdir()
        settings = OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(root)), "PYTHONPATH": _import_path(root)}
        settings |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / SCRATCH))
        started: list[str] = []
        try:
            with patch.dict(os.environ, settings | (environment or {})):  # which the kernel inherits
                _run_papermill(source, target, folder / WORK, limit, parameters or {}, started)
        except Exception as error:
            raise NotebookError(_explain(label, started, error, limit)) from error
        fresh = {cell.id: cell for cell in read(target).cells}
    return _with_outputs(notebook, fresh, str(folder))


def _with_outputs(notebook: NotebookNode, fresh: dict[str, NotebookNode], folder: str) -> NotebookNode:
    """Return notebook with the outputs of fresh, counted from 1, and nothing else that papermill wrote."""
    result = deepcopy(notebook)
    for cell in code_cells(result):
        cell.execution_count, cell.outputs = None, fresh[cell.id].outputs
    for count, cell in enumerate((cell for cell in code_cells(result) if cell.source.strip()), 1):
        cell.execution_count = count
        for output in cell.outputs:
            _clean(output, folder)
            if output.output_type == "execute_result":
                output.execution_count = count
    return result


def execute_lesson(root: Path, path: Path, **options: Any) -> NotebookNode:
    """Return the lesson at path with fresh outputs; options as for execute."""
    return execute(read(path, root), relative(root, path), root=root, **options)


def parameter_names(notebook: NotebookNode) -> set[str]:
    """Return the names that the cell tagged `parameters` assigns."""
    source = "\n".join(c.source for c in notebook.cells if "parameters" in tags(c))
    return set(re.findall(r"^(\w+)\s*(?::[^=\n]+)?=(?!=)", source, re.M))
