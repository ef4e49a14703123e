"""Collections by id: queries, passages and judgements of their own, in the files of TREC or BEIR or the tables of MTEB.

What is judged and has no text, and what has an id and no text, is refused, or left out where the reader says so.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from helpers._printable import printable
from helpers.data import packed, safety
from helpers.data.build import from_ids
from helpers.data.columns import NAMES, Table, cells, count_titles, find_column, texts_of
from helpers.data.dataset import RetrievalDataset, is_blank, text_fault
from helpers.data.formats import READERS, kind_of, read_table
from helpers.data.leave_out import LeftOut, first_of
from helpers.data.splits import choose_split
from helpers.data.trec import read_grade, read_qrels

JUDGEMENTS = (".tsv", ".csv", ".txt", ".qrels", ".trec", ".jsonl", ".json", ".parquet")  # of one split, best first
QUERY_IDS, PASSAGE_IDS = ("query-id", "query_id", "qid"), ("corpus-id", "corpus_id", "docid", "doc_id", "pid")
Qrels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Texts:
    """A table of ids and texts.

    Attributes:
        where: the file's name, or the configuration's.
        by_id: the texts that are not blank.
        blank: the ids of the others.
        titled: how many have a title joined to them.
    """

    where: str
    by_id: dict[str, str]
    blank: frozenset[str]
    titled: int = 0


def texts_by_id(table: Table, role: str, columns: Mapping[str, str], where: str, left_out: LeftOut) -> Texts:
    """Take a table of ids and texts of queries or passages (``role``).

    Raises:
        ValueError: a row without an id, an id that stands twice, a text that is blank (unless it may be) or none.
    """
    found = cells(table, find_column(table, f"{role}_id", columns, where))
    if nameless := [row for row, cell in enumerate(found) if is_blank(cell)]:
        raise ValueError(f"{printable(where)}: {len(nameless)} {role} rows have no id, the first is row {nameless[0]}.")
    ids = [str(cell) for cell in found]
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        raise ValueError(f"{printable(where)}: {len(repeated)} id(s) stand twice. {first_of(repeated)}")
    texts = dict(zip(ids, texts_of(table, role, columns, where), strict=True))
    blank = [name for name, text in texts.items() if is_blank(text)]
    left_out.blank(where, role, blank, len(texts))
    for name in blank:
        del texts[name]
    for name, text in texts.items():
        if fault := text_fault(text):
            raise ValueError(f"{printable(where)}: {role} {name!r} {fault}")
    titled = count_titles(table, columns) if role == "passage" else 0
    return Texts(where, texts, frozenset(blank), titled)


def is_judgements(table: Table) -> bool:
    """Tell a table of judgements by its columns, such as ``query-id`` and ``corpus-id``."""
    return bool(set(QUERY_IDS) & set(table.column_names)) and bool(set(PASSAGE_IDS) & set(table.column_names))


def grades_of(table: Table, columns: Mapping[str, str], where: str) -> dict[str, dict[str, int]]:
    """Take a table of judgements, as ``mteb`` has them: columns such as ``query-id``, ``corpus-id`` and ``score``.

    Raises:
        ValueError: a column is missing, a grade is no whole number, a pair is judged twice.
    """
    usual = {"query_id": QUERY_IDS, "passage_id": PASSAGE_IDS, "grade": NAMES["grade"]}
    named = {role: name for role, names in usual.items() for name in reversed(names) if name in table.column_names}
    named |= {role: name for role, name in columns.items() if name in table.column_names}
    rows = zip(*(cells(table, find_column(table, role, named, where)) for role in usual), strict=True)
    qrels: dict[str, dict[str, int]] = {}
    for row, (query, passage, grade) in enumerate(rows, 1):
        judged = qrels.setdefault(str(query), {})
        if str(passage) in judged:
            raise ValueError(
                f"{printable(where)}, row {row}: document {str(passage)!r} is judged twice for query {str(query)!r}."
            )
        judged[str(passage)] = read_grade(f"{printable(where)}, row {row}", str(grade))
    return qrels


def read_judgements(path: Path, columns: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Read a file of judgements: lines as TREC or BEIR have them, or a table in JSONL or Parquet."""
    safety.require_regular(path)
    if kind_of(path) in ("json", "parquet"):
        return grades_of(read_table(path), columns, path.name)
    return read_qrels(path)


