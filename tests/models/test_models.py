"""Loading models: which files are taken, what is refused, and that pooling and instruction are the model's own."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.embeddings import encode
from helpers.models import OFFLINE_DEFAULT, find, load_model
from helpers.models.card import read_card
from helpers.models.find import find_checkpoint
from helpers.models.transformer import longest_input
from tests.checkpoints import add_layers, flag_model, save_checkpoint


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    """Give a tiny BERT that pools by mean."""
    return save_checkpoint(tmp_path / "tiny")


def test_bundled_model_is_the_published_one(monkeypatch):
    """A changed weight file would change every figure of the lessons; others must not run under its name."""
    model = load_model("sentence-transformers/all-MiniLM-L6-v2")
    assert model.info.weights_sha256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert (model.info.pooling, model.info.query_instruction, model.info.max_length) == ("mean", "", 256)
    real = find.BUNDLED[OFFLINE_DEFAULT]
    monkeypatch.setattr(find, "BUNDLED", {OFFLINE_DEFAULT: real._replace(sha256="0" * 64)})
    with pytest.raises(ValueError, match=r"The files of .* are not the published ones.*Reinstall gt-all"):
        find_checkpoint(OFFLINE_DEFAULT)


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, None),
        ({"pooling_mode": "lasttoken"}, "lasttoken"),
        ({"pooling_mode": "weightedmean"}, None),
    ],
)
def test_pooling_that_flagmodel_lacks_is_refused_by_it_alone(checkpoint, config, pooling):
    """Another pooling would score a model that nobody published, or a model of today could not be evaluated."""
    (checkpoint / "1_Pooling" / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="is no model for FlagModel"):
        load_model(checkpoint, backend="FlagEmbedding")
    if pooling:
        assert load_model(checkpoint).info.pooling == pooling
        return
    with pytest.raises(ValueError, match=r"tiny pools by .*, which is not done here.*Compute its embeddings elsewhere"):
        load_model(checkpoint)


def test_pooling_must_be_stated_where_the_folder_is_silent(tmp_path):
    """A guess between cls and mean is wrong half of the time."""
    folder = save_checkpoint(tmp_path / "silent", pooling=None)
    with pytest.raises(ValueError, match="pass pooling='cls' or 'mean'"):
        load_model(folder)
    assert load_model(folder, pooling="max").info.pooling == "max"
    for wrong in (2, 65):
        with pytest.raises(ValueError, match="silent takes from 3 to 64 tokens"):
            load_model(folder, pooling="max", max_length=wrong)
    add_layers(save_checkpoint(folder.with_name("dense")), [("Dense", {"out_features": 8})])
    with pytest.raises(ValueError, match=r"further layer \(Dense\) that FlagModel omits"):
        load_model(folder.with_name("dense"), backend="FlagEmbedding", pooling="mean")


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (["config.json"], r"no config\.json"),
        (["model.safetensors"], r"no model\.safetensors"),
        (["tokenizer.json", "tokenizer_config.json"], r"no tokenizer\.json"),
        (["tokenizer.json"], "tokenizer cannot be loaded"),
    ],
)
def test_incomplete_folder_says_what_is_missing(checkpoint, missing, message):
    """A stack trace from deep inside transformers helps nobody; a wrong path must not be taken for a hub id."""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_model(checkpoint.with_name("nowhere"))
    for name in missing:
        (checkpoint / name).unlink()
    with pytest.raises(ValueError, match=message):
        load_model(checkpoint)


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("BAAI/bge-base-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("intfloat/e5-small-unsupervised", "query: ", "passage: "),
        ("BAAI/bge-m3", "", ""),
        ("someone/my-bge-base-en-v1.5", "", ""),
        ("someone/bge-base-en-v1.5-finetuned", "", ""),
    ],
)
def test_families_get_the_instructions_of_their_cards(tmp_path, name, query, passage):
    """Without them the published figures are missed; with them on another model, too."""
    assert read_card(tmp_path).instructions(name, None, None) == (query, passage)


@pytest.mark.parametrize("key", ["document", "passage", "corpus"])
def test_prompts_of_the_model_itself_come_first(tmp_path, key):
    """A folder that states its prompts must be run with them, on either side; a caller's come before both."""
    prompts = {"prompts": {"query": "query: ", key: "text: "}}
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    card = read_card(tmp_path)
    for name in ("mine", "bge-base-en"):
        assert card.instructions(name, None, None) == ("query: ", "text: ")
    assert card.instructions("bge-base-en", "", "") == ("", "")


