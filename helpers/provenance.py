"""Say what a result was made with."""

import datetime
import importlib.metadata
import platform
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from FlagEmbedding import FlagModel

    from helpers.data import RetrievalDataset

PACKAGES = (
    "FlagEmbedding", "bm25s", "datasets", "faiss-cpu", "jieba", "matplotlib", "numpy", "pandas",
    "retrieval-evaluation-tutorial", "scikit-learn", "scipy", "torch", "transformers",
)  # fmt: skip


def provenance(model: "FlagModel | None" = None, data: "RetrievalDataset | None" = None) -> dict:
    """Collect the versions and digests behind a result, ready for ``json.dumps``.

    Args:
        model: what :func:`helpers.models.load_model` returned; adds its digests and the device it ran on.
        data: what :func:`helpers.data.load_dataset` returned; adds its size and digest.

    Returns:
        A dict with ``date`` (YYYY-MM-DD), ``python``, ``packages`` (name: version, those installed) and, where
        given, ``model``, ``device`` and ``data``.
    """
    found = {"date": datetime.date.today().isoformat(), "python": platform.python_version(), "packages": _versions()}
    if model is not None:
        found["model"] = vars(model.info)
        found["device"] = _device(model)
    if data is not None:
        found["data"] = {
            "name": data.name, "sha256": data.sha256, "queries": len(data.queries), "passages": len(data.corpus),
        }  # fmt: skip
    return found


def _versions() -> dict[str, str]:
    """Look up the versions of the packages that matter, without importing any of them."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _device(model: "FlagModel") -> str:
    """Name the device a model computes on: ``cpu``, or the model of the GPU."""
    import torch

    device = str(model.target_devices[0])
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device
