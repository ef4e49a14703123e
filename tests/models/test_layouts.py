"""The files of the five models that the upstream tutorial compares, as the hub has them, and which are fetched."""

import shutil
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
import transformers
from huggingface_hub.utils import filter_repo_objects
from safetensors.torch import load_file, save_file

from helpers.embeddings import encode_pooled
from helpers.models import Pooling, load_model
from helpers.systems.contenders import UPSTREAM_MODELS
from tests.checkpoints import CONFIGS, add_layers, save_checkpoint, save_colbert

HEADS = {
    "bert": transformers.AutoModelForMaskedLM,
    "roberta": transformers.AutoModelForMaskedLM,
    "xlnet": transformers.AutoModelForCausalLM,
}
OTHERS = ("tf_model.h5", "rust_model.ot", "flax_model.msgpack", "README.md", "onnx/model.onnx", "training.py")


def with_head(folder: Path, architecture: str, *, old_names: bool = False, pickle: str | None = None) -> Path:
    """Save a network with the layer that predicts words, its weights named as in that class."""
    save_checkpoint(folder, architecture, pooling=None)
    bare = load_file(folder / "model.safetensors")
    network = HEADS[architecture].from_config(CONFIGS[architecture])
    network.base_model.load_state_dict(bare, strict=False)
    weights = {name: weight.clone() for name, weight in network.state_dict().items()}
    if old_names:  # bert-base-uncased was converted from TensorFlow's names
        weights = {name.replace("LayerNorm.weight", "LayerNorm.gamma"): weight for name, weight in weights.items()}
        weights = {name.replace("LayerNorm.bias", "LayerNorm.beta"): weight for name, weight in weights.items()}
    (folder / "model.safetensors").unlink()
    if pickle != "alone":
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
    if pickle:
        torch.save(weights, folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    return folder


def minilm(folder: Path) -> Path:
    """Save what a repository of sentence-transformers has, a further format of the weights among it."""
    save_checkpoint(folder, "bert", pooling="mean")
    add_layers(folder, [("Normalize", {})])
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16, "do_lower_case": false}')
    (folder / "openvino").mkdir()
    (folder / "openvino" / "openvino_model.bin").write_bytes(b"of another program")
    return folder


def colbert(folder: Path) -> Path:
    """Save colbertv2.0's projection and both formats of its weights."""
    save_colbert(folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "artifact.metadata").write_text("{}")
    return folder


LAYOUTS = {
    "google-bert/bert-base-uncased": lambda folder: with_head(folder, "bert", old_names=True, pickle="too"),
    "FacebookAI/roberta-base": lambda folder: with_head(folder, "roberta", pickle="too"),
    "sentence-transformers/all-MiniLM-L6-v2": minilm,
    "colbert-ir/colbertv2.0": colbert,
    "xlnet/xlnet-base-cased": lambda folder: with_head(folder, "xlnet", pickle="alone"),
}


@pytest.mark.parametrize("hub_id", UPSTREAM_MODELS)
def test_each_model_of_the_tutorial_loads_from_the_hubs_files(tmp_path, monkeypatch, hub_id):
    """Lesson 03 would stop at its hub mode: XLNet's only weights are a pickle."""
    folder, copy = tmp_path / "hub", tmp_path / "fetched"

    def download(_: str, revision: str | None, allow_patterns: list[str]) -> str:
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.*")]
        for name in filter_repo_objects(names, allow_patterns=allow_patterns):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / name, copy / name)
        return str(copy)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr("helpers._hub.reachable", lambda: True)
    monkeypatch.setattr("helpers.models.find.bundled_path", lambda _: None)
    LAYOUTS[hub_id](folder)
    for name in OTHERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("not to be fetched")
    model = load_model(hub_id, backend="transformers", device="cpu")
    fetched = {path.relative_to(copy).as_posix() for path in copy.rglob("*.*")}
    assert fetched.isdisjoint(OTHERS)
    assert ("pytorch_model.bin" in fetched) == (hub_id == "xlnet/xlnet-base-cased")
    assert model.info.name == hub_id
    poolings = [Pooling.MEAN, Pooling.UNMASKED_MEAN]
    pooled = encode_pooled(model, ["the cat", "a dog is not a fish"], poolings, cache_dir=tmp_path)
    assert all(np.isfinite(vectors).all() for vectors in pooled.values())
    assert (model.projection is not None) == (hub_id == "colbert-ir/colbertv2.0")
    assert "tensor(" not in repr(model)  # which would fill the screen
