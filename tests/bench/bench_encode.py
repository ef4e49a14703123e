"""Speed and peak memory of helpers.embeddings beside FlagEmbedding's and sentence-transformers' own calls.

`python -m tests.bench.bench_encode`. The passages of the bundled collection, the bundled model, the processor. All
contestants run in turn in one process, several rounds; the median counts and is quoted as a ratio. Memory is measured
in a process of its own: the highest resident memory while encoding, against what is resident with the model loaded.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

from tests.bench.bench_metrics import reset_peak, resident
from tests.bench.reports import head, save

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
PACKAGES = ("FlagEmbedding", "sentence-transformers", "torch", "transformers", "numpy")
SENTENCE_TRANSFORMERS_BATCHES = (8, 16, 32, 64)
METRICS = ["recall@10", "mrr@10", "ndcg@10"]
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


def measure_times(rounds: int, count: int | None = None) -> tuple[dict[str, float], dict[str, float]]:
    """Time every contestant in turn; medians in seconds, and the largest difference of a value from FlagModel's."""
    calls = contestants(count)
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    vectors = {}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            vectors[name] = call()
            seconds[name].append(time.perf_counter() - start)
    reference = vectors["FlagModel.encode, batch 256"]
    gaps = {name: float(np.abs(results - reference).max()) for name, results in vectors.items()}
    return {name: statistics.median(values) for name, values in seconds.items()}, gaps


def measure_rates(rounds: int) -> dict[str, dict[str, float]]:
    """Encode the passages of either language by the multilingual model; medians of passages a second.

    Of the clock, and of the processor's time summed over its cores, which a busy machine changes less.
    """
    from helpers.data import load_dataset
    from helpers.embeddings import encode
    from helpers.models import MULTILINGUAL, load_model

    model, rates = load_model(MULTILINGUAL), {}
    for language, name in (("Chinese", "pocket-zh"), ("English", "pocket-en")):
        corpus, results = load_dataset(name).corpus, []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                start = np.array([time.perf_counter(), time.process_time()])
                encode(model, corpus, cache_dir=folder)
                results.append(np.array([time.perf_counter(), time.process_time()]) - start)
        clock, processor = (len(corpus) / np.median(results, axis=0)).tolist()
        rates[f"{MULTILINGUAL}, {language}"] = {
            "passages a second": round(clock, 1), "passages a second of processor time": round(processor, 1),
        }  # fmt: skip
    return rates


def measure_half(rounds: int, count: int | None = None) -> dict[str, dict[str, float]]:
    """Encode the collection by the bundled model in 32-bit floats and in bfloat16, in turn; a column for each.

    `load_model` computes in 32 bits on a processor, so the network is cast here; all else is the same code.
    """
    import torch

    from helpers.data import load_dataset
    from helpers.embeddings import encode
    from helpers.index import build_index, search
    from helpers.metrics import evaluate
    from helpers.models import load_model

    data = load_dataset("pocket-en", max_queries=count)
    models = {name: load_model(device="cpu") for name in ("float32", "bfloat16")}
    models["bfloat16"].network.to(torch.bfloat16)
    taken: dict[str, list[np.ndarray]] = {name: [] for name in models}
    vectors: dict[str, np.ndarray] = {}
    for _ in range(rounds):
        for name, model in models.items():
            with tempfile.TemporaryDirectory() as folder:
                start = np.array([time.perf_counter(), time.process_time()])
                vectors[name] = encode(model, data.corpus[:count], cache_dir=folder)
                taken[name].append(np.array([time.perf_counter(), time.process_time()]) - start)
    medians = {name: np.median(results, axis=0) for name, results in taken.items()}
    columns = {}
    for name, model in models.items():
        with tempfile.TemporaryDirectory() as folder:
            queries = encode(model, data.queries, kind="query", cache_dir=folder)
        if {queries.dtype, vectors[name].dtype} != {np.dtype(np.float32)} or model.dtype != f"torch.{name}":
            raise RuntimeError(f"{name}: the network is in {model.dtype}, vectors in {vectors[name].dtype}")
        _, ids = search(build_index(vectors[name]), queries, k=min(10, len(vectors[name])))
        scores = evaluate(ids, data.qrels, METRICS, relevance_level=data.relevance_level)
        clock, processor = medians[name].tolist()
        columns[name] = {
            "seconds": round(clock, 2),
            "seconds of the processor": round(processor, 2),
            "times the speed of float32": round(medians["float32"][1] / processor, 2),
            **{metric: round(value, 4) for metric, value in scores.mean.items()},
            "largest difference of a value": float(f"{np.abs(vectors[name] - vectors['float32']).max():.1e}"),
        }
    return {measure: {name: column[measure] for name, column in columns.items()} for measure in columns["float32"]}


def measure_memory(copies: int, count: int | None = None) -> dict[str, float]:
    """Encode the corpus ``copies`` times, each text made new; MiB before and at the peak. For a fresh process."""
    from helpers.data import load_dataset
    from helpers.embeddings import encode
    from helpers.models import load_model

    corpus, model = load_dataset("pocket-en").corpus[:count], load_model()
    with tempfile.TemporaryDirectory() as folder:
        encode(model, corpus[:8], cache_dir=folder)
        before = reset_peak()
        texts = [f"{text[:120]} {copy}" for copy in range(copies) for text in corpus]
        vectors = encode(model, texts, cache_dir=folder)
        peak = resident("VmHWM")
    return {
        "passages": len(texts),
        "MiB with the model loaded": before,
        "MiB of the vectors": vectors.nbytes / 2**20,
        "MiB at the peak": peak,
        "peak over model and vectors": peak / (before + vectors.nbytes / 2**20),
    }


def report(rounds: int) -> dict:
    """Run all measurements and put versions and ratios beside them."""
    seconds, gaps = measure_times(rounds)
    ours, cached = seconds["helpers.embeddings"], seconds["helpers.embeddings, cached"]
    best_peer = min(value for name, value in seconds.items() if name.startswith("sentence-transformers"))
    command = [sys.executable, "-m", "tests.bench.bench_encode", "--memory"]
    memory = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {
        **head("encode", PACKAGES, rounds),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "ratios": {
            "times faster than FlagModel.encode, batch 256": round(seconds["FlagModel.encode, batch 256"] / ours, 2),
            "times faster than sentence-transformers' best batch": round(best_peer / ours, 2),
            "times faster from the cache than the first time": round(ours / cached),
        },
        "largest difference of a value": {name: float(f"{gap:.1e}") for name, gap in gaps.items()},
        "memory": {name: round(value, 2) for name, value in memory.items()},
        "half": measure_half(rounds),
        "multilingual": measure_rates(rounds),
    }


def main() -> None:
    """Measure and write the report, or with `--memory` print only the memory of this process."""
    if "--memory" in sys.argv:
        print(json.dumps(measure_memory(copies=12)))
    else:
        save("encode", report(ROUNDS))


if __name__ == "__main__":
    main()
