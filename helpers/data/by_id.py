"""Build collections from tables by id, as in TREC, BEIR and MTEB, or from rows, as in ``namespace-Pt/msmarco``.

A collection by id has tables of queries, passages and judgements; a row has a query, its positives, and optionally
negatives or a grade. Judgements of unknown ids, and blank texts, raise an error or are skipped, see :class:`Options`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from helpers._fields import Fields
from helpers._files import PACKED, UTF8, other_form, require_inside
from helpers.data.dataset import RetrievalDataset, from_ids, is_blank, text_fault
from helpers.data.formats import NAMES, READERS, Cell, Table, choose_split, column_of, find_name, read_table, texts_of
from helpers.data.trec import add_grade, read_grade, read_judgements

JUDGEMENTS = (".tsv", ".csv", ".txt", ".qrels", ".trec", ".jsonl", ".json", ".parquet")  # preferred first
ROWS = {  # role of a column in a table of rows: its usual names
    "query": tuple(name for name in NAMES["query"] if name != "text"),
    "positive": NAMES["positive"],
    "negative": NAMES["negative"],
    "grade": ("grade",),
}
OBJECTS = ("queries", "corpus", "relevant_docs")  # of LlamaIndex
PLURAL = {"query": "queries", "passage": "passages"}
Qrels = Mapping[str, Mapping[str, int]]
Judgement = tuple[int, Cell, int]  # row of the table, passage, grade


@dataclass(frozen=True)
class Options:
    """The options of ``load_dataset`` for tables, and the number of items skipped.

    Attributes:
        columns: names of columns by role, for those with unusual names.
        on_blank: "raise" or "skip".
        on_missing: "raise", "skip" or "keep".
        equal: "merge" or "keep".
        encoding: encoding of CSV, TSV and JSON files.
        skipped: see ``RetrievalDataset.skipped``; ``+skipped`` has no zeros.
        tables: the tables that were read.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    on_blank: str = "raise"
    on_missing: str = "raise"
    equal: str = "merge"
    encoding: str = UTF8
    skipped: Counter[str] = field(default_factory=Counter)
    tables: list[Table] = field(default_factory=list)

    def read(self, path: Path) -> Table:
        """Read a table, and remember it."""
        self.tables.append(read_table(path, self.columns.values(), self.encoding))
        return self.tables[-1]

    def unused(self) -> dict[str, list[str]]:
        """Return the columns that nobody looked up, by the name of their table."""
        return {table.source: names for table in self.tables if (names := table.columns.unread)}

    def skip_blank(self, source: str, role: str, names: Sequence[str], total: int) -> None:
        """Count blank queries or passages (``role``), or raise ValueError; ``names`` are their ids or rows."""
        if names and self.on_blank == "raise":
            raise ValueError(
                f"{source!r}: {len(names)} of {total} {PLURAL[role]} are blank. {_first(names)} "
                'Fill them in, or leave them out: on_blank="skip".'
            )
        self.skipped[f"blank_{PLURAL[role]}"] += len(names)


class Texts(NamedTuple):
    """Texts by id, "" for a blank one; the name of their table; the number of texts with a title."""

    by_id: dict[str, str]
    source: str
    titled: int = 0


def texts_by_id(table: Table, role: str, options: Options) -> Texts:
    """Return the texts of a table of queries or passages (``role``)."""
    cells = column_of(table, f"{role}_id", options.columns)
    if nameless := [row for row, cell in enumerate(cells) if is_blank(cell)]:
        raise ValueError(f"{table.source!r}: {len(nameless)} {role} rows have no id, the first is row {nameless[0]}.")
    texts, titled = texts_of(table, role, options.columns)
    by_id: dict[str, str] = {}
    for name, text in zip(map(str, cells), texts, strict=True):
        has_text = not is_blank(text)
        if has_text and (fault := text_fault(text)):
            raise ValueError(f"{table.source!r}: {role} {name!r} {fault}")
        by_id[name] = str(text) if has_text else ""
    if len(by_id) < len(cells):
        repeated = [name for name, count in Counter(map(str, cells)).items() if count > 1]
        raise ValueError(f"{table.source!r}: {len(repeated)} id(s) occur twice. {_first(repeated)}")
    if blank := [name for name, text in by_id.items() if not text]:
        options.skip_blank(table.source, role, blank, len(by_id))
    return Texts(by_id, table.source, titled)


