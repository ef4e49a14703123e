"""Encoding: the same vectors as FlagEmbedding's own call, once computed kept, and never half a file."""

import copy
import logging
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from helpers._optional import Note
from helpers.embeddings import count_truncated, encode, encode_pooled, encode_shards, encoding
from helpers.embeddings.store import Store
from helpers.models import Pooling, load_model
from tests.checkpoints import flag_model, save_checkpoint
from tests.systems.samples import write_embeddings

TEXTS = [f"the {animal} is {'not ' * times}good" for animal in ("cat", "dog", "fish") for times in range(5)]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """Give a tiny BERT on disk."""
    return save_checkpoint(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def model(checkpoint):
    """Give the tiny BERT, loaded."""
    return load_model(checkpoint)


def test_bundled_model_gives_the_vectors_of_flagembedding(tmp_path):
    """Lesson 01 says that both are the same, for texts of any length."""
    model = load_model()
    texts = ["short", "a longer text about nothing much " * 20, "二〇二六年", "middle sized, it is"]
    np.testing.assert_allclose(encode(model, texts, cache_dir=tmp_path), flag_model(model).encode(texts), atol=1e-6)
    assert count_truncated(model, [*texts, "각 " * 180]) == 1  # 360 characters, but three tokens to a syllable


def test_texts_that_are_cut_are_reported(checkpoint, tmp_path, caplog):
    """A long passage would be scored by its beginning, and nobody would know."""
    model = load_model(checkpoint)
    fits, long = "cat " * 62, "cat " * 63  # [CLS] and [SEP] make 64 and 65 tokens; the tiny BERT takes 64
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(model, [fits], cache_dir=tmp_path)
    model.tokenizer.model_max_length = 64
    logging.getLogger("transformers").addHandler(caplog.handler)
    with pytest.warns(UserWarning, match="longer than the 64 tokens that tiny takes"):
        encode(model, [fits, long], cache_dir=tmp_path)
    logging.getLogger("transformers").removeHandler(caplog.handler)
    assert caplog.messages == []  # transformers would add that a network of its own choice will fail
    assert count_truncated(model, [fits, long, "猫 " * 63, "fish"] * 1000) == 2000
    assert count_truncated(load_model(checkpoint, passage_instruction="a "), [fits]) == 1


def test_a_query_gets_its_instruction_and_a_passage_its_own(checkpoint, model, tmp_path):
    """Forgetting the instruction, or giving it to the other side, is a classic silent loss."""
    told = load_model(checkpoint, query_instruction="eat the ", passage_instruction="good ")
    for kind, text in (("query", "eat the fish"), ("passage", "good fish")):
        found = encode(told, ["fish"], kind=kind, cache_dir=tmp_path)
        np.testing.assert_allclose(found, encode(model, [text], cache_dir=tmp_path), atol=1e-6)


def test_a_stream_comes_out_in_memory_mapped_shards(model, tmp_path, monkeypatch):
    """A corpus larger than memory must go through without being held, nor hours of it be lost to an interruption."""
    real, forwards = encoding.forward, []
    monkeypatch.setattr(encoding, "forward", lambda *given: forwards.append(len(given[1])) or real(*given))
    stopped = encode_shards(model, iter(TEXTS), cache_dir=tmp_path, shard_size=4)
    next(stopped), next(stopped)
    shards = list(encode_shards(model, iter(TEXTS), cache_dir=tmp_path, shard_size=4))
    assert forwards == [4, 4, 4, 3] == [len(shard) for shard in shards]
    assert all(isinstance(shard, np.memmap) and not shard.flags.writeable for shard in shards)
    np.testing.assert_allclose(np.concatenate(shards), encode(model, TEXTS, cache_dir=tmp_path / "b"), atol=1e-6)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "No texts"),
        ("reset my password", r"texts is one string, 'reset my password': put it into a list"),
        (["a", None], "Text 1 is of type NoneType"),
        (["a", "  "], "Text 1 is blank"),
        ([3], "type int"),
    ],
)
def test_texts_that_cannot_be_embedded_are_refused(model, tmp_path, texts, message):
    """A model gives a vector to anything, also to nothing."""
    with pytest.raises(ValueError, match=message):
        encode(model, texts, cache_dir=tmp_path)


