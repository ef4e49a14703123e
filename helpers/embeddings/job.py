"""The work on one batch of texts: what is in the cache, what has to be computed, and what decides the result."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from helpers.embeddings.cache import Recipe, ShardCache
from helpers.embeddings.inputs import Tokens, kept_tokens, tokenize
from helpers.embeddings.shards import MadeWith, ModelName
from helpers.models import Pooling, Precomputed

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel


class TokenVectors(NamedTuple):
    """Token vectors of n texts, stacked: ``vectors`` (t, dim) of length one, ``lengths`` (n,) tokens a text."""

    vectors: np.ndarray
    lengths: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """The row at which each text begins, (n,)."""
        starts: np.ndarray = np.cumsum(self.lengths) - self.lengths
        return starts

    def text(self, row: int) -> np.ndarray:
        """Return the token vectors of one text, (tokens, dim)."""
        start = self.starts[row]
        return self.vectors[start : start + self.lengths[row]]


@dataclass(frozen=True)
class Job:
    """One way of encoding: which model, into what, and where the results are kept."""

    model: "TransformerModel"
    poolings: tuple[Pooling, ...]
    kind: str
    batch_size: int
    cache: ShardCache

    def __post_init__(self) -> None:
        """Refuse a batch of no texts, whose shard would be empty and stay in the cache."""
        if self.batch_size < 1:
            raise ValueError(f"batch_size={self.batch_size!r}: expected at least 1.")

    def shard(self, texts: list[str]) -> dict[Pooling, TokenVectors]:
        """Read what the cache holds of some texts, compute the rest, and put it there; ColBERT reads texts its way."""
        info = self.model.info
        instruction = info.query_instruction if self.kind == "query" else info.passage_instruction
        if instruction:
            texts = [instruction + text for text in texts]
        reads_apart = self.model.projection is not None
        late: list[Pooling] = [p for p in self.poolings if reads_apart and p == Pooling.MAXSIM]
        plain = [pooling for pooling in self.poolings if pooling not in late]
        return self._pass(texts, plain, "") | self._pass(texts, late, self.kind)

    def _pass(self, texts: list[str], poolings: list[Pooling], colbert_side: str) -> dict[Pooling, TokenVectors]:
        """Give the vectors of texts under poolings that read them alike, in one forward pass at most."""
        names = {pooling: self.recipe(pooling, colbert_side).shard_name(texts) for pooling in poolings}
        cached = {pooling: self._kept(name, len(texts), pooling) for pooling, name in names.items()}
        missing = [pooling for pooling in poolings if cached[pooling] is None]
        tokens = tokenize(self.model, texts, colbert_side) if missing or Pooling.MAXSIM in poolings else {}
        vectors = {pooling: shard for pooling, shard in cached.items() if shard is not None}
        if missing:
            vectors |= self._computed(texts, tokens, {pooling: names[pooling] for pooling in missing})
        lengths = {pooling: np.ones(len(texts), int) for pooling in poolings}
        if Pooling.MAXSIM in poolings:
            lengths[Pooling.MAXSIM] = np.array([sum(kept) for kept in kept_tokens(tokens)])
        return {pooling: TokenVectors(vectors[pooling], lengths[pooling]) for pooling in poolings}

    def _computed(self, texts: list[str], tokens: Tokens, names: dict[Pooling, str]) -> dict[Pooling, np.ndarray]:
        """Compute shards and write them, unless another run, which had begun, wrote them meanwhile."""
        with self.cache.alone(min(names.values())):
            found = {pooling: self._kept(name, len(texts), pooling) for pooling, name in names.items()}
            shards = {pooling: shard for pooling, shard in found.items() if shard is not None}
            if missing := [pooling for pooling in names if pooling not in shards]:
                from helpers.embeddings import network

                computed = network.forward(self.model, texts, tokens, missing, self.batch_size)
                shards |= {pooling: self.cache.write(names[pooling], shard) for pooling, shard in computed.items()}
        return shards

    def _kept(self, name: str, texts: int, pooling: Pooling) -> np.ndarray | None:
        """Read a shard of so many texts from the cache; None where what lies there cannot be their vectors."""
        shard = self.cache.read(name)
        if shard is None or shard.ndim != 2:
            return None
        return shard if pooling is Pooling.MAXSIM or len(shard) == texts else None

    def recipe(self, pooling: Pooling, colbert_side: str) -> Recipe:
        """Name all that decides a result, beside the texts."""
        return Recipe(
            model=self.model.info.sha256,
            pooling=str(pooling),
            max_length=self.model.info.max_length,
            device=self.model.device.partition(":")[0],
            dtype=self.model.dtype,
            dim=self.model.info.dim,
            colbert_side=colbert_side,
            batch_size=self.batch_size if pooling is Pooling.UNMASKED_MEAN else None,
        )


def shard_encoder(
    model: "TransformerModel | Precomputed", kind: str, batch_size: int, cache: ShardCache, *, keep: bool = False
) -> Callable[[list[str]], np.ndarray]:
    """Return what turns a list of texts into a shard of vectors, read from a cache or computed and put there.

    Args:
        model, kind, batch_size: as for :func:`encode`.
        cache: where shards are looked for and written.
        keep: write vectors that were precomputed too; else they are looked up and not written anywhere.
    """
    if isinstance(model, Precomputed):
        look_up = partial(model.look_up, kind=kind)
        return partial(_looked_up, look_up, _recipe(model, kind, batch_size), cache) if keep else look_up
    pooling = _own_pooling(model)
    job = Job(model, (pooling,), kind, batch_size, cache)
    return lambda batch: job.shard(batch)[pooling].vectors


def made_with(model: "TransformerModel | Precomputed", kind: str, batch_size: int, shard_size: int) -> MadeWith:
    """Say what the vectors of a run have in common, for the manifest of a folder."""
    info = model.info
    instruction = (info.query_instruction if kind == "query" else info.passage_instruction) or ""
    recipe = _recipe(model, kind, batch_size)
    return MadeWith(ModelName(info.name, info.sha256), recipe, kind, instruction, shard_size)


def _looked_up(
    look_up: Callable[[list[str]], np.ndarray], recipe: Recipe, cache: ShardCache, batch: list[str]
) -> np.ndarray:
    """Copy the precomputed vectors of a batch into a shard, if it is not there."""
    name = recipe.shard_name(batch)
    shard = cache.read(name)
    return cache.write(name, look_up(batch)) if shard is None else shard


def _own_pooling(model: "TransformerModel") -> Pooling:
    """Return how a model pools by itself, or say that it does not."""
    if model.info.pooling is None:
        raise ValueError(f"{model.info.name} does not say how it pools: load it with pooling='cls' or 'mean'.")
    return Pooling(model.info.pooling)


def _recipe(model: "TransformerModel | Precomputed", kind: str, batch_size: int) -> Recipe:
    """Return what decides the vectors of a model under its own pooling."""
    if isinstance(model, Precomputed):
        return Recipe(model.info.sha256, f"{kind}: {model.info.pooling}", None, model.device, "float32")
    pooling = _own_pooling(model)
    late = model.projection is not None and pooling == Pooling.MAXSIM
    return Job(model, (pooling,), kind, batch_size, ShardCache()).recipe(pooling, kind if late else "")
