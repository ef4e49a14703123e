"""Which column of a table holds what: given by the reader, or found by the usual names."""

from collections.abc import Mapping
from typing import Any

from helpers._printable import printable
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
Table = Any  # a table of datasets: column_names, a length, and the cells of a column by its name


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
    unknown = set(columns or {}) - set(NAMES)
    if unknown:
        raise ValueError(f"columns names {', '.join(sorted(unknown))}; it may name {', '.join(NAMES)}.")
    return dict(columns or {})


def column_list(table: Table) -> str:
    """List the columns of a table for a message."""
    return printable(", ".join(table.column_names))


def find_column(table: Table, role: str, columns: Mapping[str, str], where: str) -> str:
    """Name the column of a table that holds ``role``: the one that ``columns`` gives, else a usual name.

    Raises:
        ValueError: there is none, or not the one given; the message lists what the table has.
    """
    name = _column(table, role, columns)
    if name is None:
        wanted = f"no column {columns[role]!r}" if role in columns else f"no column {' or '.join(NAMES[role])}"
        raise ValueError(
            f"{printable(where)}: {wanted}; it has {column_list(table)}. "
            f'Name the column that holds the {role}: columns="{role}=…".'
        )
    return name


def cells(table: Table, name: str) -> list[Any]:
    """Return the cells of a column, read at once: one by one ``datasets`` takes fifty times as long."""
    if type(table.features[name]).__name__ == "Json":
        return list(table[name])
    values: list[Any] = table.data.column(name).to_pylist()
    return values


def texts_of(table: Table, role: str, columns: Mapping[str, str], where: str) -> list[str]:
    """Take the texts of a table of queries or passages; a passage's title goes on a line before its text."""
    texts = cells(table, find_column(table, role, columns, where))
    if role != "passage" or (_column(table, "title", columns) is None and "title" not in columns):
        return texts
    titles = cells(table, find_column(table, "title", columns, where))
    return [_join(title, text) for title, text in zip(titles, texts, strict=True)]


def count_titles(table: Table, columns: Mapping[str, str]) -> int:
    """Count the rows of a table of passages whose title is joined to a text."""
    name, text = _column(table, "title", columns), _column(table, "passage", columns)
    if name is None or name not in table.column_names or text is None:
        return 0
    pairs = zip(cells(table, name), cells(table, text), strict=True)
    return sum(not is_blank(title) and not is_blank(text) for title, text in pairs)


def _join(title: object, text: object) -> Any:
    """Put a title on a line before a text; where either is blank, or the text is none, the other stands alone."""
    if is_blank(title):
        return text
    return title if is_blank(text) else f"{title}\n{text}" if isinstance(text, str) else text


def _column(table: Table, role: str, columns: Mapping[str, str]) -> str | None:
    """Name the column that holds ``role``, None if there is none."""
    names = [columns[role]] if role in columns else NAMES[role]
    return next((name for name in names if name in table.column_names), None)
