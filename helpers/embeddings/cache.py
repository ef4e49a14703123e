"""The embedding cache: finished shards on disk, each named by all that decides its values and sealed by a checksum."""

import hashlib
import json
import stat
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from helpers._atomic import whole_file
from helpers._cache import default_cache as default_cache

SHARD_SIZE = 1024  # texts a file: what a killed run loses at most
_SEAL = hashlib.sha256().digest_size  # bytes behind the array: SHA-256 over the shard's name and the array's file


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
        self.folder = Path(folder) if folder is not None else default_cache()

    def read(self, name: str) -> np.ndarray | None:
        """Map a shard into memory; None if it is absent, damaged, another's, or not readable."""
        path = self.folder / f"{name}.npy"
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would not return
                return None
            array = path.read_bytes()
            if hashlib.sha256(name.encode() + array[:-_SEAL]).digest() != array[-_SEAL:]:
                return None
            shard: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError):
            return None
        return shard

    def write(self, name: str, vectors: np.ndarray) -> np.ndarray:
        """Write a shard so that nobody ever sees half of one, and map it into memory."""
        path = self.folder / f"{name}.npy"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with whole_file(path) as temporary:
                with temporary.open("wb") as file:
                    np.save(file, vectors, allow_pickle=False)
                seal = hashlib.sha256(name.encode() + temporary.read_bytes()).digest()
                with temporary.open("ab") as file:
                    file.write(seal)
            shard: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise OSError(
                f"Cannot write to the cache folder {str(self.folder)!r} ({error.strerror}): "
                "pass another cache_dir, or set the environment variable EVAL_CACHE_DIR."
            ) from error
        return shard
