"""Collections of rows as in ``namespace-Pt/msmarco``: a query, its positives, perhaps negatives or a grade."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.data.by_id import Options, Texts, collect
from helpers.data.dataset import RetrievalDataset, is_blank, text_fault
from helpers.data.formats import Cell, Table, texts_of
from helpers.data.trec import add_grade, read_grade

Judgement = tuple[int, Cell, int]  # the row it is in, the passage, its grade


def from_rows(name: str, table: Table, corpus: Table | None, options: Options) -> RetrievalDataset:
    """Build a collection from a table of queries, their positives and perhaps their negatives or grades.

    A cell holds one text or a list; the column ``grade`` holds the grades of the row's positives, one number or a
    list as long. Where no cell holds a list, the rows of equal queries are one query. A query whose positives are
    blank has no answer. ``corpus`` holds the passages to search; by default they are all that are judged, in order of
    appearance. A passage is its own id until all are put together, and then has its row.

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
    passages: list[str] = []
    titled = 0
    if corpus is not None:
        texts, titled = texts_of(corpus, "passage", options.columns)
        blank = [f"row {row}" for row, text in enumerate(texts) if is_blank(text)]
        options.skip_blank(corpus.source, "passage", blank, len(texts))
        passages = [_text(text, corpus.source, "passage", row) for row, text in enumerate(texts) if not is_blank(text)]
    cells = {role: table.columns[column] for role, column in columns.items() if column in table.columns}
    blank = [f"row {row}" for row, query in enumerate(cells["query"]) if is_blank(query)]
    options.skip_blank(table.source, "query", blank, len(cells["query"]))
    one_text_a_cell = not any(isinstance(cell, list) for cell in cells["positive"])
    negative = cells.get("negative", [None] * len(cells["query"]))
    rows: dict[object, tuple[str, list[Judgement], list[Judgement]]] = {}  # query, positives, negatives
    for row, cell in enumerate(cells["query"]):
        if not is_blank(cell):
            query = _text(cell, table.source, "query", row)
            _, positives, negatives = rows.setdefault(query if one_text_a_cell else row, (query, [], []))
            positives += _positives(cells, row, table.source)
            negatives += [(row, text, 0) for text in _as_list(negative[row])]
    judged = {str(number): positives + negatives for number, (_, positives, negatives) in enumerate(rows.values())}
    blank = [f"row {row}" for some in judged.values() for row, text, _ in some if is_blank(text)]
    options.skip_blank(table.source, "passage", blank, sum(map(len, judged.values())))
    qrels: dict[str, dict[str, int]] = {number: {} for number in judged}
    for number, some in judged.items():
        for row, text, grade in some:
            if not is_blank(text):
                text = _text(text, table.source, "passage of row", row)
                add_grade(qrels, number, text, grade, f"{table.source!r}, row {row}")
    if corpus is None:
        passages = [text for grades in qrels.values() for text in grades]
    queries = Texts({number: query for number, (query, _, _) in zip(judged, rows.values(), strict=True)}, table.source)
    by_text = Texts({text: text for text in passages}, corpus.source if corpus else table.source, titled)
    data = collect(name, queries, by_text, qrels, table.source, options)
    ids = [str(row) for row in range(len(data.doc_ids))]
    size = len(data.corpus)
    merged = len(passages) - size if corpus else 0
    return replace(data, corpus_ids=ids[:size], ids_without_text=ids[size:], merged=merged)


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


def _as_list(cell: Cell) -> list[Cell]:
    if isinstance(cell, list):
        return cell
    return [] if is_blank(cell) else [cell]


def _text(cell: Cell, source: str, role: str, row: int) -> str:
    if fault := text_fault(cell):
        raise ValueError(f"{source!r}: {role} {row} {fault}")
    return str(cell)
