"""Make a collection of rows as in ``namespace-Pt/msmarco``: a query, its positives, perhaps negatives or a grade."""

from collections.abc import Mapping, Sequence

from helpers.data.build import Cell, as_list, from_texts, judge
from helpers.data.columns import Table, cells, column_list
from helpers.data.dataset import RetrievalDataset, is_blank, text_fault
from helpers.data.leave_out import LeftOut
from helpers.data.trec import read_grade

Pair = tuple[str, int]


def from_rows(
    rows: Table, corpus_texts: Sequence[str] | None, columns: Mapping[str, str], name: str, left_out: LeftOut
) -> RetrievalDataset:
    """Build a collection from a table of queries, their positives and perhaps their negatives or grades.

    A cell holds one text or a list; with the column ``grade`` it says what the positives of the row are graded, one
    number or a list as long. Where no cell holds a list, the rows of equal queries are one query. A query whose
    positives are blank has no answer.

    Raises:
        ValueError: no such column, a blank query or passage (unless it may be), a text or grade that is none, a
            passage with two grades.
    """
    names = {role: columns.get(role, role) for role in ("query", "positive", "negative", "grade")}
    required = ["query", "positive", *(role for role in ("negative", "grade") if role in columns)]
    missing = sorted(names[role] for role in required if names[role] not in rows.column_names)
    if missing:
        raise ValueError(
            f"{name}: no column {' and no column '.join(missing)}; it has {column_list(rows)}. "
            'Say which column is which (columns="query=…, positive=…"), or choose another split or configuration.'
        )
    found = {role: cells(rows, names[role]) for role in names if names[role] in rows.column_names}
    kept = _asked(found["query"], name, left_out)
    pairs = _pairs(found, kept, name, left_out)
    by_query: dict[object, tuple[str, list[Pair], list[Pair]]] = {}
    one_text_a_cell = not any(isinstance(cell, list) for cell in found["positive"])
    for row in kept:
        key = found["query"][row] if one_text_a_cell else row
        joined = by_query.setdefault(key, (found["query"][row], [], []))
        joined[1].extend(pairs[row][0])
        joined[2].extend(pairs[row][1])
    judged = [judge(name, row, [*good, *bad]) for row, (_, good, bad) in enumerate(by_query.values())]
    return from_texts(name, [query for query, _, _ in by_query.values()], judged, corpus_texts, left_out)


def corpus_texts(texts: Sequence[str], where: str, left_out: LeftOut) -> list[str]:
    """Take the passages of a table without ids that is searched whole.

    Raises:
        ValueError: a text is blank (unless it may be), or none.
    """
    blank = [f"row {row}" for row, text in enumerate(texts) if is_blank(text)]
    left_out.blank(where, "passage", blank, len(texts))
    return [_checked(text, where, "passage", row) for row, text in enumerate(texts) if not is_blank(text)]


def _asked(queries: Sequence[str], name: str, left_out: LeftOut) -> list[int]:
    """Return the rows whose query has a text."""
    blank = [f"row {row}" for row, query in enumerate(queries) if is_blank(query)]
    left_out.blank(name, "query", blank, len(queries))
    return [row for row, query in enumerate(queries) if not is_blank(query) and _checked(query, name, "query", row)]


def _pairs(
    columns: Mapping[str, Sequence[Cell]], kept: Sequence[int], name: str, left_out: LeftOut
) -> dict[int, tuple[list[Pair], list[Pair]]]:
    """Return what each row judges, by its positives and by its negatives.

    A blank cell judges nothing; a blank text in a list is refused, or counted.
    """
    found = {row: (_graded(columns, row, name), _negatives(columns, row)) for row in kept}
    texts = [(row, text) for row, both in found.items() for pairs in both for text, _ in pairs]
    left_out.blank(name, "passage", [f"row {row}" for row, text in texts if is_blank(text)], len(texts))
    for place, (_, text) in enumerate(texts):
        if not is_blank(text):
            _checked(text, name, "passage", place)
    return {
        row: ([pair for pair in good if not is_blank(pair[0])], [pair for pair in bad if not is_blank(pair[0])])
        for row, (good, bad) in found.items()
    }


def _graded(columns: Mapping[str, Sequence[Cell]], row: int, name: str) -> list[Pair]:
    """Return the positives of a row and their grades."""
    texts = _texts(columns["positive"][row])
    if "grade" not in columns:
        return [(text, 1) for text in texts]
    cell = columns["grade"][row]
    grades = cell if isinstance(cell, list) else [cell] * len(texts)
    if len(grades) != len(texts):
        raise ValueError(f"{name}, row {row}: {len(grades)} grades for {len(texts)} passages; they must match.")
    return [(text, read_grade(f"{name}, row {row}", str(grade))) for text, grade in zip(texts, grades, strict=True)]


def _negatives(columns: Mapping[str, Sequence[Cell]], row: int) -> list[Pair]:
    """Return the negatives of a row, graded 0."""
    return [(text, 0) for text in _texts(columns["negative"][row])] if "negative" in columns else []


def _texts(cell: Cell) -> list[str]:
    """Take a cell as a list of texts; a blank cell holds none."""
    return as_list(cell) if isinstance(cell, list) or not is_blank(cell) else []


def _checked(text: str, where: str, role: str, row: int) -> str:
    """Return a text, or raise where it cannot stand as one."""
    if fault := text_fault(text):
        raise ValueError(f"{where}: {role} {row} {fault}")
    return text
