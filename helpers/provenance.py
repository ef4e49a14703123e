"""Record the versions and digests behind a result, and check the parameters of a lesson."""

import ast
import contextlib
import datetime
import importlib.metadata
import itertools
import platform
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from helpers.data import RetrievalDataset
    from helpers.models import Model

PACKAGES = (
    "FlagEmbedding", "bm25s", "datasets", "faiss-cpu", "jieba", "matplotlib", "numpy", "pandas",
    "retrieval-evaluation-tutorial", "scikit-learn", "scipy", "torch", "transformers",
)  # fmt: skip


def provenance(model: "Model | None" = None, data: "RetrievalDataset | None" = None) -> dict[str, Any]:
    """Collect the versions and digests behind a result, ready for ``json.dumps``.

    Args:
        model: a model from :func:`helpers.models.load_model`; adds its digests and its device.
        data: a data set from :func:`helpers.data.load_dataset`; adds its size and digest.

    Returns:
        A dict with ``date`` (YYYY-MM-DD), ``python``, ``packages`` (versions of the installed ones by name) and, if
        given, ``model``, ``device`` and ``data``.
    """
    versions = {}
    for name in PACKAGES:  # without importing it; the part after "+" names a build
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name).partition("+")[0]
    today = datetime.date.today().isoformat()
    record: dict[str, Any] = {"date": today, "python": platform.python_version(), "packages": versions}
    if model is not None:
        record["model"] = model_record(model)
        record["device"] = _device_name(model.device)
    if data is not None:
        record["data"] = {
            "name": data.name, "sha256": data.sha256, "queries": len(data.queries), "passages": len(data.corpus),
        }  # fmt: skip
    return record


def model_record(model: "Model") -> dict[str, Any]:
    """Return the known fields of a model's :class:`~helpers.models.ModelInfo`, by name."""
    return {name: value for name, value in vars(model.info).items() if value is not None}


def check_parameters() -> None:
    """Refuse papermill parameters that the lesson does not have, such as a misspelt ``MAX_QUERYS``.

    Papermill itself accepts any name: it inserts a cell that starts with ``# Parameters`` after the lesson's parameters
    and assigns it there. Without such a cell nothing is checked.

    Raises:
        ValueError: a parameter has a name that no earlier cell assigned.
    """
    from IPython import get_ipython

    shell = get_ipython()
    cells = list(shell.user_ns["In"]) if shell else []
    injected = [number for number, cell in enumerate(cells) if cell.startswith("# Parameters\n")]
    if injected:
        lesson = [cell for number, cell in enumerate(cells[: injected[-1]]) if number not in injected]
        known = dict.fromkeys(name for cell in lesson for name in _assigned(cell))
        unknown = [name for name in _assigned(cells[injected[-1]]) if name not in known]
        if unknown:
            raise ValueError(f"This lesson has no parameter {', '.join(unknown)}; it has {', '.join(known)}.")


def _assigned(source: str) -> list[str]:
    """Return the variables that a cell assigns at its top level."""
    with contextlib.suppress(SyntaxError):
        statements = [node for node in ast.parse(source).body if isinstance(node, ast.Assign | ast.AnnAssign)]
        targets = [node.targets if isinstance(node, ast.Assign) else [node.target] for node in statements]
        return [target.id for target in itertools.chain(*targets) if isinstance(target, ast.Name)]
    return []


def _device_name(device: str) -> str:
    """Return the name of a device: ``cpu``, or the model of the GPU."""
    if not device.startswith("cuda"):
        return device
    import torch

    return str(torch.cuda.get_device_name(device))