def read_files(name: str, queries: Path, corpus: Path, qrels: Path, options: Options) -> RetrievalDataset:
    """Read tables of queries and passages, and judgements as a table or in TREC's or BEIR's format."""
    tables = [options.read(file) for file in (queries, corpus)]
    judged, unused = read_judgements(qrels, options.columns)
    options.tables.append(Table(Fields(dict.fromkeys(unused, True)), qrels.name))
    query_texts, passages = (texts_by_id(table, role, options) for table, role in zip(tables, PLURAL, strict=True))
    return collect(name, query_texts, passages, judged, qrels.name, options)


def from_objects(name: str, table: Table, options: Options) -> RetrievalDataset:
    """Build a collection from one object of ``OBJECTS``: texts by id twice, and the ids that answer each query."""
    queries, corpus, relevant = (table.columns[key][0] for key in OBJECTS)
    if not all(isinstance(part, dict) for part in (queries, corpus, relevant)):
        raise ValueError(f"{table.source!r}: expected one object of {', '.join(OBJECTS)}, each an object by id.")
    texts = [
        texts_by_id(
            Table(Fields({"_id": list(by_id), "text": list(by_id.values())}), f"{table.source}: {key}"), role, options
        )
        for key, by_id, role in zip(OBJECTS, (queries, corpus), PLURAL, strict=False)
    ]
    qrels = {query: dict.fromkeys(map(str, passages), 1) for query, passages in relevant.items()}
    return collect(name, texts[0], texts[1], qrels, f"{table.source}: relevant_docs", options)


def collect(name: str, queries: Texts, corpus: Texts, qrels: Qrels, source: str, options: Options) -> RetrievalDataset:
    """Return the collection of queries, corpus and judgements, which ``source`` names in messages.

    Unjudged queries are left out (BEIR stores the queries of all splits in one file). A document without a text keeps
    its judgement, since a run may retrieve it; if it is relevant, ``on_missing`` applies, since a system that searches
    texts cannot find it.
    """
    judged = {query: docs for query, docs in qrels.items() if queries.by_id.get(query)}
    needed = [("query", queries, dict.fromkeys(qrels))]
    if options.on_missing != "keep":
        relevant = dict.fromkeys(doc for docs in judged.values() for doc, grade in docs.items() if grade > 0)
        needed.append(("passage", corpus, relevant))
        judged = {
            query: {doc: grade for doc, grade in docs.items() if grade <= 0 or corpus.by_id.get(doc)}
            for query, docs in judged.items()
        }
    for role, table, ids in needed:
        missing = [id_ for id_ in ids if id_ not in table.by_id]
        if missing and options.on_missing != "skip":
            examples = _first([id_ for id_, text in table.by_id.items() if text])
            keep = ', to count them as relevant all the same: on_missing="keep"' if role == "passage" else ""
            raise ValueError(
                f"{source!r} judges {len(missing)} of {len(ids)} {PLURAL[role]} that {table.source!r} lacks. "
                f"{_first(missing)} It has others. {examples}{other_form(missing[0], table.by_id)} To leave out what "
                "judges them: "
                f'on_missing="skip"{keep}.'
            )
        options.skipped[f"missing_{PLURAL[role]}"] += len(missing)
    options.skipped["judgements"] = sum(map(len, qrels.values())) - sum(map(len, judged.values()))
    judged_texts = {query: text for query, text in queries.by_id.items() if query in judged}
    options.skipped["unjudged_queries"] = sum(map(bool, queries.by_id.values())) - len(judged_texts)
    if not judged_texts:
        raise ValueError(f"{name!r}: no query is left of {len(qrels)} that {source!r} judges.")
    with_text = {passage: text for passage, text in corpus.by_id.items() if text}
    data = from_ids(name, judged_texts, with_text, judged, options.equal)
    return replace(data, skipped=dict(+options.skipped), titled=corpus.titled)


