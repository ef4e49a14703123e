"""Comparing models: the published experiment, the two sets of models, and the tables and figures of lesson 03."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.data import bundled as collections
from helpers.data import upstream_example
from helpers.embeddings import encode_pooled
from helpers.metrics import evaluate
from helpers.models import OFFLINE_DEFAULT, Pooling, load_model
from helpers.systems import (
    UPSTREAM_MODELS,
    Dense,
    Ranking,
    load_contenders,
    rank,
    rank_all,
    short_name,
)
from tests.checkpoints import save_checkpoint, save_colbert
from tests.systems.samples import write_embeddings

METRICS = ["mrr@2", "recall@2", "ndcg@2"]


@pytest.fixture(scope="module")
def example():
    """Give upstream's collection and published rankings."""
    return upstream_example()


def load(name_or_path):
    """Load a bare network, on the processor."""
    return load_model(name_or_path, backend="transformers", device="cpu")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Give a tiny BERT, loaded."""
    return load(save_checkpoint(tmp_path_factory.mktemp("tiny") / "tiny", pooling=None))


@pytest.fixture(scope="module")
def minilm():
    """Give the bundled model, loaded."""
    return load(OFFLINE_DEFAULT)


@pytest.fixture(autouse=True)
def loaded_once(minilm, monkeypatch):
    """Load the bundled model once for all tests."""
    monkeypatch.setattr(
        "helpers.systems.contenders.load_model",
        lambda name, **options: minilm if name == OFFLINE_DEFAULT else load_model(name, **options),
    )


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Keep embeddings out of the user's cache."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hub(tmp_path, minilm, monkeypatch):
    """Put tiny networks in the place of the hub's models; the bundled one is itself."""

    def tiny_model(name, **_):
        if name == OFFLINE_DEFAULT:
            return minilm
        architecture = name.split("/")[1].split("-")[0]
        is_colbert = architecture.startswith("colbert")
        folder = tmp_path / architecture
        model = load(save_colbert(folder) if is_colbert else save_checkpoint(folder, architecture, pooling=None))
        return replace(model, info=replace(model.info, name=name))

    monkeypatch.setattr("helpers.systems.contenders.load_model", tiny_model)


# --- upstream's experiment -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "mrr", "recall"),
    [
        ("google-bert/bert-base-uncased", 1.0, 0.9),
        ("FacebookAI/roberta-base", 1.0, 0.8),
        ("sentence-transformers/all-MiniLM-L6-v2", 1.0, 1.0),
        ("colbert-ir/colbertv2.0", 1.0, 0.9),
        ("xlnet/xlnet-base-cased", 0.4, 0.4),
    ],
)
def test_published_figures_follow_from_the_published_rankings(example, model, mrr, recall):
    """The lesson says so of all five; a slip in the data file or a metric would make it untrue."""
    data, published = example
    mean = evaluate(published[model], data.qrels, METRICS).mean
    assert mean["mrr@2"] == pytest.approx(mrr, abs=1e-12)
    assert mean["recall@2"] == pytest.approx(recall, abs=1e-12)
    file = json.loads((collections.FOLDER / "upstream_mrr_example.json").read_text(encoding="utf-8"))
    assert file["published_mrr@2"][model] == mrr


def test_bundled_model_reproduces_its_published_ranking(example, minilm, cache):
    """The one published ranking that can be checked without a network, for all five queries."""
    data, published = example
    ranking = rank(Dense(minilm, "mean", progress=False), data, 2)
    assert ranking.ids.tolist() == published[OFFLINE_DEFAULT].tolist()
    assert published[OFFLINE_DEFAULT].tolist() == [[5, 0], [6, 1], [2, 7], [3, 8], [4, 9]]


def test_chance_level_of_the_example(example):
    """The lesson sets the scores beside .289 = 1/5 + 1/2 · 4/5 · 2/9, what drawing at random scores on average."""
    every = np.array(list(itertools.permutations(range(10), 2)))
    result = evaluate(every, [example[0].qrels[0]] * len(every), METRICS)
    assert result.mean["mrr@2"] == pytest.approx(1 / 5 + 1 / 2 * 4 / 5 * 2 / 9, abs=1e-12)
    assert result.mean["recall@2"] == pytest.approx(0.2, abs=1e-12)


# --- the two sets of models ------------------------------------------------------------------------------


def test_all_five_hub_models_are_reached_by_one_parameter(example, hub, cache):
    """A row of the lesson's table that cannot be run would be a promise nobody keeps."""
    contenders = load_contenders("hub")
    names = {contender.model.info.name for contender in contenders.values()}
    assert names == set(UPSTREAM_MODELS)
    found = rank_all(contenders, example[0], 10, progress=False)
    models = ("bert-base-uncased", "roberta-base", "MiniLM", "colbertv2.0", "xlnet-base-cased")
    assert tuple(map(short_name, UPSTREAM_MODELS)) == models
    expected = {f"{model}, {how}" for model in models for how in ("mean", "unmasked_mean")}
    expected |= {f"MiniLM, {how}" for how in Pooling}  # which lesson 03 compares whatever the models are
    assert set(found) == expected | {"colbertv2.0, maxsim", "TF-IDF", "BM25"}
    for name, ranking in found.items():
        by_words = name in ("TF-IDF", "BM25")  # these retrieve only sentences that share a word with the question
        assert by_words or np.array_equal(np.sort(ranking.ids), [range(10)] * 5)
        assert (np.diff(ranking.scores) <= 0).all()


