"""Files: read those from outside, know which of their fields were read, write whole ones; the cache, the language."""

import codecs
import contextlib
import difflib
import gzip
import hashlib
import io
import locale
import os
import re
import secrets
import shutil
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO, cast

PACKED = ".gz"
UTF8 = "utf-8-sig"  # with or without a byte order mark
LFS = "a Git LFS pointer, which stands for the file: fetch that, git lfs pull"
KINDS = {  # first bytes of a file: what it is, and what to do
    b"BZh": "packed by bzip2: unpack it, bunzip2",
    b"\xfd7zXZ\0": "packed by xz: unpack it, unxz",
    b"\x28\xb5\x2f\xfd": "packed by Zstandard: unpack it, unzstd",
    b"\x1f\x8b": "packed by gzip: call it .gz, or unpack it, gunzip",
    b"PK\3\4": 'a ZIP archive or a workbook of Excel: unpack it, or save the sheet as "CSV UTF-8"',
    b"\xd0\xcf\x11\xe0": 'a workbook of old Excel: save the sheet as "CSV UTF-8"',
    b"PAR1": "a Parquet file: call it .parquet",
    b"version https://git-lfs": LFS,
    b"<!doctype html": "a page of HTML, perhaps an error message of a server: fetch the file again",
    b"<html": "a page of HTML, perhaps an error message of a server: fetch the file again",
}
OWN = ' Or name its own: encoding="gb18030" or "big5" (Chinese), "cp1252" (Western), "utf-16".'
WRONG_BYTE = re.compile("([\udc80-\udcff])")  # as ``surrogateescape`` decodes it
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # a spreadsheet runs a cell that begins so (CWE-1236)


def plain_name(path: Path) -> str:
    """Return the name of a file without the suffix ``.gz``."""
    return path.name[: -len(PACKED)] if path.suffix.lower() == PACKED else path.name


def what_is(head: bytes) -> str:
    """Return what a file is, from its first bytes, and what to do; "" for text."""
    head = head.lstrip().lower() if head.lstrip()[:1] == b"<" else head
    return next((kind for mark, kind in KINDS.items() if head.startswith(mark)), "")


