"""Read a model's folder and make sure that it is safe to load: no code is run, nothing from elsewhere is read."""

import contextlib
import hashlib
import json
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers._files import own_roots
from helpers._printable import one_line, printable

WEIGHTS, WEIGHTS_INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLE, PICKLE_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
SUFFIXES = (
    ".safetensors", ".bin", ".json", ".txt", ".model", ".vocab", ".jinja", ".tiktoken", ".codes", ".spm", ".tokenizer",
)  # fmt: skip
VERSIONED = "tokenizer.model"  # Mistral's are called tokenizer.model.v3 and the like
DEEPEST_JSON = 200  # levels; real files have fewer than ten, and parsers crash at thousands


@dataclass(frozen=True)
class Checkpoint:
    """A folder whose files may be loaded, and their digests.

    Attributes:
        name: hub id, or the folder's last part.
        folder: where the files lie.
        sha256: digest over the names and contents of all files that can be read for the model.
        weights_sha256: digest of the weights; for one file of weights the one that the hub shows.
        weights: names of the files of weights.
    """

    name: str
    folder: Path
    sha256: str
    weights_sha256: str
    weights: tuple[str, ...]


def require_loadable(folder: Path) -> None:
    """Raise what :func:`read_checkpoint` would of a folder, without reading its weights: it takes a moment.

    Raises:
        ValueError: the folder holds no checkpoint that is safe to load.
    """
    files = _model_files(folder)
    _require_self_contained(folder, files)
    _weights_of(folder, files)
    if not any(tokenizer in files for tokenizer in ("tokenizer.json", "tokenizer_config.json")):
        raise ValueError(f"{folder.name} has no tokenizer (tokenizer.json): save it beside the model.")


def is_hub_id(name_or_path: str | Path) -> bool:
    """Tell a hub id from a path, without asking the hub."""
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or Path(text).expanduser().exists() or text.startswith("."):
        return False
    return re.fullmatch(r"[\w.-]+/[\w.-]+", text) is not None


def read_json(path: Path, kind: type[dict[str, Any]] | type[list[Any]] = dict) -> Any:
    """Read a JSON file of a model folder; an empty object or list if there is none.

    Raises:
        ValueError: it is not JSON, nested too deep, or holds something other than ``kind``.
    """
    if not path.exists():
        return kind()
    where = f"{path.parent.name}/{path.name}"
    try:
        text = path.read_text(encoding="utf-8")
        if _depth(text) > DEEPEST_JSON:
            raise ValueError(f"nested more than {DEEPEST_JSON} levels deep")
        value = json.loads(text)
    except ValueError as error:  # broken JSON and broken UTF-8 are such errors too
        raise ValueError(f"{where} cannot be read ({error}); download the model again.") from None
    if not isinstance(value, kind):
        expected = "an object" if kind is dict else "a list"
        raise ValueError(f"{where} holds {type(value).__name__} where {expected} belongs; download the model again.")
    return value


