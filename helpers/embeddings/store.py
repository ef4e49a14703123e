"""Content-addressed storage of vectors: a folder of arrays, each with a checksum at the end of its file."""

import contextlib
import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from helpers._io import default_cache, whole_file, write_text
from helpers._optional import Note

SEAL = hashlib.sha256().digest_size  # bytes after the array: SHA-256 over its name and content


@dataclass(frozen=True)
class Recipe:
    """The settings that, with a text and its instruction, determine its vector."""

    model: str  # SHA-256 of its files
    pooling: str
    max_length: int | None  # tokens to which texts are truncated
    device: str  # ``cpu`` or ``cuda``, without its number
    dtype: str  # the PyTorch type of the weights
    dim: int | None = None  # leading dimensions kept; None for all
    colbert_side: str = ""  # ``query`` or ``passage`` for ColBERT's tokenization
    batch_size: int | None = None  # for the one pooling that depends on it, UNMASKED_MEAN
    lower_case: bool = False  # whether texts are lowercased before the tokenizer reads them

    def shard_name(self, texts: Sequence[str]) -> str:
        """Return the name of the array with the vectors of these texts, given with their instruction."""
        settings = astuple(self) if self.lower_case else astuple(self)[:-1]  # as before there was this one
        content = json.dumps([settings, list(texts)], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()


class Store:
    """Arrays by name, in a folder that is created on the first write, readable by its owner only.

    All vectors are read and written through this class; another kind of storage is another class with its methods.
    The folder is by default the user's cache; ``damaged`` names the arrays that were found damaged.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        """Initialize with a folder, which need not exist."""
        self.folder = (Path(folder).expanduser() if folder is not None else default_cache()).absolute()
        self.remedy = "set the environment variable EVAL_CACHE_DIR to" if folder is None else "name"
        self.damaged: set[str] = set()

    def path(self, name: str) -> Path:
        """Return the file of an array, which need not exist."""
        return self.folder / f"{name}.npy"

    def read(self, name: str) -> np.ndarray | None:
        """Memory-map an array; return None if it is missing, unreadable, or its checksum does not match."""
        path = self.path(name)
        try:
            whole = memoryview(path.read_bytes())
            if hashlib.sha256(name.encode() + whole[:-SEAL]).digest() == whole[-SEAL:]:
                array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
                return array
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            pass
        self.damaged.add(name)
        return None

    def tell_damaged(self, shards: int) -> None:
        """Warn of arrays that were damaged, out of so many shards, and were computed again. Warns: Note."""
        if count := len(self.damaged):
            text = "{count} of {of} shards of vectors were damaged and were computed again: the disk may be failing."
            warnings.warn(Note(text, count=count, of=shards), stacklevel=3)

    def write(self, name: str, array: np.ndarray) -> np.ndarray:
        """Write an array atomically, and memory-map it."""
        path, buffer, array = self.path(name), io.BytesIO(), np.ascontiguousarray(array)
        np.save(buffer, array, allow_pickle=False)
        content = buffer.getbuffer()
        with self._errors_named(path):
            with whole_file(path) as temporary, temporary.open("wb") as file:
                file.write(content)
                file.write(hashlib.sha256(name.encode() + content).digest())
            return np.memmap(path, array.dtype, "r", len(content) - array.nbytes, array.shape)

    def seal(self, name: str) -> str:
        """Return the checksum at the end of an array's file."""
        with self.path(name).open("rb") as file:
            file.seek(-SEAL, os.SEEK_END)
            return file.read().hex()

    def read_text(self, name: str) -> str | None:
        """Return the content of a text file; None if it does not exist."""
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write_text(self, name: str, text: str) -> None:
        """Write a text file atomically."""
        path = self.folder / name
        with self._errors_named(path):
            write_text(path, text)

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Let one process at a time compute an array, so that the others can read it; results do not depend on it."""
        from filelock import FileLock

        with self._errors_named(self.path(name)):
            lock = FileLock(self.folder / f".{name}.lock")
            lock.acquire()
        try:
            yield
        finally:
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()

    @contextlib.contextmanager
    def _errors_named(self, path: Path) -> Iterator[None]:
        """Create the folder; an OSError in the block names the file, the cause, and the remedy."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            yield
        except OSError as error:
            advice = f"{self.remedy} another folder"
            where = f"{path.name} to the folder {str(self.folder)!r} ({error.strerror})"
            raise OSError(error.errno, f"Cannot write {where}: {advice}.") from error
