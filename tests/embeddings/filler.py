"""Fill a folder with shards, for a process of its own, which a test may kill.

A stand-in that makes vectors out of a text's digest takes the network's place: what is tried is the files, and a
network would only take time. Each line printed is a shard that had to be computed.
"""

import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from helpers.embeddings import encode_shards, encoding
from helpers.models import ModelInfo

SHARDS, SHARD_SIZE, DIM = 12, 4, 64
TEXTS = [f"passage {row} says {'very ' * (row % 5)}little" for row in range(SHARDS * SHARD_SIZE - 1)]


def vector(text: str) -> np.ndarray:
    """Make a vector of length one out of a text, (DIM,)."""
    numbers = np.frombuffer(hashlib.sha256(text.encode()).digest() * 2, np.uint8)[:DIM].astype(np.float32) + 1
    return numbers / np.linalg.norm(numbers)


def network(pause: float = 0) -> Callable[..., dict]:
    """Give what takes the forward pass's place: ``pause`` seconds a shard, and a line for each."""

    def forward(model: Any, texts: list[str], tokens: Any, poolings: list[Any], batch_size: int) -> dict:
        print("computed", flush=True)
        time.sleep(pause)
        return {poolings[0]: np.stack([vector(text) for text in texts])}

    return forward


def stand_in(sha256: str = "some weights") -> Any:
    """Give what takes the model's place."""
    info = ModelInfo("stand-in", sha256, sha256, "mean", max_length=8)
    return SimpleNamespace(info=info, device="cpu", dtype="float32", projection=None)


def die_before_renaming(name: str, count: int) -> None:
    """Arrange for this process to be killed, by SIGKILL, before it gives a file its name for the n-th time."""
    left = [count]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "os.rename" and name in str(arguments[0]):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def main(folder: Path, said: Path, pause: float = 0, die: str = "", count: int = 1) -> None:
    """Fill a folder and say in a file what is done; die before a file whose name holds `die` gets its n-th name."""
    sys.stdout = said.open("w", encoding="utf-8")
    if die:
        die_before_renaming(die, count)
    encoding.forward = network(pause)
    encoding.tokenize = lambda *_: {}  # type: ignore[assignment]
    encode_shards(stand_in(), iter(TEXTS), folder=folder, shard_size=SHARD_SIZE)
    print("finished", flush=True)
