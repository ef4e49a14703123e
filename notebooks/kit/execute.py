"""Execute a lesson with papermill in an empty folder, and explain a failure in one message."""

import logging
import os
import tempfile
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from unittest.mock import patch

from nbformat import NotebookNode

from . import kernels
from .cells import SCRATCH, WORK, code_cells, plain
from .notebooks import ROOT, NotebookError

Parameters = dict[str, int | str]
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


FAILURES = {
    "CellTimeoutError": "took longer than {limit} s: shorten the cell",
    "DeadKernelError": "the kernel died (out of memory, or the process was killed) while running this cell",
    "PapermillExecutionError": "raised {error.ename}: {error.evalue}",
}


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
    """Return a copy of notebook with fresh outputs, without addresses and temporary paths, counted from 1.

    label names it in messages, limit is seconds per cell or None, parameters go after the cell tagged
    `parameters`, environment is added to the offline settings, progress is called with the number of each cell that
    starts and the number of cells. Raises NotebookError naming the cell that failed.
    """
    import papermill

    cache_folder(root).mkdir(parents=True, exist_ok=True)
    started = ["?"]

    def on_start(cell: NotebookNode, cell_index: int) -> None:
        started.append(cell.id)
        progress(cell_index + 1, len(notebook.cells))

    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        folder = Path(name).resolve()
        for below in (WORK, SCRATCH):
            (folder / below).mkdir()
        settings = OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(root)), "IPYTHONDIR": str(folder / "ipython")}
        settings |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / SCRATCH))
        # The kernel imports the package of this checkout, installed or not: a lesson would else install one.
        for variable, place in (("PYTHONPATH", str(root)), ("JUPYTER_PATH", kernels.folder(environment or {}))):
            settings[variable] = os.pathsep.join(filter(None, [place, os.environ.get(variable)]))
        quiet = patch.object(logging.Logger, "isEnabledFor", return_value=False)  # errors come as exceptions
        try:
            with warnings.catch_warnings(), quiet, patch.dict(os.environ, settings | (environment or {})):
                warnings.simplefilter("ignore")
                ran = papermill.execute_notebook(
                    deepcopy(notebook), None, parameters=parameters, kernel_name="python3", language="python",
                    cwd=str(folder / WORK), progress_bar=False, execution_timeout=limit, start_timeout=60,
                    coalesce_streams=True, store_widget_state=False, extra_arguments=["--log-level=50"],
                    request_save_on_cell_execute=False, on_cell_start=on_start,
                )  # fmt: skip
        except Exception as error:
            message = FAILURES.get(type(error).__name__, "could not be executed: {error!r}")
            raise NotebookError(f"{label} [{started[-1]}] {message.format(error=error, limit=limit)}") from error
    result, fresh = deepcopy(notebook), {cell.id: cell for cell in ran.cells}  # and nothing else that papermill wrote
    for cell in code_cells(result):
        cell.execution_count, cell.outputs = None, fresh[cell.id].outputs
    for count, cell in enumerate((cell for cell in code_cells(result) if cell.source.strip()), 1):
        cell.execution_count = count
        for output in cell.outputs:
            output.pop("transient", None)
            if output.output_type == "execute_result":
                output.execution_count = count
            if output.output_type == "stream":
                output["text"] = plain(output.text, str(folder))
            for mime, value in output.get("data", {}).items():
                if isinstance(value, str) and not mime.startswith("image/"):
                    output["data"][mime] = plain(value, str(folder))
    return result
