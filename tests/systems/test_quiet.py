"""Systems draw bars only where they were asked to: a bar in a record is a line that changes with every run."""

import warnings

import numpy as np

from helpers import embeddings
from helpers.index import dense
from helpers.models import load_model
from helpers.report import compare
from helpers.systems import Dense, rank, rank_all
from helpers.systems.combine import Run
from helpers.systems.contenders import Contender
from tests.checkpoints import save_checkpoint
from tests.systems.samples import QUERIES, collection


def test_bars_are_drawn_where_they_were_asked_for(monkeypatch, tmp_path):
    """A reader who asked for none would find bars in the record of his notebook, or wait without one."""
    drawn, data = [], collection()  # for every bar whether it was to be shown
    model = load_model(save_checkpoint(tmp_path / "m"), backend="transformers", device="cpu")
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path))
    for room in (embeddings, dense):
        real = room.progress_bar
        monkeypatch.setattr(
            room, "progress_bar", lambda *a, real=real, show, **k: drawn.append(show) or real(*a, show=False, **k)
        )
    for show in (False, True):
        drawn.clear()
        Dense(model, progress=show).rank(data, 3)
        assert set(drawn) == {show, False}  # the search draws none
        assert drawn.count(True) == 2 * show  # of passages and of queries
    drawn.clear()
    rank("BM25", data)
    rank_all({"m": Contender(model, ("mean",))}, data, 3, progress=False)
    compare([model], data, 3)
    assert drawn
    assert not any(drawn)
    drawn.clear()
    rank_all({"m": Contender(model, ("mean",))}, data, 3)
    assert drawn[:2] == [True, True]


def test_a_result_is_short_to_look_at():
    """A cell that ends in a result would print every score and id."""
    found = compare(["bm25"], collection(), 3).results["BM25"]
    assert not [word for word in ("array(", "ranking", "Evaluation(") if word in repr(found)]


def test_warnings_of_a_ranking_are_kept_once():
    """A warning of every query would fill the page, or the table hide that half of a run did not count."""
    run = Run({query: {"x": 2.0, "d1": 1.0} for query in QUERIES})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare({"mine": run}, collection(), 3).results["mine"]
    assert len(found.notes) == len(set(found.notes)) == 1
    assert found.notes[0].values == {"count": 1, "of": 2}
    assert np.array_equal(found.ranking.ids[:, 0], np.full(6, 12))
