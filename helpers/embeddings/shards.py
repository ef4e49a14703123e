"""Vectors kept in a folder: shards and a manifest, read as one array that need not fit into memory."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
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
SHARD_NAME = re.compile(r"[0-9a-f]{64}")
AGAIN = "run the same call of encode_shards again: what is there is not computed a second time"


@dataclass(frozen=True)
class ModelName:
    """The model that made vectors: its name, and the SHA-256 of its files."""

    name: str
    sha256: str


@dataclass(frozen=True)
class ShardFile:
    """One shard of a folder: its file, its rows, and the SHA-256 over the name and the array."""

    file: str
    rows: int
    sha256: str

    @property
    def name(self) -> str:
        """The name under which a store has the array."""
        return self.file.removesuffix(".npy")


@dataclass(frozen=True)
class Manifest:
    """The content of ``manifest.json`` in a folder of shards: the settings that its vectors share, and the files.

    Attributes:
        model: name and SHA-256 of the model.
        recipe: all else that decides a vector, as it goes into the name of a shard.
        kind: ``passage`` or ``query``.
        instruction: text put before each text.
        shard_size: texts a shard; the last has fewer.
        complete: whether all shards are listed; if not, a run that fills the folder goes on, or was stopped.
        rows: vectors; of an incomplete folder how many there will be, None if nobody knows.
        texts: SHA-256 over the texts in their order, each as a netstring, ``length:text``.
        dim: dimensions of a vector.
        shards: the files in the order of the texts.
    """

    model: ModelName
    recipe: Recipe
    kind: str
    instruction: str
    shard_size: int
    complete: bool = False
    rows: int | None = None
    texts: str = ""
    dim: int = 0
    shards: tuple[ShardFile, ...] = ()

    @classmethod
    def begin(cls, model: Model, kind: str, batch_size: int, shard_size: int, rows: int | None = None) -> Self:
        """Return the manifest of a run that has written nothing yet."""
        name, recipe = ModelName(model.info.name, model.info.sha256), recipe_of(model, kind, batch_size)
        return cls(name, recipe, kind, instruction_of(model, kind), shard_size, rows=rows)

    def shard_file(self, store: Store, texts: Iterable[str], vectors: np.ndarray) -> ShardFile:
        """Describe the shard of some texts, which a store holds."""
        name = self.recipe.shard_name([self.instruction + text for text in texts])
        return ShardFile(f"{name}.npy", len(vectors), store.seal(name))

    def differences(self, other: Self) -> list[str]:
        """Return the settings in which the vectors of two folders differ, each with both values."""
        old, new = ({**asdict(some), **asdict(some.recipe), "model": asdict(some.model)} for some in (self, other))
        names = [name for name in ("model", *asdict(self.recipe), "kind", "instruction", "shard_size")]
        return [f"{name} {old[name]!r}, here {new[name]!r}" for name in names if old[name] != new[name]]

    def write(self, store: Store) -> None:
        """Write the manifest into a store, whole or not at all."""
        content = {"format": FORMAT, "version": VERSION, "dtype": "float32", **asdict(self)}
        store.write_text(MANIFEST, json.dumps(content, indent=1) + "\n")

    @classmethod
    def read(cls, store: Store) -> Self | None:
        """Read the manifest of a store; None if it has none.

        Raises:
            ValueError: another format or version, a file that no run wrote, or one that names files outside the folder.
        """
        if (text := store.read_text(MANIFEST)) is None:
            return None
        try:
            content = json.loads(text)
            if (content.pop("format"), content.pop("version"), content.pop("dtype")) != (FORMAT, VERSION, "float32"):
                raise ValueError(f"not format {FORMAT!r}, version {VERSION}")
            shards = tuple(ShardFile(**shard) for shard in content.pop("shards"))
            if outside := [shard.file for shard in shards if not SHARD_NAME.fullmatch(shard.name)]:
                raise ValueError(f"{outside[0]!r} is no file of a shard")
            model, recipe = ModelName(**content.pop("model")), Recipe(**content.pop("recipe"))
            return cls(model, recipe, **content, shards=shards)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"Folder {str(store.folder)!r}: {MANIFEST} is damaged, or not that of a folder of shards as this "
                f"version writes them ({error!r:.160}). Encode the texts again into another folder."
            ) from None


def fill(store: Store, manifest: Manifest, shards: Iterable[tuple[Iterable[str], ShardFile, int]]) -> Shards:
    """Keep the manifest of a folder while shards are written into it.

    Several runs may fill one folder at once, also on several machines that share a disk. The manifest is written
    before the first shard and after the last, so that a complete one on a disk that is read only is left alone.

    Args:
        store: the folder.
        manifest: the one to begin with.
        shards: in the order of the texts: those of a shard, without their instruction, its file, and its dimensions.

    Raises:
        ValueError: the folder holds vectors of another model, recipe, kind, instruction or shard size; no shards.
        OSError: it cannot be written.
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
        digest.update("".join(f"{len(text)}:{text}" for text in texts).encode("utf-8", "surrogatepass"))
        files.append(file)
    if not files:
        raise ValueError("No texts to encode: give at least one.")
    rows, whole = sum(file.rows for file in files), digest.hexdigest()
    complete = replace(manifest, complete=True, rows=rows, texts=whole, dim=dim, shards=tuple(files))
    if earlier != complete:
        complete.write(store)
    return Shards(store.folder, complete)


