"""A table, which of its columns holds what, and which split to take: as the caller says, or by the usual names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from helpers.data.dataset import is_blank

NAMES = {  # what a column holds: the names under which it is looked for
    "query": ("query", "text", "question"),
    "query_id": ("_id", "id", "query_id", "query-id", "qid"),
    "passage": ("text", "content", "passage", "contents"),
    "passage_id": ("_id", "id", "passage_id", "docid", "doc_id", "corpus_id", "corpus-id", "pid"),
    "title": ("title",),
    "positive": ("positive",),
    "negative": ("negative",),
    "grade": ("grade", "score", "relevance", "label"),
}
DEFAULT_SPLIT = "dev"
DEV = ("dev", "validation", "val", "valid")  # the names of one split
Cell = object  # of any type: a text, a number, a list, None


@dataclass(frozen=True)
class Table:
    """Columns of equal length by their names, and the split that they are, "" for a file alone."""

    columns: Mapping[str, list[Cell]]
    split: str = ""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), []))

    @property
    def listed(self) -> str:
        """The names of the columns, for a message."""
        return ", ".join(map(repr, self.columns))


def parse_columns(columns: Mapping[str, str] | str | None) -> dict[str, str]:
    """Read which column holds what: a mapping, or text such as ``"query=question, positive=answer"``.

    Raises:
        ValueError: something other than the keys of ``NAMES`` is named, or the text has another form.
    """
    if isinstance(columns, str):
        pairs = [part.split("=") for part in columns.split(",") if part.strip()]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"columns={columns!r}: expected role=column, separated by commas.")
        columns = {role.strip(): name.strip() for role, name in pairs}
    if unknown := set(columns or {}) - set(NAMES):
        raise ValueError(f"columns names {', '.join(sorted(unknown))}; it may name {', '.join(NAMES)}.")
    return dict(columns or {})


def column_of(table: Table, role: str, columns: Mapping[str, str], where: str) -> list[Cell]:
    """Return the column that holds ``role``: the one that ``columns`` names, else one of a usual name.

    Raises:
        ValueError: there is none, or not the one named; the message lists what the table has.
    """
    names = (columns[role],) if role in columns else NAMES[role]
    for name in names:
        if name in table.columns:
            return table.columns[name]
    wanted = " or ".join(map(repr, names))
    raise ValueError(
        f"{where!r}: no column {wanted}; it has {table.listed}. Name the column that holds the {role}: "
        f'columns="{role}=…".'
    )


def texts_of(table: Table, role: str, columns: Mapping[str, str], where: str) -> tuple[list[Cell], int]:
    """Take the texts of a table of queries or passages (``role``); a passage's title goes on a line before its text.

    Returns:
        The cells, one for each row, and how many of them begin with a title.
    """
    texts = column_of(table, role, columns, where)
    if role != "passage" or ("title" not in columns and "title" not in table.columns):
        return texts, 0
    titles, joined, titled = column_of(table, "title", columns, where), list(texts), 0
    for row, (title, text) in enumerate(zip(titles, texts, strict=True)):
        if is_blank(text) and not is_blank(title):
            joined[row] = title
        elif isinstance(text, str) and not is_blank(title):
            joined[row], titled = f"{title}\n{text}", titled + 1
    return joined, titled


def choose_split(splits: Sequence[str], wanted: str | None, *, or_only: bool | None = None) -> str | None:
    """Name the split to take: the one wanted, under any of its names, else perhaps the only one; None if neither.

    Args:
        splits: what there is.
        wanted: the name, None for the first.
        or_only: whether the only split may take its place; by default where the name is the default, ``dev``.
    """
    if wanted is None:
        return splits[0]
    for name in (wanted, *DEV) if wanted in DEV else (wanted,):
        if name in splits:
            return name
    only = wanted == DEFAULT_SPLIT if or_only is None else or_only
    return splits[0] if only and len(splits) == 1 else None
