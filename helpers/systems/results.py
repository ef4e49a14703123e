"""What came of one system, and the form of a comparison that can be saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from helpers.data import RetrievalDataset
from helpers.metrics import Evaluation
from helpers.systems.cost import Cost
from helpers.systems.pipeline import Ranking


@dataclass(frozen=True)
class Result:
    """What came of one system.

    Attributes:
        name: what tables call it.
        what: kind, place, options and, of a model, all that is known of it.
        ranking: scores and ids (q, depth); None where it failed.
        doc_ids: the id of each row that ``ranking`` names, beyond those of the corpus the documents of a run alone.
        evaluation: None where it failed.
        growth: the main metric by number of passages, see :func:`helpers.systems.growth.grown`.
        cost: seconds a stage, bytes of the index.
        notes: warnings.
        error: why it failed.
        failure: the kind of failure, see :func:`helpers.systems.failures.kind_of`; "" where there was none.
    """

    name: str
    what: dict[str, Any]
    ranking: Ranking | None = field(default=None, repr=False)
    doc_ids: Sequence[str] = field(default=(), repr=False)
    evaluation: Evaluation | None = field(default=None, repr=False)
    growth: dict[int, float] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    notes: Sequence[str] = ()
    error: str | None = None
    failure: str = ""


class Compared(Protocol):
    """What is saved of a :class:`helpers.systems.Comparison`; its attributes are documented there."""

    @property
    def data(self) -> RetrievalDataset:
        """The collection."""

    @property
    def results(self) -> Mapping[str, Result]:
        """The results by the names of the systems."""

    @property
    def metrics(self) -> Sequence[str]:
        """What was computed."""

    @property
    def main(self) -> str:
        """The metric by which systems are ordered."""

    @property
    def level(self) -> float:
        """That of the intervals."""

    @property
    def scored(self) -> Mapping[str, Evaluation]:
        """The evaluations, the best first."""

    @property
    def intervals(self) -> Mapping[str, Mapping[str, Any]]:
        """The intervals by system and metric."""

    def paired(self) -> Any:
        """The best system against the others, a table."""
