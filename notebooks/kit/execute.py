"""Execute a lesson in an empty folder, and explain a failure in one message."""

import logging
import os
import re
import tempfile
from collections.abc import Callable
from copy import copy, deepcopy
from pathlib import Path
from unittest.mock import patch

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from . import kernels
from .cells import SCRATCH, WORK, code_cells, plain, tags
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
    "CellExecutionError": "raised {error.ename}: {error.evalue}",
    "CellTimeoutError": "took longer than {limit} s: shorten the cell",
    "DeadKernelError": "the kernel died (out of memory, or the process was killed) while running this cell",
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

    label names it in messages, limit is seconds per cell or None, parameters are assigned after the cell tagged
    `parameters`, environment is added to the offline settings, progress is called with the number of each cell that
    starts and the number of cells. Raises NotebookError naming the cell that failed.
    """
    from nbclient import NotebookClient

    cache_folder(root).mkdir(parents=True, exist_ok=True)
    result, started = deepcopy(notebook), ["?"]
    for cell in code_cells(result):
        cell.outputs, cell.execution_count = [], None
    running, given = copy(result), "\n".join(f"{name} = {value!r}" for name, value in (parameters or {}).items())
    at = next((at for at, cell in enumerate(result.cells, 1) if "parameters" in tags(cell)), 0)
    running.metadata = deepcopy(result.metadata)
    running.cells = [*result.cells[:at], *([new_code_cell(given)] if given else []), *result.cells[at:]]

    def on_start(cell: NotebookNode, cell_index: int) -> None:
        started.append(cell.id)
        progress(cell_index + 1, len(running.cells))

    with tempfile.TemporaryDirectory(prefix="lesson-") as name:
        folder = Path(name).resolve()
        for below in (WORK, SCRATCH):
            (folder / below).mkdir()
        settings = OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(root)), "IPYTHONDIR": str(folder / "ipython")}
        settings |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / SCRATCH))
        # The kernel imports the package of this checkout, installed or not: a lesson would else install one.
        for variable, place in (("PYTHONPATH", str(root)), ("JUPYTER_PATH", kernels.folder(environment or {}))):
            settings[variable] = os.pathsep.join(filter(None, [place, os.environ.get(variable)]))
        client = NotebookClient(
            running, timeout=limit, startup_timeout=60, kernel_name="python3", on_cell_start=on_start,
            coalesce_streams=True, store_widget_state=False, record_timing=False, extra_arguments=["--log-level=50"],
            resources={"metadata": {"path": str(folder / WORK)}}, log=logging.Logger("silent", logging.CRITICAL + 1),
        )  # fmt: skip
        try:
            with patch.dict(os.environ, settings | (environment or {})):  # which the kernel inherits
                client.execute()
        except Exception as error:
            message = FAILURES.get(type(error).__name__, "could not be executed: {error!r}")
            raise NotebookError(f"{label} [{started[-1]}] {message.format(error=error, limit=limit)}") from error
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


def parameter_names(notebook: NotebookNode) -> set[str]:
    """Return the names that the cell tagged `parameters` assigns."""
    source = "\n".join(c.source for c in notebook.cells if "parameters" in tags(c))
    return set(re.findall(r"^(\w+)\s*(?::[^=\n]+)?=(?!=)", source, re.M))