def test_offline_set_is_what_the_lesson_says(cache):
    """MiniLM under each pooling, and as floor its input embeddings and a twin of no training."""
    contenders = load_contenders("offline")
    assert {name: contender.poolings for name, contender in contenders.items()} == {
        "MiniLM": tuple(Pooling),
        "static": (Pooling.MEAN,),
        "untrained": (Pooling.MEAN,),
    }
    assert len({contender.model.info.sha256 for contender in contenders.values()}) == 3


def test_own_models_stand_beside_the_offline_ones(tmp_path, cache):
    """A reader's model would be refused, or compared under a pooling that it was not trained with."""
    own = [
        str(save_checkpoint(tmp_path / "first", pooling="max")) + "/",
        save_checkpoint(tmp_path / "second", pooling=None),
        save_colbert(tmp_path / "third"),
    ]
    offline = ["MiniLM", "static", "untrained"]
    contenders = load_contenders(own)
    assert list(contenders) == [*offline, "first", "second", "third"]
    assert [contenders[name].poolings for name in ("first", "second", "third")] == [
        ("max",), ("mean",), ("mean", "maxsim")
    ]  # fmt: skip
    for alone in (own[0], own[1]):
        assert len(load_contenders(alone)) == 4


def test_own_models_are_named_as_the_reader_names_them(tmp_path, cache):
    """Two checkpoints of one run are often called the same; one would take the other's row."""
    own = {name: save_checkpoint(tmp_path / name / "model") for name in ("before", "after")}
    assert list(load_contenders(own))[3:] == ["before", "after"]
    with pytest.raises(ValueError, match="Two models are called 'model': give them names"):
        load_contenders(list(own.values()))


def test_embeddings_are_a_contender_and_no_base(tmp_path, cache):
    """Vectors computed elsewhere could not be compared, or the reader would get an AttributeError for their pooling."""
    folder = write_embeddings(tmp_path / "vectors")
    assert load_contenders(folder)["vectors"].poolings == ()
    with pytest.raises(ValueError, match="holds embeddings, which cannot be pooled another way"):
        load_contenders(base=folder)


def test_unknown_set_is_refused():
    """A typo must not fall back to another set."""
    with pytest.raises(FileNotFoundError, match="No model folder 'online'"):
        load_contenders("online")


# --- ranking ---------------------------------------------------------------------------------------------


def test_rankings_are_by_cosine_and_by_maxsim(tiny, example, cache):
    """Against the plainest computation: every query with every sentence, in Python."""
    data = example[0]
    found = {pooling: rank(Dense(tiny, pooling, progress=False), data, 10) for pooling in Pooling}
    queries, passages = (encode_pooled(tiny, texts, Pooling, progress=False) for texts in (data.queries, data.corpus))
    for pooling, ranking in found.items():
        for row in range(5):
            if pooling is Pooling.MAXSIM:
                own = queries[pooling].text(row)
                texts = [passages[pooling].text(i) for i in range(10)]
                scores = [sum(max(float(q @ p) for p in text) for q in own) for text in texts]
            else:
                scores = [float(queries[pooling][row] @ passage) for passage in passages[pooling]]
            np.testing.assert_allclose(ranking.scores[row], sorted(scores, reverse=True), atol=1e-4)
            np.testing.assert_allclose([scores[i] for i in ranking.ids[row]], ranking.scores[row], atol=1e-4)


def test_colbert_ranks_queries_as_queries(tmp_path, example, cache):
    """Reading a query as a passage, without marker and filling, gives another ranking and no error."""
    encoder = load(save_colbert(tmp_path / "colbert"))
    found = rank(Dense(encoder, "maxsim", progress=False), example[0], 10)
    query = encode_pooled(encoder, example[0].queries, ["maxsim"], kind="query", progress=False)["maxsim"]
    passages = encode_pooled(encoder, example[0].corpus, ["maxsim"], progress=False)["maxsim"]
    best = max(float((query.text(0) @ passages.text(i).T).max(axis=1).sum()) for i in range(10))
    assert found.scores[0, 0] == pytest.approx(best, rel=1e-5)


def test_what_ranks_by_itself_is_a_system(example):
    """A reranker, or a run of another engine, would need a pipeline of its own."""

    class LastFirst:
        """Ranks the passages from the last to the first."""

        def rank(self, data, k):
            ids = np.tile(np.arange(len(data.corpus))[::-1][:k], (len(data.queries), 1))
            return Ranking(-ids.astype(np.float32), ids)

    assert rank(LastFirst(), example[0], 3).ids.tolist() == [[9, 8, 7]] * 5
    with pytest.raises(ValueError, match="Unknown system 'BM52': expected a model, or one of BM25, TF-IDF"):
        rank("BM52", example[0], 3)


def test_a_system_can_be_the_key_of_a_dict(tiny):
    """Code that keeps something for each system, as a solution of lesson 05 does, would stop."""
    assert {Dense(tiny, "mean"): 1}[Dense(tiny, "mean")] == 1
