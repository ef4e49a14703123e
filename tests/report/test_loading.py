"""A second report on the same models: what it says without loading them, and when it has to load them after all."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.data import RetrievalDataset
from helpers.embeddings import count_truncated
from helpers.models import load_model as load
from helpers.report import compare, loading
from helpers.report.loading import DeferredModel, load_deferred, load_system
from helpers.report.spec import Spec
from helpers.systems import Ranking, rank
from helpers.systems.cost import measured, stage
from helpers.systems.pipeline import Dense
from notebooks.kit.notebooks import ROOT
from tests.checkpoints import save_checkpoint
from tests.systems.samples import collection, write_reranker

RUN = """
import sys
from helpers.report import main
status = main([*sys.argv[1:], "--no-growth", "--quiet"])
print("torch" in sys.modules, "transformers" in sys.modules)
sys.exit(status)
"""


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no earlier report have met the model."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Give the folder of a tiny model."""
    return str(save_checkpoint(tmp_path / "model"))


def test_a_report_whose_vectors_are_cached_loads_no_torch(folder: str, tmp_path: Path) -> None:
    """Two thirds of the time of a second report went into loading a library and models that computed nothing."""
    (tmp_path / "rows.csv").write_text("query,positive\ncat,a good cat\ndog,a dog eats fish\n", encoding="utf-8")
    environment = os.environ | {"EVAL_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    reports = []
    for out, loads in (("first", "True True"), ("second", "False False")):
        command = [sys.executable, "-c", RUN, "--model", folder, "--data", "rows.csv", "--cutoffs", "1,2", "--out", out]
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert run.stdout.splitlines()[-1] == loads
        [system] = json.loads((tmp_path / out / "results.json").read_text())["systems"]
        reports.append({k: v for k, v in system.items() if k != "seconds"})
    assert reports[0] == reports[1]
    assert reports[1]["model"]["max_length"] == 64
    assert reports[1]["truncated"] == 0


def test_a_deferred_model_computes_what_the_model_computes(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """New texts would get no vectors, or vectors under another name, beside those that are in the cache."""
    loads = []
    monkeypatch.setattr(loading, "load_model", lambda *a, **k: loads.append(a) or load(*a, **k))
    first = load_deferred(folder, {})
    again = load_deferred(folder, {})
    assert isinstance(again, DeferredModel)
    assert len(loads) == 1
    assert (again.info, again.device, again.dtype) == (first.info, first.device, first.dtype)
    data = collection()
    with measured() as cost:
        ranking = Dense(again, progress=False).rank(data, 3)
    assert len(loads) == 2
    assert cost.seconds["load"] > 0
    np.testing.assert_array_equal(ranking.ids, Dense(load(folder), progress=False).rank(data, 3).ids)


def test_other_files_options_or_versions_are_another_model(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fine-tuned model would be reported with the length and the size of the one before."""
    loads = []
    monkeypatch.setattr(loading, "load_model", lambda *a, **k: loads.append(k) or load(*a, **k))
    load_deferred(folder, {})
    load_deferred(folder, {"pooling": "cls"})
    save_checkpoint(Path(folder).with_name("other"), seed=1).rename(Path(folder).with_name("moved"))
    Path(folder).rename(Path(folder).with_name("old"))
    Path(folder).with_name("moved").rename(folder)
    load_deferred(folder, {})
    assert len(loads) == 3
    monkeypatch.setattr(loading, "version", lambda library: f"{library} of another day")
    load_deferred(folder, {})
    assert len(loads) == 4
    for file in Path(os.environ["EVAL_CACHE_DIR"]).rglob("facts/*.json"):
        file.write_text("{", encoding="utf-8")
    load_deferred(folder, {})
    assert len(loads) == 5


def test_truncated_passages_are_counted_once_for_each_collection(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokenizer would be loaded to count them again, or another collection get this one's count."""
    data: RetrievalDataset = collection()
    model = load_deferred(folder, {"max_length": 4})
    assert model.count_truncated(data) == count_truncated(load(folder, max_length=4), data.corpus)
    monkeypatch.setattr(loading, "load_model", lambda *a, **k: pytest.fail("loaded"))
    assert load_deferred(folder, {"max_length": 4}).count_truncated(data) == model.count_truncated(data)


def test_the_time_of_a_stage_is_counted_once() -> None:
    """A model that is loaded while passages are encoded would be counted as encoding too."""
    with measured() as cost, stage("passages"), stage("load"):
        sum(range(200_000))
    assert cost.seconds["load"] > cost.seconds["passages"] >= 0


def test_two_systems_of_one_model_are_compared(folder: str) -> None:
    """The comparison would mix up what it knows of a model under two poolings."""
    found = compare([folder, f"{folder}?pooling=cls"], collection(), 3)
    assert not found.failed
    assert len({result.metadata["model"]["pooling"] for result in found.results.values()}) == 2


@pytest.mark.parametrize("progress", [False, True])
def test_a_reranker_draws_bars_only_when_asked(tmp_path, capfd, progress):
    """--quiet left two hundred lines of bars in the log of continuous integration."""
    options = {"by": str(write_reranker(tmp_path / "by")), "batch_size": 1}
    spec, data = Spec("r", "rerank", parts=("bm25",), options=options), collection()
    load_system(spec, {"bm25": rank("BM25", data, 3)}, {}, progress).rank(data, 3)
    assert ("Compute Scores" in capfd.readouterr().err) == progress


def test_an_embedding_model_is_no_reranker(tmp_path):
    """Its scores would be those of a random head, others each time."""
    spec = Spec("r", "rerank", parts=("bm25",), options={"by": str(save_checkpoint(tmp_path / "bge"))})
    with pytest.raises(ValueError, match="bge is no reranker: it has no weights 'classifier"):
        load_system(spec, {"bm25": rank("BM25", collection(), 3)}, {}, False)


def test_what_a_model_does_not_use_is_on_every_report(tmp_path, monkeypatch):
    """The second report loads no model, and would not have the warning."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))
    folder = save_checkpoint(tmp_path / "stella")
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"s2p_query": "a "}}')
    for _ in range(2):
        [note] = compare([str(folder)], collection(), 3).results["stella"].notes
        assert (note.key, note.values["names"]) == ("model_unused", "prompts: s2p_query")


def test_a_reranker_runs_no_code_of_its_folder(tmp_path, monkeypatch):
    """FlagEmbedding trusts a folder's Python code unless it is told not to."""
    given = {}
    model = SimpleNamespace(config=SimpleNamespace(num_labels=1))
    monkeypatch.setattr(
        "FlagEmbedding.FlagReranker", lambda folder, **options: given.update(options) or SimpleNamespace(model=model)
    )
    spec = Spec("r", "rerank", parts=("bm25",), options={"by": str(write_reranker(tmp_path / "by"))})
    load_system(spec, {"bm25": Ranking(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.int64))}, {}, False)
    assert given["trust_remote_code"] is False
