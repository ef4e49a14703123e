"""Build a collection from three tables by id: queries, corpus and judgements. Rows of texts become such tables too."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from helpers._fields import Fields
from helpers._io import UTF8, other_form
from helpers.data.dataset import RetrievalDataset, from_ids, is_blank, text_fault
from helpers.data.formats import NAMES, Cell, Table, column_of, find_name, parse_columns, read_table, texts_of
from helpers.data.trec import add_grade, read_grade, read_judgements

ROWS = {  # role of a column in a table of rows: its usual names
    "query": tuple(name for name in NAMES["query"] if name != "text"),
    "positive": NAMES["positive"],
    "negative": NAMES["negative"],
    "grade": ("grade",),
}
OBJECTS = ("queries", "corpus", "relevant_docs")  # of LlamaIndex
PLURAL = {"query": "queries", "passage": "passages"}
MISSING = ("raise", "skip", "keep")
EQUAL = ("merge", "keep")


@dataclass(frozen=True)
class Reading:
    """How tables are read and joined, and what was skipped, see :func:`helpers.data.load_dataset`."""

    columns: Mapping[str, str] = field(default_factory=dict)  # names of columns by role, for unusual ones
    on_missing: str = "raise"
    equal: str = "merge"
    encoding: str = UTF8
    skipped: Counter[str] = field(default_factory=Counter)  # see ``RetrievalDataset.skipped``
    tables: list[Table] = field(default_factory=list)  # those that were read

    def __post_init__(self) -> None:
        """Read the names of columns, and raise ValueError for an unknown choice."""
        object.__setattr__(self, "columns", parse_columns(self.columns or {}))
        for option, known in (("on_missing", MISSING), ("equal", EQUAL)):
            if (value := getattr(self, option)) not in known:
                raise ValueError(f"{option}={value!r}: expected {' or '.join(map(repr, known))}.")

    def read(self, path: Path) -> Table:
        """Read a table, and remember it."""
        self.tables.append(read_table(path, self.columns.values(), self.encoding))
        return self.tables[-1]

    def unused(self) -> dict[str, list[str]]:
        """Return the columns that nobody looked up, by the name of their table."""
        return {table.source: names for table in self.tables if (names := table.columns.unread)}

    def skip_blank(self, source: str, role: str, texts: Sequence[tuple[object, Cell]]) -> None:
        """Count blank queries or passages (``role``), each behind its id or row, or raise ValueError."""
        names = [name if isinstance(name, str) else f"row {name}" for name, text in texts if is_blank(text)]
        if names and self.on_missing == "raise":
            raise ValueError(
                f"{source!r}: {len(names)} of {len(texts)} {PLURAL[role]} are blank. {_first(names)} "
                'Fill them in, or leave them out: on_missing="skip".'
            )
        self.skipped[f"blank_{PLURAL[role]}"] += len(names)


class Texts(NamedTuple):
    """Texts by id, "" for a blank one; the name of their table; the number of texts with a title."""

    by_id: dict[str, str]
    source: str
    titled: int = 0


class Tables(NamedTuple):
    """The three tables of a collection; ``judged_by`` names the judgements in messages."""

    queries: Texts
    corpus: Texts
    qrels: Mapping[str, Mapping[str, int]]
    judged_by: str
    split: str = ""
    merged: int = 0
    numbered: bool = False  # the ids are numbers of queries and texts of passages


def texts_by_id(table: Table, role: str, reading: Reading) -> Texts:
    """Return the texts of a table of queries or passages (``role``), each under an id of its own."""
    cells = column_of(table, f"{role}_id", reading.columns)
    if nameless := [row for row, cell in enumerate(cells) if is_blank(cell)]:
        raise ValueError(f"{table.source!r}: {len(nameless)} {role} rows have no id, the first is row {nameless[0]}.")
    texts, titled = texts_of(table, role, reading.columns)
    by_id: dict[str, str] = {}
    for name, text in zip(map(str, cells), texts, strict=True):
        has_text = not is_blank(text)
        if has_text and (fault := text_fault(text)):
            raise ValueError(f"{table.source!r}: {role} {name!r} {fault}")
        by_id[name] = str(text) if has_text else ""
    if len(by_id) < len(cells):
        repeated = [name for name, count in Counter(map(str, cells)).items() if count > 1]
        raise ValueError(f"{table.source!r}: {len(repeated)} id(s) occur twice. {_first(repeated)}")
    reading.skip_blank(table.source, role, [*by_id.items()])
    return Texts(by_id, table.source, titled)


def build(name: str, tables: Tables, reading: Reading) -> RetrievalDataset:
    """Return the collection of three tables.

    Unjudged queries are left out (BEIR stores the queries of all splits in one file). A document without a text keeps
    its judgement, since a run may retrieve it; if it is relevant, ``on_missing`` applies, since a system that searches
    texts cannot find it.
    """
    queries, corpus, qrels = tables[:3]
    judged = {query: docs for query, docs in qrels.items() if queries.by_id.get(query)}
    needed = [("query", queries, dict.fromkeys(qrels))]
    if reading.on_missing != "keep":
        relevant = dict.fromkeys(doc for docs in judged.values() for doc, grade in docs.items() if grade > 0)
        needed.append(("passage", corpus, relevant))
        judged = {
            query: {doc: grade for doc, grade in docs.items() if grade <= 0 or corpus.by_id.get(doc)}
            for query, docs in judged.items()
        }
    for role, table, ids in needed:
        missing = [id_ for id_ in ids if id_ not in table.by_id]
        if missing and reading.on_missing != "skip":
            examples = _first([id_ for id_, text in table.by_id.items() if text])
            keep = ', to count them as relevant all the same: on_missing="keep"' if role == "passage" else ""
            raise ValueError(
                f"{tables.judged_by!r} judges {len(missing)} of {len(ids)} {PLURAL[role]} that {table.source!r} lacks. "
                f"{_first(missing)} It has others. {examples}{other_form(missing[0], table.by_id)} To leave out what "
                f'judges them: on_missing="skip"{keep}.'
            )
        reading.skipped[f"missing_{PLURAL[role]}"] += len(missing)
    reading.skipped["judgements"] = sum(map(len, qrels.values())) - sum(map(len, judged.values()))
    texts = {query: text for query, text in queries.by_id.items() if query in judged}
    reading.skipped["unjudged_queries"] = sum(map(bool, queries.by_id.values())) - len(texts)
    if not texts:
        raise ValueError(f"{name!r}: no query is left of {len(qrels)} that {tables.judged_by!r} judges.")
    with_text = {passage: text for passage, text in corpus.by_id.items() if text}
    data = from_ids(name, texts, with_text, judged, reading.equal)
    if tables.numbered:
        size, numbers = len(data.corpus), [str(row) for row in range(len(data.doc_ids))]
        data = replace(data, corpus_ids=numbers[:size], ids_without_text=numbers[size:], numbered=True)
        data = replace(data, merged=tables.merged)
    skipped, unused = dict(+reading.skipped), reading.unused()
    return replace(data, skipped=skipped, titled=corpus.titled, split=tables.split, unused=unused)


def from_objects(table: Table, reading: Reading) -> Tables:
    """Return the tables of one object of ``OBJECTS``: texts by id twice, and for each query the ids that answer it."""
    queries, corpus, relevant = (table.columns[key][0] for key in OBJECTS)
    if not all(isinstance(part, dict) for part in (queries, corpus, relevant)):
        raise ValueError(f"{table.source!r}: expected one object of {', '.join(OBJECTS)}, each an object by id.")
    texts = [
        texts_by_id(
            Table(Fields({"_id": list(by_id), "text": list(by_id.values())}), f"{table.source}: {key}"), role, reading
        )
        for key, by_id, role in zip(OBJECTS, (queries, corpus), PLURAL, strict=False)
    ]
    qrels = {query: dict.fromkeys(map(str, passages), 1) for query, passages in relevant.items()}
    return Tables(texts[0], texts[1], qrels, f"{table.source}: relevant_docs")


def from_rows(table: Table, corpus: Table | None, reading: Reading) -> Tables:
    """Return the tables of rows of a query, its positives and optionally its negatives or grades.

    A cell holds one text or a list; the column ``grade`` holds the grades of the row's positives, one number or a list
    of the same length. If no cell is a list, rows with equal queries are one query. ``corpus`` holds the passages to
    search, by default all judged passages in order of appearance. A passage is identified by its text.
    """
    names = _columns_of_rows(table, reading.columns)
    cells = {role: column_of(table, role, names) for role in names}
    titled, passages = 0, list[str]()
    if corpus is not None:
        texts, titled = texts_of(corpus, "passage", reading.columns)
        reading.skip_blank(corpus.source, "passage", [*enumerate(texts)])
        passages = [_text(text, corpus.source, "text", row) for row, text in enumerate(texts) if not is_blank(text)]
    reading.skip_blank(table.source, "query", [*enumerate(cells["query"])])
    has_single_positives = not any(isinstance(cell, list) for cell in cells["positive"])
    negatives = cells.get("negative", [None] * len(cells["query"]))
    judged: dict[object, tuple[str, list[tuple[int, Cell, int]]]] = {}  # its text, and row, passage and grade
    for negative in (False, True):  # the positives of a query before all of its negatives
        for row, cell in enumerate(cells["query"]):
            if not is_blank(cell):
                query = _text(cell, table.source, names["query"], row)
                _, found = judged.setdefault(query if has_single_positives else row, (query, []))
                texts_and_grades = (
                    [(t, 0) for t in _listed(negatives[row])] if negative else _positives(table, cells, row)
                )
                found += [(row, text, grade) for text, grade in texts_and_grades]
    reading.skip_blank(table.source, "passage", [item[:2] for _, found in judged.values() for item in found])
    qrels: dict[str, dict[str, int]] = {str(number): {} for number in range(len(judged))}
    for number, (_, found) in enumerate(judged.values()):
        for row, text, grade in found:
            if not is_blank(text):
                passage = _text(text, table.source, names["positive" if grade else "negative"], row)
                add_grade(qrels, str(number), passage, grade, f"{table.source!r}, row {row}")
    if corpus is None:
        passages = [text for grades in qrels.values() for text in grades]
    queries = Texts({str(number): query for number, (query, _) in enumerate(judged.values())}, table.source)
    by_text = Texts({text: text for text in passages}, corpus.source if corpus else table.source, titled)
    merged = len(passages) - len(by_text.by_id) if corpus else 0
    return Tables(queries, by_text, qrels, table.source, table.split, merged, numbered=True)


def _columns_of_rows(table: Table, columns: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the columns of a table of rows by role: those of ``columns``, else the usual ones."""
    usual = {role: found for role, names in ROWS.items() if (found := find_name(table.columns, names))}
    known = usual | {role: name for role, name in columns.items() if role in ROWS}
    names = {role: known.get(role, role) for role in ("query", "positive", *known)}
    present = {name: find_name(table.columns, [name, name.partition(".")[0]]) for name in names.values()}
    if missing := sorted(repr(name) for name, found in present.items() if found is None):
        raise ValueError(
            f"{table.source!r}: no column {' and no column '.join(missing)}; it has {table.listed}. "
            'Say which column is which (columns="query=…, positive=…"), or choose another split or configuration.'
        )
    return names


