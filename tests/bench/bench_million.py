"""Indexes over a million vectors beside exact search: `make bench-million`.

So many real texts are not to be had without a network, so the vectors are made: each lies between a real one and one
of its eight nearest neighbours, with noise that has the covariance of the real ones, and is brought to length one. The
real ones are the bundled model's, of the docstrings of lesson 06; a tenth is held back. The second table compares the
cosines between neighbours: of real vectors held back among real ones, and of made ones among as many made ones; there
is so much noise that they agree within some hundredths. What such vectors cannot tell: a million real texts have more
than 28,000 themes, and agreement on them may be another. Bytes do not depend on that, and times hardly do.

Exact search is a flat index, in the same thread and batch: all queries together, by a product of matrices, and each
alone, without one. Each index is searched in turn, several rounds; the median counts.
"""

import os
import statistics
import time
from typing import Any

import faiss
import numpy as np

from tests.bench.reports import head, save

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


class Maker:
    """Makes vectors like given ones (n, d)."""

    def __init__(self, real: np.ndarray) -> None:
        """Find each vector's neighbours, and the covariance of all."""
        self.real, self.rng = real, np.random.default_rng(1)
        self.near = neighbours(real, real, 9)[1][:, 1:]
        values, directions = np.linalg.eigh(np.cov((real - real.mean(axis=0)).T))
        self.spread = (directions * np.sqrt(np.maximum(values, 0))).astype(np.float32)

    def make(self, count: int) -> np.ndarray:
        """Give so many new vectors of length one."""
        one = self.rng.integers(0, len(self.real), count)
        other = self.near[one, self.rng.integers(0, self.near.shape[1], count)]
        share = self.rng.uniform(0.5, 1, (count, 1)).astype(np.float32)
        noise = self.rng.standard_normal((count, self.real.shape[1]), dtype=np.float32) @ self.spread.T
        noise *= self.rng.uniform(0.2, 0.7, (count, 1)).astype(np.float32)
        made = share * self.real[one] + (1 - share) * self.real[other] + noise
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def neighbours(queries: np.ndarray, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the k nearest exactly: cosines and rows, both (q, k)."""
    from helpers.index.dense import by_blas

    with by_blas(len(queries), len(vectors)):
        found: tuple[np.ndarray, np.ndarray] = faiss.knn(queries, vectors, k, metric=faiss.METRIC_INNER_PRODUCT)
    return found


def likeness(real: np.ndarray, held: np.ndarray, made: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
    """Compare the cosines with the first, tenth and hundredth neighbour, real and made, among equally many."""
    rows = {"real": (held[:QUERIES], real), "made": (queries, made[: len(real)])}
    table = {}
    for name, (asked, among) in rows.items():
        cosines = neighbours(asked, among, 100)[0].mean(axis=0)
        table[name] = {f"cosine, neighbour {rank}": round(float(cosines[rank - 1]), 3) for rank in (1, 10, 100)}
    return table


def measure(count: int, rounds: int, real: np.ndarray | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build and search every index; the rows of both tables. The ``real`` vectors are by default the docstrings'."""
    from helpers.index import build_index, search

    real = real_vectors() if real is None else real
    held, real = real[: len(real) // 10], real[len(real) // 10 :]
    maker = Maker(real)
    queries, vectors = maker.make(QUERIES), np.empty((count, real.shape[1]), np.float32)
    for start in range(0, count, 50_000):
        vectors[start : start + 50_000] = maker.make(min(50_000, count - start))
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
    table = {
        name: {
            "agreement@10": round(agreement(found[name], found["exact"]), 3),
            **times(together, name, "together"),
            **times(alone, name, "alone"),
            "bytes per vector": round(size(index), 1),
            "seconds to build": round(built[name], 1),
        }
        for name, index in indexes.items()
    }
    return table, likeness(real, held, vectors, queries)


def times(seconds: dict[str, list[float]], name: str, how: str) -> dict[str, float]:
    """Return the median milliseconds of a query, and how often the exact search takes as long."""
    median, exact = statistics.median(seconds[name]), statistics.median(seconds["exact"])
    return {
        f"ms per query, {how}": round(median * 1000, 3),
        f"times the speed of exact, {how}": round(exact / median, 1),
    }


def agreement(ids: np.ndarray, exact: np.ndarray) -> float:
    """Return the mean share of the exact list that was found."""
    return float(np.mean([len(set(one) & set(other)) / K for one, other in zip(ids, exact, strict=True)]))


def size(index: Any) -> float:
    """Return what an index takes in memory for each vector."""
    if isinstance(index, faiss.Index):
        return len(faiss.serialize_index(index)) / index.ntotal
    return float(index.sa_code_size())


def main() -> None:
    """Measure and write the report."""
    table, like = measure(VECTORS, ROUNDS)
    columns = {"agreement": "agreement@10", "ratios": "times the speed of exact, together"}
    columns["ratios alone"] = "times the speed of exact, alone"
    figures = {name: {index: row[column] for index, row in table.items()} for name, column in columns.items()}
    save("million", head("million", PACKAGES, ROUNDS) | {"vectors": VECTORS, "tables": [table, like], **figures})


if __name__ == "__main__":
    main()
