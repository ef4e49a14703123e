"""Access to the Hugging Face hub, with clear errors and earlier downloads if it cannot be reached."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEFAULT_ENDPOINT = "https://huggingface.co"
TIMEOUT_SECONDS = 5
FILES = (".jsonl", ".json", ".csv", ".tsv", ".txt", ".parquet", ".gz", ".toml", ".npy", ".trec", ".run", ".qrels")


def is_hub_id(name: str | Path) -> bool:
    """Return whether a name is a hub id, ``owner/name`` or ``owner/name@revision``, without asking the hub.

    An existing path is not, nor is a mistyped one: it starts with a dot, its parent folder exists, or it has a file
    suffix.
    """
    text = str(name)
    path = Path(text).expanduser()
    if isinstance(name, Path) or not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*(@[^/]*)?", text, re.ASCII):
        return False
    return path.suffix.lower() not in FILES and not path.exists() and not path.parent.is_dir()


def split_revision(hub_id: str) -> tuple[str, str | None]:
    """Split ``owner/name@revision`` (a commit, tag or branch); the revision is None if not given."""
    repository, _, revision = hub_id.partition("@")
    return repository, revision or None


def reachable() -> bool:
    """Return whether the hub answers within ``TIMEOUT_SECONDS``.

    The address is ``HF_ENDPOINT`` if set, for example to a mirror. With ``HF_HUB_OFFLINE=1`` the answer is False.
    Any HTTP response counts, including an error page.
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
    except (OSError, ValueError, http.client.HTTPException):  # HTTPException: the response is not HTTP
        return False
    return True


@contextlib.contextmanager
def hub_or_local_cache(wanted: str, offline_default: str) -> Iterator[None]:
    """Run a hub download in this block; if the hub cannot be reached, use an earlier download.

    Without a network, an OSError in the block means that a file was not downloaded before; other errors are passed on.
    ConnectionError names what is ``wanted`` ("the model 'BAAI/bge-base-en-v1.5'"), the reason, and without a network
    the name of a model or data set, ``offline_default``, that needs none.
    """
    if reachable():
        from huggingface_hub import errors

        transport: Any = errors.HfHubHTTPError.__bases__[0]  # base class of the errors of its HTTP client
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
    """Restrict ``huggingface_hub`` and ``datasets`` to local files in this block.

    This also stops ``datasets`` from reporting its use to a server, which it does even for local files.
    """
    import datasets
    import huggingface_hub

    modules: list[Any] = [huggingface_hub.constants, datasets.config]
    before = [module.HF_HUB_OFFLINE for module in modules]
    for module in modules:
        module.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        for module, value in zip(modules, before, strict=True):
            module.HF_HUB_OFFLINE = value
