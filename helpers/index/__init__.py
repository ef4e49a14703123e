"""Build an index, and search it with a fixed order among equal scores.

Three kinds of index behind the same two calls: vectors (FAISS), words (BM25, TF-IDF), token vectors (MaxSim).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from helpers.index import dense
from helpers.index.dense import BinaryIndex, BlockIndex, Index
from helpers.index.late import MaxSimIndex, TokenVectors, maxsim
from helpers.index.order import check_k, parse_settings
from helpers.index.words import KINDS, WORD_INDEXES, BM25Index, TfidfIndex, read_words, tokenize

__all__ = [
    "WORD_INDEXES", "BM25Index", "Index", "TfidfIndex", "build_index", "load_index", "maxsim", "search", "tokenize"
]  # fmt: skip


def build_index(
    passages: np.ndarray | Iterable[np.ndarray] | Sequence[str] | TokenVectors, factory: str = "Flat"
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
            ``"Blocks"`` (exact, over shards that are read anew for each search and never all in memory); ``"Binary"``
            (signs first, the vectors themselves for the best, ``"Binary:rescore=4"``); or a FAISS ``index_factory``
            string for an index that ranks by inner product. ``"Flat"`` compares with every vector and is exact; others,
            such as ``"IVF64,Flat:nprobe=8"`` or ``"HNSW32:efSearch=64"``, trade exactness for speed. Their settings
            have the names of FAISS's ``ParameterSpace``; ``k_factor_rf`` is how many times k candidates a ``Refine``
            scores again.

    Raises:
        ValueError: no vectors, vectors that are not finite, an unknown factory string, unit or setting, passages
            without a word, too few vectors to train on, a generator of shards for an index that has to be trained.
    """
    kind, _, settings = factory.partition(":")
    if kind in KINDS:
        units, options = read_words(kind, settings)
        return KINDS[kind](cast(Sequence[str], passages), *units, **options)
    names, values = parse_settings(settings)
    if names:
        raise ValueError(f"Setting {names[0]!r}: expected name=number, such as nprobe=8.")
    kinds: dict[str, Any] = {"MaxSim": MaxSimIndex, "Blocks": BlockIndex, "Binary": BinaryIndex}
    if kind not in kinds:
        return dense.build(cast(Iterable[np.ndarray], passages), kind, values)
    if unknown := sorted(values.keys() - ({"rescore"} if kind == "Binary" else ())):
        raise ValueError(f"{kind!r} has no setting {unknown[0]!r}; 'Binary' has rescore, the others none.")
    return kinds[kind](passages, **values)


def load_index(path: str | Path) -> Any:
    """Read an index of vectors that ``faiss.write_index`` saved; :func:`search` refuses one of another metric."""
    try:
        return dense._faiss.read_index(str(path))
    except RuntimeError:
        raise ValueError(f"{Path(path).name!r} is not there, is cut short, or is no FAISS index.") from None


def search(
    index: Any, queries: Any, k: int = 10, *, batch_size: int = 256, progress: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k best passages of each query: scores, float32 (q, k), the best first, and row numbers, int64 (q, k).

    Equal scores are ordered by ascending id, also across the end of the list: which of several equal passages
    makes it into the top k does not depend on FAISS, the batch or the machine. Only an index of words pads with -1,
    score 0, where fewer than k passages share a word with the query.

    Args:
        index: from :func:`build_index`, or of FAISS.
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
    if hasattr(index, "metric_type"):  # of FAISS
        return dense.search(index, queries, k, batch_size, progress)
    if isinstance(index, BlockIndex):
        return index.search(queries, k, batch_size, progress)
    scores, ids = index.search(queries, k)
    return scores, ids
