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
from tests.checkpoints import save_checkpoint, save_colbert, save_tokenizer

ARCHITECTURES = ("bert", "roberta", "mpnet", "xlnet", "colbert")
SOUND = [pooling for pooling in Pooling if pooling is not Pooling.UNMASKED_MEAN]
KINDS = ("query", "passage")
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


@pytest.fixture
def forwards(monkeypatch) -> list[list[str]]:
    """Note the poolings of each pass that really went through a network."""
    noted = []
    real = encoding.forward

    def forward(model, texts, tokens, poolings, batch_size):
        noted.append(sorted(poolings))
        return real(model, texts, tokens, poolings, batch_size)

    monkeypatch.setattr(encoding, "forward", forward)
    return noted


def run(encoder, texts, poolings, cache, **options):
    """Encode without a bar, and give MaxSim's token vectors one array a text."""
    found = encode_pooled(encoder, texts, poolings, cache_dir=cache, progress=False, **options)
    return {
        name: [value.text(row) for row in range(len(texts))] if name is Pooling.MAXSIM else value
        for name, value in found.items()
    }


def hidden_of(encoder, text):
    """Give last layer and attention of one text alone, straight from transformers."""
    inputs = {name: torch.tensor([ids]) for name, ids in encoder.tokenizer(text).items()}
    if encoder.network.config.model_type == "mpnet":
        inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        output = encoder.network(**inputs, output_attentions=True)
    return output.last_hidden_state[0], output.attentions[-1][0]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_poolings_are_those_of_the_bare_network(encoders, name, tmp_path):
    """From text to vector, the result must be what transformers' own output gives for the text alone."""
    encoder = encoders[name]
    found = run(encoder, TEXTS, ["cls", "mean", "max", "attention"], tmp_path)
    for row, text in enumerate(TEXTS):
        hidden, attention = hidden_of(encoder, text)
        received = attention.mean(dim=0).sum(dim=0) / len(hidden)
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


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_vectors_do_not_depend_on_the_batch(encoders, name, tmp_path):
    """Padding that leaks into a vector changes it with whatever else is in the batch."""
    alone = [run(encoders[name], [text], SOUND, tmp_path) for text in TEXTS]
    for size in (2, 3, len(TEXTS)):
        together = run(encoders[name], TEXTS, SOUND, tmp_path / str(size), batch_size=size)
        for how in SOUND:
            assert len(together[how]) == len(TEXTS)
            for row in range(len(TEXTS)):
                np.testing.assert_allclose(together[how][row], alone[row][how][0], atol=1e-5, err_msg=how)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_unmasked_mean_does_depend_on_the_batch(encoders, name, tmp_path):
    """The lesson shows this mistake; were it masked after all, there would be nothing to see."""
    alone = run(encoders[name], TEXTS[:1], ["mean", "unmasked_mean"], tmp_path)
    np.testing.assert_allclose(alone["unmasked_mean"], alone["mean"], atol=1e-6)
    together = run(encoders[name], TEXTS, ["mean", "unmasked_mean"], tmp_path)
    assert together["unmasked_mean"][0] @ alone["mean"][0] < 0.99


@pytest.mark.parametrize("name", ARCHITECTURES[:-1])
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_side_does_not_matter(encoders, name, side, tmp_path):
    """With padding in front a BERT would count positions from the padding, and MaxSim would take padding's vectors."""
    last = {"cls_last": True} if name == "xlnet" else {}
    other = load(save_checkpoint(tmp_path / name, name, pooling=None, padding_side=side, **last))
    expected, found = (run(encoder, TEXTS, SOUND, tmp_path) for encoder in (encoders[name], other))
    for how in SOUND:
        for row in range(len(TEXTS)):
            np.testing.assert_allclose(found[how][row], expected[how][row], atol=1e-5, err_msg=how)


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


def test_all_poolings_share_one_pass(encoders, tmp_path, forwards):
    """Encoding again for each pooling would make the lesson six times as slow."""
    first = run(encoders["bert"], TEXTS, Pooling, tmp_path)
    assert forwards == [sorted(Pooling)]
    again = run(encoders["bert"], TEXTS, Pooling, tmp_path)
    assert len(forwards) == 1
    for how in Pooling:
        for one, other in zip(first[how], again[how], strict=True):
            assert np.array_equal(one, other)


