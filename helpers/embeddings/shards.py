"""Vectors kept in a folder: shards and a manifest, read as one array that need not fit into memory."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import DTypeLike

from helpers.embeddings.encoding import instruction_of, recipe_of
from helpers.embeddings.store import Recipe, Store
from helpers.models import Model

MANIFEST = "manifest.json"
FORMAT, VERSION = "shards", 1
SHARD_NAME = re.compile(r"[0-9a-f]{64}")
AGAIN = "run the same call of encode_shards again: what is there is not computed a second time"


class ModelName(NamedTuple):
    """The model that made vectors: its name, and the SHA-256 of its files."""

    name: str
    sha256: str


class ShardFile(NamedTuple):
    """One shard of a folder: its name, its rows, and the SHA-256 over its name and its array's file."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class ShardSettings:
    """The settings that all vectors of a folder share; a folder takes no others.

    Attributes:
        model: name and SHA-256 of the model.
        recipe: all else that decides a vector, as it goes into the name of a shard.
        kind: ``passage`` or ``query``.
        instruction: text put before each text.
        shard_size: texts a shard; the last has fewer.
    """

    model: ModelName
    recipe: Recipe
    kind: str
    instruction: str
    shard_size: int

    @classmethod
    def of(cls, model: Model, kind: str, batch_size: int, shard_size: int) -> Self:
        """Return the settings of a run."""
        name = ModelName(model.info.name, model.info.sha256)
        return cls(name, recipe_of(model, kind, batch_size), kind, instruction_of(model, kind), shard_size)

    def shard_file(self, store: Store, texts: Iterable[str], vectors: np.ndarray) -> ShardFile:
        """Describe the shard of some texts, which a store holds."""
        name = self.recipe.shard_name([self.instruction + text for text in texts])
        return ShardFile(name, len(vectors), store.seal(name))


@dataclass(frozen=True)
class Manifest:
    """The content of ``manifest.json`` in a folder of shards.

    Attributes:
        settings: those that its vectors share.
        complete: whether all shards are listed; if not, a run that fills the folder goes on, or was stopped.
        rows: vectors; of an incomplete folder how many there will be, None if nobody knows.
        texts: SHA-256 over the texts in their order, each as a netstring, ``length:text``.
        dim: dimensions of a vector.
        shards: the files in the order of the texts.
    """

    settings: ShardSettings
    complete: bool
    rows: int | None = None
    texts: str = ""
    dim: int = 0
    shards: tuple[ShardFile, ...] = ()

    def write(self, store: Store) -> None:
        """Write the manifest into a store, whole or not at all."""
        settings = asdict(self.settings) | {"model": self.settings.model._asdict()}
        state = {"complete": self.complete, "rows": self.rows, "texts": self.texts, "dim": self.dim, "dtype": "float32"}
        shards = [{"file": f"{shard.name}.npy", "rows": shard.rows, "sha256": shard.sha256} for shard in self.shards]
        content = {"format": FORMAT, "version": VERSION, **settings, **state, "shards": shards}
        store.write_text(MANIFEST, json.dumps(content, indent=1) + "\n")

    @classmethod
    def read(cls, store: Store) -> Self | None:
        """Read the manifest of a store; None if it has none.

        Raises:
            ValueError: another format or version, or a file that no run wrote.
        """
        where = f"Folder {str(store.folder)!r}"
        if (text := store.read_text(MANIFEST)) is None:
            return None
        try:
            content = json.loads(text)
            version = (content["format"], content["version"])
            if version == (FORMAT, VERSION):
                return cls._from_json(content)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{where}: {MANIFEST} is damaged, or not that of a folder of shards ({error!r:.160})."
            ) from None
        raise ValueError(
            f"{where}: {MANIFEST} has the format {version!r}; this version reads {(FORMAT, VERSION)}. Encode the texts "
            "again into another folder."
        )

    @classmethod
    def _from_json(cls, content: dict[str, Any]) -> Self:
        """Make a manifest; names of files outside the folder and impossible numbers are refused."""
        settings = {field.name: content[field.name] for field in fields(ShardSettings)}
        settings |= {"model": ModelName(**content["model"]), "recipe": Recipe(**content["recipe"])}
        shards = tuple(
            ShardFile(shard["file"].removesuffix(".npy"), shard["rows"], shard["sha256"]) for shard in content["shards"]
        )
        for shard in shards:
            if not SHARD_NAME.fullmatch(shard.name) or type(shard.rows) is not int or shard.rows < 1:
                raise ValueError(f"shard {shard.name!r} of {shard.rows!r} rows")
        if content["complete"] and (sum(shard.rows for shard in shards) != content["rows"] or not shards):
            raise ValueError(f"{content['rows']!r} rows, not those of the shards")
        state = {name: content[name] for name in ("complete", "rows", "texts", "dim")}
        return cls(ShardSettings(**settings), **state, shards=shards)


