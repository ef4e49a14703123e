"""Comparing models: the two sets of models of lesson 3, models of one's own, and rankings against plain loops."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.data import upstream_example
from helpers.embeddings import encode_pooled
from helpers.models import OFFLINE_DEFAULT, Pooling, load_model
from helpers.systems import Dense, Ranking, load_contenders, rank, rank_all, short_name
from helpers.systems.contenders import UPSTREAM_MODELS
from tests.checkpoints import save_checkpoint, save_colbert
from tests.systems.samples import write_embeddings

EXAMPLE = upstream_example()[0]


@pytest.fixture(autouse=True)
def tiny_networks(tmp_path, monkeypatch):
    """Put tiny networks in the place of the hub's models, and keep embeddings out of the user's cache."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))

    def tiny_model(name, **options):
        if name not in UPSTREAM_MODELS:
            return load_model(name, device="cpu", **options)
        architecture = {OFFLINE_DEFAULT: "bert"}.get(name) or name.split("/")[1].split("-")[0]
        folder = tmp_path / name
        is_colbert = architecture.startswith("colbert")
        save_colbert(folder) if is_colbert else save_checkpoint(folder, architecture, pooling=None)
        model = load_model(folder, device="cpu", **options)
        return replace(model, info=replace(model.info, name=name))

    monkeypatch.setattr("helpers.systems.contenders.load_model", tiny_model)


def test_all_five_hub_models_are_reached_by_one_parameter():
    """A row of the lesson's table that cannot be run would be a promise nobody keeps."""
    found = rank_all(load_contenders("hub"), EXAMPLE, 10, progress=False)
    models = ("bert-base-uncased", "roberta-base", "MiniLM", "colbertv2.0", "xlnet-base-cased")
    assert tuple(map(short_name, UPSTREAM_MODELS)) == models
    expected = {f"{model}, {how}" for model in models for how in ("mean", "unmasked_mean")}
    expected |= {f"MiniLM, {how}" for how in Pooling}  # which lesson 03 compares whatever the models are
    assert set(found) == expected | {"colbertv2.0, maxsim", "TF-IDF", "BM25"}
    for name, ranking in found.items():
        by_words = name in ("TF-IDF", "BM25")  # these retrieve only sentences that share a word with the question
        assert by_words or np.array_equal(np.sort(ranking.ids), [range(10)] * 5)


def test_own_models_stand_beside_the_offline_ones(tmp_path):
    """A reader's model would be refused, or compared under a pooling that it was not trained with."""
    own = [
        str(save_checkpoint(tmp_path / "first", pooling="max")) + "/",
        save_checkpoint(tmp_path / "second", pooling=None),
        save_colbert(tmp_path / "third"),
        write_embeddings(tmp_path / "vectors"),  # whose pooling is done
    ]
    offline = {"MiniLM": tuple(Pooling), "static": ("mean",), "untrained": ("mean",)}
    contenders = load_contenders()
    assert {name: contender.poolings for name, contender in contenders.items()} == offline
    assert len({contender.model.info.sha256 for contender in contenders.values()}) == 3
    found = {name: contender.poolings for name, contender in load_contenders(own).items()}
    assert found == offline | {"first": ("max",), "second": ("mean",), "third": ("mean", "maxsim"), "vectors": ()}
    for alone in (own[0], own[1]):
        assert len(load_contenders(alone)) == 4


def test_what_cannot_be_compared_is_refused(tmp_path):
    """One of two checkpoints of a name would take the other's row, a typo fall back to another set."""
    folders = [save_checkpoint(tmp_path / name / "model") for name in ("before", "after")]
    with pytest.raises(ValueError, match=r"Two models are called 'model': give .*after.* as a folder of another name"):
        load_contenders(folders)
    with pytest.raises(ValueError, match="holds embeddings, which cannot be pooled another way"):
        load_contenders(base=write_embeddings(tmp_path / "vectors"))
    with pytest.raises(FileNotFoundError, match="No model folder 'online'"):
        load_contenders("online")


@pytest.mark.parametrize("pooling", ["max", "maxsim"])
def test_rankings_are_those_of_a_plain_loop(tmp_path, pooling):
    """Another pooling than was asked for, or a query read as a passage, gives another ranking and no error."""
    model = load_model(save_colbert(tmp_path / "colbert"), backend="transformers", device="cpu")
    queries = encode_pooled(model, EXAMPLE.queries, [pooling], kind="query", progress=False)[pooling]
    passages = encode_pooled(model, EXAMPLE.corpus, [pooling], progress=False)[pooling]
    found = rank(Dense(model, pooling, progress=False), EXAMPLE, 10)
    for row in range(5):
        if pooling == "maxsim":
            scores = [float((queries.text(row) @ passages.text(i).T).max(axis=1).sum()) for i in range(10)]
        else:
            scores = [float(queries[row] @ passage) for passage in passages]
        np.testing.assert_allclose(found.scores[row], sorted(scores, reverse=True), atol=1e-4)
        np.testing.assert_allclose([scores[i] for i in found.ids[row]], found.scores[row], atol=1e-4)


def test_what_ranks_by_itself_is_a_system():
    """A reranker, or a run of another engine, would need a pipeline of its own."""
    ids = np.tile(np.arange(10)[::-1], (5, 1))
    last_first = Ranking(-ids.astype(np.float32), ids)
    assert rank(last_first, EXAMPLE, 3).ids.tolist() == [[9, 8, 7]] * 5
    assert rank(last_first, EXAMPLE).ids.shape == rank("BM25", EXAMPLE).ids.shape == (5, 10)
    exact = [Dense(None), Dense(None, "maxsim"), Dense(None, factory="HNSW4")]
    assert [system.exact for system in exact] == [True, True, False]  # a report ranks the last no deeper than asked
    assert len({Dense(None, "mean"), Dense(None, "mean")}) == 1  # the key of a dict, as in a solution of lesson 5
    with pytest.raises(ValueError, match="Unknown system 'BM52': expected a model, or one of BM25, TF-IDF"):
        rank("BM52", EXAMPLE, 3)
