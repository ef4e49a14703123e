"""The vectors of one batch of texts: read from a store, or computed in one forward pass and put there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from helpers.embeddings.inputs import Tokens, comparison_masks, padded_batches, tokenize
from helpers.embeddings.store import Recipe, Store
from helpers.models import Model, Pooling, Precomputed

if TYPE_CHECKING:
    from torch import Tensor

    from helpers.models.pooling import TokenBatch
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


def instruction_of(model: Model, kind: str) -> str:
    """Return the text that a model wants before each text of a kind."""
    return (model.info.query_instruction if kind == "query" else model.info.passage_instruction) or ""


def own_pooling(model: TransformerModel) -> Pooling:
    """Return how a model pools by itself.

    Raises:
        ValueError: it does not say.
    """
    if model.info.pooling is None:
        raise ValueError(f"{model.info.name} does not say how it pools: load it with pooling='cls' or 'mean'.")
    return Pooling(model.info.pooling)


def recipe_of(model: Model, kind: str, batch_size: int, pooling: Pooling | None = None) -> Recipe:
    """Return all that decides a model's vectors, beside the texts, under a pooling or under its own."""
    if isinstance(model, Precomputed):
        return Recipe(model.info.sha256, f"{kind}: {model.info.pooling}", None, model.device, "float32")
    pooling = pooling or own_pooling(model)
    return Recipe(
        model=model.info.sha256,
        pooling=str(pooling),
        max_length=model.info.max_length,
        device=model.device.partition(":")[0],
        dtype=model.dtype,
        dim=model.info.dim,
        colbert_side=kind if pooling is Pooling.MAXSIM and model.projection is not None else "",
        batch_size=batch_size if pooling is Pooling.UNMASKED_MEAN else None,
    )


def encode_shard(
    model: Model, texts: list[str], kind: str, batch_size: int, store: Store, *, keep: bool = False
) -> np.ndarray:
    """Return the vectors of some texts under a model's own pooling, (n, dim).

    Args:
        model, kind, batch_size: as for :func:`helpers.embeddings.encode`.
        texts: without their instruction.
        store: where vectors are looked for and kept.
        keep: keep vectors that were precomputed too; else they are looked up and not written anywhere.
    """
    if not isinstance(model, Precomputed):
        pooling = own_pooling(model)
        return encode_batch(model, texts, [pooling], kind, batch_size, store)[pooling].vectors
    if not keep:
        return model.look_up(texts, kind)
    name = recipe_of(model, kind, batch_size).shard_name(texts)
    shard = store.read(name)
    return store.write(name, model.look_up(texts, kind)) if shard is None else shard


def encode_batch(
    model: TransformerModel, texts: list[str], poolings: Sequence[Pooling], kind: str, batch_size: int, store: Store
) -> dict[Pooling, TokenVectors]:
    """Return the vectors of some texts, without their instruction, under several poolings.

    One forward pass serves all of them, but for MAXSIM of a ColBERT, which reads texts in its own way.
    """
    texts = [instruction_of(model, kind) + text for text in texts]
    recipes = {pooling: recipe_of(model, kind, batch_size, pooling) for pooling in poolings}
    vectors: dict[Pooling, TokenVectors] = {}
    for side in dict.fromkeys(recipe.colbert_side for recipe in recipes.values()):
        names = {
            pooling: recipe.shard_name(texts) for pooling, recipe in recipes.items() if recipe.colbert_side == side
        }
        shards = _read_shards(store, names, len(texts))
        is_complete = len(shards) == len(names)
        tokens = {} if is_complete and Pooling.MAXSIM not in names else tokenize(model, texts, side)
        if not is_complete:
            with store.lock(min(names.values())):
                shards = _read_shards(store, names, len(texts))  # another run may have written them meanwhile
                if missing := [pooling for pooling in names if pooling not in shards]:
                    computed = forward(model, texts, tokens, missing, batch_size)
                    shards |= {pooling: store.write(names[pooling], array) for pooling, array in computed.items()}
        lengths = {pooling: np.ones(len(texts), int) for pooling in names}
        if Pooling.MAXSIM in names:
            lengths[Pooling.MAXSIM] = np.array([sum(compared) for compared in comparison_masks(tokens)])
        vectors |= {pooling: TokenVectors(shards[pooling], lengths[pooling]) for pooling in names}
    return vectors


def _read_shards(store: Store, names: dict[Pooling, str], texts: int) -> dict[Pooling, np.ndarray]:
    """Read the arrays that are there and can be the vectors of so many texts."""
    shards = {pooling: store.read(name) for pooling, name in names.items()}
    return {
        pooling: shard
        for pooling, shard in shards.items()
        if shard is not None and shard.ndim == 2 and (pooling is Pooling.MAXSIM or len(shard) == texts)
    }


def forward(
    model: TransformerModel, texts: list[str], tokens: Tokens, poolings: Sequence[Pooling], batch_size: int
) -> dict[Pooling, np.ndarray]:
    """Run the network over texts, of which ``tokens`` are the tokens, once, the longest first.

    Returns:
        For each pooling float32 rows of length one: (n, dim), or under MAXSIM (tokens compared, dim).

    Raises:
        ValueError: a vector that is not finite; the message names the text.
    """
    import torch

    rows_of: dict[Pooling, list[np.ndarray]] = {pooling: [np.empty(0)] * len(texts) for pooling in poolings}
    masks = comparison_masks(tokens) if Pooling.MAXSIM in poolings else []
    with torch.inference_mode():
        for rows, padded in padded_batches(model, tokens, batch_size):
            batch = model.token_vectors(padded, attention=Pooling.ATTENTION in poolings)
            for pooling in poolings:
                if pooling is Pooling.MAXSIM:
                    pooled = _compared_vectors(model, batch, [masks[row] for row in rows])
                else:
                    pooled = list(_unit(model.vectors(batch, pooling))[:, None])
                for row, vectors in zip(rows, pooled, strict=True):
                    rows_of[pooling][row] = vectors
    stacked = {pooling: np.concatenate(parts) for pooling, parts in rows_of.items()}
    for pooling, vectors in stacked.items():
        if not np.isfinite(vectors).all():
            bad = next(row for row, part in enumerate(rows_of[pooling]) if not np.isfinite(part).all())
            raise ValueError(
                f"{model.info.name} gave a vector with NaN or infinite values for {texts[bad][:60]!r} under {pooling} "
                "pooling; try half=False."
            )
    return stacked


def _compared_vectors(model: TransformerModel, batch: TokenBatch, masks: list[list[int]]) -> list[np.ndarray]:
    """Return the vectors of the tokens that MaxSim compares, for each text (tokens compared, dim)."""
    padded_left = model.tokenizer.padding_side == "left"
    hidden = batch.hidden if model.projection is None else batch.hidden @ model.projection.T
    texts = []
    for vectors, mask in zip(hidden, masks, strict=True):
        unpadded = vectors[-len(mask) :] if padded_left else vectors[: len(mask)]
        texts.append(_unit(unpadded[np.flatnonzero(mask)]))
    return texts


def _unit(vectors: Tensor) -> np.ndarray:
    """Scale vectors to length one, as float32."""
    from torch.nn.functional import normalize

    unit: np.ndarray = normalize(vectors.float(), dim=-1).cpu().numpy()
    return unit
