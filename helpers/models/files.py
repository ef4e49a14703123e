"""Check and hash the files of a model's folder; run no code and read nothing outside the folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helpers._io import LFS, require_inside, sha256_of, what_is
from helpers.models.card import Card, read_card, read_json

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS, WEIGHTS_INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLE, PICKLE_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
SUFFIXES = (
    ".safetensors", ".bin", ".json", ".txt", ".model", ".vocab", ".jinja", ".tiktoken", ".codes", ".spm", ".tokenizer",
)  # fmt: skip
VERSIONED = "tokenizer.model"  # prefix of Mistral's names, such as tokenizer.model.v3


@dataclass(frozen=True)
class Checkpoint:
    """A model folder that is safe to load, and its digests."""

    name: str  # hub id, or name of the folder
    folder: Path
    card: Card
    sha256: str  # over the names and contents of all files that a loader may read
    weights_sha256: str  # of the weights; for a single file, the SHA-256 shown on the hub
    weights: tuple[str, ...]  # names of the weight files


def read_checkpoint(folder: Path, name: str | None = None) -> Checkpoint:
    """Check a folder and hash its files; ``name`` defaults to the name of the folder."""
    files, weights, card = require_loadable(folder)
    for file in weights:
        if not file.endswith(".safetensors"):
            read_pickle(files[file])
    digests = {file: sha256_of(path) for file, path in files.items()}
    together = hashlib.sha256("".join(digests[file] for file in weights).encode()).hexdigest()
    return Checkpoint(
        name=name or card.name,
        folder=folder,
        card=card,
        sha256=hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest(),
        weights_sha256=digests[weights[0]] if len(weights) == 1 else together,
        weights=weights,
    )


def require_loadable(folder: Path) -> tuple[dict[str, Path], tuple[str, ...], Card]:
    """Return a model's files by name, its subfolders included, the names of its weight files, and its card."""
    files, root = {}, folder.resolve()
    for path in sorted([*folder.iterdir(), *folder.glob("*/*")]):
        if (path.suffix in SUFFIXES or path.name.startswith(VERSIONED)) and not path.is_dir():
            name = path.relative_to(folder).as_posix()
            if path.resolve() != root / name:
                require_inside(folder, path)
            files[name] = path
    weights, card = _weights_of(folder, files), read_card(folder)
    needed = {
        "is no model folder: no config.json": {"config.json"},
        "has no tokenizer: no tokenizer.json": {"tokenizer.json", "tokenizer_config.json"},
        f"holds no weights: no {WEIGHTS}": set(weights),
    }
    for fault, names in needed.items():
        if not names & set(files):
            listed = sorted(path.name for path in folder.iterdir())[:8]
            raise ValueError(f"{folder.name!r} {fault} in it, only {listed}. Save it beside the other files.")
    with files[weights[0]].open("rb") as file:
        if what_is(file.read(64)) == LFS:
            raise ValueError(
                f"{folder.name!r} has a Git LFS pointer for {weights[0]}, not the weights. Fetch them: git lfs pull, "
                "in the folder."
            )
    if "adapter_config.json" in files:
        raise ValueError(
            f"{card.name} is an adapter to another model (adapter_config.json), which would be loaded from wherever "
            "it says. Merge the two and save the merged model."
        )
    keys = ("transformers_weights", "_attn_implementation", "attn_implementation")
    named = {key: card.config.get(key) for key in keys}
    named |= {key: value for key, value in card.tokenizer.items() if key.endswith(("_file", "_files"))}
    for key, value in named.items():
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str) or Path(text).name == text:
                continue
            if not key.endswith("_file") or Path(text).exists():  # a path on the author's machine does no harm
                raise ValueError(
                    f"{card.name}: {key} of its JSON files names {text!r}, which is not in the folder. Remove it "
                    "there, and keep all files beside the model."
                )
    return files, weights, card


def _weights_of(folder: Path, files: dict[str, Path]) -> tuple[str, ...]:
    """Return the names of the weight files that the loader will read; it prefers safetensors to ``.bin``."""
    first = next((name for name in (WEIGHTS, WEIGHTS_INDEX, PICKLE, PICKLE_INDEX) if name in files), WEIGHTS)
    if first in (WEIGHTS, PICKLE):
        return (first,)
    names = sorted({str(name) for name in dict(read_json(folder / first)).get("weight_map", {}).values()})
    if outside := [name for name in names or [""] if Path(name).name != name or name not in files]:
        raise ValueError(
            f"{first} of {folder.name!r} lists {outside[0]!r}, which is no file of the folder itself; download the "
            "model again."
        )
    return tuple(names)


def read_pickle(path: Path) -> dict[str, Tensor]:
    """Read weights in PyTorch's older format (``.bin``) with its restricted loader, which runs no code."""
    import torch

    where = f"{path.parent.name}/{path.name}"
    with one_line_errors(f"{where!r} cannot be read by PyTorch's restricted loader, which runs no code of a file"):
        weights = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    if not isinstance(weights, dict) or not all(isinstance(value, torch.Tensor) for value in weights.values()):
        raise ValueError(f"{where!r} holds something other than named tensors; save the model's state_dict alone.")
    return weights


@contextlib.contextmanager
def one_line_errors(failure: str) -> Iterator[None]:
    """Turn any error of a loader into a ValueError of one line that begins with ``failure``."""
    try:
        yield
    except Exception as error:
        first_line = (str(error).strip().splitlines() or [""])[0]
        raise ValueError(f"{failure} ({type(error).__name__}: {first_line!r}).") from error
