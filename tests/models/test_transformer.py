"""Networks through transformers: what is refused, that no code of theirs runs, and the untrained twin."""

import re
import shutil
from pathlib import Path

import pytest
import torch
import transformers

from helpers.models import load_model
from helpers.models.transformer import TransformerModel, untrained
from tests.checkpoints import change, save_checkpoint


def load(name_or_path, **options) -> TransformerModel:
    """Load a bare network, on the processor."""
    return load_model(name_or_path, backend="transformers", device="cpu", **options)


@pytest.fixture
def bert(tmp_path) -> Path:
    """Give a tiny BERT on disk."""
    return save_checkpoint(tmp_path / "bert", pooling=None)


@pytest.mark.parametrize(
    ("architecture", "message"), [("gpt2", "does not see the last one"), ("t5", "an encoder and a decoder")]
)
def test_model_that_is_no_encoder_is_refused(tmp_path, architecture, message):
    """Pooling a generator's tokens gives vectors, and scores, that mean little."""
    folder = save_checkpoint(tmp_path / architecture, architecture, pooling=None)
    with pytest.raises(ValueError, match=f"{architecture}.*is not a text encoder.*{message}"):
        load(folder)


def test_a_network_that_needs_more_than_tokens_is_refused(bert, monkeypatch):
    """A model of pictures and texts would fail in the middle of encoding, with a message about tensors."""

    def forward(self, pixel_values, **rest):
        raise AssertionError("tokens are not enough")

    monkeypatch.setattr(transformers.BertModel, "forward", forward)
    with pytest.raises(ValueError, match=r"bert \(bert\) is not a text encoder.*given tokens alone it fails \(.*pixel"):
        load(bert)


def test_weights_that_do_not_fit_are_refused(bert, tmp_path):
    """transformers fills missing weights with random numbers and goes on."""
    folder = shutil.copytree(bert, tmp_path / "copy")
    change(folder / "config.json", num_hidden_layers=3)
    with pytest.raises(ValueError, match=r"copy lacks 16 weights .*encoder\.layer\.2"):
        load(folder)


def test_a_model_is_short_to_look_at_and_knows_its_folder(bert):
    """A cell that ends in a model would print its network; a worker could not load it once more."""
    model = load(bert)
    shown = set(re.findall(r"(\w+)=", repr(model)))
    assert not shown & {"tokenizer", "network", "projection", "layers", "folder"}


def test_untrained_twin_is_the_same_again_and_leaves_the_random_state(bert):
    """The floor of the lesson must not move from run to run, nor change other random numbers."""
    model = load(bert)
    state = torch.random.get_rng_state()
    one, two, other = (untrained(model, seed=seed) for seed in (5, 5, 6))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert one.info.sha256 == two.info.sha256 != other.info.sha256
    assert model.info.sha256 not in (one.info.sha256, other.info.sha256)