def from_rows(name: str, table: Table, corpus: Table | None, options: Options) -> RetrievalDataset:
    """Build a collection from a table of queries, their positives and optionally their negatives or grades.

    The columns have the names of ``ROWS`` or of ``options.columns``. A cell holds one text or a list; the column
    ``grade`` holds the grades of the row's positives, one number or a list of the same length. If no cell is a list,
    rows with equal queries are one query. A query whose positives are blank has no relevant passage. ``corpus`` holds
    the passages to search, by default all judged passages in order of appearance. Passages are identified by their
    text; their ids are row numbers.
    """
    names = _columns_of_rows(table, options.columns)
    passages: list[str] = []
    titled = 0
    if corpus is not None:
        texts, titled = texts_of(corpus, "passage", options.columns)
        blank = [f"row {row}" for row, text in enumerate(texts) if is_blank(text)]
        options.skip_blank(corpus.source, "passage", blank, len(texts))
        passages = [_text(text, corpus.source, "text", row) for row, text in enumerate(texts) if not is_blank(text)]
    cells = {role: column_of(table, role, names) for role in names}
    blank = [f"row {row}" for row, query in enumerate(cells["query"]) if is_blank(query)]
    options.skip_blank(table.source, "query", blank, len(cells["query"]))
    has_single_positives = not any(isinstance(cell, list) for cell in cells["positive"])
    negative = cells.get("negative", [None] * len(cells["query"]))
    rows: dict[object, tuple[str, list[Judgement], list[Judgement]]] = {}  # query, positives, negatives
    for row, cell in enumerate(cells["query"]):
        if not is_blank(cell):
            query = _text(cell, table.source, names["query"], row)
            _, positives, negatives = rows.setdefault(query if has_single_positives else row, (query, [], []))
            positives += _positives(cells, row, table.source)
            negatives += [(row, text, 0) for text in _as_list(negative[row])]
    judged = {str(number): positives + negatives for number, (_, positives, negatives) in enumerate(rows.values())}
    blank = [f"row {row}" for judgements in judged.values() for row, text, _ in judgements if is_blank(text)]
    options.skip_blank(table.source, "passage", blank, sum(map(len, judged.values())))
    qrels: dict[str, dict[str, int]] = {number: {} for number in judged}
    for number, judgements in judged.items():
        for row, text, grade in judgements:
            if not is_blank(text):
                text = _text(text, table.source, names["positive" if grade else "negative"], row)
                add_grade(qrels, number, text, grade, f"{table.source!r}, row {row}")
    if corpus is None:
        passages = [text for grades in qrels.values() for text in grades]
    queries = Texts({number: query for number, (query, _, _) in zip(judged, rows.values(), strict=True)}, table.source)
    by_text = Texts({text: text for text in passages}, corpus.source if corpus else table.source, titled)
    data = collect(name, queries, by_text, qrels, table.source, options)
    ids = [str(row) for row in range(len(data.doc_ids))]
    size = len(data.corpus)
    merged = len(passages) - size if corpus else 0
    return replace(data, corpus_ids=ids[:size], ids_without_text=ids[size:], merged=merged, numbered=True)


def _columns_of_rows(table: Table, given: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the columns of a table of rows by role: those ``given``, else the usual ones."""
    usual = {role: found for role, names in ROWS.items() if (found := find_name(table.columns, names))}
    columns = usual | {role: name for role, name in given.items() if role in ROWS}
    names = {role: columns.get(role, role) for role in ("query", "positive", *columns)}
    present = {name: find_name(table.columns, [name, name.partition(".")[0]]) for name in names.values()}
    if missing := sorted(repr(name) for name, found in present.items() if found is None):
        raise ValueError(
            f"{table.source!r}: no column {' and no column '.join(missing)}; it has {table.listed}. "
            'Say which column is which (columns="query=…, positive=…"), or choose another split or configuration.'
        )
    return names


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


def _text(cell: Cell, source: str, column: str, row: int) -> str:
    if fault := text_fault(cell):
        raise ValueError(f"{source!r}: row {row}, column {column!r} {fault}")
    return str(cell)


def find_file(folder: Path, stem: str, kinds: Sequence[str] = tuple(READERS)) -> Path | None:
    """Return the table called ``stem`` in a folder, with one of the suffixes and optionally ``.gz``, or None."""
    names = [f"{stem}{kind}{packed}" for kind in kinds for packed in ("", PACKED)]
    return next((folder / name for name in names if (folder / name).exists() or (folder / name).is_symlink()), None)


def find_beir(folder: Path, split: str) -> tuple[tuple[Path, Path, Path], str] | None:
    """Return the files of queries, corpus and judgements in BEIR's layout, and the split; None for another layout."""
    queries, corpus, qrels = find_file(folder, "queries"), find_file(folder, "corpus"), folder / "qrels"
    if queries is None or corpus is None or not qrels.is_dir():
        return None
    stems = {file.name.partition(".")[0] for file in qrels.iterdir()}
    files = {stem: file for stem in sorted(stems) if (file := find_file(qrels, stem, JUDGEMENTS))}
    try:
        taken = choose_split(list(files), split)
    except ValueError as error:
        raise ValueError(f"{folder.name!r}, folder qrels: {error}") from None
    for file in (queries, corpus, files[taken]):
        require_inside(folder, file)
    return (queries, corpus, files[taken]), taken


def _first(names: Sequence[str]) -> str:
    return f"The first: {', '.join(repr(name[:60]) for name in names[:3])}."
