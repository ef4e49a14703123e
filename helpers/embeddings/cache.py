"""The embedding cache: finished shards on disk, each named by all that decides its values and sealed by a checksum."""

import contextlib
import errno
import hashlib
import io
import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from helpers._atomic import whole_file
from helpers._cache import default_cache as default_cache

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

SHARD_SIZE = 1024  # texts a file: what a killed run loses at most
SEAL = hashlib.sha256().digest_size  # bytes behind the array: SHA-256 over the shard's name and the array's file


@dataclass(frozen=True)
class Recipe:
    """All that decides the vector of a text, beside the text itself with its instruction.

    Attributes:
        model: SHA-256 of the model's files.
        pooling: how token vectors become one vector.
        max_length: tokens at which texts are truncated.
        device: the kind of device, ``cpu`` or ``cuda``; its number changes nothing.
        dtype: the type of the numbers the network computes with.
        dim: to how many dimensions vectors are truncated, None for all.
        colbert_side: ``query`` or ``passage`` where texts are read as ColBERT reads them, else empty.
        batch_size: for the one pooling that depends on it, else None.
    """

    model: str
    pooling: str
    max_length: int | None
    device: str
    dtype: str
    dim: int | None = None
    colbert_side: str = ""
    batch_size: int | None = None

    def shard_name(self, texts: Sequence[str]) -> str:
        """Name the shard of some texts."""
        content = json.dumps([astuple(self), list(texts)], ensure_ascii=False)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


class ShardCache:
    """A folder of shards, by default :func:`default_cache`; it is made, for its owner alone, when it is first written.

    Raises:
        OSError: the folder cannot be made or written; the message names it.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        """Take a folder, which need not exist yet."""
        self.folder = Path(folder).expanduser() if folder is not None else default_cache()

    def path(self, name: str) -> Path:
        """Return where the shard of a name lies, or would lie."""
        return self.folder / f"{name}.npy"

    def read(self, name: str) -> np.ndarray | None:
        """Map a shard into memory; None if it is absent, damaged, another's, or not readable."""
        path = self.path(name)
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would not return
                return None
            whole = memoryview(path.read_bytes())
            if _digest(name, whole[:-SEAL]) != whole[-SEAL:]:
                return None
            shard: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError):
            return None
        return shard

    def seal(self, name: str) -> str:
        """Return the SHA-256, over name and array, that stands at the end of a shard's file."""
        with self.path(name).open("rb") as file:
            file.seek(-SEAL, os.SEEK_END)
            return file.read().hex()

    def write(self, name: str, vectors: np.ndarray) -> np.ndarray:
        """Write a shard so that nobody ever sees half of one, and map it into memory."""
        path, buffer, vectors = self.path(name), io.BytesIO(), np.ascontiguousarray(vectors)
        np.save(buffer, vectors, allow_pickle=False)
        array = buffer.getbuffer()
        with self.errors_named(path, len(array) + SEAL):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with contextlib.suppress(OSError):
                path.rmdir()  # an empty folder in its place
            with whole_file(path) as temporary, temporary.open("wb") as file:
                file.write(array)
                file.write(_digest(name, array))
            return np.memmap(path, vectors.dtype, "r", len(array) - vectors.nbytes, vectors.shape)

    @contextlib.contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Let one process at a time compute a shard; whoever wants the same one waits, and finds it when let in.

        It saves work and no more: whole files are written with or without it, as on Windows and on disks that know no
        locks. The kernel takes the lock from a killed process. (``filelock`` takes a hundred times as long for each.)
        """
        if fcntl is None:
            yield
            return
        lock = self.folder / f".{name}.lock"
        with self.errors_named(self.path(name)):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            held = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_EX)
            yield
        finally:
            lock.unlink(missing_ok=True)
            os.close(held)

    @contextlib.contextmanager
    def errors_named(self, path: Path, size: int = 0) -> Iterator[None]:
        """Say which file of ``size`` bytes cannot be written, why, and what to do."""
        try:
            yield
        except OSError as error:
            advice = "pass another folder, or set the environment variable EVAL_CACHE_DIR"
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                missing = max(0, size - shutil.disk_usage(self.folder).free)
                advice = f"the file takes {size:,} bytes, {missing:,} are missing. Free them, or {advice}"
            raise OSError(
                error.errno,
                f"Cannot write {path.name} to the cache folder {str(self.folder)!r} ({error.strerror}): {advice}.",
            ) from error


def _digest(name: str, array: bytes | memoryview) -> bytes:
    """Digest a shard's name and the file of its array."""
    digest = hashlib.sha256(name.encode())
    digest.update(array)
    return digest.digest()
