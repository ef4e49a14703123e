"""What a large corpus will cost, before it is encoded: hours, disk, memory, and which index to take."""

import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.embeddings import encode

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

EXACT = 300_000  # passages; up to here one query over 384 dimensions takes one thread well under a tenth of a second
RUNS = 3


@dataclass(frozen=True)
class Estimate:
    """What a corpus will cost.

    Attributes:
        passages_per_second: texts like those of the sample that the model encodes.
        tokens_per_second: the same in tokens, special tokens included; compares texts of different lengths.
        hours: to encode the corpus on this machine.
        disk_gb: gigabytes (10⁹ bytes) of its vectors as 32-bit floats.
        index: a description for :func:`helpers.index.build_index`.
        memory_gb: gigabytes that this index takes.
    """

    passages_per_second: float
    tokens_per_second: float
    hours: float
    disk_gb: float
    index: str
    memory_gb: float


def estimate(model: "TransformerModel", texts: Sequence[str], n: int) -> Estimate:
    """Estimate what n passages like these will cost, by encoding the sample three times and taking the fastest run.

    Other work on the machine can only slow a run down. The sample must look like the corpus: a few hundred texts drawn
    at random. The index is exact up to 300,000 passages; beyond, product quantization of 4 bits for each 4 dimensions
    in about √n clusters, of which 16 are searched, its candidates scored again with 8 bits (Jégou et al. 2011; André
    et al. 2015). The page of measurements has it among a million vectors. Measure its agreement on your own.

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
    """Return the description of an index for n vectors, and about how many bytes it takes."""
    if n <= EXACT or dim % 4:
        return "Flat", n * dim * 4
    clusters = 2 ** round(math.log2(n) / 2)  # the power of two nearest to √n
    codes = n * (dim // 8 + dim + 8)  # 4 bits for each 4 dimensions, 8 bits a dimension to score again, an id
    return f"IVF{clusters},PQ{dim // 4}x4fs,Refine(SQ8):nprobe=16,k_factor_rf=10", codes + clusters * dim * 4
