"""Every pooling of every architecture from text to vector: the same in any batch, one pass, one cache."""

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from helpers import embeddings
from helpers.embeddings import encode_pooled, encoding
from helpers.embeddings.encoding import tokenize
from helpers.models import Pooling, load_model
from helpers.models.transformer import TransformerModel, static, untrained
from tests.checkpoints import change, save_checkpoint, save_colbert, save_tokenizer

ARCHITECTURES = ("bert", "roberta", "mpnet", "xlnet", "colbert")
SOUND = [pooling for pooling in Pooling if pooling is not Pooling.UNMASKED_MEAN]
LONG = "the cat is not a good dog , the fish is not a good apple . " * 3
TEXTS = ["the cat", LONG, "good bread is good", "fish", "a dog of the house is not a cat"]


def load(name_or_path, **options) -> TransformerModel:
    """Load a bare network, on the processor."""
    return load_model(name_or_path, backend="transformers", device="cpu", **options)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """Give a tiny checkpoint of each architecture on disk."""
    root = tmp_path_factory.mktemp("checkpoints")
    made = {name: save_checkpoint(root / name, name, pooling=None) for name in ARCHITECTURES[:-1]}
    return made | {"colbert": save_colbert(root / "colbert")}


@pytest.fixture(scope="module")
def encoders(folders) -> dict[str, TransformerModel]:
    """Give them loaded."""
    return {name: load(folder) for name, folder in folders.items()}


def run(encoder, texts, poolings, cache, **options):
    """Encode without a bar, and give MaxSim's token vectors one array a text."""
    found = encode_pooled(encoder, texts, poolings, cache_dir=cache, progress=False, **options)
    return {
        name: [value.text(row) for row in range(len(texts))] if name is Pooling.MAXSIM else value
        for name, value in found.items()
    }


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_poolings_are_those_of_the_bare_network(encoders, name, tmp_path):
    """From text to vector, the result must be what transformers' own output gives for the text alone."""
    encoder = encoders[name]
    found = run(encoder, TEXTS, ["cls", "mean", "max", "attention"], tmp_path)
    for row, text in enumerate(TEXTS):
        inputs = {name: torch.tensor([ids]) for name, ids in encoder.tokenizer(text).items()}
        if name == "mpnet":
            inputs.pop("token_type_ids", None)
        with torch.inference_mode():
            output = encoder.network(**inputs, output_attentions=True)
        hidden = output.last_hidden_state[0]
        received = output.attentions[-1][0].mean(dim=0).sum(dim=0) / len(hidden)
        place = encoder.tokenizer(text)["input_ids"].index(encoder.tokenizer.cls_token_id)
        assert place == (len(hidden) - 1 if name == "xlnet" else 0)
        expected = {
            "cls": hidden[place],
            "mean": hidden.mean(dim=0),
            "max": hidden.max(dim=0).values,
            "attention": (hidden * received[:, None]).sum(dim=0),
        }
        for how, vector in expected.items():
            np.testing.assert_allclose(found[how][row], vector / vector.norm(), atol=1e-5, err_msg=f"{how}: {text}")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_vectors_do_not_depend_on_the_batch(folders, name, side, tmp_path):
    """Padding that leaks into a vector changes it with whatever else is in the batch.

    With padding in front a BERT would count positions from the padding, and MaxSim would take padding's vectors. The
    mean over padding, a mistake that the lesson shows, does change; were it masked after all, nothing would be seen.
    """
    folder = Path(shutil.copytree(folders[name], tmp_path / "model"))
    change(folder / "tokenizer_config.json", padding_side=side)
    encoder = load(folder)
    alone = [run(encoder, [text], Pooling, tmp_path / "alone") for text in TEXTS]
    together = run(encoder, TEXTS, Pooling, tmp_path, batch_size=4)
    for how in SOUND:
        assert len(together[how]) == len(TEXTS)
        for row in range(len(TEXTS)):
            np.testing.assert_allclose(together[how][row], alone[row][how][0], atol=1e-5, err_msg=how)
    np.testing.assert_allclose(alone[0][Pooling.UNMASKED_MEAN], alone[0][Pooling.MEAN], atol=1e-6)
    assert together[Pooling.UNMASKED_MEAN][0] @ alone[0][Pooling.MEAN][0] < 0.99


def test_tokenizer_without_pad_token(folders, encoders, tmp_path):
    """GPT-like tokenizers name no padding; another token takes its place and is masked."""
    folder = shutil.copytree(folders["bert"], tmp_path / "unpadded")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    save_tokenizer(folder, pad=False)
    encoder = load(folder)
    expected, found = (run(e, TEXTS, ["mean", "max"], tmp_path) for e in (encoders["bert"], encoder))
    for how in ("mean", "max"):
        np.testing.assert_allclose(found[how], expected[how], atol=1e-5)


def test_model_without_a_limit_takes_any_length(encoders, tmp_path):
    """XLNet states no longest input; a limit made up for it would cut texts that it can read."""
    text = "the cat is good " * 200
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokens = run(encoders["xlnet"], [text, "fish"], ["mean", "maxsim"], tmp_path)["maxsim"]
    assert [len(vectors) for vectors in tokens] == [802, 3]


