"""Build a collection from three tables by id: queries, corpus and judgements. Rows of texts become such tables too."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from helpers._io import UTF8, Fields, other_form
from helpers.data.dataset import RetrievalDataset, from_ids, is_blank, text_fault
from helpers.data.formats import Cell, Table, column_of, find_name, parse_columns, read_table, texts_of
from helpers.data.trec import BLANKS, add_grade, read_grade, read_judgements

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
    names = [str(cell).strip(BLANKS) for cell in cells]
    by_id = {
        name: "" if is_blank(text) else _text(text, f"{table.source!r}: {role} {name!r}")
        for name, text in zip(names, texts, strict=True)
    }
    if len(by_id) < len(cells):
        repeated = [name for name, count in Counter(names).items() if count > 1]
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
        size, numbers = len(data.corpus), [str(row) for row in range(len(data.corpus) + len(data.ids_without_text))]
        data = replace(data, corpus_ids=numbers[:size], ids_without_text=numbers[size:], merged=tables.merged)
    return replace(
        data,
        skipped=dict(+reading.skipped),
        unused={table.source: names for table in reading.tables if (names := table.columns.unread)},
        titled=corpus.titled,
        split=tables.split,
        numbered=tables.numbered,
    )


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
    has_grades = "grade" in reading.columns or find_name(table.columns, ["grade"])
    asked, positives = (column_of(table, role, reading.columns) for role in ("query", "positive"))
    grades = column_of(table, "grade", reading.columns) if has_grades else [1] * len(asked)
    negatives = column_of(table, "negative", reading.columns, optional=True)
    titled, passages = 0, list[str]()
    if corpus is not None:
        texts, titled = texts_of(corpus, "passage", reading.columns)
        reading.skip_blank(corpus.source, "passage", [*enumerate(texts)])
        passages = [
            _text(text, f"{corpus.source!r}: row {row}") for row, text in enumerate(texts) if not is_blank(text)
        ]
    reading.skip_blank(table.source, "query", [*enumerate(asked)])
    has_lists = any(isinstance(cell, list) for cell in positives)
    numbers: dict[object, str] = {}  # of the queries, by text or, with lists, by row
    queries, qrels, found = dict[str, str](), dict[str, dict[str, int]](), list[tuple[int, Cell]]()
    for side, answers in (("positive", positives), ("negative", negatives)):  # all positives before the negatives
        for row, (query, cell, grade) in enumerate(zip(asked, answers, grades, strict=False)):
            if is_blank(query):
                continue
            place = f"{table.source!r}: row {row}"
            text = _text(query, f"{place}, the query")
            number = numbers.setdefault(row if has_lists else text, str(len(numbers)))
            queries[number] = text
            judged = cell if isinstance(cell, list) else [] if is_blank(cell) else [cell]
            found += [(row, text) for text in judged]
            given = grade if isinstance(grade, list) and side == "positive" else [grade] * len(judged)
            if len(given) != len(judged):
                raise ValueError(f"{place}: {len(given)} grades for {len(judged)} passages; they must match.")
            qrels.setdefault(number, {})
            for answer, value in zip(judged, given, strict=True):
                if not is_blank(answer):
                    passage = _text(answer, f"{place}, the {side}")
                    add_grade(qrels, number, passage, read_grade(place, str(value)) if side == "positive" else 0, place)
    reading.skip_blank(table.source, "passage", found)
    by_text = {text: text for text in (passages if corpus else [text for judged in qrels.values() for text in judged])}
    merged = len(passages) - len(by_text) if corpus else 0
    searched = Texts(by_text, corpus.source if corpus else table.source, titled)
    return Tables(Texts(queries, table.source), searched, qrels, table.source, table.split, merged, numbered=True)


def _text(cell: Cell, place: str) -> str:
    if fault := text_fault(cell):
        raise ValueError(f"{place} {fault}")
    return str(cell)


def _first(names: Sequence[str]) -> str:
    return f"The first: {', '.join(repr(name[:60]) for name in names[:3])}."


def read_files(queries: Path, corpus: Path, qrels: Path, reading: Reading, split: str = "") -> Tables:
    """Read tables of queries and passages, and judgements as a table or in TREC's or BEIR's format."""
    tables = [reading.read(file) for file in (queries, corpus)]
    judged, unused = read_judgements(qrels, reading.columns, reading.encoding)
    reading.tables.append(Table(Fields(dict.fromkeys(unused, True)), qrels.name))
    texts, passages = (texts_by_id(table, role, reading) for table, role in zip(tables, PLURAL, strict=True))
    return Tables(texts, passages, judged, qrels.name, split)
