"""Embeddings computed elsewhere in the place of a model: the same scores, and no mismatch that goes unseen."""

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from helpers.embeddings import encode, encode_shards
from helpers.models import load_model
from helpers.models.precomputed import Precomputed
from helpers.provenance import provenance
from tests.models.test_hostile import Bomb

TEXTS = {"passages": ["uno", "dos", "tres"], "queries": ["one", "two"]}
RNG = np.random.default_rng(0)
VECTORS = {"passages": RNG.normal(size=(3, 4)), "queries": RNG.normal(size=(2, 4))}


def put(folder: Path, vectors: dict | None = None, texts: dict | None = None) -> Path:
    """Write a folder of embeddings; what is given replaces what is right, None leaves a file out."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, array in (VECTORS | (vectors or {})).items():
        if array is not None:
            np.save(folder / f"{stem}.npy", array)
    for stem, lines in (TEXTS | (texts or {})).items():
        if lines is not None:
            rows = [json.dumps({"text": line}, ensure_ascii=False) + "\n" for line in lines]
            (folder / f"{stem}.jsonl").write_text("".join(rows), encoding="utf-8")
    return folder


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scale rows to length one."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_a_vector_is_found_by_its_text(tmp_path):
    """A data set read in part or in another order would be scored with the vectors of other texts.

    Inner products of long vectors would rank by length; scaling in silence would hide that they were long. Of BEIR's
    files the title is part of the passage's text; of equal texts, which are merged when data is read, the first counts.
    """
    units = {stem: unit(array) for stem, array in VECTORS.items()}
    folder = put(tmp_path / "我的 向量")
    rows = [{"title": "T", "text": "uno"}, {"title": "", "text": "dos"}, {"title": "T", "text": "uno"}]
    (folder / "passages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = load_model(folder)
    assert model.info.name == "我的 向量"
    assert model.info.pooling == "precomputed, 4 dimensions, scaled to length one"
    found = encode(model, ["dos", "T\nuno", "dos"])
    np.testing.assert_allclose(found, units["passages"][[1, 0, 1]], rtol=1e-6)
    assert found.dtype == np.float32
    model = load_model(put(tmp_path / "unit", {stem: array.astype("f4") for stem, array in units.items()}))
    assert model.info.pooling == "precomputed, 4 dimensions"
    np.testing.assert_allclose(encode(model, ["two"], kind="query"), units["queries"][1:], rtol=1e-6)
    kept = encode_shards(model, iter(TEXTS["passages"]), shard_size=2, folder=tmp_path / "kept")
    np.testing.assert_allclose(np.asarray(kept), units["passages"], rtol=1e-6)


def test_provenance_names_the_digest_of_every_file(tmp_path):
    """Two folders of one name would be told apart by nothing else, and sha256sum must give what is printed."""
    folder = put(tmp_path / "mine")
    found = provenance(load_model(folder))
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert found["model"]["files"] == files
    assert found["device"] == "precomputed"
    listed = json.dumps(files, sort_keys=True)  # in the order of the names, which another version keeps
    assert found["model"]["sha256"] == hashlib.sha256(listed.encode()).hexdigest()


@pytest.mark.parametrize(
    ("vectors", "texts", "message"),
    [
        ({"passages": VECTORS["passages"][:2]}, {}, r"passages\.npy has 2 rows, passages\.jsonl 3 texts"),
        ({"queries": RNG.normal(size=(2, 5))}, {}, "the passages have 4 dimensions, the queries 5"),
        ({"queries": np.where(np.eye(2, 4), np.nan, 1)}, {}, r"queries\.npy: row 0 has NaN"),
        ({"passages": np.zeros((3, 4))}, {}, r"passages\.npy: row 0 has only zeros"),
        ({"passages": np.ones((3, 4), np.int8)}, {}, r"expected an array of floats .* found int8 \(3, 4\)"),
        ({"passages": np.ones(3)}, {}, r"found float64 \(3,\)"),
        ({"queries": None}, {}, r"no queries\.npy, or .* Embeddings of passages and of queries are both"),
        ({}, {"passages": None}, r"no passages\.npy, or not one table with its texts"),
    ],
)
def test_what_does_not_match_is_refused_with_both_sides(vectors, texts, message, tmp_path):
    """Each of these would give scores, and they would be wrong."""
    with pytest.raises(ValueError, match=message):
        load_model(put(tmp_path / "mine", vectors, texts))


@pytest.mark.parametrize(
    "write",
    [
        lambda file, bomb: np.save(file, np.array([[bomb] * 4] * 3, dtype=object), allow_pickle=True),
        lambda file, bomb: pickle.dump(bomb, file),
        lambda file, bomb: np.savez(file, a=VECTORS["passages"]),
        lambda file, bomb: None,  # cut short by a full disk
    ],
)
def test_nothing_is_ever_unpickled(write, tmp_path):
    """Loading somebody's array must not run somebody's code."""
    folder, trace = put(tmp_path / "mine"), tmp_path / "trace"
    with (folder / "passages.npy").open("wb") as file:
        write(file, Bomb(trace))
    with pytest.raises(ValueError, match=r"passages\.npy: (not a plain array|expected an array)"):
        load_model(folder)
    assert not trace.exists()


@pytest.mark.parametrize("name", ["passages.npy", "queries.jsonl"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path, name):
    """A downloaded folder would read a file of the reader's own, and show its first text in an error."""
    folder, secret = put(tmp_path / "theirs"), put(tmp_path / "secret")
    (folder / name).unlink()
    (folder / name).symlink_to(secret / name)
    with pytest.raises(ValueError, match=f"'{name}' leads outside the folder"):
        Precomputed(folder)


def test_texts_without_a_vector_are_counted_and_shown(tmp_path):
    """Embeddings of another release of the data must not be scored for what is left of it.

    Of a text in another Unicode form, both texts of the message would look the same.
    """
    model = load_model(put(tmp_path / "mine", texts={"passages": ["cafe\u0301", "dos", "tres"]}))
    with pytest.raises(ValueError, match=r"'caf\\xe9' and 'cafe\\u0301' look the same: write both files in one Uni"):
        encode(model, ["caf\u00e9"])
    with pytest.raises(ValueError, match=r"no vector for 4 of 5 texts \(queries\.npy has 2\).*'a', 'b', 'c'\. .*'one'"):
        encode(model, ["a", "one", "b", "c", "d"], kind="query")
    with pytest.raises(ValueError, match="cannot be changed"):
        load_model(tmp_path / "mine", pooling="cls")
