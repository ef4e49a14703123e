"""What must hold of a file before it is read: a folder that was downloaded reads its own files alone, and texts alone.

A path that the reader gives himself is his own business; what a folder names or links to is not.
"""

import bz2
import gzip
import json
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from helpers._printable import printable
from helpers.data import packed

KINDS = ("json", "csv", "parquet", "arrow", "text")  # the readers of datasets that make tables of text
PACKED: dict[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
ZIPPED = b"PK"
DEEPEST = 100
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_NO_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


def require_regular(path: Path) -> None:
    """Raise unless a path is a file: a pipe or a device would be waited for, or never end."""
    if not path.is_file():
        raise ValueError(f"{printable(path.name)} is no regular file; give a file that can be read to its end.")


def require_own_file(folder: Path, path: Path) -> None:
    """Raise unless ``path`` is a regular file that lies in ``folder``, links resolved.

    The hub's own cache is let through: in it ``datasets--owner--name/snapshots/…`` links to the files in ``blobs``.
    """
    target = path.resolve()
    if not any(target.is_relative_to(root) for root in own_roots(folder.resolve())):
        raise ValueError(
            f"{printable(path.name)!r} leads outside the folder (a link, or a path that README.md names). "
            "Copy the file itself into the folder."
        )
    require_regular(target)


def require_own_links(folder: Path) -> None:
    """Raise where a link to a folder leads outside, or back to a folder it lies in: a search would not end there.

    A pipe or device is refused too: ``datasets`` passes over it, and would take another file for the whole.
    """
    root = folder.resolve()
    for place, folders, files in os.walk(root):
        for file in (Path(place, name) for name in files):
            if file.exists():
                require_regular(file)
        for link in (Path(place, name) for name in folders if Path(place, name).is_symlink()):
            target = link.resolve()
            if not target.is_relative_to(root) or link.is_relative_to(target):
                raise ValueError(
                    f"{printable(link.name)!r} leads outside the folder, or back to itself (a link to a folder). "
                    "Copy the files themselves into the folder."
                )


def require_plain_file(path: Path, kind: str) -> None:
    """Raise where a file of a kind in ``KINDS`` would crash its reader, fill the disk, or open other files."""
    require_regular(path)
    _require_no_bomb(path)
    if kind == "json":
        _require_shallow(path)
    elif kind in ("parquet", "arrow"):
        require_no_names_file(_settings_of_table(path, kind), path.name)


def require_plain_columns(features: Any, name: str) -> None:
    """Raise where a column would open files when it is read: pictures, sound and the like."""
    kind = type(features).__name__
    if isinstance(features, dict | list):
        for inner in features.values() if isinstance(features, dict) else features:
            require_plain_columns(inner, name)
    elif kind in ("List", "LargeList", "Sequence"):
        require_plain_columns(features.feature, name)
    elif kind not in ("Value", "ClassLabel", "Json"):
        raise ValueError(f"{printable(name)}: a column holds {kind} data, not text; only columns of text are read.")


def require_no_names_file(settings: object, where: str) -> None:
    """Raise where settings give the names of classes by a file, which would be opened wherever it lies."""
    for value in within(settings):
        if isinstance(value, dict) and "names_file" in value:
            raise ValueError(f"{printable(where)}: names_file is not read; write the names of the classes out.")


def within(value: object) -> Iterator[object]:
    """Yield a value and every value in it, of nested dicts, lists and the like."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, dict | list | tuple | set):
            waiting += value.values() if isinstance(value, dict) else value


def parse_json(text: str | bytes, where: str) -> Any:
    """Parse JSON, in a message of one line if it is none or nested too deep."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{printable(where)} is not JSON that can be read ({error}).") from None


def own_roots(folder: Path) -> list[Path]:
    """Return the folders in which the files of a folder may lie: itself, and in the hub's cache the one of blobs."""
    roots = [folder]
    for place in (folder, *folder.parents):
        if place.parent.name == "snapshots" and "--" in place.parents[1].name:
            roots.append(place.parents[1] / "blobs")
    return roots


def _require_shallow(path: Path) -> None:
    """Raise where JSON is nested deeper than ``DEEPEST``: some thousands of levels crash its reader."""
    if not any(_may_be_deep(lines) for lines in _contents(path)):
        return
    for lines in _contents(path):
        depth = 0
        for number, line in enumerate(lines, 1):
            for bracket in _STRING.sub(b"", line).translate(None, _NO_BRACKETS):
                depth += 1 if bracket in b"[{" else -1
                if depth > DEEPEST:
                    raise ValueError(
                        f"{printable(path.name)}, line {number}: JSON nested deeper than {DEEPEST} levels is not read."
                    )


def _may_be_deep(lines: Iterable[bytes]) -> bool:
    """Tell, ten times faster than by counting depth, that an object a line with few brackets each is not deep.

    Where a line that ends with } is followed by one that starts with {, nothing is open between them, or it is no JSON.
    """
    deepest, ended = 0, True
    for line in map(bytes.strip, lines):
        if ended and line.startswith(b"{"):
            deepest = 0
        deepest += line.count(b"[") + line.count(b"{")
        if deepest > DEEPEST:
            return True
        ended = line.endswith(b"}")
    return False


def _require_no_bomb(path: Path) -> None:
    """Raise where a packed file, which ``datasets`` would unpack whole, grows out of bounds."""
    opener = _opener(path)
    if opener is not None:
        try:
            with opener(path) as content:
                for _ in packed.blocks(content, path):
                    pass
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"{printable(path.name)} cannot be unpacked ({error}); fetch it again.") from None
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            most = max(packed.ALWAYS, packed.RATIO * path.stat().st_size)
            packed.require_bounded(sum(member.file_size for member in archive.infolist()), most, path)


def _opener(path: Path) -> Callable[[Path], Any] | None:
    """Return what opens a packed file, None if it is not packed."""
    with path.open("rb") as file:
        head = file.read(8)
    return next((opener for magic, opener in PACKED.items() if head.startswith(magic)), None)


def _contents(path: Path) -> Iterator[Iterable[bytes]]:
    """Open a file of text, each file of an archive."""
    with path.open("rb") as file:
        head = file.read(4096)
    opener = _opener(path)
    if head.startswith(ZIPPED):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as lines:
                    yield lines
    elif opener is not None:
        with opener(path) as lines:
            yield lines
    elif b"\0" in head:
        raise ValueError(f"{printable(path.name)} is no JSON text; unpack it, and save it as UTF-8.")
    else:
        with path.open("rb") as lines:
            yield lines


def _settings_of_table(path: Path, kind: str) -> object:
    """Return what a Parquet or Arrow file says of its columns to ``datasets``; None if nothing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if kind == "parquet":
            schema = pq.read_schema(path)
        else:
            with pa.memory_map(str(path)) as source:
                try:
                    schema = pa.ipc.open_stream(source).schema
                except pa.ArrowInvalid:
                    schema = pa.ipc.open_file(source).schema
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{printable(path.name)}: {error}") from None
    settings = (schema.metadata or {}).get(b"huggingface")
    return None if settings is None else parse_json(settings, f"{path.name}, its schema,")
