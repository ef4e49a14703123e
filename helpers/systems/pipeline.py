"""The one pipeline that ranks a corpus by any system: represent, index, search."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from helpers.data import RetrievalDataset
from helpers.embeddings import BATCH_SIZE, TokenVectors, encode, encode_pooled, encode_shards
from helpers.index import WORD_INDEXES, build_index, search
from helpers.index.order import check_k
from helpers.index.words import KINDS
from helpers.models import Model, Pooling, Precomputed

Represented: TypeAlias = "np.ndarray | Iterable[np.ndarray] | list[str] | TokenVectors"  # index input

EXACT = ("Flat", "Blocks")  # kinds of index that compare a query with every vector
IN_MEMORY = 1 << 16  # precomputed vectors; more than this are searched on disk


class Ranking(NamedTuple):
    """The passages a system retrieved: ``scores`` and ``ids``, each (q, k), best first.

    A ranking is a system too, so that fusion and reranking accept it.
    """

    scores: np.ndarray
    ids: np.ndarray

    def rank(self, data: RetrievalDataset, k: int) -> "Ranking":
        """Return the first k passages of each query, fewer if fewer were retrieved."""
        return Ranking(self.scores[:, :k], self.ids[:, :k])


class System(Protocol):
    """An object that ranks a corpus for queries, by itself or by other systems."""

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Return the k best passages of each query."""


def retrieve(represent: Callable[[list[str], str], Represented], kind: str, data: RetrievalDataset, k: int) -> Ranking:
    """Index the passages and search for the queries.

    ``represent(texts, "passage")``, or ``"query"``, gives texts in the form that an index of this kind accepts, see
    :func:`helpers.index.build_index`.
    """
    check_k(k, len(data.corpus))
    index = build_index(represent(data.corpus, "passage"), kind)
    return Ranking(*search(index, represent(data.queries, "query"), k))


@dataclass(frozen=True)
class Dense:
    """Dense retrieval: the cosine of text vectors, or MaxSim over token vectors.

    ``pooling`` None is the model's own, ``factory`` a FAISS ``index_factory`` string; ``batch_size``, ``cache_dir`` and
    ``progress`` are as for :func:`helpers.embeddings.encode`.
    """

    model: Model
    pooling: str | None = None
    factory: str = "Flat"
    batch_size: int = BATCH_SIZE
    cache_dir: str | Path | None = None
    progress: bool = True

    @property
    def exact(self) -> bool:
        """Whether a query is compared with every passage, so that a ranking of any depth is meaningful."""
        return self.pooling == Pooling.MAXSIM or self.factory in EXACT

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Return the k best passages of each query; many precomputed vectors are searched where they lie."""
        if self.pooling == Pooling.MAXSIM:
            return retrieve(self._represent, "MaxSim", data, k)
        many = isinstance(self.model, Precomputed) and len(self.model.arrays["passage"]) > IN_MEMORY
        return retrieve(self._represent, "Blocks" if many and self.factory in EXACT else self.factory, data, k)

    def _represent(self, texts: list[str], kind: str) -> Represented:
        """Embed texts; an exact index gets passages shard by shard, so that memory holds only one copy."""
        options: dict[str, Any] = {
            "batch_size": self.batch_size, "cache_dir": self.cache_dir, "progress": self.progress,
        }  # fmt: skip
        if self.pooling is not None and not isinstance(self.model, Precomputed):
            return encode_pooled(self.model, texts, [self.pooling], kind=kind, **options)[Pooling(self.pooling)]
        if kind == "passage" and self.factory in EXACT:
            return _Shards(self.model, texts, options)
        return encode(self.model, texts, kind=kind, **options)


@dataclass(frozen=True)
class _Shards:
    """Shards of passage vectors, computed on demand; ``len`` is the number of vectors."""

    model: Model
    texts: list[str]
    options: dict[str, Any]

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(encode_shards(self.model, self.texts, **self.options))


@dataclass(frozen=True)
class Words:
    """Lexical retrieval: "BM25" or "TF-IDF", optionally with settings, "BM25:k1=0.9,b=0.4"."""

    name: str = "BM25"

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Return the k best passages of each query."""
        return retrieve(lambda texts, _: texts, self.name, data, k)


def rank(system: "System | Model | str", data: RetrievalDataset, k: int = 10) -> Ranking:
    """Rank the corpus of a data set for each of its queries, k passages a query.

    ``system`` is a :class:`System`; a model, which is used with its own pooling; or a word index for
    :func:`helpers.index.build_index`, such as ``"BM25"``.
    """
    if isinstance(system, str):
        if system.partition(":")[0] not in KINDS:
            raise ValueError(f"Unknown system {system!r}: expected a model, or one of {', '.join(WORD_INDEXES)}.")
        system = Words(system)
    ranks: System = system if hasattr(system, "rank") else Dense(system)
    return ranks.rank(data, k)
