"""A Dask cluster on one machine beside one process: `python -m tests.bench.bench_distributed`.

The bundled model on the processor. One process with two threads and two workers with one thread each encode the same
passages in turn, several rounds, each into an empty folder; the workers are up and have the model loaded. The median of
the ratios of a round counts. Apart from that: how long a cluster takes to start, and the memory of a worker.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.reports import head, save

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
PACKAGES = ("dask", "distributed", "torch", "transformers", "numpy")
ROUNDS, PASSAGES, SHARD = 3, 2000, 125


def real_passages(count: int) -> list[str]:
    """Give real passages: MS MARCO's where its folder is at hand, else those of the bundled collection and halves."""
    from helpers.data import load_dataset

    folder = os.environ.get("EVAL_DATA_DIR")
    if folder:
        return load_dataset(str(Path(folder) / "msmarco_dev"), split="dev").corpus[:count]
    whole = load_dataset("pocket-en").corpus
    return [*whole, *(text[: len(text) // 2] for text in whole), *(text[len(text) // 2 :] for text in whole)][:count]


def timed(call: Callable[[Path], object]) -> float:
    """Time a call that fills an empty folder, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        call(Path(folder) / "vectors")
        return time.perf_counter() - start


def measure(rounds: int, count: int, cluster: Any = None) -> dict[str, Any]:
    """Time both contestants in turn; seconds of each round, of the start, and MiB of a worker.

    Without a ``cluster`` two workers are started.
    """
    import torch
    from distributed import Client

    from helpers import distributed
    from helpers.embeddings import encode_shards
    from helpers.models import load_model

    model, texts = load_model(device="cpu"), real_passages(count)
    torch.set_num_threads(2)
    start = time.perf_counter()
    with cluster or Client(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
        up, idle = time.perf_counter() - start, max(client.run(worker_memory).values())
        options = {"cluster": client, "shard_size": SHARD, "progress": False}
        start = time.perf_counter()
        timed(lambda folder: distributed.encode(model, texts[: 4 * SHARD], folder, **options))
        first = time.perf_counter() - start
        one: list[float] = []
        two: list[float] = []
        for _ in range(rounds):
            one.append(timed(lambda folder: encode_shards(model, texts, folder=folder, shard_size=SHARD)))
            two.append(timed(lambda folder: distributed.encode(model, texts, folder, **options)))
        busy = max(client.run(worker_memory).values())
    return {"one": one, "two": two, "up": up, "first": first, "idle": idle, "busy": busy, "passages": len(texts)}


def worker_memory() -> float:
    """Resident memory of this process, in MiB."""
    import psutil

    return psutil.Process().memory_info().rss / 2**20


def report(rounds: int, count: int) -> dict[str, Any]:
    """Run all measurements and put versions and ratios beside them."""
    measured = measure(rounds, count)
    ratio = statistics.median(one / two for one, two in zip(measured["one"], measured["two"], strict=True))
    rows = {
        "one process, two threads": {"seconds": round(statistics.median(measured["one"]), 2)},
        "two workers, one thread each": {"seconds": round(statistics.median(measured["two"]), 2)},
    }
    return {
        **head("distributed", PACKAGES, rounds),
        "passages": measured["passages"],
        "tables": [
            rows,
            {
                "start of a cluster": {"seconds": round(measured["up"], 2)},
                "first shards, with loading of the model": {"seconds": round(measured["first"], 2)},
                "worker, idle": {"MiB": round(measured["idle"])},
                "worker, with the model": {"MiB": round(measured["busy"])},
            },
        ],
        "ratios": {"times the speed of one process": round(ratio, 2)},
        "seconds of each round": {
            "one": [round(s, 2) for s in measured["one"]],
            "two": [round(s, 2) for s in measured["two"]],
        },
    }


def main() -> None:
    """Measure and write the report."""
    save("distributed", report(ROUNDS, PASSAGES))


if __name__ == "__main__":
    main()