class ShardWriter:
    """Writes the manifest of a folder that is being filled with shards, in the order of the texts.

    Several runs may fill one folder at once, also on several machines that share a disk. The manifest is written
    when a folder is begun and when it is complete, so that a complete one on a disk that is read only is left alone.

    Args:
        store: the folder.
        settings: those that its vectors share.
        expected: how many texts there will be, None if nobody knows.

    Raises:
        ValueError: the folder holds vectors of another model, recipe, kind, instruction or shard size.
        OSError: it cannot be written.
    """

    def __init__(self, store: Store, settings: ShardSettings, expected: int | None = None) -> None:
        """Refuse a folder of other vectors, and begin an empty one."""
        self.store, self.settings = store, settings
        self._digest = hashlib.sha256()
        self._shards: list[ShardFile] = []
        self._dim = 0
        earlier = Manifest.read(store)
        if earlier is None:
            Manifest(settings, complete=False, rows=expected).write(store)
        elif earlier.settings != settings:
            raise ValueError(_difference(store.folder, earlier.settings, settings))

    def add(self, texts: Iterable[str], shard: ShardFile, dim: int) -> None:
        """Note the shard of the next texts; they count without their instruction."""
        netstrings = "".join([f"{len(text)}:{text}" for text in texts])
        self._digest.update(netstrings.encode("utf-8", "surrogatepass"))
        self._shards.append(shard)
        self._dim = dim

    def finish(self) -> Shards:
        """List all shards in the manifest, if it does not list them already, and open the folder.

        Raises:
            ValueError: no shard was added.
        """
        if not self._shards:
            raise ValueError("No texts to encode: give at least one.")
        rows = sum(shard.rows for shard in self._shards)
        texts = self._digest.hexdigest()
        complete = Manifest(self.settings, True, rows, texts, self._dim, tuple(self._shards))
        if Manifest.read(self.store) != complete:
            complete.write(self.store)
        return Shards(self.store.folder, complete)


