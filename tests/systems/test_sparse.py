"""Learned sparse retrieval: the weights of SPLADE, their search, and checkpoints that are none."""

import numpy as np
import pytest
import torch
import transformers

from helpers.report import compare
from helpers.report.spec import from_text, from_toml
from helpers.systems import load_sparse, rank
from tests.checkpoints import CONFIGS, save_checkpoint, save_tokenizer
from tests.systems.samples import collection


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny masked language model in the hub's layout."""
    place = tmp_path_factory.mktemp("sparse") / "splade"
    transformers.set_seed(5)
    config = transformers.BertConfig(**CONFIGS["bert"].to_dict())
    network = transformers.BertForMaskedLM(config)
    with torch.no_grad():
        network.cls.predictions.bias.normal_(-0.2, 0.3)  # most weights become 0, as training makes them
    network.save_pretrained(place)
    save_tokenizer(place)
    return place


def test_weights_are_splades(folder):
    """Weights would depend on padding or on the batch, leave out the logarithm, or take the sum for the maximum."""
    data = collection()
    model = load_sparse(folder, batch_size=5)
    weights = model.represent(data.corpus, "passage").toarray()
    for text, row in zip(data.corpus, weights, strict=True):
        with torch.inference_mode():
            logits = model.network(**model.tokenizer(text, return_tensors="pt")).logits[0].numpy()
        expected = np.array([max(np.log1p(max(0.0, float(value))) for value in column) for column in logits.T])
        assert np.allclose(row, expected, atol=1e-5)
    assert 0 < (weights > 0).mean() < 1
    short = load_sparse(folder, max_length=3).represent(["apple bread cat", "apple"], "passage")
    assert np.allclose(short[0].toarray(), short[1].toarray(), atol=1e-6)  # [CLS], one word, [SEP]


def test_ranking_is_by_the_inner_product(folder):
    """A passage that shares no word would be retrieved, or one that shares many be missed."""
    data = collection()
    model = load_sparse(folder)
    ranking = rank(model, data, len(data.corpus))
    scores = model.represent(data.queries, "query").toarray() @ model.represent(data.corpus, "passage").toarray().T
    for row, values in enumerate(scores):
        best = [passage for passage in np.argsort(-values, kind="stable") if values[passage] > 0]
        assert np.allclose(ranking.scores[row, : len(best)], values[best], rtol=1e-5)
        assert set(ranking.ids[row, : len(best)]) == set(best)
        assert (ranking.ids[row, len(best) :] == -1).all()
    assert model.exact


def test_a_model_without_the_head_is_refused(tmp_path):
    """Random weights of the vocabulary would be scored as if they were trained."""
    with pytest.raises(ValueError, match="is no masked language model, so its head would be random"):
        load_sparse(save_checkpoint(tmp_path / "bert", pooling="mean"))


def test_a_pickle_is_never_opened(folder, tmp_path):
    """A checkpoint of a stranger would run code."""
    place = tmp_path / "pickled"
    place.mkdir()
    for file in folder.iterdir():
        if file.name != "model.safetensors":
            (place / file.name).write_bytes(file.read_bytes())
    torch.save(load_sparse(folder).network.state_dict(), place / "pytorch_model.bin")  # all that it needs
    with pytest.raises(ValueError, match="cannot be loaded as a sparse encoder"):
        load_sparse(place)


def test_lengths_are_checked(folder):
    """A text would be cut to nothing, or run past the last position."""
    for wrong in (2, 9999):
        with pytest.raises(ValueError, match=f"max_length={wrong}: splade takes from 3 to"):
            load_sparse(folder, max_length=wrong)


def test_the_report_has_sparse_systems(folder, tmp_path, monkeypatch):
    """A system in text or TOML would be taken for a dense model, or its file not be found beside the TOML."""
    monkeypatch.chdir(tmp_path)
    (folder.parent / "systems.toml").write_text(
        '[systems.learned]\nsparse = "splade"\nmax_length = 9\n[systems.both]\nfuse = ["learned", "bm25"]\n',
        encoding="utf-8",
    )
    specs = from_toml(folder.parent / "systems.toml")
    found = compare([*specs, from_text(f"sparse:{folder}?name=whole")], collection(), 3, growth=True, latency=2)
    assert found.failed == {}
    record = found.results["learned"].metadata
    assert (record["kind"], record["where"], record["model"]["max_length"]) == ("sparse", "splade", 9)
    assert set(found.results["whole"].latency) == {"queries", "search"}
    assert set(found.results["both"].latency) == {"queries", "search", "fuse"}
    with pytest.raises(ValueError, match="a sparse has no option 'pooling'"):
        from_text("sparse:x?pooling=cls")
