"""Fill a folder with shards: who may write into it, and the manifest that says what is in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from helpers._atomic import whole_file
from helpers.embeddings.cache import ShardCache
from helpers.embeddings.shards import MANIFEST, MadeWith, Manifest, ShardFile, Shards, _named


class ShardFolder:
    """A folder that is being filled with the shards of one model, in the order of the texts.

    Several runs may fill one folder at once, also on several machines that share a disk. The manifest is written
    when a folder is begun and when it is complete, so that a complete one on a disk that is read only is left alone.

    Args:
        folder: where the shards go; it need not exist yet.
        made_with: what all vectors in it have in common.
        expected: how many texts there will be, None if nobody knows.

    Raises:
        ValueError: the folder holds vectors of another model, recipe, kind, instruction or shard size.
        OSError: it cannot be written.
    """

    def __init__(self, folder: str | Path, made_with: MadeWith, expected: int | None = None) -> None:
        """Refuse a folder of other vectors, and begin an empty one."""
        self.folder = Path(folder).expanduser().absolute()
        self.cache = ShardCache(self.folder)
        self.made_with = made_with
        self._digest = hashlib.sha256()
        self._shards: list[ShardFile] = []
        self._dim = 0
        found = Manifest.read(self.folder)
        if found is None:
            self._write(Manifest(made_with, complete=False, rows=expected))
        else:
            _require_same(self.folder, found.made_with, made_with)

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
        complete = Manifest(self.made_with, True, rows, texts, self._dim, tuple(self._shards))
        if Manifest.read(self.folder) != complete:
            self._write(complete)
        return Shards(self.folder, complete)

    def _write(self, manifest: Manifest) -> None:
        """Write the manifest, whole or not at all."""
        whole = manifest.to_json().encode()
        with self.cache.errors_named(self.folder / MANIFEST, len(whole)):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with whole_file(self.folder / MANIFEST) as temporary:
                temporary.write_bytes(whole)


def shard_file(cache: ShardCache, shard: np.ndarray) -> ShardFile:
    """Describe a shard that a cache just gave, a memory-mapped array."""
    name = Path(str(getattr(shard, "filename", ""))).stem
    return ShardFile(name, len(shard), cache.seal(name))


def _require_same(folder: Path, there: MadeWith, here: MadeWith) -> None:
    """Raise if a folder was made with anything else than this run has."""
    if there.model.sha256 != here.model.sha256:
        raise ValueError(
            f"{_named(folder)} holds vectors of {there.model.name}, SHA-256 {there.model.sha256}; this model is "
            f"{here.model.name}, SHA-256 {here.model.sha256}. Take another folder, or delete this one."
        )
    old, new = (asdict(made) | asdict(made.recipe) for made in (there, here))
    for name in ("model", "recipe"):
        del old[name], new[name]
    other = [f"{name} {json.dumps(old[name])}, here {json.dumps(new[name])}" for name in new if old[name] != new[name]]
    if other:
        raise ValueError(
            f"{_named(folder)} was made in another way: {'; '.join(other)} (recipes {_short(there)} and "
            f"{_short(here)}). Take another folder, or delete this one."
        )


def _short(made: MadeWith) -> str:
    """Digest a recipe."""
    return hashlib.sha256(json.dumps(asdict(made), sort_keys=True).encode()).hexdigest()[:16]
