"""Collections by id: queries, passages and judgements of their own, in the files of TREC or BEIR or the tables of MTEB.

Judgements without a text, and ids without a text, raise an error or are skipped, see :class:`helpers.data.gaps.Gaps`.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from helpers._files import PACKED, plain_name, require_inside
from helpers.data.columns import NAMES, Table, choose_split, column_of, texts_of
from helpers.data.dataset import RetrievalDataset, from_ids, is_blank, text_fault
from helpers.data.formats import READERS, kind_of, read_table
from helpers.data.gaps import Gaps, first_of
from helpers.data.trec import add_grade, read_grade, read_qrels

JUDGEMENTS = (".tsv", ".csv", ".txt", ".qrels", ".trec", ".jsonl", ".json", ".parquet")  # of one split, best first
IDS = {
    "query_id": ("query-id", "query_id", "qid"),
    "passage_id": ("corpus-id", "corpus_id", "docid", "doc_id", "pid"),
    "grade": NAMES["grade"],
}  # the columns of a table of judgements
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


def texts_by_id(table: Table, role: str, columns: Mapping[str, str], where: str, gaps: Gaps) -> Texts:
    """Take a table of ids and texts of queries or passages (``role``).

    Raises:
        ValueError: a row without an id, an id that stands twice, a text that is blank (unless it may be) or not a
            string.
    """
    cells = column_of(table, f"{role}_id", columns, where)
    if nameless := [row for row, cell in enumerate(cells) if is_blank(cell)]:
        raise ValueError(f"{where!r}: {len(nameless)} {role} rows have no id, the first is row {nameless[0]}.")
    ids = [str(cell) for cell in cells]
    if repeated := [name for name, count in Counter(ids).items() if count > 1]:
        raise ValueError(f"{where!r}: {len(repeated)} id(s) stand twice. {first_of(repeated)}")
    texts, titled = texts_of(table, role, columns, where)
    blank = [name for name, text in zip(ids, texts, strict=True) if is_blank(text)]
    gaps.blank(where, role, blank, len(ids))
    by_id: dict[str, str] = {}
    for name, text in zip(ids, texts, strict=True):
        if not is_blank(text):
            if fault := text_fault(text):
                raise ValueError(f"{where!r}: {role} {name!r} {fault}")
            by_id[name] = str(text)
    return Texts(where, by_id, frozenset(blank), titled)


def is_judgements(table: Table) -> bool:
    """Tell a table of judgements by its columns, such as ``query-id`` and ``corpus-id``."""
    return all(set(IDS[role]) & set(table.columns) for role in ("query_id", "passage_id"))


def grades_of(table: Table, columns: Mapping[str, str], where: str) -> dict[str, dict[str, int]]:
    """Take a table of judgements, as ``mteb`` has them: columns such as ``query-id``, ``corpus-id`` and ``score``.

    Raises:
        ValueError: a column is missing, a grade is not a whole number, a pair has two grades.
    """
    named = {role: name for role, names in IDS.items() for name in reversed(names) if name in table.columns}
    named |= {role: name for role, name in columns.items() if name in table.columns}
    rows = zip(*(column_of(table, role, named, where) for role in IDS), strict=True)
    qrels: dict[str, dict[str, int]] = {}
    for row, (query, passage, grade) in enumerate(rows, 1):
        place = f"{where!r}, row {row}"
        add_grade(qrels, str(query), str(passage), read_grade(place, str(grade)), place)
    return qrels


def read_files(
    queries: Path, corpus: Path, qrels: Path, columns: Mapping[str, str], name: str, gaps: Gaps, equal: str
) -> RetrievalDataset:
    """Read two tables of ids and texts, and judgements by id: lines as TREC or BEIR have them, or a table.

    Raises:
        ValueError: as :func:`collect`, :func:`texts_by_id` and ``helpers.data.trec.read_qrels``.
    """
    named = set(columns.values())
    asked = texts_by_id(read_table(queries, named), "query", columns, queries.name, gaps)
    passages = texts_by_id(read_table(corpus, named), "passage", columns, corpus.name, gaps)
    is_table = kind_of(qrels) in ("json", "parquet")
    judged = grades_of(read_table(qrels), columns, qrels.name) if is_table else read_qrels(qrels)
    return collect(name, asked, passages, judged, qrels.name, gaps, equal)


def collect(
    name: str, queries: Texts, passages: Texts, judged: Qrels, where: str, gaps: Gaps, equal: str
) -> RetrievalDataset:
    """Put a collection together. Queries that nobody judged are left out (BEIR keeps those of all splits in one file).

    A judgement of a document without a text is kept: runs may retrieve it. Only where the document is relevant does
    ``on_missing`` decide, because a system that searches texts cannot find it.

    Raises:
        ValueError: a query is judged, or a passage relevant, that its table lacks; how many, the first three.
    """
    _require_ids(where, "query", dict.fromkeys(judged), queries, gaps)
    known = {query: docs for query, docs in judged.items() if query in queries.by_id}
    if gaps.on_missing != "keep":
        relevant = dict.fromkeys(doc for docs in known.values() for doc, grade in docs.items() if grade > 0)
        _require_ids(where, "passage", relevant, passages, gaps)
        known = {
            query: {doc: grade for doc, grade in docs.items() if grade <= 0 or doc in passages.by_id}
            for query, docs in known.items()
        }
    gaps.counts["judgements"] = sum(map(len, judged.values())) - sum(map(len, known.values()))
    texts = {query: text for query, text in queries.by_id.items() if query in known}
    gaps.counts["unjudged_queries"] = len(queries.by_id) - len(texts)
    if not texts:
        raise ValueError(f"{name!r}: no query is left of {len(judged)} that {where!r} judges.")
    data = from_ids(name, texts, passages.by_id, known, equal)
    return replace(data, skipped=dict(+gaps.counts), titled=passages.titled)


def find_file(folder: Path, stem: str, kinds: tuple[str, ...] = tuple(READERS)) -> Path | None:
    """Find the table called ``stem`` in a folder, packed or not; None if there is none."""
    names = [f"{stem}{kind}{packed}" for kind in kinds for packed in ("", PACKED)]
    return next((folder / name for name in names if (folder / name).exists() or (folder / name).is_symlink()), None)


def is_beir(place: Path | str) -> bool:
    """Tell a folder in the layout of BEIR: tables ``corpus`` and ``queries``, and the folder ``qrels``."""
    if not isinstance(place, Path) or not (place / "qrels").is_dir():
        return False
    return bool(find_file(place, "corpus") and find_file(place, "queries"))


def read_beir(
    folder: Path, split: str, columns: Mapping[str, str], name: str, gaps: Gaps, equal: str
) -> RetrievalDataset:
    """Read a folder in the layout of BEIR, the judgements of one split.

    Raises:
        ValueError: no such split, a file that is a link out of the folder, or as :func:`read_files`.
    """
    names = [Path(plain_name(file)) for file in (folder / "qrels").iterdir()]
    splits = sorted({name.stem for name in names if name.suffix.lower() in JUDGEMENTS})
    taken = choose_split(splits, split) if splits else None
    if taken is None:
        listed = ", ".join(map(repr, splits)) or "none"
        raise ValueError(f"{folder.name!r}: no {f'qrels/{split}.tsv'!r}; the splits are {listed}.")
    files = [find_file(folder, "queries"), find_file(folder, "corpus"), find_file(folder / "qrels", taken, JUDGEMENTS)]
    queries, corpus, qrels = [file for file in files if file is not None]
    for file in (queries, corpus, qrels):
        require_inside(folder, file)
    return replace(read_files(queries, corpus, qrels, columns, name, gaps, equal), split=taken)


def _require_ids(where: str, role: str, judged: Mapping[str, None], texts: Texts, gaps: Gaps) -> None:
    """Raise unless the table has every id that is judged, or those may be left out; blank ones have been counted."""
    if missing := [name for name in judged if name not in texts.by_id and name not in texts.blank]:
        message = (
            f"{where!r} judges {len(missing)} of {len(judged)} {role} ids that {texts.where!r} lacks; {texts.where!r} "
            f"has ids such as {', '.join(map(repr, list(texts.by_id)[:3]))}."
        )
        gaps.missing(missing, role, message)