def test_vectors_that_are_not_finite_are_refused(checkpoint, tmp_path):
    """NaN compares false with everything: FAISS would return arbitrary passages."""
    model = load_model(checkpoint)
    with torch.no_grad():
        model.network.embeddings.LayerNorm.bias[0] = float("nan")
    with pytest.raises(ValueError, match="NaN or infinite values for 'the cat"):
        encode(model, TEXTS, cache_dir=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["cache_dir", "folder", None])
def test_unusable_folder_is_named_with_what_helps(model, tmp_path, monkeypatch, option):
    """The variable does nothing for a folder that the call names; and what is advised must help."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setenv("EVAL_CACHE_DIR", str(in_the_way / "cache"))
    advice = "name another folder" if option else "set the environment variable EVAL_CACHE_DIR to another folder"
    with pytest.raises(OSError, match=rf"file/cache.*: {advice}\.$"):
        list(encode_shards(model, ["a"], **({option: in_the_way / "cache"} if option else {})))
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "other"))
    assert list(encode_shards(model, ["a"], **({option: tmp_path / "other"} if option else {})))


@pytest.mark.parametrize("option", ["cache_dir", "folder"])
def test_damaged_shards_that_were_computed_again_are_told(model, tmp_path, option):
    """A disk that is failing would be noticed when it has failed, and nobody know why the run takes long."""
    texts, where = ["a", "cat", "dog", "bread", "fish"], {option: tmp_path / "vectors"}
    expected = np.concatenate(list(encode_shards(model, texts, shard_size=2, **where)))
    for path in sorted((tmp_path / "vectors").glob("*.npy"))[:2]:
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(Note, match="^2 of 3 shards of vectors were damaged and were computed again: the disk"):
        again = np.concatenate(list(encode_shards(model, texts, shard_size=2, **where)))
    assert np.array_equal(again, expected)
    with warnings.catch_warnings(action="error"):
        list(encode_shards(model, texts, shard_size=2, **where))


def test_what_changes_a_vector_is_in_its_recipe(model):
    """A model loaded with a shorter limit, rounder numbers or fewer dimensions would be given the whole one's vectors.

    Nor may it be given those of another device, whose number alone changes nothing.
    """
    rounder = replace(model, network=copy.deepcopy(model.network).to(torch.bfloat16))
    settings = ({"max_length": 6}, {"dim": 5}, {"sha256": "other"}, {"query_length": 7})
    others = [replace(model, info=replace(model.info, **setting)) for setting in settings]
    on_first, on_second = (replace(model, device=device) for device in ("cuda:0", "cuda:1"))
    recipes = {encoding.recipe_of(one, "query", 8, Pooling.CLS) for one in (model, rounder, on_first, *others)}
    assert len(recipes) == 7
    assert encoding.recipe_of(on_second, "query", 9, Pooling.CLS) in recipes
    assert encoding.recipe_of(model, "query", 8, Pooling.MEAN) not in recipes


@pytest.mark.parametrize("call", [encode, encode_pooled])
@pytest.mark.parametrize(("option", "value"), [("batch_size", 0), ("kind", "queries")])
def test_options_out_of_range_are_refused_and_leave_nothing(model, tmp_path, call, option, value):
    """An empty shard would stay in the cache, or queries be embedded without their instruction."""
    with pytest.raises(ValueError, match=f"{option}={value!r}: expected"):
        call(model, ["hello"], **{option: value}, cache_dir=tmp_path)
    assert not list(tmp_path.iterdir())


def test_embeddings_made_elsewhere_are_not_pooled(tmp_path):
    """A reader would get the line of an attribute that the object lacks."""
    vectors = load_model(write_embeddings(tmp_path / "vectors"))
    with pytest.raises(ValueError, match="cannot be pooled another way: give a model"):
        encode_pooled(vectors, ["hello"])


def test_a_cache_folder_may_begin_at_home(tmp_path, monkeypatch):
    """A folder called ~ would appear beside the notebook."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Store("~/emb").folder == tmp_path / "emb"
    monkeypatch.setenv("EVAL_CACHE_DIR", "~/named")
    assert Store().folder == tmp_path / "named"


def test_a_text_of_which_nothing_is_left_is_named():
    """Its vector would be the mean of no token: not a number, and with it every score of the corpus."""
    tokens = {"input_ids": [[5, 6], [], [7]]}
    model = SimpleNamespace(info=SimpleNamespace(max_length=8), tokenizer=lambda texts, **options: tokens)
    with pytest.raises(ValueError, match=r"Text 1, '☃', has no token that the model knows\."):
        encoding.tokenize(model, ["a b", "☃", "c"], "")