def _positives(table: Table, cells: Mapping[str, Sequence[Cell]], row: int) -> list[tuple[Cell, int]]:
    texts, place = _listed(cells["positive"][row]), f"{table.source!r}, row {row}"
    if "grade" not in cells:
        return [(text, 1) for text in texts]
    cell = cells["grade"][row]
    grades = cell if isinstance(cell, list) else [cell] * len(texts)
    if len(grades) != len(texts):
        raise ValueError(f"{place}: {len(grades)} grades for {len(texts)} passages; they must match.")
    return [(text, read_grade(place, str(grade))) for text, grade in zip(texts, grades, strict=True)]


def _listed(cell: Cell) -> list[Cell]:
    if isinstance(cell, list):
        return cell
    return [] if is_blank(cell) else [cell]


def _text(cell: Cell, source: str, column: str, row: int) -> str:
    if fault := text_fault(cell):
        raise ValueError(f"{source!r}: row {row}, column {column!r} {fault}")
    return str(cell)


def _first(names: Sequence[str]) -> str:
    return f"The first: {', '.join(repr(name[:60]) for name in names[:3])}."


def read_files(queries: Path, corpus: Path, qrels: Path, reading: Reading, split: str = "") -> Tables:
    """Read tables of queries and passages, and judgements as a table or in TREC's or BEIR's format."""
    tables = [reading.read(file) for file in (queries, corpus)]
    judged, unused = read_judgements(qrels, reading.columns)
    reading.tables.append(Table(Fields(dict.fromkeys(unused, True)), qrels.name))
    texts, passages = (texts_by_id(table, role, reading) for table, role in zip(tables, PLURAL, strict=True))
    return Tables(texts, passages, judged, qrels.name, split)
