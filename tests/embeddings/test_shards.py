"""A folder of shards: read as one array, and never as anything else than what was written."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.embeddings import Shards
from helpers.embeddings import shards as shards_module
from helpers.embeddings.shards import MANIFEST, Manifest, ModelName, ShardFile
from helpers.embeddings.store import Recipe, Store

RECIPE = Recipe(model="ab12", pooling="mean", max_length=512, device="cpu", dtype="torch.float32")
BEGUN = Manifest(ModelName("some/model", "ab12"), RECIPE, "passage", "", shard_size=2)
VECTORS = np.random.default_rng(0).standard_normal((133, 3)).astype(np.float32)


def fill(folder: Path, vectors: np.ndarray = VECTORS, manifest: Manifest = BEGUN) -> Shards:
    """Write vectors into a folder, text ``i`` for vector i, in shards of two."""
    store = Store(folder)

    def files() -> Iterator[tuple[list[str], ShardFile, int]]:
        for start in range(0, len(vectors), 2):
            texts = [str(row) for row in range(start, min(start + 2, len(vectors)))]
            shard = store.write(manifest.recipe.shard_name(texts), vectors[start : start + 2])
            yield texts, manifest.shard_file(store, texts, shard), shard.shape[1]

    return shards_module.fill(store, manifest, files())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder that was filled."""
    fill(tmp_path / "kept")
    return tmp_path / "kept"


def test_shards_are_read_as_one_array(folder):
    """A row read from the wrong shard would be another text's vector."""
    shards = Shards.open(folder)
    assert (len(shards), shards.shape, shards.dim) == (len(VECTORS), VECTORS.shape, 3)
    assert (shards.model.name, shards.model.sha256, shards.kind) == ("some/model", "ab12", "passage")
    assert np.array_equal(np.asarray(shards), VECTORS)
    assert np.asarray(shards, dtype=np.float64).dtype == np.float64
    for rows in (0, 4, -1, slice(1, 6), slice(None, None, -3), slice(3, 3), [5, 0, 0, -2], np.array([], int)):
        assert np.array_equal(shards[rows], VECTORS[rows]), rows
    assert np.array_equal(shards[VECTORS[:, 0] > 0], VECTORS[VECTORS[:, 0] > 0])
    for wrong in (len(VECTORS), -len(VECTORS) - 1, [0, len(VECTORS)], 1.5):
        with pytest.raises(IndexError):
            shards[wrong]


def test_shards_are_gone_through_without_being_held(folder):
    """A corpus larger than memory would be read into it, or written to."""
    shards = Shards.open(folder)
    for _ in range(2):
        parts = list(shards)
        assert all(isinstance(part, np.memmap) and not part.flags.writeable for part in parts)
        assert np.array_equal(np.concatenate(parts), VECTORS)
    sent = pickle.dumps(shards)
    assert len(sent) < 20_000
    assert np.array_equal(np.asarray(pickle.loads(sent)), VECTORS)


def test_a_shard_that_is_missing_or_changed_is_refused(folder):
    """Vectors changed on disk would be searched as the model's; the others must be readable all the same.

    Whoever changes vectors and seals the file again would be believed: the manifest has the digest too.
    """
    names = [shard.file.removesuffix(".npy") for shard in Shards.open(folder).manifest.shards]
    Store(folder).path(names[2]).unlink()
    Store(folder).write(names[1], VECTORS[:2])
    shards = Shards.open(folder)
    assert np.array_equal(shards[:2], VECTORS[:2])
    for row, name in ((2, names[1]), (4, names[2])):
        with pytest.raises(ValueError, match=rf"kept.*{name}.*or is damaged.*run the same call of encode_shards again"):
            shards[row]
    with pytest.raises(ValueError, match=names[1]):
        np.asarray(shards)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda manifest: manifest.update(version=2), "not format 'shards', version 1"),
        (lambda manifest: manifest["recipe"].update(temperature=1), "damaged, or not that of a folder of shards"),
        (lambda manifest: manifest["shards"][0].update(file="../../secret.npy"), "secret.npy' is no file of"),
        (lambda manifest: manifest.clear(), "damaged"),
        (lambda manifest: manifest.update(dim=4), "SHA-256 or its shape"),
    ],
)
def test_a_manifest_that_no_run_wrote_is_refused(folder, edit, message):
    """A manifest is a file that others send: it must not name files elsewhere, or end in a stack trace."""
    manifest = json.loads((folder / MANIFEST).read_text())
    edit(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=message):
        Shards.open(folder)[0]
    (folder / MANIFEST).write_text("")  # cut short by a full disk
    with pytest.raises(ValueError, match=r"manifest\.json is damaged"):
        Shards.open(folder)


def test_what_is_missing_is_said(tmp_path):
    """The reader must learn whether to run the call, or to look elsewhere."""
    with pytest.raises(FileNotFoundError, match=r"No manifest.json in .*none.*encode_shards"):
        Shards.open(tmp_path / "none")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": ModelName("other/model", "cd34")}, r"'some/model', 'sha256': 'ab12'.*'other/model'.*'cd34'"),
        ({"recipe": replace(RECIPE, pooling="cls")}, "pooling 'mean', here 'cls'"),
        ({"kind": "query"}, "kind 'passage', here 'query'"),
        ({"instruction": "passage: "}, "instruction '', here 'passage: '"),
        ({"shard_size": 3}, "shard_size 2, here 3"),
    ],
)
def test_a_folder_takes_the_vectors_of_one_model_alone(folder, settings, message):
    """Vectors of two models in one index are compared though they have nothing in common."""
    before = (folder / MANIFEST).read_bytes()
    with pytest.raises(ValueError, match=message):
        fill(folder, manifest=replace(BEGUN, **settings))
    assert (folder / MANIFEST).read_bytes() == before
    assert np.array_equal(np.asarray(Shards.open(folder)), VECTORS)


def test_the_digest_of_texts_tells_them_apart(tmp_path):
    """Two corpora that are one text when joined must not pass for each other; how they are divided does not count."""

    def digest(*batches: list[str]) -> str:
        store = Store(tmp_path / str(len(list(tmp_path.iterdir()))))
        return shards_module.fill(store, BEGUN, [(batch, ShardFile("0" * 64, 1, ""), 3) for batch in batches]).texts

    one = digest(["a", "b"], ["c"])
    assert one == digest(["a"], ["b", "c"])
    others = [["ab", "c"], ["b", "a", "c"], ["a", "b", "c", "c"], ["1:a", "b"]]
    assert len({one, *map(digest, others)}) == 5
