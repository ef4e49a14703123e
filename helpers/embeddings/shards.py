"""A folder of vectors, stored as shards with a manifest and read as one array that may be larger than memory."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from helpers.embeddings.encoding import instruction_of, recipe_of
from helpers.embeddings.store import Recipe, Store
from helpers.models import Model

MANIFEST = "manifest.json"
FORMAT, VERSION = "shards", 1
AGAIN = "run the same call of encode_shards again: what is there is not computed a second time"


@dataclass(frozen=True)
class ModelName:
    """The name of a model, and the SHA-256 of its files."""

    name: str
    sha256: str


@dataclass(frozen=True)
class ShardFile:
    """A shard: its file name, its number of rows, and the SHA-256 over its name and array."""

    file: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The content of ``manifest.json`` in a folder of shards: the settings of its vectors, and the files."""

    model: ModelName
    recipe: Recipe  # the other settings that determine a vector; they are part of a shard's name
    kind: str
    instruction: str
    shard_size: int  # texts per shard; the last has fewer
    complete: bool = False  # False while a run fills the folder, and after it was stopped
    rows: int | None = None  # the number of vectors; None while incomplete
    texts: str = ""  # SHA-256 over the texts in order, each as a netstring, ``length:text``
    dim: int = 0
    shards: tuple[ShardFile, ...] = ()  # in the order of the texts

    @classmethod
    def begin(cls, model: Model, kind: str, batch_size: int, shard_size: int) -> Self:
        """Return the manifest of a run before its first shard."""
        name, recipe = ModelName(model.info.name, model.info.sha256), recipe_of(model, kind, batch_size)
        return cls(name, recipe, kind, instruction_of(model, kind), shard_size)

    def shard_file(self, store: Store, texts: Iterable[str], vectors: np.ndarray) -> ShardFile:
        """Return the manifest's entry for the shard of some texts, which is in the store."""
        name = self.recipe.shard_name([self.instruction + text for text in texts])
        return ShardFile(f"{name}.npy", len(vectors), store.seal(name))

    def differences(self, other: Self) -> list[str]:
        """Return the settings in which two manifests differ, each with both values."""
        old, new = ({**asdict(one), **asdict(one.recipe), "model": asdict(one.model)} for one in (self, other))
        names = ("model", *asdict(self.recipe), "kind", "instruction", "shard_size")
        return [f"{name} {old[name]!r}, here {new[name]!r}" for name in names if old[name] != new[name]]

    def write(self, store: Store) -> None:
        """Write the manifest into a store atomically."""
        content = {"format": FORMAT, "version": VERSION, "dtype": "float32", **asdict(self)}
        store.write_text(MANIFEST, json.dumps(content, indent=1) + "\n")

    @classmethod
    def read(cls, store: Store) -> Self | None:
        """Return the manifest of a store; None if it has none."""
        if (text := store.read_text(MANIFEST)) is None:
            return None
        try:
            content = json.loads(text)
            if (content.pop("format"), content.pop("version"), content.pop("dtype")) != (FORMAT, VERSION, "float32"):
                raise ValueError(f"not format {FORMAT!r}, version {VERSION}")
            shards = tuple(ShardFile(**shard) for shard in content.pop("shards"))
            if outside := [shard.file for shard in shards if Path(shard.file).name != shard.file]:
                raise ValueError(f"{outside[0]!r} is no file of the folder")
            model, recipe = ModelName(**content.pop("model")), Recipe(**content.pop("recipe"))
            return cls(model, recipe, **content, shards=shards)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"Folder {str(store.folder)!r}: {MANIFEST} is damaged, or not that of a folder of shards as this "
                f"version writes them ({error!r:.160}). Encode the texts again into another folder."
            ) from None


def fill(store: Store, manifest: Manifest, shards: Iterable[tuple[Iterable[str], ShardFile, int]]) -> Shards:
    """Write the manifest of a folder before its first shard and after its last.

    Several runs may fill one folder at once, also from several machines that share a disk. An up-to-date manifest is
    not written again, so that a complete folder may be read-only. Of each shard, in the order of the texts, its texts
    without instruction, its file and its dimensions are given.
    """
    earlier = Manifest.read(store)
    if earlier is None:
        manifest.write(store)
    elif differences := earlier.differences(manifest):
        raise ValueError(
            f"Folder {str(store.folder)!r} was made in another way: {'; '.join(differences)}. Take another folder, or "
            "delete this one."
        )
    digest, files, dim = hashlib.sha256(), [], 0
    for texts, file, dim in shards:  # noqa: B007
        digest.update("".join(f"{len(text)}:{text}" for text in texts).encode())
        files.append(file)
    rows = sum(file.rows for file in files)
    complete = replace(manifest, complete=True, rows=rows, texts=digest.hexdigest(), dim=dim, shards=tuple(files))
    if earlier != complete:
        complete.write(store)
    return Shards(store.folder, complete)


