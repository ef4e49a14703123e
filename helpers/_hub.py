"""Reaching the Hugging Face hub, or saying quickly and clearly that it cannot be reached."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEFAULT_ENDPOINT = "https://huggingface.co"
TIMEOUT_SECONDS = 5
FILES = (".jsonl", ".json", ".csv", ".tsv", ".txt", ".parquet", ".gz", ".toml", ".npy", ".trec", ".run", ".qrels")


def is_hub_id(name: str | Path) -> bool:
    """Tell a hub id, ``owner/name`` or ``owner/name@revision``, from a path, without asking the hub.

    What exists is a path, and so is a mistyped one: it starts with a dot, its first part is a folder, or it ends as
    files do.
    """
    text = str(name)
    path = Path(text).expanduser()
    if isinstance(name, Path) or text.count("/") != 1 or text.startswith(".") or path.suffix.lower() in FILES:
        return False
    if path.exists() or path.parent.is_dir():
        return False
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(split_revision(text)[0])
    except HFValidationError:
        return False
    return True


def split_revision(hub_id: str) -> tuple[str, str | None]:
    """Split ``owner/name@revision`` (a commit, tag or branch); without a revision the hub gives its newest."""
    repository, _, revision = hub_id.partition("@")
    return repository, revision or None


def reachable() -> bool:
    """Tell whether the hub answers, within ``TIMEOUT_SECONDS``.

    The address is ``HF_ENDPOINT`` where it is set (a mirror, say). ``HF_HUB_OFFLINE=1`` answers no at once.
    Any HTTP answer counts as reachable, an error page too: what to make of it is the caller's business.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return False
    import http.client
    import urllib.error
    import urllib.request  # slow to import

    try:
        urllib.request.urlopen(os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError, http.client.HTTPException):  # the last: something answers, but not in HTTP
        return False
    return True


@contextlib.contextmanager
def hub_or_local_cache(wanted: str, offline_default: str) -> Iterator[None]:
    """Run a hub download; without a network let it use what an earlier download left on this machine.

    Args:
        wanted: what is being loaded, for the message ("the model 'BAAI/bge-base-en-v1.5'").
        offline_default: what to pass instead to work without a network.

    Without a network an OSError says that something is not there; any other error is not the network's fault, and is
    passed on.

    Raises:
        ConnectionError: the hub cannot be reached and nothing usable was downloaded before; it has no such repository
            or revision, or refuses it to this reader; the download broke off.
    """
    if reachable():
        from huggingface_hub import errors

        transport: Any = errors.HfHubHTTPError.__bases__[0]  # the root of its HTTP client's errors, whichever that is
        reasons = {
            errors.GatedRepoError: "the hub gives it to readers with access only. Ask for access on its page, then set "
            "HF_TOKEN.",
            errors.RepositoryNotFoundError: "the hub has none of this name. Check the spelling; if it is private, set "
            "HF_TOKEN.",
            errors.RevisionNotFoundError: "the hub has no such revision of it.",
        }
        try:
            yield
        except errors.EntryNotFoundError:
            raise
        except transport as error:
            line = str(error).splitlines()[0]
            broken = f"the download broke off ({line}). Run it again; files that arrived are not fetched twice."
            reason = next((text for kind, text in reasons.items() if isinstance(error, kind)), broken)
            raise ConnectionError(f"Cannot load {wanted}: {reason}") from error
        return
    try:
        with offline():
            yield
    except OSError as error:
        endpoint = os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT
        raise ConnectionError(
            f"Cannot load {wanted}: the hub at {endpoint} does not answer and this machine has no earlier "
            f"download of it. Without a network use {offline_default!r}, or a local folder; "
            f"behind a firewall set the environment variable HF_ENDPOINT to a mirror you can reach."
        ) from error


@contextlib.contextmanager
def offline() -> Iterator[None]:
    """Make ``huggingface_hub`` and ``datasets`` look at local files only, for the length of a block.

    ``datasets`` reports to a server that it was used, even where it reads a file of the reader's; not so in here.
    """
    import datasets
    import huggingface_hub

    places = [(huggingface_hub.constants, "HF_HUB_OFFLINE"), (datasets.config, "HF_HUB_OFFLINE")]
    before = [getattr(module, name) for module, name in places]
    for module, name in places:
        setattr(module, name, True)
    try:
        yield
    finally:
        for (module, name), value in zip(places, before, strict=True):
            setattr(module, name, value)
