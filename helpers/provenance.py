"""Record the versions and digests behind a result."""

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

    A dict with ``date`` (YYYY-MM-DD), ``python``, ``packages`` (versions of the installed ones by name) and, if given,
    ``model``, its ``device``, and ``data``, its size and digest.
    """
    versions = {}
    for name in PACKAGES:  # without importing it; the part after "+" names a build
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name).partition("+")[0]
    today = datetime.date.today().isoformat()
    record: dict[str, Any] = {"date": today, "python": platform.python_version(), "packages": versions}
    if model is not None:
        record["model"] = model_record(model)
        record["device"] = model.device
    if data is not None:
        record["data"] = {
            "name": data.name, "sha256": data.sha256, "queries": len(data.queries), "passages": len(data.corpus),
        }  # fmt: skip
    return record


def model_record(model: "Model") -> dict[str, Any]:
    """Return the known fields of a model's :class:`~helpers.models.ModelInfo`, by name."""
    return {name: value for name, value in vars(model.info).items() if value is not None}
