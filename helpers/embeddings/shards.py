"""Vectors kept in a folder: shard files and a manifest, read as one array that need not fit into memory."""

from __future__ import annotations

import itertools
import json
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self, SupportsIndex, overload

import numpy as np

from helpers._printable import printable
from helpers.embeddings.cache import SEAL, Recipe, ShardCache

MANIFEST = "manifest.json"
FORMAT, VERSION = "shards", 1
SHARD_NAME = re.compile(r"[0-9a-f]{64}")
MAPS_KEPT = 64  # shards mapped at a time; each takes a file descriptor
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
class MadeWith:
    """What the vectors of a folder have in common; a folder takes no others.

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


@dataclass(frozen=True)
class Manifest:
    """What a folder of shards says of itself.

    Attributes:
        made_with: what its vectors have in common.
        complete: whether all shards are listed; if not, a run that fills the folder goes on, or was stopped.
        rows: vectors; of an incomplete folder how many there will be, None if nobody knows.
        texts: SHA-256 over the texts in their order, each as a netstring, ``length:text``.
        dim: dimensions of a vector.
        shards: the files in the order of the texts.
    """

    made_with: MadeWith
    complete: bool
    rows: int | None = None
    texts: str = ""
    dim: int = 0
    shards: tuple[ShardFile, ...] = ()

    def to_json(self) -> str:
        """Write down what stands in ``manifest.json``, a line for each shard."""
        made = asdict(self.made_with) | {"model": self.made_with.model._asdict()}
        own = {"complete": self.complete, "rows": self.rows, "texts": self.texts, "dim": self.dim, "dtype": "float32"}
        head = json.dumps({"format": FORMAT, "version": VERSION, **made, **own, "shards": []}, indent=1)
        lines = (
            json.dumps({"file": f"{shard.name}.npy", "rows": shard.rows, "sha256": shard.sha256})
            for shard in self.shards
        )
        return head.removesuffix("[]\n}") + "[\n  " + ",\n  ".join(lines) + "\n ]\n}\n"

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the manifest of a folder; None if it has none.

        Raises:
            ValueError: another format or version, or a file that no run wrote.
        """
        try:
            text = (folder / MANIFEST).read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            found = json.loads(text)
            known = (found["format"], found["version"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{_named(folder)}: {MANIFEST} is damaged, or not that of a folder of shards.") from None
        if known != (FORMAT, VERSION):
            raise ValueError(
                f"{_named(folder)}: {MANIFEST} has the format {printable(known)[:80]}; this version reads "
                f"{(FORMAT, VERSION)}. Encode the texts again into another folder."
            )
        try:
            return cls._checked(found)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{_named(folder)}: {MANIFEST} is damaged ({printable(error)[:160]}).") from None

    @classmethod
    def _checked(cls, found: dict[str, Any]) -> Self:
        """Take apart what a manifest says; names of files outside the folder and impossible numbers are refused."""
        made = {field.name: found[field.name] for field in fields(MadeWith)}
        made |= {"model": ModelName(**found["model"]), "recipe": Recipe(**found["recipe"])}
        shards = tuple(
            ShardFile(shard["file"].removesuffix(".npy"), shard["rows"], shard["sha256"]) for shard in found["shards"]
        )
        if found["dtype"] != "float32":
            raise ValueError(f"dtype {found['dtype']!r}")
        for shard in shards:
            if not SHARD_NAME.fullmatch(shard.name) or type(shard.rows) is not int or shard.rows < 1:
                raise ValueError(f"shard {shard.name!r} of {shard.rows!r} rows")
        if found["complete"] and (sum(shard.rows for shard in shards) != found["rows"] or not shards):
            raise ValueError(f"{found['rows']!r} rows, not those of the shards")
        own = {name: found[name] for name in ("complete", "rows", "texts", "dim")}
        return cls(MadeWith(**made), **own, shards=shards)


class Shards:
    """The vectors that :func:`helpers.embeddings.encode_shards` kept in a folder, as one array (rows, dim).

    Nothing is read before it is asked for. Going through it gives the shards in their order as read-only
    memory-mapped arrays, in memory for as long as they are used; an index, a slice or an array of rows gives vectors,
    and ``np.asarray`` all of them. The first time a shard is read, its file has to have the SHA-256 of the manifest.

    Attributes:
        folder: where the files lie.
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
        """Take a complete manifest; :meth:`open` is for users."""
        self.folder, self.manifest = folder, manifest
        self.model, self.kind = manifest.made_with.model, manifest.made_with.kind
        self.texts, self.dim = manifest.texts, manifest.dim
        self._starts = [0, *itertools.accumulate(shard.rows for shard in manifest.shards)]
        self._cache = ShardCache(folder)
        self._verified: set[int] = set()
        self._maps: OrderedDict[int, np.ndarray] = OrderedDict()

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open a folder that an earlier run filled.

        Raises:
            FileNotFoundError: no such folder, or one without a manifest.
            ValueError: a run that was not finished, an unknown format, a damaged manifest.
        """
        path = Path(folder).expanduser().absolute()
        manifest = Manifest.read(path)
        if manifest is None:
            raise FileNotFoundError(
                f"No {MANIFEST} in {str(path)!r}: expected a folder that encode_shards(model, texts, folder=…) filled."
            )
        if not manifest.complete:
            raise ValueError(f"{_named(path)} is unfinished, {_progress(path, manifest)}; {AGAIN}.")
        return cls(path, manifest)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return self._starts[-1]

    @property
    def shape(self) -> tuple[int, int]:
        """Vectors and dimensions."""
        return len(self), self.dim

    @property
    def parts(self) -> list[tuple[int, Path]]:
        """For each shard the row at which it begins, and its file; for workers that read it themselves."""
        return [
            (start, self._cache.path(shard.name))
            for start, shard in zip(self._starts, self.manifest.shards, strict=False)
        ]

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give the shards in order, each a read-only array (at most shard_size, dim)."""
        return (self.part(number) for number in range(len(self.manifest.shards)))

    def part(self, number: int) -> np.ndarray:
        """Map one shard into memory, its checksum verified if this is the first time."""
        if number not in self._maps:
            shard = self._read(number)
            self._maps[number] = shard
            if len(self._maps) > MAPS_KEPT:
                self._maps.popitem(last=False)
        return self._maps[number]

    def _read(self, number: int) -> np.ndarray:
        """Read a shard's file, or say what is wrong with it."""
        expected = self.manifest.shards[number]
        path = self._cache.path(expected.name)
        if number in self._verified:
            size = expected.rows * self.dim * self.dtype.itemsize  # np.load takes longer over the header than all else
            start = path.stat().st_size - size - SEAL
            shard: np.ndarray | None = np.memmap(path, self.dtype, "r", start, (expected.rows, self.dim))
        else:
            shard = self._cache.read(expected.name)
            if shard is None or self._cache.seal(expected.name) != expected.sha256:
                raise ValueError(f"{_named(self.folder)}: {self._fault(path)}; {AGAIN}.")
        if shard is None or shard.shape != (expected.rows, self.dim) or shard.dtype != self.dtype:
            raise ValueError(f"{_named(self.folder)}: {path.name} is not of the shape that {MANIFEST} says; {AGAIN}.")
        self._verified.add(number)
        return shard

    def _fault(self, path: Path) -> str:
        """Say why a shard was not accepted."""
        if not path.is_file():
            return f"{path.name} is {'no file' if path.exists() else 'missing'}"
        try:
            path.open("rb").close()
        except OSError as error:
            return f"{path.name} cannot be read ({error.strerror})"
        return f"{path.name} is damaged, its SHA-256 is not the one it was written with"

    @overload
    def __getitem__(self, rows: SupportsIndex) -> np.ndarray: ...
    @overload
    def __getitem__(self, rows: slice | np.ndarray | list[int]) -> np.ndarray: ...
    def __getitem__(self, rows: Any) -> np.ndarray:
        """Read vectors: of one row (dim,), of a slice or of an array of row numbers (m, dim)."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            return self._take(np.arange(start, stop, step))
        wanted = np.asarray(rows)
        if wanted.dtype == bool and wanted.shape == (len(self),):
            wanted = np.flatnonzero(wanted)
        if wanted.ndim > 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise IndexError(f"Expected a row, a slice or whole numbers (m,), got {wanted.dtype} of {wanted.shape}.")
        if wanted.size and not (-len(self) <= wanted.min() and wanted.max() < len(self)):
            raise IndexError(f"Row {int(wanted.min())} to {int(wanted.max())}: there are {len(self)} vectors.")
        found = self._take(np.atleast_1d(wanted).astype(np.int64) % len(self))
        return found if wanted.ndim else found[0]

    def _take(self, rows: np.ndarray) -> np.ndarray:
        """Copy rows, all of them there, from the shards that hold them."""
        found = np.empty((len(rows), self.dim), self.dtype)
        holders = np.searchsorted(self._starts, rows, side="right") - 1
        for number in np.unique(holders).tolist():
            chosen = np.flatnonzero(holders == number)
            found[chosen] = self.part(number)[rows[chosen] - self._starts[number]]
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Read all vectors into memory."""
        if copy is False:
            raise ValueError("The vectors lie in several files: they cannot become one array without a copy.")
        whole = np.empty(self.shape, dtype or self.dtype)
        for start, shard in zip(self._starts, self, strict=False):
            whole[start : start + len(shard)] = shard
        return whole

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the folder, not the vectors, to another process."""
        return Shards, (self.folder, self.manifest)

    def __repr__(self) -> str:
        """Say what is there."""
        return f"Shards({str(self.folder)!r}, {len(self)} × {self.dim}, {len(self.manifest.shards)} shards)"


def _progress(folder: Path, manifest: Manifest) -> str:
    """Say how many shards there are, and of how many if that is known."""
    written = sum(bool(SHARD_NAME.fullmatch(path.stem)) for path in folder.glob("*.npy"))
    if manifest.rows is None:
        return f"{written} shards so far"
    return f"{written} of {-(-manifest.rows // manifest.made_with.shard_size)} shards"


def _named(folder: Path) -> str:
    """Name a folder in a message."""
    return f"Folder {printable(str(folder))!r}"
