"""Loading models: which files are taken, what is refused, and that pooling and instruction are the model's own."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import transformers

from helpers.embeddings import encode
from helpers.models import OFFLINE_DEFAULT, find, load_model
from helpers.models.card import read_card
from helpers.models.find import find_checkpoint
from helpers.models.transformer import longest_input, untrained
from tests.checkpoints import add_layers, change, save_checkpoint


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
    assert find.bundled_path(real._replace(package="absent")) is None  # a package that is not installed
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
    weighted = load_model(folder, pooling="attention")  # which most implementations of attention do not return
    assert encode(weighted, ["the cat"], cache_dir=tmp_path).shape == (1, 16)
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


@pytest.mark.parametrize(("half", "device", "dtype"), [(True, "cpu", 32), (True, "meta", 16), (False, "meta", 32)])
def test_half_precision_is_for_other_devices_than_the_processor(checkpoint, half, device, dtype):
    """A processor would compute in 16 bits, slowly and with three digits, or a GPU in 32 though 16 were asked for."""
    assert load_model(checkpoint, half=half, device=device).dtype == f"torch.float{dtype}"


@pytest.mark.parametrize(
    ("architecture", "message"), [("gpt2", "does not see the last one"), ("t5", "an encoder and a decoder")]
)
def test_model_that_is_no_encoder_is_refused(tmp_path, architecture, message):
    """Pooling a generator's tokens gives vectors, and scores, that mean little."""
    folder = save_checkpoint(tmp_path / architecture, architecture, pooling=None)
    with pytest.raises(ValueError, match=f"{architecture}.*is not a text encoder.*{message}"):
        load_model(folder, backend="transformers")


def test_a_network_that_needs_more_than_tokens_is_refused(checkpoint, monkeypatch):
    """A model of pictures and texts would fail in the middle of encoding, with a message about tensors."""

    def forward(self, pixel_values, **rest):
        raise AssertionError("tokens are not enough")

    monkeypatch.setattr(transformers.BertModel, "forward", forward)
    with pytest.raises(ValueError, match=r"tiny \(bert\) is not a text encoder.*given tokens alone it fails \(.*pixel"):
        load_model(checkpoint)


def test_weights_that_do_not_fit_are_refused(checkpoint):
    """transformers fills missing weights with random numbers and goes on."""
    change(checkpoint / "config.json", num_hidden_layers=3)
    with pytest.raises(ValueError, match=r"tiny lacks 16 weights .*encoder\.layer\.2"):
        load_model(checkpoint)


def test_untrained_twin_is_the_same_again_and_leaves_the_random_state(checkpoint):
    """The floor of the lesson must not move from run to run, nor change other random numbers."""
    model = load_model(checkpoint, backend="transformers")
    state = torch.random.get_rng_state()
    one, two, other = (untrained(model, seed=seed) for seed in (5, 5, 6))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert one.info.sha256 == two.info.sha256 != other.info.sha256
    assert model.info.sha256 not in (one.info.sha256, other.info.sha256)
    assert "BertModel" not in repr(model), "a cell that ends in a model would print its network"