class Shards:
    """The vectors that :func:`helpers.embeddings.encode_shards` kept in a folder, as one array (rows, dim).

    Vectors are read when they are needed. Going through it gives the shards in their order as read-only
    memory-mapped arrays, in memory for as long as they are used; an index, a slice or an array of rows gives vectors,
    and ``np.asarray`` all of them. The first time a shard is read, its file has to have the SHA-256 of the manifest.

    Attributes:
        folder: the folder of the files.
        model: ``name`` and ``sha256`` of the model.
        kind: ``passage`` or ``query``.
        texts: SHA-256 over the texts, see :class:`Manifest`.
        dim: dimensions of a vector.

    Raises:
        ValueError: when a shard is read that is missing, unreadable or not the one that was written; the message
            names the file.
    """

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        """Take a complete manifest; users call :meth:`open`."""
        self.folder, self.manifest = folder, manifest
        self.model, self.kind, self.texts, self.dim = manifest.model, manifest.kind, manifest.texts, manifest.dim
        self._starts = [0, *itertools.accumulate(shard.rows for shard in manifest.shards)]
        self._store = Store(folder)
        self._verified: set[int] = set()

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open a folder that an earlier run filled.

        Raises:
            FileNotFoundError: no such folder, or one without a manifest.
            ValueError: a run that was not finished, an unknown format, a damaged manifest.
        """
        store = Store(folder)
        manifest = Manifest.read(store)
        if manifest is None:
            raise FileNotFoundError(
                f"No {MANIFEST} in {str(store.folder)!r}: expected a folder that encode_shards(model, texts, folder=…) "
                "filled."
            )
        if not manifest.complete:
            written = sum(bool(SHARD_NAME.fullmatch(name)) for name in store.names())
            total = "" if manifest.rows is None else f" of {-(-manifest.rows // manifest.shard_size)}"
            raise ValueError(f"Folder {str(store.folder)!r} is unfinished, {written}{total} shards so far; {AGAIN}.")
        return cls(store.folder, manifest)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return self._starts[-1]

    @property
    def shape(self) -> tuple[int, int]:
        """Vectors and dimensions."""
        return len(self), self.dim

    @property
    def parts(self) -> list[tuple[int, Path]]:
        """For each shard the row at which it begins, and its file."""
        paths = (self._store.path(shard.name) for shard in self.manifest.shards)
        return list(zip(self._starts, paths, strict=False))

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give the shards in order, each a read-only array (at most shard_size, dim)."""
        return (self.part(number) for number in range(len(self.manifest.shards)))

    def part(self, number: int) -> np.ndarray:
        """Map one shard into memory, its checksum verified if this is the first time."""
        expected = self.manifest.shards[number]
        name, shape = expected.name, (expected.rows, self.dim)
        if number in self._verified:
            return self._store.read_again(name, shape)
        shard = self._store.read(name)
        if shard is None or self._store.seal(name) != expected.sha256 or shard.shape != shape:
            raise ValueError(
                f"Folder {str(self.folder)!r}: {expected.file} is missing, cannot be read, or is damaged: its "
                f"SHA-256 or its shape is not the one of {MANIFEST}; {AGAIN}."
            )
        self._verified.add(number)
        return shard

    def __getitem__(self, rows: SupportsIndex | slice | np.ndarray | list[int]) -> np.ndarray:
        """Read vectors: of one row (dim,), of a slice or of an array of row numbers (m, dim)."""
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
        """Show folder, size and number of shards."""
        return f"Shards({str(self.folder)!r}, {len(self)} × {self.dim}, {len(self.manifest.shards)} shards)"