class Shards:
    """The vectors that :func:`helpers.embeddings.encode_shards` stored in a folder, as one array (rows, dim).

    Vectors are read on demand. Iteration yields the shards in order as read-only, memory-mapped arrays; an index, a
    slice or an array of rows returns vectors, and ``np.asarray`` all of them. The SHA-256 of a shard is verified when
    it is first read; ValueError names a file that is missing, unreadable or changed. ``model`` has ``name`` and
    ``sha256``, ``texts`` is a SHA-256 over the texts, ``dim`` the dimensions of a vector.
    """

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        """Initialize from a complete manifest; users call :meth:`open`."""
        self.folder, self.manifest = folder, manifest
        self.model, self.kind, self.texts, self.dim = manifest.model, manifest.kind, manifest.texts, manifest.dim
        self._starts = [0, *itertools.accumulate(shard.rows for shard in manifest.shards)]
        self._store = Store(folder)
        self._verified: set[int] = set()

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open a folder that an earlier run filled."""
        store = Store(folder)
        manifest = Manifest.read(store)
        if manifest is None:
            raise FileNotFoundError(
                f"No {MANIFEST} in {str(store.folder)!r}: expected a folder that encode_shards(model, texts, folder=…) "
                "filled."
            )
        if not manifest.complete:
            written = len(list(store.folder.glob("*.npy")))
            raise ValueError(f"Folder {str(store.folder)!r} is unfinished, {written} shards so far; {AGAIN}.")
        return cls(store.folder, manifest)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return self._starts[-1]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of vectors, number of dimensions."""
        return len(self), self.dim

    @property
    def parts(self) -> list[tuple[int, Path]]:
        """The first row and the file of each shard."""
        paths = (self.folder / shard.file for shard in self.manifest.shards)
        return list(zip(self._starts, paths, strict=False))

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield the shards in order, each a read-only array (at most shard_size, dim)."""
        return (self.part(number) for number in range(len(self.manifest.shards)))

    def part(self, number: int) -> np.ndarray:
        """Memory-map one shard; verify its checksum the first time."""
        expected = self.manifest.shards[number]
        name, shape = expected.file.removesuffix(".npy"), (expected.rows, self.dim)
        if number in self._verified:
            return np.load(self._store.path(name), mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
        shard = self._store.read(name)
        if shard is None or self._store.seal(name) != expected.sha256 or shard.shape != shape:
            raise ValueError(
                f"Folder {str(self.folder)!r}: {expected.file} is missing, cannot be read, or is damaged: its "
                f"SHA-256 or its shape is not the one of {MANIFEST}; {AGAIN}."
            )
        self._verified.add(number)
        return shard

    def __getitem__(self, rows: SupportsIndex | slice | np.ndarray | list[int]) -> np.ndarray:
        """Read the vector of one row, (dim,), or those of a slice or array of row numbers, (m, dim)."""
        numbers = np.arange(*rows.indices(len(self))) if isinstance(rows, slice) else np.asarray(rows)
        if numbers.dtype == bool and numbers.shape == (len(self),):
            numbers = np.flatnonzero(numbers)
        size = len(self)
        if numbers.size and not (numbers.dtype.kind in "iu" and -size <= numbers.min() <= numbers.max() < size):
            raise IndexError(f"Expected rows of {size} vectors, got {numbers.min()} to {numbers.max()}.")
        flat = numbers.reshape(-1).astype(np.int64) % size
        vectors = np.empty((len(flat), self.dim), self.dtype)
        holders = np.searchsorted(self._starts, flat, side="right") - 1
        for number in np.unique(holders).tolist():
            places = np.flatnonzero(holders == number)
            vectors[places] = self.part(number)[flat[places] - self._starts[number]]
        return vectors.reshape(*numbers.shape, self.dim)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """Read all vectors into memory."""
        if copy is False:
            raise ValueError("The vectors are in several files: they cannot become one array without a copy.")
        return np.concatenate(list(self), dtype=dtype, casting="same_kind")

    def __repr__(self) -> str:
        """Return folder, shape and number of shards."""
        return f"Shards({str(self.folder)!r}, {len(self)} × {self.dim}, {len(self.manifest.shards)} shards)"
