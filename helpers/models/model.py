"""The facts about a model, wherever its vectors come from, and the names of poolings."""

from dataclasses import dataclass
from enum import StrEnum


class Pooling(StrEnum):
    """How the token vectors of a text become what is compared; :mod:`helpers.models.pooling` has the formulas.

    Of one vector a text: the vector of [CLS]; the mean of the tokens' vectors; their maximum in each dimension; their
    mean weighted by the attention each token receives in the last layer; the mistake of taking the mean over padding
    too; and the vector of the last token, the one that has seen all others in a decoder such as Qwen. MAXSIM keeps a
    vector a token, for :func:`helpers.index.maxsim`.
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
    """The identity of a model, and how it reads texts; None where a fact is not known.

    Attributes:
        name: hub id, or the folder's last part.
        sha256: digest over the names and contents of every file the model is made of.
        weights_sha256: digest of the weights alone, to compare with what the hub shows.
        pooling: how token vectors become one vector, such as ``cls`` or ``mean``.
        query_instruction: text put before each query, empty if none.
        passage_instruction: text put before each passage, empty for most models.
        max_length: longest input in tokens; the rest of a text is truncated.
        dim: to how many dimensions vectors are truncated before they are scaled to length one; None for all.
        files: SHA-256 of each file by its name, of embeddings that were computed elsewhere.
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