def read_files(
    queries: Path, corpus: Path, qrels: Path, columns: Mapping[str, str], name: str, left_out: LeftOut, equal: str
) -> RetrievalDataset:
    """Read two tables of ids and texts, and judgements by id.

    Raises:
        ValueError: as :func:`collect`, :func:`texts_by_id` and ``helpers.data.trec.read_qrels``.
    """
    named = set(columns.values())
    asked = texts_by_id(read_table(queries, named), "query", columns, queries.name, left_out)
    passages = texts_by_id(read_table(corpus, named), "passage", columns, corpus.name, left_out)
    return collect(name, asked, passages, read_judgements(qrels, columns), qrels.name, left_out, equal)


def collect(
    name: str, queries: Texts, passages: Texts, judged: Qrels, where: str, left_out: LeftOut, equal: str
) -> RetrievalDataset:
    """Put a collection together. Queries that nobody judged are left out (BEIR keeps those of all splits in one file).

    A judgement of a document without a text is kept: runs may retrieve it. Only where the document is relevant does
    ``on_missing`` decide, because a system that searches texts cannot find it.

    Raises:
        ValueError: a query is judged, or a passage relevant, that its table lacks; how many, the first three.
    """
    _require_ids(where, "query", dict.fromkeys(judged), queries, left_out)
    known = {query: docs for query, docs in judged.items() if query in queries.by_id}
    relevant = dict.fromkeys(doc for docs in known.values() for doc, grade in docs.items() if grade > 0)
    if not left_out.keep_missing:
        _require_ids(where, "passage", relevant, passages, left_out)
        known = {
            query: {doc: grade for doc, grade in docs.items() if grade <= 0 or doc in passages.by_id}
            for query, docs in known.items()
        }
    left_out.count("judgements", sum(map(len, judged.values())) - sum(map(len, known.values())))
    asked = {query: text for query, text in queries.by_id.items() if query in known}
    left_out.count("unjudged_queries", len(queries.by_id) - len(asked))
    if not asked:
        raise ValueError(f"{printable(name)}: no query is left of {len(judged)} that {printable(where)} judges.")
    made = from_ids(name, asked, passages.by_id, known, equal)
    return replace(made, skipped=dict(left_out.counts), titled=passages.titled)


def find_file(folder: Path, stem: str, kinds: tuple[str, ...] = tuple(READERS)) -> Path | None:
    """Find the table called ``stem`` in a folder, packed or not; None if there is none."""
    names = [f"{stem}{kind}{gz}" for kind in kinds for gz in ("", packed.PACKED_SUFFIX)]
    return next((folder / name for name in names if (folder / name).exists() or (folder / name).is_symlink()), None)


def is_beir(folder: Path) -> bool:
    """Tell a folder in the layout of BEIR: tables ``corpus`` and ``queries``, and the folder ``qrels``."""
    tables = [find_file(folder, stem) for stem in ("corpus", "queries")]
    return all(table is not None and table.exists() for table in tables) and (folder / "qrels").exists()


def read_beir(
    folder: Path, split: str, columns: Mapping[str, str], name: str, left_out: LeftOut, equal: str
) -> RetrievalDataset:
    """Read a folder in the layout of BEIR, the judgements of one split.

    Raises:
        ValueError: no such split, a file that is a link out of the folder, or as :func:`read_files`.
    """
    found = (folder / "qrels").iterdir() if (folder / "qrels").is_dir() else ()
    stems = sorted({Path(packed.plain_name(file)).stem for file in found if _suffix(file) in JUDGEMENTS})
    taken = choose_split(stems, split)
    if taken is None:
        listed = printable(", ".join(stems) or "none")
        raise ValueError(f"{printable(folder.name)}: no qrels/{printable(split)}.tsv; the splits are {listed}.")
    files = [find_file(folder, "queries"), find_file(folder, "corpus"), find_file(folder / "qrels", taken, JUDGEMENTS)]
    queries, corpus, qrels = [file for file in files if file is not None]
    for file in (queries, corpus, qrels):
        safety.require_own_file(folder, file)
    return replace(read_files(queries, corpus, qrels, columns, name, left_out, equal), split=taken)


def _require_ids(where: str, role: str, judged: Mapping[str, None], texts: Texts, left_out: LeftOut) -> None:
    """Raise unless the table has every id that is judged, or those may be left out; blank ones have been counted."""
    missing = [name for name in judged if name not in texts.by_id and name not in texts.blank]
    if missing:
        table = printable(texts.where)
        left_out.missing(
            missing,
            role,
            f"{printable(where)} judges {len(missing)} of {len(judged)} {role} ids that {table} lacks; {table} has ids "
            f"such as {', '.join(printable(repr(name)) for name in list(texts.by_id)[:3])}.",
        )


def _suffix(file: Path) -> str:
    """Return the suffix of a file's name, without ``.gz``."""
    return Path(packed.plain_name(file)).suffix.lower()