@contextlib.contextmanager
def one_line_errors(failure: str) -> Iterator[None]:
    """Turn whatever another library raises while it loads a model into one line that begins with ``failure``.

    A panic of the tokenizers library is no ``Exception``.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        first_line = one_line((str(error).strip().splitlines() or [""])[0])
        raise ValueError(f"{failure} ({type(error).__name__}: {first_line}).") from error


def _depth(text: str) -> int:
    """Return how deep the brackets of a JSON text are nested; brackets in its texts count too, which is harmless."""
    deepest = depth = 0
    for bracket in re.finditer(r"[\[{\]}]", text):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def read_checkpoint(name: str, folder: Path) -> Checkpoint:
    """Check a folder and digest its files.

    Raises:
        ValueError: it holds no checkpoint that is safe to load.
    """
    require_loadable(folder)
    files = _model_files(folder)
    weights = _weights_of(folder, files)
    for file in weights:
        if not file.endswith(".safetensors"):
            read_pickle(files[file])
    digests = {name: sha256_of(path) for name, path in files.items()}
    together = hashlib.sha256("".join(digests[file] for file in weights).encode()).hexdigest()
    return Checkpoint(
        name=name,
        folder=folder,
        sha256=hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest(),
        weights_sha256=digests[weights[0]] if len(weights) == 1 else together,
        weights=weights,
    )


def _model_files(folder: Path) -> dict[str, Path]:
    """List the files that can be read for a model, in the folder and one below, by their names from there.

    Raises:
        ValueError: one is no regular file (reading a pipe or a device would not end), or a link out of the folder, or
            there is no config.json.
    """
    names = sorted(path.name for path in folder.iterdir())
    roots = own_roots(folder.resolve())
    paths = [*folder.iterdir(), *folder.glob("*/*")]
    read = [path for path in sorted(paths) if path.suffix in SUFFIXES or path.name.startswith(VERSIONED)]
    files = {path.relative_to(folder).as_posix(): path for path in read}
    for name, path in files.items():
        if not path.exists() or not stat.S_ISREG(path.stat().st_mode):
            raise ValueError(f"{folder.name}/{name} is no regular file; copy the model's own files into the folder.")
        if not any(path.resolve().is_relative_to(root) for root in roots):
            raise ValueError(f"{folder.name}/{name} is a link out of the folder; copy the file itself into the folder.")
    if "config.json" not in files:
        raise ValueError(f"{folder.name} is no model folder: no config.json in it, only {_listed(names)}.")
    return files


def _listed(names: list[str]) -> str:
    """Name up to eight files of a folder."""
    return printable(", ".join(names[:8])) or "nothing"


def _require_self_contained(folder: Path, files: dict[str, Path]) -> None:
    """Raise where a model's own files send the loader to files outside its folder."""
    if "adapter_config.json" in files:
        raise ValueError(
            f"{folder.name} is an adapter to another model (adapter_config.json), which would be loaded from wherever "
            "it says. Merge the two and save the merged model."
        )
    config, tokenizer = read_json(folder / "config.json"), read_json(folder / "tokenizer_config.json")
    if config.get("transformers_weights") not in (None, WEIGHTS):
        raise ValueError(f"{folder.name}/config.json names weights of its own; call the file {WEIGHTS}.")
    for key in ("_attn_implementation", "attn_implementation"):
        if "/" in str(config.get(key)):
            raise ValueError(
                f"{folder.name}/config.json: {key} names code of the hub, which is never run. Remove it there."
            )
    versions = tokenizer.get("fast_tokenizer_files") or []
    if not isinstance(versions, list) or not all(isinstance(name, str) and name in files for name in versions):
        raise ValueError(
            f"{folder.name}/tokenizer_config.json: fast_tokenizer_files must list files of the folder itself. Remove "
            "it there, and keep the tokenizer's files beside the model."
        )
    for key, value in tokenizer.items():
        if key.endswith("_file") and isinstance(value, str) and Path(value).name != value and Path(value).exists():
            raise ValueError(
                f"{folder.name}/tokenizer_config.json: {key} leads out of the folder. Remove it there, and keep the "
                "tokenizer's files beside the model."
            )


def _weights_of(folder: Path, files: dict[str, Path]) -> tuple[str, ...]:
    """Name the files of weights, in the order in which the loader prefers them: safetensors, then pickles."""
    if WEIGHTS in files:
        return (WEIGHTS,)
    if WEIGHTS_INDEX in files:
        return _indexed(folder, WEIGHTS_INDEX, files)
    pickles = [name for name in (PICKLE, PICKLE_INDEX) if name in files]
    if not pickles:
        raise ValueError(
            f"{folder.name} holds no weights: no {WEIGHTS} in it, only "
            f"{_listed(sorted(path.name for path in folder.iterdir()))}."
        )
    return (PICKLE,) if PICKLE in files else _indexed(folder, PICKLE_INDEX, files)


def _indexed(folder: Path, index: str, files: dict[str, Path]) -> tuple[str, ...]:
    """Name the files that an index of weights lists, each a file of the folder itself."""
    listed = read_json(folder / index).get("weight_map")
    names = sorted(set(map(str, listed.values()))) if isinstance(listed, dict) else []
    outside = [name for name in names if Path(name).name != name or name not in files]
    if outside or not names:
        problem = f"{outside[0]!r}, which is no file of the folder itself" if outside else "no file of weights"
        raise ValueError(f"{folder.name}/{index} lists {problem}; download the model again.")
    return tuple(names)


def read_pickle(path: Path) -> dict[str, Any]:
    """Read weights in PyTorch's older format (``.bin``) by its restricted loader, which makes tensors and runs no code.

    Raises:
        ValueError: the file is damaged, or holds anything but named tensors.
    """
    import torch

    where = f"{path.parent.name}/{path.name}"
    with one_line_errors(f"{where} cannot be read by PyTorch's restricted loader, which runs no code of a file"):
        weights = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    if not isinstance(weights, dict) or not all(isinstance(value, torch.Tensor) for value in weights.values()):
        raise ValueError(f"{where} holds something other than named tensors; save the model's state_dict alone.")
    return weights


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
