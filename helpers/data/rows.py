"""Collections of rows as in ``namespace-Pt/msmarco``: a query, its positives, perhaps negatives or a grade."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.data.by_id import Options
from helpers.data.dataset import RetrievalDataset, from_ids, is_blank, text_fault
from helpers.data.formats import Cell, Table, texts_of
from helpers.data.trec import read_grade

Judgement = tuple[int, Cell, int]  # the row it is in, the passage, its grade


def from_rows(name: str, table: Table, corpus: Table | None, options: Options) -> RetrievalDataset:
    """Build a collection from a table of queries, their positives and perhaps their negatives or grades.

    A cell holds one text or a list; the column ``grade`` holds the grades of the row's positives, one number or a
    list as long. Where no cell holds a list, the rows of equal queries are one query. A query whose positives are
    blank has no answer. ``corpus`` holds the passages to search; by default they are all that are judged, in order of
    appearance.

    Raises:
        ValueError: no such column, a blank query or passage (unless it may be), a cell that is no text or grade, a
            passage with two grades, a relevant one that is not in the corpus (unless it may be missing).
    """
    columns = {role: options.columns.get(role, role) for role in ("query", "positive", "negative", "grade")}
    required = ["query", "positive", *(role for role in ("negative", "grade") if role in options.columns)]
    if missing := sorted(repr(columns[role]) for role in required if columns[role] not in table.columns):
        raise ValueError(
            f"{table.source!r}: no column {' and no column '.join(missing)}; it has {table.listed}. "
            'Say which column is which (columns="query=…, positive=…"), or choose another split or configuration.'
        )
    if corpus is not None:
        texts, titled = texts_of(corpus, "passage", options.columns)
        if blank := [f"row {row}" for row, text in enumerate(texts) if is_blank(text)]:
            options.skip_blank(corpus.source, "passage", blank, len(texts))
        passages = [_text(text, corpus.source, "passage", row) for row, text in enumerate(texts) if not is_blank(text)]
    cells = {role: table.columns[column] for role, column in columns.items() if column in table.columns}
    if blank := [f"row {row}" for row, query in enumerate(cells["query"]) if is_blank(query)]:
        options.skip_blank(table.source, "query", blank, table.rows)
    one_text_a_cell = not any(isinstance(cell, list) for cell in cells["positive"])
    negative = cells.get("negative", [None] * table.rows)
    judgements: dict[object, tuple[list[Judgement], list[Judgement]]] = {}  # positive and negative, by query
    queries: list[str] = []
    for row, cell in enumerate(cells["query"]):
        if not is_blank(cell):
            query = _text(cell, table.source, "query", row)
            key = query if one_text_a_cell else row
            if key not in judgements:
                queries.append(query)
            positives, negatives = judgements.setdefault(key, ([], []))
            positives += _positives(cells, row, table.source)
            negatives += [(row, text, 0) for text in _as_list(negative[row])]
    judged = [positives + negatives for positives, negatives in judgements.values()]
    if blank := [f"row {row}" for some in judged for row, text, _ in some if is_blank(text)]:
        options.skip_blank(table.source, "passage", blank, sum(map(len, judged)))
    grades = [_grades(some, table.source) for some in judged]
    if corpus is None:
        return _collection(name, queries, grades, [text for some in grades for text in some], options)
    data = _collection(name, queries, grades, passages, options)
    return replace(data, merged=len(passages) - len(data.corpus), titled=titled)


def _positives(cells: Mapping[str, Sequence[Cell]], row: int, source: str) -> list[Judgement]:
    texts = _as_list(cells["positive"][row])
    if "grade" not in cells:
        return [(row, text, 1) for text in texts]
    cell = cells["grade"][row]
    grades = cell if isinstance(cell, list) else [cell] * len(texts)
    if len(grades) != len(texts):
        raise ValueError(f"{source!r}, row {row}: {len(grades)} grades for {len(texts)} passages; they must match.")
    place = f"{source!r}, row {row}"
    return [(row, text, read_grade(place, str(grade))) for text, grade in zip(texts, grades, strict=True)]


def _grades(judgements: Sequence[Judgement], source: str) -> dict[str, int]:
    """Return the grades of a query's passages by their texts; blank ones have been counted."""
    grades: dict[str, int] = {}
    for row, cell, grade in judgements:
        if is_blank(cell):
            continue
        text = _text(cell, source, "passage of row", row)
        if grades.setdefault(text, grade) != grade:
            raise ValueError(
                f"{source!r}, row {row}: the query judges one passage twice, with the grades {grades[text]} and "
                f"{grade}: {text[:60]!r}. Keep one of them."
            )
    return grades


def _as_list(cell: Cell) -> list[Cell]:
    if isinstance(cell, list):
        return cell
    return [] if is_blank(cell) else [cell]


def _text(cell: Cell, source: str, role: str, row: int) -> str:
    if fault := text_fault(cell):
        raise ValueError(f"{source!r}: {role} {row} {fault}")
    return str(cell)


def _collection(
    name: str, queries: list[str], judged: list[dict[str, int]], texts: Sequence[str], options: Options
) -> RetrievalDataset:
    """Build a collection whose passages have no ids but their rows."""
    ids = {text: str(row) for row, text in enumerate(dict.fromkeys(texts))}
    corpus = {row: text for text, row in ids.items()}
    absent = [(query, text) for query, grades in enumerate(judged) for text in grades if text not in ids]
    relevant = [(query, text) for query, text in absent if judged[query][text] > 0]
    if relevant and options.on_missing != "keep":
        message = (
            f"{name!r}: {len(relevant)} relevant passages are not in the corpus, the first of query {relevant[0][0]}. "
            "Search a corpus that holds them."
        )
        options.skip_missing("passage", [text[:60] for _, text in relevant], message)
        options.skipped["judgements"] = len(relevant)
        absent = [(query, text) for query, text in absent if judged[query][text] <= 0]
    for _, text in absent:
        ids.setdefault(text, str(len(ids)))
    qrels = {
        str(row): {ids[text]: grade for text, grade in grades.items() if text in ids}
        for row, grades in enumerate(judged)
    }
    data = from_ids(name, {str(row): query for row, query in enumerate(queries)}, corpus, qrels)
    return replace(data, skipped=dict(+options.skipped))
