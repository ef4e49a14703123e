"""What becomes of blank texts, and of judgements without a text: the options, and the counts of what was left out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

PLURAL = {"query": "queries", "passage": "passages"}


def first_of(names: Sequence[str]) -> str:
    """Name the first three of many ids."""
    return f"The first: {', '.join(map(repr, names[:3]))}."


@dataclass(frozen=True)
class Gaps:
    """The options of ``load_dataset``, and how many of each kind they left out.

    Attributes:
        on_blank: "raise" or "skip".
        on_missing: "raise", "skip" or "keep".
        counts: see ``RetrievalDataset.skipped``; ``+counts`` has no zeros.
    """

    on_blank: str = "raise"
    on_missing: str = "raise"
    counts: Counter[str] = field(default_factory=Counter)

    def blank(self, where: str, role: str, names: Sequence[str], total: int) -> None:
        """Count queries or passages (``role``) without a text, or raise; ``names`` are their ids or rows."""
        if names and self.on_blank == "raise":
            raise ValueError(
                f"{where!r}: {len(names)} of {total} {PLURAL[role]} are blank. {first_of(names)} "
                'Fill them in, or leave them out: on_blank="skip".'
            )
        self.counts[f"blank_{PLURAL[role]}"] += len(names)

    def missing(self, names: Sequence[str], role: str, message: str) -> None:
        """Count ids that are judged and have no text, or raise the message; ``names`` are the ids."""
        if names and self.on_missing != "skip":
            keep = ', to count them as relevant all the same: on_missing="keep"' if role == "passage" else ""
            raise ValueError(f'{message} {first_of(names)} To leave out what judges them: on_missing="skip"{keep}.')
        self.counts[f"missing_{PLURAL[role]}"] += len(names)
