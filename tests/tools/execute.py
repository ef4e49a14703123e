"""Execute a lesson with papermill in an empty folder and say clearly what went wrong when it did."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from .notebooks import ROOT, SCRATCH, WORK, Node, NotebookError, dumps, plain, read, relative

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


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables, which the kernel inherits, for the length of a block."""
    before = {key: os.environ.get(key) for key in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def _explain(label: str, started: list[str], error: Exception, limit: int) -> str:
    """Return one message for an execution that did not reach its end, after the cells started."""
    cell, kind = (started or ["?"])[-1], type(error).__name__
    if kind == "CellTimeoutError":
        return f"{label} [{cell}] took longer than {limit} s: shorten the cell or give --limit SECONDS"
    if kind == "DeadKernelError":
        return f"{label} [{cell}] the kernel died (out of memory, or the process was killed) while running this cell"
    if kind == "PapermillExecutionError":
        return f"{label} [{cell}] raised {error.ename}: {error.evalue}"
    return f"{label} [{cell}] could not be executed: {kind}: {error}"


def _clean(output: Node, folder: str) -> Node:
    """Return an output without volatile metadata, addresses and temporary paths."""
    output.pop("transient", None)
    if output.output_type == "stream":
        output["text"] = plain(output.text, folder)
    for mime, value in output.get("data", {}).items():
        if isinstance(value, str) and not mime.startswith("image/"):
            output["data"][mime] = plain(value, folder)
    return output


def _run_papermill(source: Path, target: Path, folder: Path, limit: int, parameters: dict, started: list[str]) -> None:
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


def execute(
    notebook: Node,
    label: str,
    *,
    root: Path = ROOT,
    limit: int = CELL_LIMIT,
    parameters: dict | None = None,
    environment: dict[str, str] | None = None,
) -> Node:
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
        settings = OFFLINE | {"EVAL_CACHE_DIR": str(cache_folder(root))}
        settings |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / SCRATCH))
        started: list[str] = []
        try:
            with _environment(settings | (environment or {})):
                _run_papermill(source, target, folder / WORK, limit, parameters or {}, started)
        except Exception as error:
            raise NotebookError(_explain(label, started, error, limit)) from error
        fresh = {cell.id: cell for cell in read(target).cells}
    return _with_outputs(notebook, fresh, str(folder))


def _with_outputs(notebook: Node, fresh: dict[str, Node], folder: str) -> Node:
    """Return notebook with the outputs of fresh, counted from 1, and nothing else that papermill wrote."""
    result, count = deepcopy(notebook), 0
    for cell in result.cells:
        if cell.cell_type != "code":
            continue
        count += bool(cell.source.strip())
        cell["execution_count"] = count if cell.source.strip() else None
        cell["outputs"] = [_clean(output, folder) for output in fresh[cell.id].outputs]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output["execution_count"] = count
    return result


def execute_lesson(root: Path, path: Path, **options: object) -> Node:
    """Return the lesson at path with fresh outputs; options as for execute."""
    return execute(read(path, root), relative(root, path), root=root, **options)  # type: ignore[arg-type]


def parameter_names(notebook: Node) -> set[str]:
    """Return the names that the cell tagged `parameters` assigns."""
    source = "\n".join(c.source for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    return set(re.findall(r"^(\w+)\s*(?::[^=\n]+)?=(?!=)", source, re.M))
