"""Memory of encoding a stream against the size of the corpus, and exact search in blocks beside a flat index.

`python -m tests.bench.bench_streaming`. Memory: texts from a generator, a tiny checkpoint with random weights, a folder
of shards; each size in a process of its own, the highest resident memory less what is resident with the model loaded
and warm. Resident memory counts the mapped pages of shard files too. Search: random vectors of length one; the flat
index is given the same threads, batch and product of matrices (``distance_compute_blas_threshold`` 20), which is what
:func:`helpers.index.search` sets.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.bench_metrics import reset_peak, resident
from tests.bench.reports import head, save

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
PACKAGES = ("faiss-cpu", "numpy", "torch", "transformers")
SIZES = (10_000, 100_000, 1_000_000)  # texts
VECTORS, DIM, QUERIES, ROUNDS = 200_000, 384, 256, 5


def stream(count: int) -> Iterator[str]:
    """Give texts that nobody holds, each another."""
    return (f"the cat {row} is not good of the fish and dog number {row * row % 977}" for row in range(count))


def measure_memory(count: int) -> dict[str, float]:
    """Encode a stream into a folder and go through the vectors; MiB above the loaded model. For a fresh process."""
    from helpers.embeddings import Shards, encode_shards
    from helpers.models import load_model
    from tests.checkpoints import save_checkpoint

    with tempfile.TemporaryDirectory() as folder:
        model = load_model(save_checkpoint(Path(folder) / "tiny"), device="cpu")
        encode_shards(model, stream(min(2048, count)), folder=Path(folder) / "warm")
        loaded = reset_peak()
        began = time.perf_counter()
        shards = encode_shards(model, stream(count), folder=Path(folder) / "vectors")
        seconds, encoded = time.perf_counter() - began, resident("VmHWM") - loaded
        reset_peak()
        rows = sum(len(shard) for shard in Shards.open(shards.folder))
        if rows != count:
            raise RuntimeError(f"{rows} vectors for {count} texts")
        read = resident("VmHWM") - loaded
    return {
        "MiB above the model, encoding": round(encoded, 1),
        "MiB above the model, reading": round(read, 1),
        "MiB of the vectors": round(count * shards.dim * 4 / 2**20, 1),
        "microseconds a text": round(seconds / count * 1e6, 1),
    }


def measure_search(rounds: int = ROUNDS, count: int = VECTORS) -> dict[str, Any]:
    """Time exact search in blocks, of an array and of shards on disk, in turn with a flat index."""
    from helpers.index import build_index, search

    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((count, DIM), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[rng.choice(count, QUERIES, replace=False)]
    with tempfile.TemporaryDirectory() as folder:
        indexes = {
            "flat": build_index(vectors),
            "blocks of an array": build_index(vectors, "Blocks"),
            "blocks of shards": build_index(_as_shards(vectors, Path(folder)), "Blocks"),
        }
        seconds: dict[str, list[float]] = {name: [] for name in indexes}
        found = {name: search(index, queries, 10) for name, index in indexes.items()}
        for _ in range(rounds):
            for name, index in indexes.items():
                began = time.process_time()
                search(index, queries, 10)
                seconds[name].append(time.process_time() - began)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, (scores, ids) in found.items():
        if not np.array_equal(ids, found["flat"][1]) or not np.array_equal(scores, found["flat"][0]):
            raise RuntimeError(f"{name} finds something else than the flat index")
    return {
        name: {
            "seconds of the processor": round(median, 3),
            "times the speed of flat": round(medians["flat"] / median, 2),
        }
        for name, median in medians.items()
    }


def _as_shards(vectors: np.ndarray, folder: Path) -> Any:
    """Keep vectors in a folder as an encoding would."""
    from helpers.embeddings.shards import Manifest, ModelName, ShardFile, fill
    from helpers.embeddings.store import Recipe, Store

    recipe, store = Recipe("none", "none", None, "cpu", "float32"), Store(folder)
    manifest = Manifest(ModelName("made up", "none"), recipe, "passage", "", 1024)

    def files() -> Iterator[tuple[list[str], ShardFile, int]]:
        for start in range(0, len(vectors), 1024):
            part, texts = vectors[start : start + 1024], [str(start)]
            yield texts, manifest.shard_file(store, texts, store.write(recipe.shard_name(texts), part)), DIM

    return fill(store, manifest, files())


def report() -> dict[str, Any]:
    """Run all measurements and put versions beside them."""
    memory = {f"texts {count}": _in_fresh_process(count) for count in SIZES}
    found = measure_search()
    return {
        **head("streaming", PACKAGES, ROUNDS),
        "search": {"vectors": VECTORS, "dimensions": DIM, "queries": QUERIES},
        "tables": [memory, found],
        "ratios": {name: row["times the speed of flat"] for name, row in found.items()},
    }


def _in_fresh_process(count: int) -> dict[str, float]:
    """Measure memory in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.bench_streaming", "--memory", str(count)]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def main() -> None:
    """Measure and write the report, or with `--memory N` print only the memory of this process for N texts."""
    if "--memory" in sys.argv:
        print(json.dumps(measure_memory(int(sys.argv[-1]))))
    else:
        save("streaming", report())


if __name__ == "__main__":
    main()
