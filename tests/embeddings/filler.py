"""Fill a folder with shards in a process of its own, which a test may kill: `python -m tests.embeddings.filler FOLDER`.

A stand-in that makes vectors out of a text's digest takes the network's place, unless the bundled model is asked for:
what is tried is the files, and a network would only take time. Each line printed is a shard that had to be computed.
"""

import argparse
import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from helpers.embeddings import encode_shards, encoding, store

SHARDS, SHARD_SIZE, DIM = 12, 4, 64
TEXTS = [f"passage {row} says {'very ' * (row % 5)}little" for row in range(SHARDS * SHARD_SIZE - 1)]
STAGES = ("temporary file made", "half of a shard written", "before the renaming", "manifest written")


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
    info = SimpleNamespace(name="stand-in", sha256=sha256, pooling="mean", max_length=8, dim=None)
    info.passage_instruction = info.query_instruction = ""
    return SimpleNamespace(info=info, device="cpu", dtype="float32", projection=None)


def bundled() -> Any:
    """Load the bundled model, its forward pass printing a line for each shard."""
    from helpers.models import load_model

    real = encoding.forward

    def forward(*arguments: Any) -> Any:
        print("computed", flush=True)
        return real(*arguments)

    encoding.forward = forward
    return load_model()


def die_at(stage: str, shard: int) -> None:
    """Arrange for this process to be killed, by SIGKILL, when it comes to a stage of writing for the n-th time."""
    left = [shard]

    def reached() -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        path = str(arguments[0]) if arguments else ""
        made = event == "open" and stage == STAGES[0] and ".npy." in path and arguments[1] is None  # os.open
        renamed = event == "os.rename" and stage == STAGES[2] and ".npy." in path
        manifest = event == "os.rename" and stage == STAGES[3] and "manifest" in path
        if made or renamed or manifest:
            reached()

    sys.addaudithook(hook)
    if stage == STAGES[1]:
        real = hashlib.sha256

        def sha256(content: bytes) -> Any:
            if sys._getframe(1).f_code.co_qualname == "Store.write":  # between the array and its checksum
                reached()
            return real(content)

        store.hashlib = SimpleNamespace(sha256=sha256)  # type: ignore[assignment]


def main() -> None:
    """Fill a folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--pause", type=float, default=0)
    parser.add_argument("--stage", choices=STAGES)
    parser.add_argument("--shard", type=int, default=3, help="at which shard the stage is meant")
    parser.add_argument("--bundled", action="store_true")
    options = parser.parse_args()
    if options.stage:
        die_at(options.stage, options.shard)
    if not options.bundled:
        encoding.forward = network(options.pause)
        encoding.tokenize = lambda *_: {}  # type: ignore[assignment]
    model = bundled() if options.bundled else stand_in()
    print("ready", flush=True)
    texts = [text for copy in range(6) for text in (f"{text}, {copy}" for text in TEXTS)] if options.bundled else TEXTS
    encode_shards(model, iter(texts), folder=options.folder, shard_size=SHARD_SIZE)
    print("finished", flush=True)


if __name__ == "__main__":
    main()
