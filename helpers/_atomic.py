"""Write files and folders atomically."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces ``path`` at the end of the block.

    After an error in the block an existing ``path`` is unchanged and the temporary file is removed.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name[-40:]}.{secrets.token_hex(8)}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str, encoding: str = "utf-8") -> None:
    """Write a text file atomically, without translating line ends."""
    with whole_file(path) as temporary:
        temporary.write_bytes(text.encode(encoding))


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Hold an inter-process lock on a folder for the length of the block.

    The lock of a killed process is released.
    """
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        yield


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty temporary folder, which replaces ``folder`` at the end of the block.

    Call it under :func:`one_at_a_time`. The temporary folder is removed after an error, and that of a killed process
    by the next call.
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