def test_poolings_share_a_pass_and_the_cache(encoders, tmp_path, monkeypatch):
    """Encoding again for each pooling would make the lesson six times as slow.

    A pooling added later must not encode for those already there, nor be served one of them, nor the vectors of another
    model, or of another batch where batches matter.
    """
    real, forwards = encoding.forward, []
    monkeypatch.setattr(encoding, "forward", lambda *given: forwards.append(sorted(given[3])) or real(*given))
    first = run(encoders["bert"], TEXTS, ["mean", "maxsim", "unmasked_mean"], tmp_path)
    again = run(encoders["bert"], TEXTS, ["mean", "max", "maxsim"], tmp_path)
    assert forwards == [["maxsim", "mean", "unmasked_mean"], ["max"]]
    assert np.array_equal(again["mean"], first["mean"])
    assert all(map(np.array_equal, again["maxsim"], first["maxsim"]))
    halves = run(encoders["bert"], TEXTS, ["unmasked_mean"], tmp_path, batch_size=1)["unmasked_mean"]
    twin, lookup = untrained(encoders["bert"], seed=5), static(encoders["bert"])
    others = [run(encoder, TEXTS, ["mean"], tmp_path)["mean"] for encoder in (twin, lookup)]
    pairs = [(again["max"], again["mean"]), (first["unmasked_mean"], halves), (others[0], others[1])]
    for one, other in [*pairs, *((first["mean"], other) for other in others)]:
        assert np.abs(one - other).max() > 1e-2


@pytest.mark.parametrize("name", ["bert", "colbert"])
def test_shards_are_put_together_in_order(encoders, name, tmp_path, monkeypatch):
    """A corpus of more than one shard must keep each text's vectors at its row."""
    whole = run(encoders[name], TEXTS, SOUND, tmp_path / "whole")
    monkeypatch.setattr(embeddings, "SHARD_SIZE", 2)
    parts = run(encoders[name], TEXTS, SOUND, tmp_path / "parts")
    for how in SOUND:
        for one, other in zip(whole[how], parts[how], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_static_model_ignores_what_stands_around_a_token(encoders, tmp_path):
    """The lesson calls it a bag of words; contextual vectors would make it something else."""
    tokens = run(static(encoders["bert"]), ["cat dog", "dog cat fish"], ["maxsim"], tmp_path)["maxsim"]
    np.testing.assert_allclose(tokens[0][1], tokens[1][2], atol=1e-6)  # behind [CLS]: cat, and dog cat
    word = encoders["bert"].network.get_input_embeddings().weight[encoders["bert"].tokenizer.get_vocab()["cat"]]
    np.testing.assert_allclose(tokens[0][1], (word / word.norm()).detach(), atol=1e-6)


def test_colbert_reads_texts_as_it_was_trained_to(encoders):
    """Without markers, [MASK] filling and projection it is a BERT that nobody trained for retrieval."""
    encoder = encoders["colbert"]
    vocabulary = encoder.tokenizer.get_vocab()
    cls, sep, mask, cat, comma = (vocabulary[token] for token in ("[CLS]", "[SEP]", "[MASK]", "cat", ","))
    query = tokenize(encoder, ["cat , cat"], "query")
    assert query["input_ids"] == [[cls, vocabulary["[unused0]"], cat, comma, cat, sep] + [mask] * 26]
    assert query["attention_mask"] == [[1] * 6 + [0] * 26]
    assert query["compared"] == [[True] * 32]
    passage = tokenize(encoder, ["cat , cat"], "passage")
    assert passage["input_ids"] == [[cls, vocabulary["[unused1]"], cat, comma, cat, sep]]
    assert passage["attention_mask"] == [[1] * 6]
    assert passage["compared"] == [[True, True, True, False, True, True]]


def test_colbert_is_projected_and_its_sides_differ(encoders, folders, tmp_path):
    """Comparing the 768 dimensions of BERT is not ColBERT; its token vectors have passed the projection.

    A passage of the same words as a query would be compared by the query's 32 vectors, to which a longer one is cut.
    """
    encoder = encoders["colbert"]
    with pytest.warns(UserWarning, match="longer than the 31 tokens that colbert takes"):
        queries = [run(encoder, [text], ["maxsim"], tmp_path, kind="query") for text in ("cat , cat", "cat " * 40)]
    assert [len(query[Pooling.MAXSIM][0]) for query in queries] == [32, 32]
    found = encode_pooled(encoder, ["cat , cat"], ["mean", "maxsim"], cache_dir=tmp_path, progress=False)
    assert found["mean"].shape == (1, 16)
    ids = torch.tensor(tokenize(encoder, ["cat , cat"], "passage")["input_ids"])
    with torch.inference_mode():
        hidden = encoder.network(input_ids=ids).last_hidden_state[0, [0, 1, 2, 4, 5]]
    weights = load_file(folders["colbert"] / "model.safetensors")
    expected = torch.nn.functional.normalize(hidden @ weights["linear.weight"].T, dim=-1)
    np.testing.assert_allclose(found["maxsim"].vectors, expected, atol=1e-5)
