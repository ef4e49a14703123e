"""Indexes over a million vectors beside exact search.

So many real texts are not to be had without a network, so the vectors are made: each lies between a real one and one
of its eight nearest neighbours, with noise that has the covariance of the real ones, and is brought to length one. The
real ones are the bundled model's, of the docstrings of lesson 06. There is so much noise that the cosines between
neighbours, of made vectors and of real ones, agree within some hundredths. What such vectors cannot tell: a million
real texts have more than 28,000 themes, and agreement on them may be another. Bytes do not depend on that, and times
hardly do.

Exact search is a flat index, in the same thread and batch: all queries together, by a product of matrices, and each
alone, without one. Each index is searched in turn, several rounds; the median counts.
"""

import os
import statistics
import time
from typing import Any

import faiss
import numpy as np

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false")
PACKAGES = ("faiss-cpu", "numpy")
VECTORS, QUERIES, ALONE, K, ROUNDS = 1_000_000, 500, 50, 10, 3
INDEXES = {
    "exact": "Flat",
    "IVF": "IVF1024,Flat:nprobe=16",
    "IVF, PQ FastScan, refined": "IVF1024,PQ96x4fs,Refine(SQ8):nprobe=16,k_factor_rf=10",
    "SQ8": "SQ8",
    "PQ FastScan": "PQ96x4fs",
    "PQ FastScan, refined": "PQ96x4fs,Refine(SQ8):k_factor_rf=10",
    "RaBitQ, refined": "RaBitQ,Refine(SQ8):k_factor_rf=10",
    "one bit": "Binary:rescore=0",
    "one bit, rescored": "Binary:rescore=10",
}


def real_vectors() -> np.ndarray:
    """Encode the docstrings, shuffled; the cache keeps them."""
    from helpers.data import load_dataset
    from helpers.embeddings import encode
    from helpers.models import load_model

    vectors = encode(load_model(device="cpu"), load_dataset("docstrings").corpus)
    return vectors[np.random.default_rng(0).permutation(len(vectors))]


def make(real: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return so many new vectors of length one, like the real ones (n, d)."""
    from helpers.index.dense import by_blas

    with by_blas(len(real), len(real)):
        near = faiss.knn(real, real, 9, metric=faiss.METRIC_INNER_PRODUCT)[1][:, 1:]
    values, directions = np.linalg.eigh(np.cov((real - real.mean(axis=0)).T))
    spread = (directions * np.sqrt(np.maximum(values, 0))).astype(np.float32)
    made = np.empty((count, real.shape[1]), np.float32)
    for start in range(0, count, 50_000):
        part = made[start : start + 50_000]
        one = rng.integers(0, len(real), len(part))
        other = near[one, rng.integers(0, near.shape[1], len(part))]
        share = rng.uniform(0.5, 1, (len(part), 1)).astype(np.float32)
        noise = rng.standard_normal(part.shape, dtype=np.float32) @ spread.T
        noise *= rng.uniform(0.2, 0.7, (len(part), 1)).astype(np.float32)
        part[:] = share * real[one] + (1 - share) * real[other] + noise
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def measure(count: int, rounds: int, real: np.ndarray) -> dict[str, dict[str, float]]:
    """Build and search every index over vectors like the ``real`` ones; a row each."""
    from helpers.index import build_index, search

    rng = np.random.default_rng(1)
    vectors = make(real, count + QUERIES, rng)
    queries, vectors = vectors[:QUERIES], vectors[QUERIES:]
    indexes, built = {}, {}
    for name, factory in INDEXES.items():
        began = time.perf_counter()
        indexes[name] = build_index(vectors, factory)
        built[name] = time.perf_counter() - began
        print(f"{name}: built in {built[name]:.0f} s", flush=True)
    faiss.omp_set_num_threads(1)
    found: dict[str, np.ndarray] = {}
    together: dict[str, list[float]] = {name: [] for name in indexes}
    alone: dict[str, list[float]] = {name: [] for name in indexes}
    for _ in range(rounds):
        for name, index in indexes.items():
            began = time.process_time()
            found[name] = search(index, queries, K, batch_size=QUERIES)[1]
            middle = time.process_time()
            for row in range(ALONE):
                search(index, queries[row : row + 1], K)
            together[name].append((middle - began) / QUERIES)
            alone[name].append((time.process_time() - middle) / ALONE)
    return {
        name: {
            "agreement@10": round(
                float(np.mean([np.isin(*rows).mean() for rows in zip(found[name], found["exact"], strict=True)])), 3
            ),
            **times(together, name, "together"),
            **times(alone, name, "alone"),
            "bytes per vector": round(size(index), 1),
            "seconds to build": round(built[name], 1),
        }
        for name, index in indexes.items()
    }


def times(seconds: dict[str, list[float]], name: str, how: str) -> dict[str, float]:
    """Return the median milliseconds of a query, and how often the exact search takes as long."""
    median, exact = statistics.median(seconds[name]), statistics.median(seconds["exact"])
    return {
        f"ms per query, {how}": round(median * 1000, 3),
        f"times the speed of exact, {how}": round(exact / median, 1),
    }


def size(index: Any) -> float:
    """Return what an index takes in memory for each vector."""
    if isinstance(index, faiss.Index):
        return len(faiss.serialize_index(index)) / index.ntotal
    return float(index.sa_code_size())


def report() -> dict[str, Any]:
    """Measure, and give the columns that pages quote by themselves."""
    table = measure(VECTORS, ROUNDS, real_vectors())
    columns = {"agreement": "agreement@10", "ratios": "times the speed of exact, together"}
    columns["ratios alone"] = "times the speed of exact, alone"
    figures = {name: {index: row[column] for index, row in table.items()} for name, column in columns.items()}
    return {"vectors": VECTORS, "tables": [table], **figures}
