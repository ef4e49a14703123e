"""Say what a result was made with, and that no parameter given was passed over."""

import ast
import contextlib
import datetime
import importlib.metadata
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
        model: what :func:`helpers.models.load_model` returned; adds its digests and the device it ran on.
        data: what :func:`helpers.data.load_dataset` returned; adds its size and digest.

    Returns:
        A dict with ``date`` (YYYY-MM-DD), ``python``, ``packages`` (name: version, those installed) and, where
        given, ``model``, ``device`` and ``data``.
    """
    versions = {}
    for name in PACKAGES:  # looked up without an import; what is behind "+" names the build of a version
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
    """Give all that is known of a model, by name."""
    return {name: value for name, value in vars(model.info).items() if value is not None}


def check_parameters() -> None:
    """Refuse parameters of papermill that the lesson does not have; papermill itself sets them and says nothing.

    Papermill puts a cell of its own, which starts with ``# Parameters``, after the lesson's. Whatever it assigns must
    have been assigned before, or it is a slip such as ``MAX_QUERYS``. Where no such cell ran, nothing happens.

    Raises:
        ValueError: a name that no cell before had assigned.
    """
    from IPython import get_ipython

    shell = get_ipython()
    cells = list(shell.user_ns["In"]) if shell else []
    injected = [number for number, cell in enumerate(cells) if cell.startswith("# Parameters\n")]
    if injected:
        own = [cell for number, cell in enumerate(cells[: injected[-1]]) if number not in injected]
        known = dict.fromkeys(name for cell in own for name in _assigned(cell))
        unknown = [name for name in _assigned(cells[injected[-1]]) if name not in known]
        if unknown:
            raise ValueError(f"This lesson has no parameter {', '.join(unknown)}; it has {', '.join(known)}.")


def _assigned(source: str) -> list[str]:
    """List the variables that the outermost lines of a cell assign."""
    with contextlib.suppress(SyntaxError):
        statements = [node for node in ast.parse(source).body if isinstance(node, ast.Assign | ast.AnnAssign)]
        targets = [node.targets if isinstance(node, ast.Assign) else [node.target] for node in statements]
        return [target.id for several in targets for target in several if isinstance(target, ast.Name)]
    return []


def _device_name(device: str) -> str:
    """Name a device: ``cpu``, or the model of the GPU."""
    if not device.startswith("cuda"):
        return device
    import torch

    return str(torch.cuda.get_device_name(device))
