"""Execute a lesson with papermill in an empty folder, and explain a failure in one message."""

import logging
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nbformat import NotebookNode

from . import kernels
from .cells import SCRATCH, WORK, code_cells, plain, tags
from .notebooks import ROOT, NotebookError, dumps, read, relative

Parameters = dict[str, int | str]
OnStart = Callable[[int, str], None]
CELL_LIMIT = 240  # seconds that one cell may take

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "MATPLOTLIBRC": os.devnull,  # the reader's own settings would reach the figures
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "PYTHONWARNINGS": "",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
}


def cache_folder(root: Path) -> Path:
    """Return the embedding cache that all executions below root share."""
    return root / "build" / "cache"


def _explain(label: str, started: list[str], error: Any, limit: int | None) -> str:
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


@contextmanager
def _no_log() -> Iterator[None]:
    """Silence the log of papermill and of the kernel's client; errors come as exceptions."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _run_papermill(
    source: Path, target: Path, folder: Path, limit: int | None, parameters: Parameters, on_start: OnStart
) -> None:
    """Run papermill on source and report the number and id of each cell it starts; target is written at the end."""
    import papermill

    with warnings.catch_warnings(), _no_log():
        warnings.simplefilter("ignore")
        papermill.execute_notebook(
            str(source), str(target), parameters=parameters, kernel_name="python3", language="python",
            cwd=str(folder), progress_bar=False, execution_timeout=limit, start_timeout=60,
            coalesce_streams=True, store_widget_state=False, extra_arguments=["--log-level=50"],
            request_save_on_cell_execute=False, on_cell_start=lambda cell, cell_index: on_start(cell_index, cell.id),
        )  # fmt: skip


def execute(
    notebook: NotebookNode,
    label: str,
    *,
    root: Path = ROOT,
    limit: int | None = CELL_LIMIT,
    parameters: Parameters | None = None,
    environment: dict[str, str] | None = None,
    progress: Callable[[int, int], None] = lambda number, cells: None,
) -> NotebookNode:
    """Return a copy of notebook with fresh outputs and counts; notebook itself does not change.

    label names it in messages, limit is seconds per cell or None, parameters go into the cell tagged `parameters`,
    environment is added to the offline settings, progress is called with the number of each cell that starts and the
    number of cells. Raises NotebookError naming the cell that failed.
    """
    cache_folder(root).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        folder = Path(name).resolve()
        source, target = folder / "source.ipynb", folder / "executed.ipynb"
        source.write_text(dumps(notebook), encoding="utf-8")
        for below in (WORK, SCRATCH):
            (folder / below).mkdir()
        settings = OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(root))}
        # The kernel imports the package of this checkout, installed or not: a lesson would else install one.
        settings["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
        settings |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / SCRATCH))
        settings["IPYTHONDIR"] = str(folder / "ipython")
        if forks := kernels.folder(environment or {}):
            settings["JUPYTER_PATH"] = os.pathsep.join(filter(None, [forks, os.environ.get("JUPYTER_PATH")]))
        started: list[str] = []

        def on_start(index: int, cell_id: str) -> None:
            started.append(cell_id)
            progress(index + 1, len(notebook.cells))

        try:
            with patch.dict(os.environ, settings | (environment or {})):  # which the kernel inherits
                _run_papermill(source, target, folder / WORK, limit, parameters or {}, on_start)
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
