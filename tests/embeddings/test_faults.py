"""Encoding into a folder: killed, run twice at once, given another model; the vectors come out right.

A stand-in that makes vectors out of a text's digest takes the network's place: what is tried is the files, and a
network would only take time.
"""

import hashlib
import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from helpers.embeddings import Shards, encode_shards, encoding
from helpers.embeddings.shards import MANIFEST
from helpers.models import ModelInfo

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
SHARDS, SIZE = 12, 4
TEXTS = [f"passage {row} says {'very ' * (row % 5)}little" for row in range(SHARDS * SIZE - 1)]
VECTORS = np.stack([np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8) for text in TEXTS]).astype("f4")
MODEL: Any = SimpleNamespace(
    info=ModelInfo("stand-in", "some weights", "", "mean", max_length=8), device="cpu", dtype="float32", projection=None
)


def forward(model: Any, texts: list[str], tokens: Any, poolings: list[Any], batch_size: int) -> dict[Any, np.ndarray]:
    """Take the place of the network."""
    return {poolings[0]: VECTORS[[TEXTS.index(text) for text in texts]]}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in into the network's place."""
    monkeypatch.setattr(encoding, "forward", forward)
    monkeypatch.setattr(encoding, "tokenize", lambda *_: {})


def fill(folder: Path, said: Path, pause: float = 0, die: str = "", count: int = 1) -> None:
    """Fill a folder in a process of its own, ``pause`` seconds a shard, and say in a file what was computed.

    The process is killed before a file whose name holds ``die`` gets its name for the ``count``-th time.
    """
    left = [count]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if die and event == "os.rename" and die in str(arguments[0]):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    def slowly(*arguments: Any) -> dict[Any, np.ndarray]:
        with said.open("a") as file:
            file.write("computed\n")
        time.sleep(pause)
        return forward(*arguments)

    sys.addaudithook(hook)
    encoding.forward, encoding.tokenize = slowly, lambda *_: {}  # type: ignore[assignment]
    encode_shards(MODEL, iter(TEXTS), folder=folder, shard_size=SIZE)


def start(folder: Path, **options: object) -> tuple[BaseProcess, Path]:
    """Start a process that fills a folder; on Linux a fork, which has imported everything."""
    said = folder.with_name(f"said-{len(list(folder.parent.glob('said-*')))}")
    said.touch()
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    process = context.Process(target=fill, args=(folder, said), kwargs=options)
    process.start()
    return process, said


def computed_by(run: tuple[BaseProcess, Path], status: int = 0) -> int:
    """Wait for a process to end so, and return how many shards it computed or had begun."""
    process, said = run
    process.join(300)
    assert process.exitcode == status
    return said.read_text().count("computed")


@pytest.mark.parametrize(
    ("file", "count", "computed", "written"),
    [("manifest", 1, 0, 0), (".npy", 1, 1, 0), (".npy", 3, 3, 2), ("manifest", 2, SHARDS, SHARDS)],
)
def test_a_run_killed_while_it_writes_is_gone_on_with(tmp_path, file, count, computed, written):
    """A power cut in the middle of a file must cost that file, and none that was finished."""
    folder = tmp_path / "vectors"
    assert computed_by(start(folder, die=file, count=count), -signal.SIGKILL) == computed
    assert len(list(folder.glob("*.npy"))) == written
    if (folder / MANIFEST).exists():
        with pytest.raises(ValueError, match=f"unfinished, {written} shards so far; run the same call"):
            Shards.open(folder)
    assert computed_by(start(folder)) == SHARDS - written
    assert np.array_equal(np.asarray(Shards.open(folder)), VECTORS)


def test_two_runs_in_one_folder_share_the_work(tmp_path):
    """Two notebooks opened at once must not spoil each other's files, nor compute everything twice."""
    folder = tmp_path / "vectors"
    runs = [start(folder, pause=0.05) for _ in range(2)]
    assert SHARDS <= sum(map(computed_by, runs)) <= SHARDS + 1
    assert np.array_equal(np.asarray(Shards.open(folder)), VECTORS)
    assert sorted(path.suffix for path in folder.iterdir()) == sorted([".json", *[".npy"] * SHARDS])


def test_texts_that_were_added_are_computed_alone(tmp_path):
    """A corpus that grows by a day would be encoded from its beginning."""
    whole = encode_shards(MODEL, TEXTS, folder=tmp_path / "whole", shard_size=SIZE)
    encode_shards(MODEL, TEXTS[: 2 * SIZE], folder=tmp_path / "grown", shard_size=SIZE)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "grown").glob("*.npy")}
    grown = encode_shards(MODEL, iter(TEXTS), folder=tmp_path / "grown", shard_size=SIZE)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert np.array_equal(np.asarray(grown), VECTORS)
    assert grown.texts == whole.texts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"texts": []}, "No texts"),
        ({"shard_size": 0}, "shard_size=0"),
        ({"cache_dir": "elsewhere"}, "folder and cache_dir were both given"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(tmp_path, options, message):
    """A folder would be left behind that says nothing, or vectors be looked for where they are not."""
    with pytest.raises(ValueError, match=message):
        encode_shards(MODEL, **{"texts": TEXTS, "folder": tmp_path / "new", **options})