def test_only_what_is_missing_is_computed(encoders, tmp_path, forwards):
    """A pooling added later must not encode for those already there, nor be served one of them."""
    run(encoders["bert"], TEXTS, ["mean", "maxsim"], tmp_path)
    both = run(encoders["bert"], TEXTS, ["mean", "max"], tmp_path)
    assert forwards == [["maxsim", "mean"], ["max"]]
    assert np.abs(both["max"] - both["mean"]).max() > 1e-2


def test_cache_tells_models_and_batches_apart(encoders, tmp_path):
    """A vector of another model, or of another batch where batches matter, would be scored as this one's."""
    whole, halves = (run(encoders["bert"], TEXTS, ["unmasked_mean"], tmp_path, batch_size=size) for size in (5, 1))
    assert np.abs(whole["unmasked_mean"] - halves["unmasked_mean"]).max() > 1e-2
    twin, lookup = untrained(encoders["bert"], seed=5), static(encoders["bert"])
    vectors = [run(encoder, TEXTS, ["mean"], tmp_path)["mean"] for encoder in (encoders["bert"], twin, lookup)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(vectors[one] - vectors[other]).max() > 1e-2


def test_cache_tells_the_sides_of_colbert_apart(encoders, tmp_path):
    """A passage of the same words as a query would be compared by the query's 32 vectors."""
    sides = {kind: run(encoders["colbert"], ["cat , cat"], ["maxsim"], tmp_path, kind=kind) for kind in KINDS}
    lengths = [len(sides[kind][Pooling.MAXSIM][0]) for kind in KINDS]
    assert lengths == [32, 5]
    alone = run(encoders["colbert"], ["cat , cat"], ["maxsim"], tmp_path / "alone")
    assert np.array_equal(sides["passage"][Pooling.MAXSIM][0], alone[Pooling.MAXSIM][0])


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


@pytest.mark.parametrize("suffix", ["safetensors", "bin"])
def test_colbert_is_projected(folders, tmp_path, suffix):
    """Comparing the 768 dimensions of BERT is not ColBERT; its token vectors have passed the projection."""
    folder = shutil.copytree(folders["colbert"], tmp_path / "colbert")
    weights = load_file(folder / "model.safetensors")
    if suffix == "bin":
        torch.save(weights, folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    encoder = load(folder)
    found = encode_pooled(encoder, ["cat , cat"], ["mean", "maxsim"], cache_dir=tmp_path, progress=False)
    assert found["mean"].shape == (1, 16)
    assert found["maxsim"].vectors.shape == (5, 4)
    ids = torch.tensor(tokenize(encoder, ["cat , cat"], "passage")["input_ids"])
    with torch.inference_mode():
        hidden = encoder.network(input_ids=ids).last_hidden_state[0, [0, 1, 2, 4, 5]]
    expected = torch.nn.functional.normalize(hidden @ weights["linear.weight"].T, dim=-1)
    np.testing.assert_allclose(found["maxsim"].vectors, expected, atol=1e-5)


def test_long_colbert_query_is_cut_and_reported(encoders, tmp_path):
    """ColBERT reads 32 tokens of a query; one that is longer loses its end."""
    with pytest.warns(UserWarning, match="longer than the 31 tokens that colbert takes"):
        tokens = run(encoders["colbert"], ["cat " * 40], ["maxsim"], tmp_path, kind="query")["maxsim"]
    assert len(tokens[0]) == 32


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["cat"], {"poolings": ["median"]}, r"Unknown pooling 'median': expected one of cls, mean, max"),
        (["cat"], {"poolings": []}, "one pooling"),
        (["cat", "  "], {}, "Text 1 is blank"),
    ],
)
def test_bad_arguments_are_named(encoders, tmp_path, texts, options, message):
    """Each would otherwise fail far from its cause, or give a vector that means nothing."""
    with pytest.raises(ValueError, match=message):
        encode_pooled(encoders["bert"], texts, **{"poolings": ["mean"], "cache_dir": tmp_path, **options})
