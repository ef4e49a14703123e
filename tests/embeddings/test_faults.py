"""Encoding into a folder: killed, run twice at once, given another model; the vectors come out right."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.embeddings import Shards, encode_shards, encoding
from helpers.embeddings.shards import MANIFEST
from tests.embeddings.filler import SHARD_SIZE, SHARDS, TEXTS, main, network, stand_in, vector

Run = tuple[BaseProcess, Path]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
EXPECTED = np.stack([vector(text) for text in TEXTS])


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Give what starts a process that fills a folder; on Linux a fork, which has imported everything."""
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")

    def started(folder: Path, **options: object) -> Run:
        said = tmp_path_factory.mktemp("said") / "said"
        process = context.Process(target=main, args=(folder, said), kwargs=options)
        process.start()
        return process, said

    return started


def computed_by(run: Run, status: int = 0) -> int:
    """Wait for a process to end so, and return how many shards it computed or had begun."""
    process, said = run
    process.join(300)
    assert process.exitcode == status
    text = said.read_text(encoding="utf-8")
    assert text.endswith("finished\n") == (status == 0)
    return text.count("computed")


def whole(folder: Path) -> int:
    """Count the shards in a folder."""
    return len(list(folder.glob("*.npy")))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a model that takes no time, in the place of a real one."""
    monkeypatch.setattr(encoding, "forward", network())
    monkeypatch.setattr(encoding, "tokenize", lambda *_: {})
    return stand_in()


@pytest.fixture
def shard_folder(model: Any, tmp_path: Path) -> Path:
    """Give a folder that was filled."""
    encode_shards(model, TEXTS, folder=tmp_path / "shard_folder", shard_size=SHARD_SIZE)
    return tmp_path / "shard_folder"


@pytest.mark.parametrize(
    ("file", "count", "computed", "written"),
    [("manifest", 1, 0, 0), (".npy", 1, 1, 0), (".npy", 3, 3, 2), ("manifest", 2, SHARDS, SHARDS)],
)
def test_a_run_killed_while_it_writes_is_gone_on_with(start, tmp_path, file, count, computed, written):
    """A power cut in the middle of a file must cost that file, and none that was finished."""
    assert computed_by(start(tmp_path, die=file, count=count), -signal.SIGKILL) == computed
    assert whole(tmp_path) == written
    if (tmp_path / MANIFEST).exists():
        with pytest.raises(ValueError, match=f"unfinished, {written} shards so far; run the same call"):
            Shards.open(tmp_path)
    assert computed_by(start(tmp_path)) == SHARDS - written
    assert np.array_equal(np.asarray(Shards.open(tmp_path)), EXPECTED)


def test_two_runs_in_one_folder_share_the_work(start, tmp_path):
    """Two notebooks opened at once must not spoil each other's files, nor compute everything twice."""
    runs = [start(tmp_path, pause=0.1) for _ in range(2)]
    assert SHARDS <= sum(map(computed_by, runs)) <= SHARDS + 1
    assert np.array_equal(np.asarray(Shards.open(tmp_path)), EXPECTED)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == sorted([".json", *[".npy"] * SHARDS])


def test_texts_that_were_added_are_computed_alone(model, shard_folder):
    """A corpus that grows by a day would be encoded from its beginning."""
    other = shard_folder.with_name("grown")
    encode_shards(model, TEXTS[: 2 * SHARD_SIZE], folder=other, shard_size=SHARD_SIZE)
    before = {path: path.stat().st_mtime_ns for path in other.glob("*.npy")}
    grown = encode_shards(model, iter(TEXTS), folder=other, shard_size=SHARD_SIZE)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert np.array_equal(np.asarray(grown), EXPECTED)
    assert grown.texts == Shards.open(shard_folder).texts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"texts": []}, "No texts"),
        ({"shard_size": 0}, "shard_size=0"),
        ({"cache_dir": "elsewhere"}, "folder and cache_dir were both given"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(model, tmp_path, options, message):
    """A folder would be left behind that says nothing, or vectors be looked for where they are not."""
    with pytest.raises(ValueError, match=message):
        encode_shards(model, **{"texts": TEXTS, "folder": tmp_path / "new", **options})
