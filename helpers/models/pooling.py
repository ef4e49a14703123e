"""Pooling, right and wrong: the formulas that turn the token vectors of a text into one vector.

Each takes a :class:`TokenBatch` of b texts and returns their vectors, (b, dim).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from helpers.models.card import Pooling

if TYPE_CHECKING:
    from torch import Tensor


class TokenBatch(NamedTuple):
    """The output of a network for b texts padded to t tokens, and the masks that pooling needs.

    ``hidden`` (b, t, dim) holds the token vectors; ``mask`` (b, t) is 1 at tokens of the text ([CLS] and [SEP]
    included) and 0 at padding; ``is_cls`` (b, t) is true at [CLS] only; ``attention`` (b, heads, t, t) is that of the
    last layer: row i, column j is the attention of token i to token j.
    """

    hidden: Tensor
    mask: Tensor
    is_cls: Tensor
    attention: Tensor | None = None


def cls_pooling(batch: TokenBatch) -> Tensor:
    """Take the vector of [CLS], wherever the tokenizer puts it: BERT first, XLNet last. (b, dim)."""
    if not batch.is_cls.any(dim=1).all():
        raise ValueError("The tokenizer puts no [CLS] into a text, so there is no such vector: take another pooling.")
    return batch.hidden[range(len(batch.hidden)), batch.is_cls.int().argmax(dim=1)]


def weighted_mean(hidden: Tensor, weights: Tensor) -> Tensor:
    """Average (b, t, dim) over t with weights (b, t)."""
    weights = weights.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def mean_pooling(batch: TokenBatch) -> Tensor:
    """Average the vectors of the text's own tokens; padding counts 0. (b, dim)."""
    return weighted_mean(batch.hidden, batch.mask)


def max_pooling(batch: TokenBatch) -> Tensor:
    """Take in each dimension the largest value of any of the text's own tokens. (b, dim)."""
    return batch.hidden.masked_fill(batch.mask.unsqueeze(-1) == 0, float("-inf")).amax(dim=1)


def attention_pooling(batch: TokenBatch) -> Tensor:
    """Average with weights: the attention a token receives, over all heads and tokens of the last layer. (b, dim)."""
    if batch.attention is None:
        raise ValueError("The network has no attention to weight by (a static model): take another pooling.")
    looking = batch.mask.unsqueeze(-1) * batch.attention.mean(dim=1)
    return weighted_mean(batch.hidden, batch.mask * looking.sum(dim=1))


def unmasked_mean_pooling(batch: TokenBatch) -> Tensor:
    """Average over padding too. Wrong: a text's vector then depends on what it was batched with. (b, dim)."""
    return batch.hidden.mean(dim=1)


def last_token_pooling(batch: TokenBatch) -> Tensor:
    """Take the vector of the last token of the text, with padding on either side. (b, dim)."""
    import torch

    places = torch.arange(batch.mask.shape[1], device=batch.mask.device)
    return batch.hidden[range(len(batch.hidden)), (batch.mask * places).argmax(dim=1)]


POOLINGS = {
    Pooling.CLS: cls_pooling,
    Pooling.MEAN: mean_pooling,
    Pooling.MAX: max_pooling,
    Pooling.ATTENTION: attention_pooling,
    Pooling.UNMASKED_MEAN: unmasked_mean_pooling,
    Pooling.LAST_TOKEN: last_token_pooling,
}
