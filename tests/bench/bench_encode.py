"""Speed of helpers.embeddings beside FlagEmbedding's and sentence-transformers' own calls.

The passages of the bundled collection, the bundled model, the processor. All contestants run in turn in one process,
several rounds; the median counts and is quoted as a ratio.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
PACKAGES = ("FlagEmbedding", "sentence-transformers", "torch", "transformers", "numpy")
SENTENCE_TRANSFORMERS_BATCHES = (8, 16, 32, 64)
ROUNDS = 3


def contestants(count: int | None) -> dict[str, Callable[[], np.ndarray]]:
    """Return each way to encode the first passages, by default all, as a call that returns their vectors, (n, dim)."""
    from sentence_transformers import SentenceTransformer

    from helpers.data import load_dataset
    from helpers.embeddings import encode
    from helpers.models import load_model
    from tests.checkpoints import flag_model

    corpus, model = load_dataset("pocket-en").corpus[:count], load_model(device="cpu")
    peer, flag = SentenceTransformer(str(model.folder), device="cpu"), flag_model(model)
    warm = tempfile.mkdtemp()
    encode(model, corpus, cache_dir=warm)

    def fresh() -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            return encode(model, corpus, cache_dir=folder)

    calls = {
        "helpers.embeddings": fresh,
        "helpers.embeddings, cached": lambda: encode(model, corpus, cache_dir=warm),
        "FlagModel.encode, batch 256": lambda: flag.encode_corpus(corpus),
    }
    for size in SENTENCE_TRANSFORMERS_BATCHES:
        calls[f"sentence-transformers, batch {size}"] = lambda size=size: peer.encode(
            corpus, batch_size=size, normalize_embeddings=True, show_progress_bar=False
        )
    return calls


def report(rounds: int = ROUNDS, count: int | None = None) -> dict[str, Any]:
    """Time every contestant in turn; medians, their ratios, and the largest difference of a value from FlagModel's."""
    calls = contestants(count)
    times: dict[str, list[float]] = {name: [] for name in calls}
    vectors = {}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            vectors[name] = call()
            times[name].append(time.perf_counter() - start)
    reference = vectors["FlagModel.encode, batch 256"]
    gaps = {name: float(np.abs(results - reference).max()) for name, results in vectors.items()}
    seconds = {name: statistics.median(values) for name, values in times.items()}
    ours, cached = seconds["helpers.embeddings"], seconds["helpers.embeddings, cached"]
    best_peer = min(value for name, value in seconds.items() if name.startswith("sentence-transformers"))
    return {
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "ratios": {
            "times faster than FlagModel.encode, batch 256": round(seconds["FlagModel.encode, batch 256"] / ours, 2),
            "times faster than sentence-transformers' best batch": round(best_peer / ours, 2),
            "times faster from the cache than the first time": round(ours / cached),
        },
        "largest difference of a value": {name: float(f"{gap:.1e}") for name, gap in gaps.items()},
    }
