"""Write a file, or a folder, whole or not at all."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path``; what was written there takes its place when the block ends well.

    After an error the old file, if there was one, is still there, and the temporary one is gone.

    Raises:
        OSError: the folder does not exist or cannot be written.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name[-40:]}.{secrets.token_hex(8)}.tmp")
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # the user's own mask applies
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str, encoding: str = "utf-8") -> None:
    """Write a file of text whole or not at all, with the line ends that the text has."""
    with whole_file(path) as temporary:
        temporary.write_bytes(text.encode(encoding))


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Let one process at a time, of all that name the same folder, into a block; the others wait.

    A killed process lets go of it too.

    Raises:
        OSError: the folder above cannot be made or written.
    """
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        yield


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder beside ``folder``, which takes its place when the block ends well.

    To be used under :func:`one_at_a_time`. What an error leaves is removed here, what a killed process leaves the next
    time.

    Raises:
        OSError: the folder above cannot be written.
    """
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
