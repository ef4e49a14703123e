"""Encoding into a folder: killed, run twice at once, given another model; the vectors come out right."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.embeddings import Shards, encode_shards, encoding
from helpers.embeddings.shards import MANIFEST
from tests.embeddings.filler import SHARD_SIZE, SHARDS, TEXTS, network, stand_in, vector

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
EXPECTED = np.stack([vector(text) for text in TEXTS])


def start(folder: Path, *options: str) -> subprocess.Popen:
    """Start a process that fills a folder."""
    command = [sys.executable, "-m", "tests.embeddings.filler", str(folder), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(run: subprocess.Popen) -> int:
    """Wait for a process to end well, and return how many shards it computed."""
    said, complaint = run.communicate(timeout=300)
    assert run.returncode == 0, complaint
    assert said.endswith("finished\n")
    return said.count("computed")


def killed(run: subprocess.Popen) -> int:
    """Wait for a process to be killed, and return how many shards it had begun."""
    said, complaint = run.communicate(timeout=300)
    assert run.returncode == -signal.SIGKILL, complaint
    return said.count("computed")


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
def test_a_run_killed_while_it_writes_is_gone_on_with(tmp_path, file, count, computed, written):
    """A power cut in the middle of a file must cost that file, and none that was finished."""
    assert killed(start(tmp_path, "--die", file, "--count", str(count))) == computed
    assert whole(tmp_path) == written
    if (tmp_path / MANIFEST).exists():
        with pytest.raises(ValueError, match=f"unfinished, {written} shards so far; run the same call"):
            Shards.open(tmp_path)
    assert finished(start(tmp_path)) == SHARDS - written
    assert np.array_equal(np.asarray(Shards.open(tmp_path)), EXPECTED)


def test_two_runs_in_one_folder_share_the_work(tmp_path):
    """Two notebooks opened at once must not spoil each other's files, nor compute everything twice."""
    runs = [start(tmp_path, "--pause", "0.1") for _ in range(2)]
    assert SHARDS <= sum(finished(run) for run in runs) <= SHARDS + 1
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
