"""What can be found wrong with a described system in a moment, before anything is loaded, downloaded or computed."""

import contextlib
import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from helpers._hub import DEFAULT_ENDPOINT, reachable
from helpers._printable import one_line, printable, printable_errors
from helpers.models import BACKENDS, BUNDLED, MULTILINGUAL, OFFLINE_DEFAULT, Pooling, card
from helpers.models.bundled import bundled_path
from helpers.models.files import is_hub_id, require_loadable
from helpers.models.find import require_package
from helpers.systems.describe import Description

FILES = (".trec", ".run", ".txt", ".tsv", ".csv", ".jsonl", ".json", ".gz", ".npy", ".parquet", ".res")


@printable_errors()
def check_system(system: Description) -> None:
    """Raise unless a system is there and its options go together.

    Raises:
        FileNotFoundError: no such file or folder, and the text is no hub id either.
        ValueError: a folder that holds no model that is safe to load, damaged weights, an unknown pooling or back end.
        ConnectionError: a hub id, no network, and no earlier download.
        ModuleNotFoundError: the multilingual model without the extra ``[zh]``.
    """
    if system.kind == "model":
        _check_options(system)
        check_model(system.where, "model")
    elif system.kind == "run":
        _require_file(system.where)
    elif system.kind == "rerank":
        if system.options["by"] != "maxsim":
            check_model(system.options["by"], "reranker")
        elif "model" in system.options:
            check_model(system.options["model"], "model")


def check_model(where: str, what: str) -> None:
    """Raise unless a model can be loaded from a folder, or a hub id is at hand or can be asked for."""
    path = Path(where).expanduser()
    if where in BUNDLED and (where == MULTILINGUAL or bundled_path(BUNDLED[where])):
        require_package(where)
        return
    if path.is_dir():
        require_loadable(path.resolve())
        _check_weights(path)
        return
    if path.exists():
        raise ValueError(f"{printable(path.name)} is a file; a {what} is a folder, or a hub id owner/name.")
    if not is_hub_id(where) or looks_like_a_path(where):
        raise FileNotFoundError(f"No file or folder {where!r}{nearest(path)}. Check the path.")
    if not _downloaded(where) and not reachable():
        endpoint = os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT
        raise ConnectionError(
            f"No file or folder {where!r}; as the name of a {what} on the hub it cannot be loaded either: {endpoint} "
            f"does not answer and there is no earlier download. Check the path, use {OFFLINE_DEFAULT!r}, or set "
            "HF_ENDPOINT to a mirror."
        )


def _check_options(system: Description) -> None:
    """Raise for an unknown pooling or back end."""
    pooling, backend = system.options.get("pooling"), system.options.get("backend")
    if pooling is not None:
        Pooling(pooling)
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend={backend!r}: expected one of {', '.join(map(repr, BACKENDS))}.")
    path = Path(system.where).expanduser()
    if backend == "FlagEmbedding" and path.is_dir() and (fault := card.read_card(path).flag_fault(pooling)):
        raise ValueError(fault)


def _check_weights(folder: Path) -> None:
    """Raise where the header of a file of weights does not match its length: a download that stopped, say."""
    from safetensors import SafetensorError, safe_open

    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(str(path), framework="np"):
                pass
        except (SafetensorError, OSError) as error:
            raise ValueError(
                f"{folder.name}/{path.name} is damaged ({one_line(error)}); download or copy it again."
            ) from None


def _require_file(where: str) -> None:
    """Raise unless a run is a regular file."""
    path = Path(where).expanduser()
    if path.is_dir():
        raise ValueError(f"{printable(path.name)} is a folder; a run is a file in TREC's format.")
    if not path.exists():
        raise FileNotFoundError(f"No run file {where!r}{nearest(path)}. Check the path.")
    if not path.is_file():
        raise ValueError(f"{printable(path.name)} is no regular file; give a run in TREC's format.")


def looks_like_a_path(where: str) -> bool:
    """Tell a mistyped path from a hub id: its first part is a folder here, or its last one ends as a file does."""
    return Path(where).parts[0:1] != () and (Path(Path(where).parts[0]).is_dir() or Path(where).suffix.lower() in FILES)


def _downloaded(hub_id: str) -> bool:
    """Tell whether an earlier download of a model lies in the hub's cache."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE) / f"models--{hub_id.replace('/', '--')}" / "snapshots"
    return folder.is_dir() and any(folder.iterdir())


def nearest(path: Path) -> str:
    """Name what lies beside a path that does not exist and has nearly its name."""
    names: Sequence[str] = ()
    with contextlib.suppress(OSError):
        names = sorted(entry.name for entry in path.parent.iterdir())
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"; beside it is {printable(close[0])!r}" if close else ""
