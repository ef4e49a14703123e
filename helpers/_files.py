"""Read files that somebody else wrote: text is UTF-8, and nothing outside their folder is opened."""

import contextlib
import difflib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TextIO, cast

PACKED = ".gz"


def plain_name(path: Path) -> str:
    """Return the name of a file without the suffix ``.gz``."""
    return path.name[: -len(PACKED)] if path.suffix.lower() == PACKED else path.name


@contextlib.contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, or the content of a ``.gz``.

    Raises:
        ValueError: a packed file that is cut short, damaged or not packed.
    """
    try:
        with gzip.open(path) if path.suffix.lower() == PACKED else path.open("rb") as file:
            yield cast(IO[bytes], file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{path.name!r} cannot be unpacked ({error}); fetch it again, or give the file unpacked."
        ) from None


@contextlib.contextmanager
def open_text(path: Path, newline: str | None = None) -> Iterator[TextIO]:
    """Open a UTF-8 file, packed (``.gz``) or not, without its byte order mark; ``newline`` is that of ``open``.

    Raises:
        ValueError: the file is not UTF-8; the message names the line. As :func:`open_binary`.
    """
    try:
        with open_binary(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline=newline) as text:
            yield text
    except UnicodeDecodeError:
        line, byte = _first_not_utf8(path)
        encoding = "UTF-16" if line == 1 and byte >= 0xFE else "GB18030"  # the first begins with FE FF or FF FE
        raise ValueError(
            f"{path.name!r}, line {line}: not UTF-8 (byte 0x{byte:02x}). Save the file as UTF-8 (in Excel "
            f'"CSV UTF-8"), or convert it: iconv -f {encoding} -t UTF-8, with its own encoding after -f.'
        ) from None


def require_inside(folder: Path, path: Path) -> None:
    """Raise unless ``path`` lies in ``folder``, links resolved.

    In the hub's cache ``models--owner--name/snapshots/…`` links to the files in ``models--owner--name/blobs``, which
    count as the folder's.
    """
    folder, target = folder.resolve(), path.resolve()
    snapshots = [place for place in (folder, *folder.parents) if place.parent.name == "snapshots"]
    blobs = [place.parents[1] / "blobs" for place in snapshots if "--" in place.parents[1].name]
    if not any(target.is_relative_to(root) for root in (folder, *blobs)):
        raise ValueError(
            f"{path.name!r} leads outside the folder {folder.name!r} (a link, or a path that README.md names). "
            "Copy the file itself into the folder."
        )


def nearest(path: Path) -> str:
    """Return the name nearest to that of ``path`` in its folder, "" if none is near."""
    names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    return next(iter(difflib.get_close_matches(path.name, names, n=1)), "")


def _first_not_utf8(path: Path) -> tuple[int, int]:
    with open_binary(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return number, line[error.start]
    raise AssertionError("every line is UTF-8")
