"""Model folders made to do harm: no code is run, nothing outside the folder is read, no weights go undigested."""

import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from helpers.models import OFFLINE_DEFAULT, load_model
from helpers.models.find import read_checkpoint
from helpers.models.transformer import require_head
from tests.checkpoints import add_layers, change, save_checkpoint
from tests.systems.samples import write_reranker
from tests.watch import watched

CANARY = "the secret of another folder"


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Path]:
    """Give a tiny BERT beside a secret, and see that this stayed unread and nothing was written."""
    folder = save_checkpoint(tmp_path / "models" / "hostile")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "vocab.txt").write_text(CANARY)
    with watched(tmp_path / "secret"):
        yield folder
    assert not (tmp_path / "it-ran").exists()


def refused(folder: Path, message: str) -> None:
    """See that a folder is refused in one line that repeats nothing of the secret."""
    with pytest.raises(ValueError, match=message) as caught:
        load_model(folder, device="cpu")
    assert CANARY not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["AutoConfig", "AutoModel", "AutoTokenizer"])
def test_code_of_a_folder_is_not_run(model, tmp_path, monkeypatch, name):
    """A downloaded folder could do anything with the reader's files; a piped "y" would be taken for consent."""
    witness = str(tmp_path / "it-ran")
    (model / "own_code.py").write_text(f"import pathlib\npathlib.Path({witness!r}).touch()\nOwn = object\n")
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    file = "tokenizer_config.json" if name == "AutoTokenizer" else "config.json"
    target = ["own_code.Own", "own_code.Own"] if name == "AutoTokenizer" else "own_code.Own"
    change(model / file, auto_map={name: target})
    load_model(model, device="cpu")  # the architecture is a known one: it is used in the place of the code
    every = {"AutoConfig": "own_code.Own", "AutoModel": "own_code.Own", "AutoTokenizer": ["own_code.Own"] * 2}
    change(model / "config.json", model_type="unheard-of", auto_map=every)  # nothing but the code knows this one
    change(model / file, auto_map=every)
    refused(model, "hostile")


def test_code_of_a_rerankers_folder_is_not_run(tmp_path):
    """A reranker is looked at before FlagEmbedding loads it: its folder's code could do as much then."""
    folder = write_reranker(tmp_path / "reranker")
    (folder / "own_code.py").write_text(f"open({str(tmp_path / 'it-ran')!r}, 'w')\nOwn = object\n")
    change(folder / "config.json", auto_map={"AutoModelForSequenceClassification": "own_code.Own"})
    require_head(read_checkpoint(folder))
    assert not (tmp_path / "it-ran").exists()


def test_an_adapter_is_not_followed_to_its_base(model, tmp_path):
    """peft, which FlagEmbedding installs, would load the base model from wherever the adapter says."""
    base = str(save_checkpoint(tmp_path / "base"))
    (model / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base, "peft_type": "LORA"}))
    refused(model, "is an adapter to another model")


@pytest.mark.parametrize("target", ["../base/model.safetensors", "{base}/model.safetensors", "missing.safetensors"])
def test_an_index_of_weights_names_files_of_the_folder_alone(model, tmp_path, target):
    """Weights that no digest covers can be swapped: the cache would serve the first model's vectors for the second."""
    base = save_checkpoint(tmp_path / "models" / "base", seed=1)
    name = target.format(base=base)
    weights = dict.fromkeys(load_file(model / "model.safetensors"), name)
    (model / "model.safetensors").unlink()
    (model / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))
    refused(model, "which is no file of the folder itself")