def _difference(folder: Path, earlier: ShardSettings, current: ShardSettings) -> str:
    """Return a message with the settings in which the vectors of a folder and a run differ."""
    if earlier.model.sha256 != current.model.sha256:
        return (
            f"Folder {str(folder)!r} holds vectors of {earlier.model.name!r}, SHA-256 {earlier.model.sha256}; this "
            f"model is {current.model.name!r}, SHA-256 {current.model.sha256}. Take another folder, or delete this one."
        )
    old, new = (asdict(settings) | asdict(settings.recipe) for settings in (earlier, current))
    names = [name for name in new if name not in ("model", "recipe") and old[name] != new[name]]
    differences = [f"{name} {json.dumps(old[name])}, here {json.dumps(new[name])}" for name in names]
    return (
        f"Folder {str(folder)!r} was made in another way: {'; '.join(differences)}. Take another folder, or delete "
        "this one."
    )


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
        self.model, self.kind = manifest.settings.model, manifest.settings.kind
        self.texts, self.dim = manifest.texts, manifest.dim
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
            progress = f"{written} shards so far"
            if manifest.rows is not None:
                progress = f"{written} of {-(-manifest.rows // manifest.settings.shard_size)} shards"
            raise ValueError(f"Folder {str(store.folder)!r} is unfinished, {progress}; {AGAIN}.")
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
        return [
            (start, self._store.path(shard.name))
            for start, shard in zip(self._starts, self.manifest.shards, strict=False)
        ]

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give the shards in order, each a read-only array (at most shard_size, dim)."""
        return (self.part(number) for number in range(len(self.manifest.shards)))

    def part(self, number: int) -> np.ndarray:
        """Map one shard into memory, its checksum verified if this is the first time."""
        expected, where = self.manifest.shards[number], f"Folder {str(self.folder)!r}"
        if number in self._verified:
            return self._store.read_again(expected.name, (expected.rows, self.dim))
        shard = self._store.read(expected.name)
        if shard is None or self._store.seal(expected.name) != expected.sha256:
            raise ValueError(
                f"{where}: {expected.name}.npy is missing, cannot be read, or is damaged: its SHA-256 is not "
                f"the one it was written with; {AGAIN}."
            )
        if shard.shape != (expected.rows, self.dim) or shard.dtype != self.dtype:
            raise ValueError(f"{where}: {expected.name}.npy is not of the shape that {MANIFEST} says; {AGAIN}.")
        self._verified.add(number)
        return shard

    @overload
    def __getitem__(self, rows: SupportsIndex) -> np.ndarray: ...
    @overload
    def __getitem__(self, rows: slice | np.ndarray | list[int]) -> np.ndarray: ...
    def __getitem__(self, rows: SupportsIndex | slice | np.ndarray | list[int]) -> np.ndarray:
        """Read vectors: of one row (dim,), of a slice or of an array of row numbers (m, dim)."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            return self._take(np.arange(start, stop, step))
        numbers = np.asarray(rows)
        if numbers.dtype == bool and numbers.shape == (len(self),):
            numbers = np.flatnonzero(numbers)
        if numbers.ndim > 1 or (numbers.size and numbers.dtype.kind not in "iu"):
            raise IndexError(f"Expected a row, a slice or whole numbers (m,), got {numbers.dtype} of {numbers.shape}.")
        if numbers.size and not (-len(self) <= numbers.min() and numbers.max() < len(self)):
            raise IndexError(f"Row {int(numbers.min())} to {int(numbers.max())}: there are {len(self)} vectors.")
        vectors = self._take(np.atleast_1d(numbers).astype(np.int64) % len(self))
        return vectors if numbers.ndim else vectors[0]

    def _take(self, rows: np.ndarray) -> np.ndarray:
        """Copy rows, all of them there, from the shards that hold them."""
        vectors = np.empty((len(rows), self.dim), self.dtype)
        holders = np.searchsorted(self._starts, rows, side="right") - 1
        for number in np.unique(holders).tolist():
            places = np.flatnonzero(holders == number)
            vectors[places] = self.part(number)[rows[places] - self._starts[number]]
        return vectors

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """Read all vectors into memory."""
        if copy is False:
            raise ValueError("The vectors are in several files: they cannot become one array without a copy.")
        whole = np.empty(self.shape, dtype or self.dtype)
        for start, shard in zip(self._starts, self, strict=False):
            whole[start : start + len(shard)] = shard
        return whole

    def __reduce__(self) -> tuple[type[Shards], tuple[Path, Manifest]]:
        """Send the folder, not the vectors, to another process."""
        return Shards, (self.folder, self.manifest)

    def __repr__(self) -> str:
        """Show folder, size and number of shards."""
        return f"Shards({str(self.folder)!r}, {len(self)} × {self.dim}, {len(self.manifest.shards)} shards)"
