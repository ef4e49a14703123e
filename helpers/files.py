"""Write a file whole or not at all."""

import contextlib
import os
import tempfile
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
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """Return the permissions that new files are not given; temporary files would keep their stricter ones."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