def test_weights_in_several_files_load_and_count_in_the_digest(model):
    """Large models come in parts; each part must change the digest, and a decoy must not stand for them."""
    weights = load_file(model / "model.safetensors")
    names = sorted(weights)
    halves = {"one.safetensors": names[::2], "two.safetensors": names[1::2]}
    for file, part in halves.items():
        save_file({name: weights[name] for name in part}, model / file, {"format": "pt"})
    table = {name: file for file, part in halves.items() for name in part}
    (model / "model.safetensors").rename(model / "zzz.safetensors")
    (model / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": table}))
    assert read_checkpoint(model).weights == ("one.safetensors", "two.safetensors")
    first = load_model(model, device="cpu").info.weights_sha256
    part = {name: weights[name] + 1 for name in halves["two.safetensors"]}
    save_file(part, model / "two.safetensors", {"format": "pt"})
    assert read_checkpoint(model).weights_sha256 != first
    (model / "two.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(ValueError, match=r"Git LFS pointer for two\.safetensors"):
        read_checkpoint(model)


class Bomb(str):
    """The path of a file, which is left there when this is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        """Make unpickling open the file."""
        return open, (str(self), "w")


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("pytorch_model.bin", torch.save),
        ("part.bin", lambda value, path: torch.save(value, path, _use_new_zipfile_serialization=False)),
        ("part.txt", lambda value, path: path.write_bytes(pickle.dumps(value))),
        ("2_Dense/pytorch_model.bin", torch.save),
    ],
)
def test_a_pickle_with_code_is_not_run(model, tmp_path, name, write):
    """Loading weights of a stranger could do anything with the reader's files."""
    if name.startswith("2_"):
        add_layers(model, [("Dense", {"out_features": 8})])
        (model / "2_Dense" / "model.safetensors").unlink()
    else:
        (model / "model.safetensors").unlink()
    if name.startswith("part"):
        (model / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
    write({"a": Bomb(tmp_path / "it-ran")}, model / name)
    refused(model, rf"{Path(name).name}' cannot be read by PyTorch's restricted loader")


@pytest.mark.parametrize("content", [b"", b"no pickle", [1, 2], {"a": "text"}])
def test_a_pickle_of_anything_but_tensors_is_named(model, content):
    """A damaged download must not end in a stack trace."""
    (model / "model.safetensors").unlink()
    if isinstance(content, bytes):
        (model / "pytorch_model.bin").write_bytes(content)
    else:
        torch.save(content, model / "pytorch_model.bin")
    refused(model, r"'hostile/pytorch_model\.bin' (cannot be read|holds something other than named tensors)")


OUTSIDE = {
    "transformers_weights": ("config.json", "../secret/model.safetensors"),
    "attn_implementation": ("config.json", "owner/kernel"),  # code of the hub, fetched where kernels is installed
    "vocab_file": ("tokenizer_config.json", "{secret}"),
    "fast_tokenizer_files": ("tokenizer_config.json", ["../tokenizer.4.0.0.json"]),
}


@pytest.mark.parametrize("key", OUTSIDE)
def test_a_configuration_names_nothing_outside_the_folder(model, tmp_path, key):
    """Weights, words or code would come from elsewhere, and no digest would cover them.

    Models would be refused for a path that their author's machine had, or for files that they bring, if all were.
    """
    path, own = "/a/path/of/the/author/vocab.txt", "tokenizer.4.0.0.json"
    shutil.copy(model / "tokenizer.json", model / own)
    change(model / "tokenizer_config.json", vocab_file=path, fast_tokenizer_files=[own])
    assert load_model(model, device="cpu").info.pooling == "mean"
    file, value = OUTSIDE[key]
    shutil.copy(model / "tokenizer.json", tmp_path / "models" / "tokenizer.4.0.0.json")
    secret = str(tmp_path / "secret" / "vocab.txt")
    change(model / file, **{key: value.format(secret=secret) if isinstance(value, str) else value})
    refused(model, "which is not in the folder")


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "tokenizer.model.v3"])
def test_links_out_of_the_folder_are_not_followed(model, tmp_path, name):
    """A file of the reader's own, or weights that change behind the folder's back, would be read as the model's."""
    (model / name).unlink(missing_ok=True)
    (model / name).symlink_to(tmp_path / "secret" / "vocab.txt")
    refused(model, f"'{name}' leads outside the folder 'hostile'")


@pytest.mark.parametrize("name", ["bpe.codes", "source.spm", "prophetnet.tokenizer", "tokenizer.model.v3"])
def test_files_of_every_kind_of_tokenizer_are_in_the_digest(model, name):
    """Other tokens under the same SHA-256 would take the first model's vectors from the cache."""
    before = read_checkpoint(model).sha256
    (model / name).write_text("a b\n")
    assert read_checkpoint(model).sha256 != before


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("config.json", "{", r"config\.json' cannot be read"),
        ("config.json", "\udcff", r"config\.json' cannot be read"),
        ("config.json", "[3]", "hostile: its JSON files are not of the form"),
        ("modules.json", '["Dense"]', "hostile: its JSON files are not of the form"),
        ("1_Pooling/config.json", '{"pooling_mode": [["mean"]]}', "which is not done here"),
        ("tokenizer.json", "{}", "hostile: its tokenizer cannot be loaded"),
    ],
)
def test_files_of_the_wrong_form_are_named(model, file, text, message):
    """A stack trace, or a crash of the whole process, would not say which file is broken."""
    (model / file).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=message):
        load_model(model, device="cpu")


def test_a_folder_of_the_bundled_models_name_does_not_replace_it(model, tmp_path, monkeypatch):
    """Started in a downloaded folder, a lesson would run somebody else's weights under the published name."""
    shutil.copytree(model, tmp_path / OFFLINE_DEFAULT)
    monkeypatch.chdir(tmp_path)
    assert load_model(OFFLINE_DEFAULT, device="cpu").info.weights_sha256.startswith("53aa51172d142c89")
