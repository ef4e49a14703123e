"""Which split of a data set to take."""

from collections.abc import Sequence

DEV = ("dev", "validation", "val", "valid")  # the names of one thing
DEFAULT = "dev"


def choose_split(splits: Sequence[str], wanted: str, *, or_only: bool | None = None) -> str | None:
    """Name the split to take: the one wanted, under any of its names, else perhaps the only one; None if neither.

    Args:
        splits: what there is.
        wanted: the name given.
        or_only: whether the only split may stand for it; by default where the name given is the default's, ``dev``.
    """
    names = (wanted, *DEV) if wanted in DEV else (wanted,)
    found = next((name for name in names if name in splits), None)
    if found is None and len(splits) == 1 and (wanted == DEFAULT if or_only is None else or_only):
        return splits[0]
    return found
