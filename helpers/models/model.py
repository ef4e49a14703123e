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
    """The identity of a model and its encoding options; None for an unknown value.

    Attributes:
        name: hub id, or name of the folder.
        sha256: digest over the names and contents of all files of the model.
        weights_sha256: digest of the weights alone, to compare with the hub.
        pooling: how token vectors become one vector, such as ``cls`` or ``mean``.
        query_instruction: text put before each query, empty if none.
        passage_instruction: text put before each passage, empty for most models.
        max_length: maximum input length in tokens; longer texts are truncated.
        query_length: the same for queries, if it is another.
        lower_case: True if texts are lowercased first, which the tokenizer alone would not do.
        unused: keys of the model's files that are not read, each with its file, such as a prompt of another name.
        dim: number of leading dimensions kept before scaling to length one; None for all.
        files: SHA-256 by file name, for precomputed embeddings.
    """

    name: str
    sha256: str
    weights_sha256: str
    pooling: str | None = None
    query_instruction: str | None = None
    passage_instruction: str | None = None
    max_length: int | None = None
    dim: int | None = None
    files: dict[str, str] | None = None
    query_length: int | None = None
    lower_case: bool | None = None
    unused: Sequence[str] | None = None

    def length(self, kind: str) -> int | None:
        """Return the maximum input length of texts of a kind, ``query`` or ``passage``."""
        return (self.query_length if kind == "query" else None) or self.max_length
