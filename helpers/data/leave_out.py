"""What a reader lets a collection leave out, by name of the option, and how much that was."""

from collections import Counter
from collections.abc import Collection, Sequence

from helpers._printable import printable

PLURAL = {"query": "queries", "passage": "passages"}


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    """Raise unless an option has one of its values."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: expected {' or '.join(map(repr, choices))}.")


def first_of(names: Sequence[str]) -> str:
    """Name the first three of many ids."""
    return f"The first: {', '.join(printable(repr(name)) for name in names[:3])}."


class LeftOut:
    """The options ``on_blank`` and ``on_missing``, and the counts of what they left out, by kind.

    Attributes:
        counts: see ``RetrievalDataset.skipped``.
    """

    def __init__(self, on_blank: str = "raise", on_missing: str = "raise") -> None:
        """Take the options, each ``"raise"`` or ``"skip"``; what is missing may be ``"keep"`` too."""
        check_choice("on_blank", on_blank, ("raise", "skip"))
        check_choice("on_missing", on_missing, ("raise", "skip", "keep"))
        self._skip_blank, self._skip_missing = on_blank == "skip", on_missing == "skip"
        self.keep_missing = on_missing == "keep"  # judgements of passages without a text
        self.counts: Counter[str] = Counter()

    def count(self, kind: str, number: int) -> None:
        """Add to what was left out; nothing is no kind."""
        if number:
            self.counts[kind] += number

    def blank(self, where: str, role: str, names: Sequence[str], total: int) -> None:
        """Count queries or passages (``role``) without a text, or raise; ``names`` are their ids, or say which row."""
        if names and not self._skip_blank:
            raise ValueError(
                f"{printable(where)}: {len(names)} of {total} {PLURAL[role]} are blank. {first_of(names)} "
                'Fill them in, or leave them out: on_blank="skip".'
            )
        self.count(f"blank_{PLURAL[role]}", len(names))

    def missing(self, names: Sequence[str], role: str, message: str) -> None:
        """Count ids that are judged and have no text, or raise the message; ``names`` are the ids."""
        if names and not self._skip_missing:
            keep = ', to count them as relevant all the same: on_missing="keep"' if role == "passage" else ""
            raise ValueError(f'{message} {first_of(names)} To leave out what judges them: on_missing="skip"{keep}.')
        self.count(f"missing_{PLURAL[role]}", len(names))
