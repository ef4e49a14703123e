"""The one forward pass: a network over tokenized texts, its token vectors pooled in every way asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from helpers.embeddings.inputs import Tokens, kept_tokens, padded_batches
from helpers.models import Pooling
from helpers.models.pooling import TokenBatch
from helpers.models.transformer import TransformerModel


def forward(
    model: TransformerModel, texts: list[str], tokens: Tokens, poolings: Sequence[Pooling], batch_size: int
) -> dict[Pooling, np.ndarray]:
    """Run the network over texts, of which ``tokens`` are the tokens, once, the longest first.

    Returns:
        For each pooling float32 rows of length one: (n, dim), or under MAXSIM (tokens compared, dim).

    Raises:
        ValueError: a vector that is not finite; the message names the text.
    """
    unit_rows: dict[Pooling, list[np.ndarray]] = {pooling: [np.empty(0)] * len(texts) for pooling in poolings}
    kept = kept_tokens(tokens) if Pooling.MAXSIM in poolings else []
    with torch.inference_mode():
        for rows, padded in padded_batches(model, tokens, batch_size):
            batch = model.token_vectors(padded, attention=Pooling.ATTENTION in poolings)
            for pooling in poolings:
                if pooling is Pooling.MAXSIM:
                    pooled = _kept_vectors(model, batch, [kept[row] for row in rows])
                else:
                    pooled = list(_unit(model.vectors(batch, pooling))[:, None])
                for row, vectors in zip(rows, pooled, strict=True):
                    unit_rows[pooling][row] = vectors
    return {pooling: _stacked(model, texts, pooling, parts) for pooling, parts in unit_rows.items()}


def _kept_vectors(model: TransformerModel, batch: TokenBatch, kept: list[list[bool]]) -> list[np.ndarray]:
    """Take from a batch the vectors of the tokens that MaxSim compares; for each text (tokens kept, dim)."""
    padded_left = model.tokenizer.padding_side == "left"
    texts = []
    for vectors, keep in zip(model.projected(batch.hidden), kept, strict=True):
        own = vectors[-len(keep) :] if padded_left else vectors[: len(keep)]
        texts.append(_unit(own[torch.as_tensor(keep, device=own.device)]))
    return texts


def _unit(vectors: torch.Tensor) -> np.ndarray:
    """Scale vectors to length one, as float32."""
    unit: np.ndarray = torch.nn.functional.normalize(vectors.float(), dim=-1).cpu().numpy()
    return unit


def _stacked(model: TransformerModel, texts: list[str], pooling: Pooling, parts: list[np.ndarray]) -> np.ndarray:
    """Put the vectors of all texts under one another, or raise where one is not finite."""
    stacked = np.concatenate(parts)
    if not np.isfinite(stacked).all():
        bad = next(row for row, vectors in enumerate(parts) if not np.isfinite(vectors).all())
        raise ValueError(
            f"{model.info.name} gave a vector with NaN or infinite values for {texts[bad][:60]!r} under {pooling} "
            "pooling; try half=False."
        )
    return stacked
