"""The one pipeline that ranks a corpus by any system: represent, index, search."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from helpers.data import RetrievalDataset
from helpers.embeddings import BATCH_SIZE, TokenVectors, encode, encode_pooled, encode_shards
from helpers.index import WORD_INDEXES, build_index, search
from helpers.index.order import check_k
from helpers.index.words import KINDS
from helpers.models import Model, Pooling, Precomputed
from helpers.systems.cost import note_index, stage

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Represented: TypeAlias = "np.ndarray | Iterable[np.ndarray] | list[str] | TokenVectors | csr_matrix"  # for an index

EXACT = ("Flat", "Blocks", "MaxSim", "Sparse", *KINDS)  # kinds of index that compare every passage
IN_MEMORY = 1 << 16  # precomputed vectors; more are searched on disk


class Ranking(NamedTuple):
    """What a system retrieved: ``scores`` and ``ids``, each (q, k), the best first.

    It is a system too, one that is ready: fusion and reranking take it as a part.
    """

    scores: np.ndarray
    ids: np.ndarray

    def rank(self, data: RetrievalDataset, k: int) -> "Ranking":
        """Return the first k of each query, fewer where no more were retrieved."""
        return Ranking(self.scores[:, :k], self.ids[:, :k])


class System(Protocol):
    """Whatever ranks a corpus for queries: a retrieval, or a class that changes the ranking of another system."""

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Return the k best passages of each query."""


class Retrieval:
    """The one line from texts to ranking, for a system that says what represents a text and which index takes it.

    Attributes:
        search_bar: draw a bar while searching.
    """

    search_bar: bool = False

    @property
    def index_kind(self) -> str:
        """The kind of index, see :func:`helpers.index.build_index`."""
        raise NotImplementedError

    @property
    def exact(self) -> bool:
        """Whether every passage is compared with the query, so that a ranking of any depth means something."""
        return self.index_kind in EXACT or self.index_kind.partition(":")[0] in KINDS

    def represent(self, texts: list[str], kind: str) -> Represented:
        """Turn texts into what that index takes; ``kind`` is "passage" or "query"."""
        raise NotImplementedError

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Represent and index the passages, represent and search for the queries."""
        check_k(k, len(data.corpus))
        return self.answer(self.build(data), data.queries, k)

    def build(self, data: RetrievalDataset) -> object:
        """Represent the passages and put them into an index."""
        with stage("passages"):
            index = build_index(self.represent(data.corpus, "passage"), self.index_kind)
        note_index(index)
        return index

    def answer(self, index: object, queries: list[str], k: int) -> Ranking:
        """Represent queries and search for them in the index that `build` returned."""
        with stage("queries"):
            represented = self.represent(queries, "query")
        with stage("search"):
            return Ranking(*search(index, represented, k, progress=self.search_bar))


@dataclass(frozen=True)
class Dense(Retrieval):
    """A model whose vectors are compared by their cosine, or whose token vectors are by MaxSim.

    Attributes:
        model: what :func:`helpers.models.load_model` returned.
        pooling: how token vectors become one vector; None for the model's own.
        factory: a FAISS ``index_factory`` string.
        batch_size, cache_dir, progress: as for :func:`helpers.embeddings.encode`.
        search_bar: draw a bar while searching too.
    """

    model: Model
    pooling: str | None = None
    factory: str = "Flat"
    batch_size: int = BATCH_SIZE
    cache_dir: str | Path | None = None
    progress: bool = True
    search_bar: bool = False

    @property
    def index_kind(self) -> str:
        """The kind of index: MaxSim's for a vector a token, blocks for many vectors on disk, else FAISS's."""
        if self.pooling == Pooling.MAXSIM:
            return "MaxSim"
        many = isinstance(self.model, Precomputed) and len(self.model.arrays["passage"]) > IN_MEMORY
        return "Blocks" if many and self.factory in EXACT else self.factory

    def represent(self, texts: list[str], kind: str) -> Represented:
        """Embed texts; passages for an exact index come shard by shard, so that they are in memory once."""
        options: dict[str, Any] = {
            "batch_size": self.batch_size, "cache_dir": self.cache_dir, "progress": self.progress,
        }  # fmt: skip
        if self.pooling is not None and not isinstance(self.model, Precomputed):
            return encode_pooled(self.model, texts, [self.pooling], kind=kind, **options)[Pooling(self.pooling)]
        if kind == "passage" and self.exact:
            return _Shards(self.model, texts, options)
        return encode(self.model, texts, kind=kind, **options)


@dataclass(frozen=True)
class _Shards:
    """Vectors of passages in shards that are computed on demand; the length is the number of vectors."""

    model: Model
    texts: list[str]
    options: dict[str, Any]

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(encode_shards(self.model, self.texts, **self.options))


@dataclass(frozen=True)
class Words(Retrieval):
    """A baseline that matches words: "BM25", "TF-IDF", or either with settings, "BM25:k1=0.9,b=0.4"."""

    name: str = "BM25"

    @property
    def index_kind(self) -> str:
        """The index has the name of the baseline."""
        return self.name

    def represent(self, texts: list[str], kind: str) -> list[str]:
        """Leave texts as they are: the index splits them into words."""
        return texts


def rank(system: "System | Model | str", data: RetrievalDataset, k: int = 10) -> Ranking:
    """Rank a corpus for its queries: the whole line from texts to ranking.

    Args:
        system: a :class:`System`, a model under its own pooling, or a description of an index of words that
            :func:`helpers.index.build_index` reads, such as ``"BM25"``.
        data: what to search, and for what.
        k: how many passages a query.

    Raises:
        ValueError: k out of range, an unknown system, or what encoding and indexing raise.
    """
    if isinstance(system, str):
        if system.partition(":")[0] not in KINDS:
            raise ValueError(f"Unknown system {system!r}: expected a model, or one of {', '.join(WORD_INDEXES)}.")
        system = Words(system)
    ranks: System = system if hasattr(system, "rank") else Dense(system)
    return ranks.rank(data, k)
