"""Build an index, save it, and search it with a fixed order among equal scores.

Three kinds of index behind the same two calls: vectors (FAISS), words (BM25, TF-IDF), token vectors (MaxSim).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from helpers._optional import Later
from helpers.index import dense
from helpers.index.binary import BinaryIndex
from helpers.index.blocks import BlockIndex
from helpers.index.dense import Index, load_index, reserve
from helpers.index.late import MaxSimIndex, TokenVectors, maxsim
from helpers.index.order import check_k, parse_settings
from helpers.index.words import KINDS, WORD_INDEXES, BM25Index, SparseIndex, TfidfIndex, read_words, tokenize

if TYPE_CHECKING:
    import faiss
    from scipy.sparse import csr_matrix
else:
    faiss = Later("faiss", "report")

__all__ = [
    "WORD_INDEXES", "BM25Index", "Index", "TfidfIndex", "build_index", "load_index", "maxsim",
    "reserve", "search", "tokenize",
]  # fmt: skip


def build_index(
    passages: np.ndarray | Iterable[np.ndarray] | Sequence[str] | TokenVectors | csr_matrix, factory: str = "Flat"
) -> Any:
    """Build an index of a corpus: a ``faiss.Index``, or an :class:`Index` of words or token vectors; number i is row i.

    Args:
        passages: float array (n, dim), or shards of one in order, as :func:`helpers.embeddings.encode_shards` gives
            them; for ``"BM25"`` and ``"TF-IDF"`` the n texts themselves; for ``"MaxSim"`` token vectors, as
            :func:`helpers.embeddings.encode_pooled` gives them. An index that has to be trained learns from a sample
            of all shards, the same each time, so that shards are gone through twice: an array, a list of arrays and
            :class:`~helpers.embeddings.shards.Shards` can be, a generator cannot and is refused.
        factory: the kind of index, with its settings behind a colon. ``"BM25"``, ``"TF-IDF"``, each also with the unit
            that it counts, ``"BM25:characters"``, see :func:`helpers.index.words.tokenize`, with a language to stem,
            ``"BM25:stem=english"``, and BM25 with its two constants, ``"BM25:characters,k1=0.9,b=0.4"``; ``"MaxSim"``;
            ``"Sparse"`` (the passages are scipy's sparse matrix); ``"Blocks"`` (exact, over shards that are read anew
            for each search and never all in memory); ``"Binary"`` (signs first, the vectors themselves for the best,
            ``"Binary:rescore=4"``); or a FAISS ``index_factory`` string for an index that ranks by inner product.
            ``"Flat"`` compares with every vector and is exact; others, such as ``"IVF64,Flat:nprobe=8"`` or
            ``"HNSW32:efSearch=64"``, trade exactness for speed. Their settings have the names of FAISS's
            ``ParameterSpace``; ``k_factor_rf`` is how many times k candidates a ``Refine`` scores again.

    Raises:
        ValueError: no vectors, vectors that are not finite, an unknown factory string, unit or setting, passages
            without a word, too few vectors to train on, a generator of shards for an index that has to be trained.
    """
    kinds: dict[str, Any] = {"MaxSim": MaxSimIndex, "Blocks": BlockIndex, "Sparse": SparseIndex}
    if factory in kinds:
        return kinds[factory](passages)
    kind, _, settings = factory.partition(":")
    if kind in KINDS:
        units, options = read_words(kind, settings)
        return KINDS[kind](cast(Sequence[str], passages), *units, **options)
    names, values = parse_settings(settings)
    vectors = cast(Iterable[np.ndarray], passages)
    if names:
        raise ValueError(f"Setting {names[0]!r}: expected name=number, such as nprobe=8.")
    if kind == "Binary":
        if unknown := sorted(values.keys() - {"rescore"}):
            raise ValueError(f"'Binary' has no setting {unknown[0]!r}; it has rescore.")
        shards = vectors if hasattr(passages, "shape") else list(vectors)  # a list or generator of shards in memory
        if not len(cast(Sequence[np.ndarray], shards)):
            raise ValueError("No embeddings to index: give at least one shard.")
        return BinaryIndex(np.concatenate(shards) if isinstance(shards, list) else cast(np.ndarray, shards), **values)
    return dense.build(vectors, kind, values)


def search(
    index: Any, queries: Any, k: int = 10, *, batch_size: int = 256, progress: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k best passages of each query: scores, float32 (q, k), the best first, and row numbers, int64 (q, k).

    Equal scores are ordered by ascending id, also across the end of the list: which of several equal passages
    makes it into the top k does not depend on FAISS, the batch or the machine. Scores are inner products, or of an
    index that another program built with FAISS's metric L2 the squared distances times -1. Only an index of words pads
    with -1, score 0, where fewer than k passages share a word with the query.

    Args:
        index: from :func:`build_index`, or :func:`load_index`, or of FAISS.
        queries: float array (q, dim); for an index of words q texts, for MaxSim token vectors.
        k: how many passages a query; no more than the index holds.
        batch_size: queries a call of FAISS; blocks are read once for all of them.
        progress: draw a bar, where FAISS searches.

    Raises:
        ValueError: k out of range, another dimension than the index, values that are not finite, an index that ranks
            by another metric, or an approximate index that found fewer than k (raise its ``nprobe`` or ``efSearch``).
    """
    check_k(k, index.ntotal)
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size!r}: expected at least 1.")
    if isinstance(index, faiss.Index):
        return dense.search(index, queries, k, batch_size, progress)
    if isinstance(index, BlockIndex):
        return index.search(queries, k, batch_size, progress)
    scores, ids = index.search(queries, k)
    return scores, ids
