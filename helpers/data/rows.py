"""Collections of rows as in ``namespace-Pt/msmarco``: a query, its positives, perhaps negatives or a grade."""

from collections.abc import Mapping, Sequence

from helpers.data.columns import Cell, Table
from helpers.data.dataset import RetrievalDataset, is_blank, text_fault
from helpers.data.gaps import Gaps
from helpers.data.trec import read_grade

Grades = dict[str, int]  # of passages, by their texts
Pair = tuple[Cell, int]  # a passage and its grade


def from_rows(
    table: Table, corpus: Sequence[str] | None, columns: Mapping[str, str], name: str, gaps: Gaps
) -> RetrievalDataset:
    """Build a collection from a table of queries, their positives and perhaps their negatives or grades.

    A cell holds one text or a list; the column ``grade`` holds the grades of the row's positives, one number or a
    list as long. Where no cell holds a list, the rows of equal queries are one query. A query whose positives are
    blank has no answer. ``corpus`` are the passages to search; by default all that are judged, in order of appearance.

    Raises:
        ValueError: no such column, a blank query or passage (unless it may be), a cell that is no text or grade, a
            passage with two grades.
    """
    names = {role: columns.get(role, role) for role in ("query", "positive", "negative", "grade")}
    required = ["query", "positive", *(role for role in ("negative", "grade") if role in columns)]
    if missing := sorted(repr(names[role]) for role in required if names[role] not in table.columns):
        raise ValueError(
            f"{name!r}: no column {' and no column '.join(missing)}; it has {table.listed}. "
            'Say which column is which (columns="query=…, positive=…"), or choose another split or configuration.'
        )
    cells = {role: table.columns[column] for role, column in names.items() if column in table.columns}
    blank = {row for row, query in enumerate(cells["query"]) if is_blank(query)}
    gaps.blank(name, "query", [f"row {row}" for row in sorted(blank)], table.rows)
    kept = [row for row in range(table.rows) if row not in blank]
    positives = {row: _graded(cells, row, name) for row in kept}
    negative = cells.get("negative", [None] * table.rows)
    negatives: dict[int, list[Pair]] = {row: [(text, 0) for text in _as_list(negative[row])] for row in kept}
    passages = [(row, text) for row in kept for text, _ in (*positives[row], *negatives[row])]
    gaps.blank(name, "passage", [f"row {row}" for row, text in passages if is_blank(text)], len(passages))
    one_text_a_cell = not any(isinstance(cell, list) for cell in cells["positive"])
    rows_of: dict[object, list[int]] = {}
    for row in kept:
        query = _text(cells["query"][row], name, "query", row)
        rows_of.setdefault(query if one_text_a_cell else row, []).append(row)
    judged = [
        _judged([(row, *pair) for pairs in (positives, negatives) for row in rows for pair in pairs[row]], name)
        for rows in rows_of.values()
    ]
    queries = [str(cells["query"][rows[0]]) for rows in rows_of.values()]
    return _collection(name, queries, judged, corpus, gaps)


def corpus_texts(texts: Sequence[Cell], where: str, gaps: Gaps) -> list[str]:
    """Take the passages of a table without ids that is searched whole.

    Raises:
        ValueError: a text is blank (unless it may be), or not a string.
    """
    blank = [f"row {row}" for row, text in enumerate(texts) if is_blank(text)]
    gaps.blank(where, "passage", blank, len(texts))
    return [_text(text, where, "passage", row) for row, text in enumerate(texts) if not is_blank(text)]


def _graded(cells: Mapping[str, Sequence[Cell]], row: int, name: str) -> list[Pair]:
    """Return the positives of a row, graded 1 or as it says."""
    texts = _as_list(cells["positive"][row])
    if "grade" not in cells:
        return [(text, 1) for text in texts]
    cell = cells["grade"][row]
    grades = cell if isinstance(cell, list) else [cell] * len(texts)
    if len(grades) != len(texts):
        raise ValueError(f"{name!r}, row {row}: {len(grades)} grades for {len(texts)} passages; they must match.")
    return [(text, read_grade(f"{name!r}, row {row}", str(grade))) for text, grade in zip(texts, grades, strict=True)]


def _judged(pairs: Sequence[tuple[int, Cell, int]], name: str) -> Grades:
    """Put the passages of a query, each with its row and grade, together; blank ones have been counted."""
    grades: Grades = {}
    for row, cell, grade in pairs:
        if is_blank(cell):
            continue
        text = _text(cell, name, "passage of row", row)
        if grades.setdefault(text, grade) != grade:
            raise ValueError(
                f"{name!r}, row {row}: the query judges one passage twice, with the grades {grades[text]} and {grade}: "
                f"{text[:60]!r}. Keep one of them."
            )
    return grades


def _as_list(cell: Cell) -> list[Cell]:
    """Take a cell as a list of texts; a blank cell holds none."""
    if isinstance(cell, list):
        return cell
    return [] if is_blank(cell) else [cell]


def _text(cell: Cell, where: str, role: str, row: int) -> str:
    if fault := text_fault(cell):
        raise ValueError(f"{where!r}: {role} {row} {fault}")
    return str(cell)


def _collection(
    name: str, queries: list[str], judged: list[Grades], corpus: Sequence[str] | None, gaps: Gaps
) -> RetrievalDataset:
    """Build a collection whose passages have no ids but their texts; a row is its id."""
    texts = [text for grades in judged for text in grades] if corpus is None else corpus
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    size = len(rows)
    absent = [(query, text) for query, grades in enumerate(judged) for text in grades if text not in rows]
    relevant = [(query, text) for query, text in absent if judged[query][text] > 0]
    if relevant and gaps.on_missing != "keep":
        message = (
            f"{name!r}: {len(relevant)} relevant passages are not in the corpus, the first of query {relevant[0][0]}. "
            "Search a corpus that holds them."
        )
        gaps.missing([text[:60] for _, text in relevant], "passage", message)
        gaps.counts["judgements"] = len(relevant)
        absent = [(query, text) for query, text in absent if judged[query][text] <= 0]
    for _, text in absent:
        rows.setdefault(text, len(rows))
    return RetrievalDataset(
        name=name,
        queries=queries,
        corpus=list(rows)[:size],
        qrels=[{rows[text]: grade for text, grade in grades.items() if text in rows} for grades in judged],
        query_ids=[str(row) for row in range(len(queries))],
        corpus_ids=[str(row) for row in range(size)],
        ids_without_text=[str(row) for row in range(size, len(rows))],
        merged=0 if corpus is None else len(texts) - size,
        skipped=dict(+gaps.counts),
    )
