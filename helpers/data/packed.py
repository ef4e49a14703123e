"""Unpack a ``.gz`` file beside no other, within bounds: what reads a file then reads a plain one, whatever it was."""

import contextlib
import gzip
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from helpers._printable import printable

PACKED_SUFFIX = ".gz"
BLOCK = 1 << 20  # bytes unpacked at a time, so that no packed file is ever whole in memory
ALWAYS = 256 << 20  # so many bytes may come out of any file, however small
RATIO = 100  # beyond that, so many times the packed size; texts pack five- to tenfold, a bomb a thousandfold


def plain_name(path: Path) -> str:
    """Return the name of a file without the suffix ``.gz``."""
    return path.name[: -len(PACKED_SUFFIX)] if is_packed(path) else path.name


def is_packed(path: Path) -> bool:
    """Tell whether the name of a file says that it is packed."""
    return path.suffix.lower() == PACKED_SUFFIX


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Give a plain file with the content of ``path``: itself, or of a ``.gz`` a copy that is gone after the block.

    Raises:
        ValueError: the file is no gzip, cut short, or unpacks to more than a text of its size can.
        OSError: no room for the copy; the message names the folder for temporary files.
    """
    if not is_packed(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / plain_name(path)
        with path.open("rb") as source, plain.open("wb") as target:
            try:
                _unpack(source, target, path)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise ValueError(
                    f"{printable(path.name)} cannot be unpacked ({error}); fetch it again, or give the file unpacked."
                ) from None
            except OSError as error:
                raise OSError(
                    f"{printable(path.name)} cannot be unpacked to {folder}: {error.strerror}. "
                    "Make room, or name another folder by the environment variable TMPDIR."
                ) from None
        yield plain


def blocks(packed: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield the content of a packed file block by block, and stop where it grows out of bounds.

    Raises:
        ValueError: more comes out than a text of the size of ``path`` can hold.
    """
    most, size = max(ALWAYS, RATIO * path.stat().st_size), 0
    while block := packed.read(BLOCK):
        size += len(block)
        require_bounded(size, most, path)
        yield block


def require_bounded(size: int, most: int, path: Path) -> None:
    """Raise where more bytes come out of a packed file than may."""
    if size > most:
        raise ValueError(
            f"{printable(path.name)} unpacks to more than {most >> 20} MiB, over {RATIO} times its size, "
            "which no collection of texts does; unpack it yourself if you trust it."
        )


def _unpack(source: BinaryIO, target: BinaryIO, path: Path) -> None:
    """Copy the content of a gzip file block by block."""
    with gzip.GzipFile(fileobj=source) as packed:
        for block in blocks(cast(BinaryIO, packed), path):
            target.write(block)
