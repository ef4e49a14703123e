"""The one pipeline that ranks a corpus by any system: represent, index, search."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from helpers.data import RetrievalDataset
from helpers.embeddings import BATCH_SIZE, encode, encode_pooled, encode_shards
from helpers.index import WORD_INDEXES, build_index, search
from helpers.index.order import check_k
from helpers.models import Pooling, Precomputed
from helpers.systems.cost import note_index, stage

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

IN_MEMORY = 1 << 16  # precomputed vectors; more are searched where they lie


class Ranking(NamedTuple):
    """What a system retrieved: ``scores`` and ``ids``, each (q, k), the best first."""

    scores: np.ndarray
    ids: np.ndarray


class System(Protocol):
    """Whatever ranks a corpus for queries: a retrieval, or a class that changes the ranking of another system."""

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Give the k best passages of each query."""


class Retrieval:
    """The one line from texts to ranking, for a system that says what represents a text and which index takes it."""

    search_bar: bool = False

    @property
    def index_kind(self) -> str:
        """Name the kind of index, see :func:`helpers.index.build_index`."""
        raise NotImplementedError

    def represent(self, texts: list[str], kind: str) -> Any:
        """Turn texts into what that index takes; ``kind`` is "passage" or "query"."""
        raise NotImplementedError

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Represent and index the passages, represent and search for the queries."""
        check_k(k, len(data.corpus))
        with stage("passages"):
            index = build_index(self.represent(data.corpus, "passage"), self.index_kind)
        note_index(index)
        with stage("queries"):
            queries = self.represent(data.queries, "query")
        with stage("search"):
            scores, ids = search(index, queries, k, progress=self.search_bar)
        return Ranking(scores, ids)


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

    model: "TransformerModel | Precomputed"
    pooling: str | None = None
    factory: str = "Flat"
    batch_size: int = BATCH_SIZE
    cache_dir: str | Path | None = None
    progress: bool = True
    search_bar: bool = False

    @property
    def index_kind(self) -> str:
        """The kind of index: MaxSim's for a vector a token, blocks of many vectors that lie on disk, else FAISS's."""
        if self.pooling == Pooling.MAXSIM:
            return "MaxSim"
        many = isinstance(self.model, Precomputed) and len(self.model.arrays["passage"]) > IN_MEMORY
        return "Blocks" if many and self.factory == "Flat" else self.factory

    def represent(self, texts: list[str], kind: str) -> Any:
        """Embed texts; passages for a flat index come shard by shard, so that they are in memory once."""
        if self.pooling is None or isinstance(self.model, Precomputed):
            if kind == "passage" and self.factory == "Flat":
                return _Shards(self, texts)
            return encode(
                self.model, texts, kind=kind,
                batch_size=self.batch_size, cache_dir=self.cache_dir, progress=self.progress,
            )  # fmt: skip
        vectors = encode_pooled(
            self.model, texts, [self.pooling], kind=kind,
            batch_size=self.batch_size, cache_dir=self.cache_dir, progress=self.progress,
        )  # fmt: skip
        return vectors[Pooling(self.pooling)]


class _Shards:
    """Vectors of passages in shards that are computed as they are asked for; the length is the number of vectors."""

    def __init__(self, system: Dense, texts: list[str]) -> None:
        self._system, self._texts = system, texts

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[np.ndarray]:
        own = self._system
        shards = encode_shards(
            own.model, self._texts, batch_size=own.batch_size, cache_dir=own.cache_dir, progress=own.progress
        )
        return iter(shards)


@dataclass(frozen=True)
class Words(Retrieval):
    """A baseline that matches words: "BM25" or "TF-IDF"."""

    name: str = "BM25"

    @property
    def index_kind(self) -> str:
        """The index has the name of the baseline."""
        return self.name

    def represent(self, texts: list[str], kind: str) -> list[str]:
        """Leave texts as they are: the index splits them into words."""
        return texts


def rank(system: "System | TransformerModel | Precomputed | str", data: RetrievalDataset, k: int = 10) -> Ranking:
    """Rank a corpus for its queries: the whole line from texts to ranking.

    Args:
        system: a :class:`System`, a model under its own pooling, ``"BM25"`` or ``"TF-IDF"``.
        data: what to search, and for what.
        k: how many passages a query.

    Raises:
        ValueError: k out of range, an unknown system, or what encoding and indexing raise.
    """
    return _as_system(system).rank(data, k)


def _as_system(system: Any) -> System:
    """Take a model under its own pooling, and the name of a baseline, for the systems they are."""
    if isinstance(system, str):
        if system not in WORD_INDEXES:
            raise ValueError(f"Unknown system {system!r}: expected a model, or one of {', '.join(WORD_INDEXES)}.")
        return Words(system)
    chosen: System = system if hasattr(system, "rank") else Dense(system)
    return chosen
