"""The embedding cache: whatever happens to its files, nobody gets another's vectors."""

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from helpers._io import whole_file
from helpers.embeddings.store import Recipe, Store

RECIPE = Recipe(model="ab12", pooling="mean", max_length=512, device="cpu", dtype="torch.float32")
TEXTS = ["the cat", "a dog"]
VECTORS = np.array([[0.6, 0.8, 0.0], [0.0, 0.8, -0.6]], np.float32)
HEADER = 128  # bytes of the header that numpy writes before a small array


@pytest.fixture
def cache(tmp_path: Path) -> Store:
    """Give a cache with two shards."""
    made = Store(tmp_path / "cache")
    made.write("one", VECTORS)
    made.write("two", VECTORS[::-1].copy())
    return made


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "one bit of a fraction": lambda whole: whole[:HEADER] + bytes([whole[HEADER] ^ 1]) + whole[HEADER + 1 :],
    "another dimension in the header": lambda whole: whole.replace(b"(2, 3)", b"(3, 2)"),
    "the end missing": lambda whole: whole[:-1],
    "empty": lambda whole: b"",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_every_damage_is_noticed(cache: Store, name: str):
    """A vector changed on disk, by a fault or on purpose, would be scored as the model's."""
    path = cache.folder / "one.npy"
    whole = path.read_bytes()
    damaged = DAMAGES[name](whole)
    assert damaged != whole
    path.write_bytes(damaged)
    assert cache.read("one") is None
    cache.write("one", VECTORS)
    assert np.array_equal(cache.read("one"), VECTORS)
    (cache.folder / "two.npy").replace(path)  # a file under another's name, each text with the vector of another
    assert cache.read("one") is None


@pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX's")
def test_the_folder_is_its_owners_alone(cache: Store):
    """Whoever can write into a cache can choose its owner's embeddings."""
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700


def test_a_full_cache_needs_no_right_to_write(cache: Store, monkeypatch):
    """A cache on a disk that is read only, shared by a class, would be refused though nothing is missing.

    Where something is, the reader must learn which disk cannot be written, and that another folder helps.
    """

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("helpers.embeddings.store.whole_file", refuse)
    assert np.array_equal(Store(cache.folder).read("one"), VECTORS)
    with pytest.raises(OSError, match=r"three\.npy.*cache.*Read-only file system.*name another folder"):
        cache.write("three", VECTORS)


def test_no_object_goes_into_the_cache(cache: Store):
    """What is not a number is written as code that the next reader would run."""
    with pytest.raises(ValueError, match="allow_pickle=False"):
        cache.write("objects", np.array([{}], object))
    assert cache.read("objects") is None


def test_a_shard_that_may_not_be_read_is_computed_again(cache: Store, monkeypatch):
    """A shard of another user, closed to others, would end in a stack trace."""

    def refuse(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert cache.read("one") is None


OTHERS = {
    "model": "cd34", "pooling": "cls", "max_length": 256, "device": "cuda", "dtype": "torch.float16", "dim": 3,
    "colbert_side": "query", "batch_size": 7, "lower_case": True,
}  # fmt: skip


def test_every_part_of_a_recipe_tells_shards_apart():
    """Vectors of another model, length or pooling would be served as this one's."""
    assert set(OTHERS) == {field.name for field in fields(Recipe)}
    names = {RECIPE.shard_name(TEXTS), RECIPE.shard_name(TEXTS[::-1]), RECIPE.shard_name(["the cata dog"])}
    names |= {replace(RECIPE, **{name: value}).shard_name(TEXTS) for name, value in OTHERS.items()}
    assert len(names) == 3 + len(OTHERS)
    assert RECIPE.shard_name(["鱼"]).startswith("b175cd49f762"), "every cache would be computed again"


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path):
    """A killed or failed writing must leave the file that was there, and nothing else; and who may read it stays."""
    path, plain = tmp_path / "file", tmp_path / "plain"
    plain.write_text("old")
    path.write_text("old")
    with contextlib.suppress(RuntimeError), whole_file(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "plain"]
    assert path.read_text() == "old"
    with whole_file(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode == plain.stat().st_mode
