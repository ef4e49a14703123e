"""Checks of a spec that take a moment, before anything is loaded, downloaded or computed."""

import contextlib
import difflib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from helpers._hub import DEFAULT_ENDPOINT, reachable
from helpers.models import BACKENDS, BUNDLED, MULTILINGUAL, OFFLINE_DEFAULT, Pooling, card
from helpers.models.files import require_loadable
from helpers.models.find import bundled_path, require_package
from helpers.report.spec import WORDS, Spec, one_line

FILES = (".trec", ".run", ".txt", ".tsv", ".csv", ".jsonl", ".json", ".gz", ".npy", ".parquet", ".res")


def check_specs(specs: Sequence[Spec]) -> None:
    """Raise unless every system exists and its options go together.

    Raises:
        FileNotFoundError: no such file or folder, and the text is no hub id either.
        ValueError: a folder that holds no model that is safe to load, damaged weights, an unknown pooling or back end,
            MaxSim over the ranking of a system that has no token vectors.
        ConnectionError: a hub id, no network, and no earlier download.
        ModuleNotFoundError: the multilingual model without the extra ``[zh]``.
    """
    models = [spec.name for spec in specs if spec.kind == "model"]
    for spec in specs:
        if spec.kind == "model":
            _check_options(spec)
            _check_model(spec.where, "model")
        elif spec.kind == "run":
            _check_run(spec.where)
        elif spec.kind == "rerank":
            model = spec.options.get("model")
            if spec.options["by"] != "maxsim":
                _check_model(spec.options["by"], "reranker")
            elif model is not None:
                _check_model(model, "model")
            elif spec.parts[0] not in models:
                part = spec.parts[0]
                raise ValueError(f"{spec.name}: {part!r} has no token vectors; name a model for MaxSim, model = …")


def is_hub_id(text: str) -> bool:
    """Return whether a text is owner/name; not if owner is a folder here, or the name ends as a file's does."""
    path = Path(text)
    is_path = text.startswith(".") or path.suffix.lower() in FILES or Path(*path.parts[:1]).is_dir()
    return re.fullmatch(r"[\w.-]+/[\w.-]+", text) is not None and not is_path


def nearest(path: Path, names: Sequence[str] = ()) -> str:
    """Return a hint at the entry beside a missing path, or at the one of ``names``, whose name is most alike."""
    with contextlib.suppress(OSError):
        entries = sorted(entry.name for entry in path.parent.iterdir())
        if close := difflib.get_close_matches(path.name, entries, n=1):
            return f"; beside it is {close[0]!r}"
    close = difflib.get_close_matches(str(path).lower(), names, n=1)
    return f"; there is {close[0]!r}" if close else ""


def _check_model(where: str, noun: str) -> None:
    path = Path(where).expanduser()
    if where in BUNDLED and (where == MULTILINGUAL or bundled_path(BUNDLED[where])):
        require_package(where)
    elif path.is_dir():
        require_loadable(path.resolve())
        _check_weights(path)
    elif path.exists():
        raise ValueError(f"{path.name!r} is a file; a {noun} is a folder, or a hub id owner/name.")
    elif not is_hub_id(where):
        raise FileNotFoundError(f"No file or folder {where!r}{nearest(path, list(WORDS))}. Check the path.")
    elif not _downloaded(where) and not reachable():
        endpoint = os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT
        raise ConnectionError(
            f"No file or folder {where!r}; as the name of a {noun} on the hub it cannot be loaded either: {endpoint} "
            f"does not answer and there is no earlier download. Check the path, use {OFFLINE_DEFAULT!r}, or set "
            "HF_ENDPOINT to a mirror."
        )


def _check_options(spec: Spec) -> None:
    pooling, backend = spec.options.get("pooling"), spec.options.get("backend")
    if pooling is not None:
        Pooling(pooling)
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend={backend!r}: expected one of {', '.join(map(repr, BACKENDS))}.")
    path = Path(spec.where).expanduser()
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


def _check_run(where: str) -> None:
    path = Path(where).expanduser()
    if path.is_dir():
        raise ValueError(f"{path.name!r} is a folder; a run is a file in TREC's format.")
    if not path.exists():
        raise FileNotFoundError(f"No run file {where!r}{nearest(path)}. Check the path.")
    if not path.is_file():
        raise ValueError(f"{path.name!r} is no regular file; give a run in TREC's format.")


def _downloaded(hub_id: str) -> bool:
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE) / f"models--{hub_id.replace('/', '--')}" / "snapshots"
    return folder.is_dir() and any(folder.iterdir())
