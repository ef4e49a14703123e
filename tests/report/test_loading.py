"""From specs to systems: two systems of one model, and a reranker."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.report import compare
from helpers.report.comparison import load_system
from helpers.report.results import Result
from helpers.report.spec import Spec
from helpers.systems import rank
from tests.checkpoints import save_checkpoint
from tests.systems.samples import collection, write_reranker


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no earlier report have met the model."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))


def test_two_systems_of_one_model_are_compared(tmp_path: Path) -> None:
    """The comparison would mix up what it knows of a model under two poolings."""
    folder = str(save_checkpoint(tmp_path / "model"))
    found = compare([folder, f"{folder}?pooling=cls"], collection(), 3)
    assert not found.failed
    assert len({result.metadata["model"]["pooling"] for result in found.results.values()}) == 2


@pytest.mark.parametrize("progress", [False, True])
def test_a_reranker_draws_bars_only_when_asked(tmp_path, capfd, progress):
    """--quiet left two hundred lines of bars in the log of continuous integration."""
    options = {"by": str(write_reranker(tmp_path / "by")), "batch_size": 1}
    spec, data = Spec("r", "rerank", parts=("bm25",), options=options), collection()
    load_system(spec, {"bm25": Result("bm25", {}, rank("BM25", data, 3))}, progress).rank(data, 3)
    assert ("Compute Scores" in capfd.readouterr().err) == progress


def test_an_embedding_model_is_no_reranker(tmp_path):
    """Its scores would be those of a random head, others each time."""
    spec = Spec("r", "rerank", parts=("bm25",), options={"by": str(save_checkpoint(tmp_path / "bge"))})
    with pytest.raises(ValueError, match="bge is no reranker: it has no weights 'classifier"):
        load_system(spec, {"bm25": Result("bm25", {}, rank("BM25", collection(), 3))}, False)


def test_what_a_model_does_not_use_is_noted(tmp_path):
    """A prompt in the model's files that nobody applied would go unseen."""
    folder = save_checkpoint(tmp_path / "stella")
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"s2p_query": "a "}}')
    [note] = compare([str(folder)], collection(), 3).results["stella"].notes
    assert note.values["names"] == "prompts: s2p_query"


def test_a_reranker_runs_no_code_of_its_folder(tmp_path, monkeypatch):
    """FlagEmbedding trusts a folder's Python code unless it is told not to."""
    given = {}
    model = SimpleNamespace(config=SimpleNamespace(num_labels=1))
    monkeypatch.setattr(
        "FlagEmbedding.FlagReranker", lambda folder, **options: given.update(options) or SimpleNamespace(model=model)
    )
    spec = Spec("r", "rerank", parts=("bm25",), options={"by": str(write_reranker(tmp_path / "by"))})
    load_system(spec, {"bm25": Result("bm25", {}, rank("BM25", collection(), 3))}, False)
    assert given["trust_remote_code"] is False
