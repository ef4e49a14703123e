"""The files of the five models that the upstream tutorial compares, as the hub has them, and which are fetched."""

import fnmatch
import json
import shutil
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from helpers.embeddings import encode_pooled
from helpers.models import Pooling, load_model
from helpers.systems import UPSTREAM_MODELS
from tests.checkpoints import CONFIGS, save_checkpoint, save_colbert

pytestmark = pytest.mark.usefixtures("empty_cache")

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
    modules = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    listed = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for kind, path in modules]
    (folder / "modules.json").write_text(json.dumps(listed))
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


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Give a made-up hub: repositories on disk, of which a call copies the files whose names fit; and the copies."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("helpers._hub.reachable", lambda: True)
    monkeypatch.setattr("helpers.models.find.bundled_path", lambda _: None)

    def download(hub_id: str, revision: str | None, allow_patterns: list[str]) -> str:
        source, target = tmp_path / "hub" / hub_id, tmp_path / "fetched" / hub_id
        for path in source.rglob("*"):
            name = path.relative_to(source).as_posix()
            if path.is_file() and any(fnmatch.fnmatch(name, pattern) for pattern in allow_patterns):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target / name)
        return str(target)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return tmp_path


@pytest.mark.parametrize("hub_id", UPSTREAM_MODELS)
def test_each_model_of_the_tutorial_loads_from_the_hubs_files(hub, hub_id):
    """Lesson 03 would stop at its hub mode: XLNet's only weights are a pickle."""
    folder = hub / "hub" / hub_id
    folder.parent.mkdir(parents=True)
    LAYOUTS[hub_id](folder)
    for name in OTHERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("not to be fetched")
    model = load_model(hub_id, backend="transformers", device="cpu")
    fetched = {path.relative_to(hub / "fetched" / hub_id).as_posix() for path in (hub / "fetched").rglob("*.*")}
    assert fetched.isdisjoint(OTHERS)
    assert ("pytorch_model.bin" in fetched) == (hub_id == "xlnet/xlnet-base-cased")
    assert model.info.name == hub_id
    pooled = encode_pooled(model, ["the cat", "a dog is not a fish"], [Pooling.MEAN, Pooling.UNMASKED_MEAN])
    assert all(np.isfinite(vectors).all() for vectors in pooled.values())
    assert (model.projection is not None) == (hub_id == "colbert-ir/colbertv2.0")
