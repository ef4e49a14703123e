"""Memory of encoding a stream into a folder of shards, against the size of the corpus. Linux only.

Texts from a generator, a tiny checkpoint with random weights; each size in a process of its own, the highest resident
memory less what is resident with the model loaded and warm. Resident memory counts the mapped pages of files too.
"""

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
PACKAGES = ("numpy", "torch", "transformers")
SIZES = (10_000, 100_000, 1_000_000)  # texts
ROUNDS = 1


def stream(count: int) -> Iterator[str]:
    """Give texts that nobody holds, each another."""
    return (f"the cat {row} is not good of the fish and dog number {row * row % 977}" for row in range(count))


def resident(field: str) -> float:
    """Resident memory of this process in MiB: "VmRSS", now, or "VmHWM", the highest since it was reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def measure(count: int) -> dict[str, float]:
    """Encode a stream into a folder; MiB above the loaded model. For a fresh process."""
    from helpers.embeddings import encode_shards
    from helpers.models import load_model
    from tests.checkpoints import save_checkpoint

    with tempfile.TemporaryDirectory() as folder:
        model = load_model(save_checkpoint(Path(folder) / "tiny"), device="cpu")
        encode_shards(model, stream(min(2048, count)), folder=Path(folder) / "warm")
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # forgets the highest resident memory so far
        loaded = resident("VmRSS")
        shards = encode_shards(model, stream(count), folder=Path(folder) / "vectors")
        encoded = resident("VmHWM") - loaded
    return {
        "MiB above the model, encoding": round(encoded, 1),
        "MiB of the vectors": round(len(shards) * shards.dim * 4 / 2**20, 1),
    }


def in_fresh_process(count: int) -> dict[str, float]:
    """Measure in a process of its own."""
    code = f"import json; from tests.bench.bench_streaming import measure; print(json.dumps(measure({count})))"
    found: dict[str, float] = json.loads(subprocess.check_output([sys.executable, "-c", code], text=True))
    return found


def report() -> dict[str, Any]:
    """Measure every size."""
    return {"tables": [{f"texts {count}": in_fresh_process(count) for count in SIZES}]}