def test_a_model_for_other_than_cosine_is_refused(checkpoint):
    """Vectors whose length matters would be scaled to one, and the scores would be of another model."""
    (checkpoint / "config_sentence_transformers.json").write_text('{"similarity_fn_name": "dot"}')
    with pytest.raises(ValueError, match="tiny was trained for 'dot' similarity"):
        load_model(checkpoint)
    layers = ["Transformer", "Pooling", "Normalize"]
    modules = [{"type": f"sentence_transformers.models.{layer}"} for layer in layers]
    (checkpoint / "modules.json").write_text(json.dumps(modules))
    assert load_model(checkpoint).info.name == "tiny"
    (checkpoint / "config_sentence_transformers.json").write_text('{"similarity_fn_name": "manhattan"}')
    with pytest.raises(ValueError, match="tiny was trained for 'manhattan' similarity"):
        load_model(checkpoint)


def test_digest_covers_every_file_of_the_model(checkpoint, tmp_path):
    """The embedding cache would mix up two models that differ in tokenizer or weights alone."""
    first = load_model(checkpoint).info
    assert load_model(checkpoint).info == first
    other = save_checkpoint(tmp_path / "other", seed=1)
    assert load_model(other).info.weights_sha256 != first.weights_sha256
    (checkpoint / "tokenizer_config.json").write_text('{"padding_side": "left"}')
    changed = load_model(checkpoint).info
    assert changed.weights_sha256 == first.weights_sha256
    assert changed.sha256 != first.sha256
    assert replace(changed, sha256=first.sha256) == first


@pytest.mark.parametrize(("padding", "limit"), [(None, 514), (0, 513), (1, 512)])
def test_positions_before_the_first_token_are_not_for_texts(padding, limit):
    """RoBERTa would be given two tokens more than it has positions for, an IndexError in the middle of a corpus."""
    embeddings = SimpleNamespace(position_embeddings=SimpleNamespace(padding_idx=padding))
    network = SimpleNamespace(config=SimpleNamespace(max_position_embeddings=514), embeddings=embeddings)
    assert longest_input(SimpleNamespace(model_max_length=1e30), network) == limit


def test_flagmodel_gives_the_same_vectors_with_instructions_on_their_sides(tmp_path):
    """The lesson says that both are one; a swapped instruction would be a silent loss."""
    folder = save_checkpoint(tmp_path / "m", pooling="cls")
    model = load_model(folder, device="cpu", query_instruction="the ", passage_instruction="good ", dim=5)
    flag, texts = flag_model(model), ["the cat is good", "fish"]
    for kind, encoded in (("query", flag.encode_queries(texts)), ("passage", flag.encode_corpus(texts))):
        np.testing.assert_allclose(encoded, encode(model, texts, kind=kind, cache_dir=tmp_path), atol=1e-6)
    prefixed = [[prefix + text for text in texts] for prefix in ("the ", "good ")]
    for encoded, expected in zip((flag.encode_queries(texts), flag.encode_corpus(texts)), prefixed, strict=True):
        np.testing.assert_allclose(encoded, flag.encode(expected), atol=1e-6)


@pytest.mark.parametrize(("half", "device", "dtype"), [(True, "cpu", 32), (True, "meta", 16), (False, "meta", 32)])
def test_half_precision_is_for_other_devices_than_the_processor(checkpoint, half, device, dtype):
    """A processor would compute in 16 bits, slowly and with three digits, or a GPU in 32 though 16 were asked for."""
    assert load_model(checkpoint, half=half, device=device).dtype == f"torch.float{dtype}"