@contextlib.contextmanager
def open_binary(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file, or the content of a ``.gz``."""
    try:
        with gzip.open(path) if path.suffix.lower() == PACKED else path.open("rb") as file:
            yield cast(io.BufferedReader, file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        with path.open("rb") as file:
            kind = what_is(file.read(64))
        reason = f"cannot be unpacked ({error}); fetch it again, or give the file unpacked"
        reason = reason if not kind or "gzip" in kind else f"is {kind}"
        raise ValueError(f"{path.name!r} {reason}.") from None


@contextlib.contextmanager
def open_lines(path: Path) -> Iterator[io.BufferedReader]:
    """Open a text file, or one in ``.gz``, as bytes without its byte order mark."""
    with open_binary(path) as file:
        if file.peek(3)[:3] == codecs.BOM_UTF8:
            file.read(3)
        yield file


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def open_text(path: Path, newline: str | None = None, encoding: str = "") -> Iterator[TextIO]:
    """Open a text file or a text file in ``.gz``, without its byte order mark; ``newline`` is that of ``open``.

    Who can choose the ``encoding`` gives one, and is told of it if the file has another.
    """
    try:
        codecs.lookup(encoding or UTF8)
    except LookupError:
        raise ValueError(f'Unknown encoding {encoding!r}; write "utf-8", "gb18030", "big5" or "utf-16".') from None
    try:
        with open_binary(path) as file:
            if kind := what_is(file.peek(64)):
                raise ValueError(f"{path.name!r} is {kind}.")
            with io.TextIOWrapper(file, encoding=encoding or UTF8, newline=newline) as text:
                yield text
    except UnicodeError:
        if encoding not in ("", UTF8):
            raise ValueError(f"{path.name!r} is not {encoding}: some bytes are no character in it.") from None
        with open_binary(path) as file:
            head, byte, _ = WRONG_BYTE.split(file.read().decode(errors="surrogateescape"), maxsplit=1)
        raise ValueError(
            f"{path.name!r}, line {1 + head.count(chr(10))}: not UTF-8 (byte 0x{ord(byte) - 0xDC00:02x}). Save the "
            'file as UTF-8 (in Excel "CSV UTF-8"), or convert it: iconv -f ENCODING -t UTF-8.'
            f"{OWN if encoding else ''}"
        ) from None


class Fields(dict[str, Any]):
    """The columns of a table, or the keys of a JSON object, by name.

    A reader looks up what it knows; what is left in :attr:`unread` is told: ``RetrievalDataset.unused`` for data, the
    attribute ``unused`` of :class:`~helpers.models.ModelInfo` for models.
    """

    def __init__(self, fields: object = ()) -> None:
        super().__init__(fields)  # type: ignore[call-overload]
        self._read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        """Return a field, which then counts as read."""
        self._read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, which then counts as read, or the default."""
        self._read.add(name)
        return super().get(name, default)

    @property
    def unread(self) -> list[str]:
        """The names, in the order of the file, of the fields that nobody looked up and that say something."""
        empty: tuple[object, ...] = (None, "", [], {})
        cells = {name: value if isinstance(value, list) else [value] for name, value in self.items()}
        unread = [name for name in self if name.strip() and name not in self._read]
        return [name for name in unread if any(cell is not False and cell not in empty for cell in cells[name])]


def require_inside(folder: Path, path: Path) -> None:
    """Raise ValueError unless ``path``, with links resolved, is in ``folder``.

    In the hub's cache, files of ``models--owner--name/snapshots/…`` are links to ``models--owner--name/blobs``, which
    is allowed.
    """
    folder, target = folder.resolve(), path.resolve()
    snapshots = [parent for parent in (folder, *folder.parents) if parent.parent.name == "snapshots"]
    blobs = [snapshot.parents[1] / "blobs" for snapshot in snapshots if "--" in snapshot.parents[1].name]
    if not any(target.is_relative_to(root) for root in (folder, *blobs)):
        raise ValueError(
            f"{path.name!r} leads outside the folder {folder.name!r} (a link, or a path that README.md names). "
            "Copy the file itself into the folder."
        )


def nearest(path: Path) -> str:
    """Return the file name in the folder of ``path`` that is most similar to its own; "" if none is similar."""
    names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
    return next(iter(difflib.get_close_matches(path.name, names, n=1)), "")


def other_form(name: str, others: Iterable[str]) -> str:
    """Return a sentence if one of ``others`` is the same text in another Unicode form, else ""."""
    form = unicodedata.normalize("NFC", name)
    same = next((other for other in others if other != name and unicodedata.normalize("NFC", other) == form), None)
    return f" {name!a} and {same!a} look the same: write both files in one Unicode form, NFC." if same else ""


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


def runs_as_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a cell as a formula."""
    return text.lstrip().startswith(_FORMULA)


def as_cell(text: str) -> str:
    """Return the text of a cell, after an apostrophe if a spreadsheet would run it as a formula."""
    return f"'{text}" if runs_as_formula(text) else text


def default_cache() -> Path:
    """Return the cache folder: ``EVAL_CACHE_DIR``, else a folder in the user's cache."""
    named = os.environ.get("EVAL_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named).expanduser() if named else Path(user) / "retrieval-evaluation-tutorial"


def default_language() -> str:
    """Return "zh" if ``EVAL_LANGUAGE``, or without it the locale, is Chinese, else "en"."""
    named = (os.environ.get(name) for name in ("EVAL_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
    found = next(filter(None, named), None) or locale.getlocale()[0] or ""
    return "zh" if found.lower().startswith(("zh", "chinese")) else "en"
