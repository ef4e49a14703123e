"""Estimate the time, disk space, memory and index of a large corpus before encoding it."""

import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.embeddings import encode

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

EXACT = 300_000  # passages; one thread searches this many vectors of 384 dimensions in well under a tenth of a second
RUNS = 3


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of a corpus.

    Attributes:
        passages_per_second: encoding speed on texts like the sample.
        tokens_per_second: the same in tokens, special tokens included; comparable across text lengths.
        hours: time to encode the corpus on this machine.
        disk_gb: gigabytes (10⁹ bytes) of its vectors as 32-bit floats.
        index: recommended index, for :func:`helpers.index.build_index`.
        memory_gb: gigabytes of memory for this index.
    """

    passages_per_second: float
    tokens_per_second: float
    hours: float
    disk_gb: float
    index: str
    memory_gb: float


def estimate(model: "TransformerModel", texts: Sequence[str], n: int) -> Estimate:
    """Estimate the cost of n passages from the fastest of three encodings of a sample.

    The fastest run is the one least slowed down by other work on the machine. The index is exact up to 300,000
    passages; beyond, product quantization with 4 bits per 4 dimensions in about √n clusters, of which 16 are searched,
    and candidates rescored with 8 bits per dimension (Jégou et al. 2011; André et al. 2015). The page of measurements
    tests it on a million vectors; measure its agreement with exact search on your own.

    Args:
        texts: a sample that resembles the corpus: a few hundred texts drawn at random.
        n: the number of passages of the whole corpus.

    Raises:
        ValueError: no texts, n below 1.
    """
    if n < 1:
        raise ValueError(f"n is the number of passages of the corpus, at least 1, not {n!r}.")
    limit = model.info.max_length or model.tokenizer.model_max_length
    tokens = sum(min(len(ids), limit) for ids in model.tokenizer(list(texts), verbose=False)["input_ids"])
    seconds, dim = [], 0
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as empty:
            start = time.perf_counter()
            dim = encode(model, texts, cache_dir=empty, progress=False).shape[1]
            seconds.append(time.perf_counter() - start)
    rate = len(texts) / min(seconds)
    index, size = choose_index(n, dim)
    return Estimate(rate, tokens / min(seconds), n / rate / 3600, n * dim * 4 / 1e9, index, size / 1e9)


def choose_index(n: int, dim: int) -> tuple[str, int]:
    """Return the index factory string for n vectors, and the approximate size of the index in bytes."""
    if n <= EXACT or dim % 4:
        return "Flat", n * dim * 4
    clusters = 2 ** round(math.log2(n) / 2)  # the power of two nearest to √n
    codes = n * (dim // 8 + dim + 8)  # 4 bits per 4 dimensions, 8 bits per dimension to rescore, an id of 8 bytes
    return f"IVF{clusters},PQ{dim // 4}x4fs,Refine(SQ8):nprobe=16,k_factor_rf=10", codes + clusters * dim * 4
