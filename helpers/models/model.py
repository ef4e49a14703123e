"""ModelInfo, the metadata of a model, and the enumeration of poolings."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Pooling(StrEnum):
    """The poolings of token vectors; :mod:`helpers.models.pooling` has the formulas.

    One vector per text: the vector of [CLS]; the mean of the token vectors; their maximum in each dimension; their
    mean weighted by the attention each token receives in the last layer; the mean over padding too, a mistake; the
    vector of the last token, the only one that attends to all others in a decoder such as Qwen. MAXSIM keeps one
    vector per token, for :func:`helpers.index.maxsim`.
    """

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    ATTENTION = "attention"
    UNMASKED_MEAN = "unmasked_mean"
    LAST_TOKEN = "lasttoken"
    MAXSIM = "maxsim"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise ValueError(f"Unknown pooling {value!r}: expected one of {', '.join(cls)}.")


@dataclass(frozen=True)
class ModelInfo:
    """The identity of a model and its encoding options; None for an unknown value."""

    name: str  # hub id, or name of the folder
    sha256: str  # over the names and contents of all files of the model
    weights_sha256: str  # of the weights alone, to compare with the hub
    pooling: str | None = None  # such as ``cls`` or ``mean``
    query_instruction: str | None = None  # text put before each query, empty if none
    passage_instruction: str | None = None
    max_length: int | None = None  # in tokens; longer texts are truncated
    dim: int | None = None  # leading dimensions kept before scaling to length one; None for all
    files: dict[str, str] | None = None  # SHA-256 by file name, for precomputed embeddings
    unused: Sequence[str] | None = None  # keys of the model's files that are not read, each with its file
