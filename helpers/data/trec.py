"""Read and write qrels and runs in TREC's text formats, for trec_eval and other tools.

A qrels line is `query 0 document grade`, a run line `query Q0 document rank score tag`, both separated by spaces
or tabs. In memory both are dicts with text ids, `{query: {doc: grade}}` and `{query: {doc: score}}`, which
`helpers.metrics.evaluate` accepts. Files in `.gz` are decompressed.
"""

import csv
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helpers._io import open_text, write_text
from helpers.data.dataset import LARGEST_GRADE, RetrievalDataset, is_blank
from helpers.data.formats import IDS, Table, column_of, find_name, kind_of, read_table

if TYPE_CHECKING:
    import numpy as np

    from helpers.data.runs import RunTable

__all__ = ["as_qrels", "as_run", "export", "read_qrels", "read_run", "write_qrels", "write_run"]

PathLike = str | os.PathLike[str]
Ids = Sequence[object]
FOUR = ("query", "0", "document", "grade")
THREE = ("query", "document", "grade")
ITERATION = ("iteration", "iter", "q0", "0")  # TREC's second column, which has no meaning
BLANKS = " \t\r\n\v\f"  # field separators, as in trec_eval; other white space may be part of an id
BLANK = re.compile(f"[{BLANKS}]+")


def read_qrels(path: PathLike) -> dict[str, dict[str, int]]:
    """Read judgements: TREC's `query 0 document grade`, BEIR's `query document grade`, or a table with a header.

    The format and the separator (white space, tab, comma or semicolon) are detected in the first line. With tabs,
    commas or semicolons ids may contain spaces. A header (`query_id`, `doc_id`, `relevance`, or other usual names)
    gives the columns in any order, and a warning lists those that are not read. Without one, a line that begins with
    `#` is a comment, as in trec_eval 10. JSON and Parquet tables are read too, and JSON of the form
    `{query: {document: grade}}`.

    Raises:
        ValueError: there are no judgements; a line has a wrong number of fields; a header does not tell the columns; a
            grade is not a whole number of 32 bits (`1.0` is one); a document has two grades. The message starts with
            the file and the number of the line, or of the row below a header.
    """
    qrels, unused = read_judgements(Path(path), {})
    if unused:
        names = ", ".join(unused)
        warnings.warn(f"{Path(path).name}: not used: {names}.", stacklevel=2)
    return qrels


def read_judgements(
    path: Path, columns: Mapping[str, str], encoding: str = ""
) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Read judgements as `read_qrels` does, tables in any encoding; return them, and the columns that are not used."""
    kind = kind_of(path)
    if kind in ("json", "parquet") or _has_header(path, columns, encoding):
        table = read_table(path, encoding=encoding, kind=kind or "csv")
        table.columns.get(find_name(table.columns, ITERATION) or "")
        return grades_of(table, columns), table.columns.unread
    qrels: dict[str, dict[str, int]] = {}
    separator, usual, unused = "", tuple[str, ...](), list[str]()
    for place, line in _lines(path):
        separator = separator or _separator(line)
        fields = _split(line, separator)
        usual = usual or (THREE if len(fields) == 3 else FOUR)
        if len(fields) != len(usual) or not all(fields):
            found = sum(map(bool, fields))
            raise ValueError(f"{place}: expected {len(usual)} fields ({' '.join(usual)}), found {found}.")
        if usual == FOUR and not unused and fields[1].upper() not in ("0", "Q0"):
            unused = [f"the second column, {fields[1]!r}"]
        add_grade(qrels, fields[0], fields[-2], read_grade(place, fields[-1]), place)
    if not qrels:
        raise ValueError(f"{path.name!r}: no judgements, the file is empty.")
    return qrels, unused


def _has_header(path: Path, columns: Mapping[str, str], encoding: str) -> bool:
    """Return whether the first line names at least two of the columns of query, document and grade."""
    first = next((line for _, line in _lines(path, encoding)), "")
    names = [name.strip(BLANKS + '"') for name in re.split("[\t,;|]", first)]
    return sum(find_name(names, [*known, columns.get(role, known[0])]) is not None for role, known in IDS.items()) > 1


def grades_of(table: Table, columns: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return the judgements of a table with columns such as ``query-id``, ``corpus-id`` and ``score``, as in ``mteb``.

    A table of one row whose cells are objects is ``{query: {document: grade}}``, as ranx writes it.
    """
    qrels: dict[str, dict[str, int]] = {}
    if all(len(cells) == 1 and isinstance(cells[0], dict) for cells in table.columns.values()):
        rows = [(query, *item) for query in list(table.columns) for item in table.columns[query][0].items()]
    else:
        known = {role: name for role, name in columns.items() if name in table.columns}
        named = {role: find_name(table.columns, names) or names[0] for role, names in IDS.items()} | known
        rows = list(zip(*(column_of(table, role, named) for role in IDS), strict=True))
    for row, (query, passage, grade) in enumerate(rows, 1):
        place = f"{table.source!r}, row {row}"
        if is_blank(query) or is_blank(passage):
            raise ValueError(f"{place}: no {'document' if is_blank(passage) else 'query'}; fill it in.")
        add_grade(qrels, str(query).strip(BLANKS), str(passage).strip(BLANKS), read_grade(place, str(grade)), place)
    return qrels


def read_run(path: PathLike) -> dict[str, dict[str, float]]:
    """Read a run file, and warn if it is empty: scores determine the order, ranks and comments are ignored."""
    from helpers.data.runs import read_run_table  # needs NumPy

    run = read_run_table(path).to_dict()
    if not run:
        warnings.warn(f"{Path(path).name!r}: the run is empty; every judged query will score 0.", stacklevel=2)
    return run


def write_qrels(path: PathLike, qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Write `{query: {doc: grade}}` as a qrels file, in the same order."""
    write_text(path, _qrels_lines(qrels))


def write_run(path: PathLike, run: "Mapping[str, Mapping[str, float]] | RunTable", tag: str = "run") -> None:
    """Write `{query: {doc: score}}`, or a table, as a run file in trec_eval's order: score, then id, descending.

    `tag` is the name of the system, the last field of each line.
    """
    import numpy as np

    from helpers._trec_order import single_precision, trec_rows
    from helpers.data.runs import RunTable

    table = run if isinstance(run, RunTable) else RunTable.of(run)
    for row in np.flatnonzero(~np.isfinite(table.scores))[:1]:
        doc, query, score = table.documents[table.document[row]], table.queries[table.query[row]], table.scores[row]
        raise ValueError(f"Document {doc!r} of query {query!r} has the score {score}: it must be finite.")
    firsts = [require_field(query, first=True) for query in table.queries]
    docs = [*map(require_field, table.documents)]
    order = trec_rows(table.query, single_precision(table.scores), table.document, docs.__getitem__)
    queries = table.query[order]
    ranks, end = np.arange(1, len(order) + 1) - np.searchsorted(queries, queries), require_field(tag)
    columns = (column.tolist() for column in (queries, table.document[order], ranks, table.scores[order]))
    lines = (f"{firsts[q]} Q0 {docs[d]} {rank} {score!r} {end}\n" for q, d, rank, score in zip(*columns, strict=True))
    write_text(path, "".join(lines))


def as_run(
    ids: "np.ndarray", scores: "np.ndarray", query_ids: Ids | None = None, doc_ids: Ids | None = None
) -> dict[str, dict[str, float]]:
    """Return the results of a search, rows and scores (q, k), as a run with text ids, without padding (-1).

    The ids of queries and rows of the corpus are by default their numbers.
    """
    import numpy as np

    ids, scores = np.asarray(ids), np.asarray(scores)
    if ids.shape != scores.shape or ids.ndim != 2 or ids.dtype.kind not in "iu":
        raise ValueError(
            f"ids must be integers (q, k) and scores of the same shape; found {ids.dtype} {ids.shape} and "
            f"{scores.dtype} {scores.shape}. FAISS returns (scores, ids), in that order."
        )
    run: dict[str, dict[str, float]] = {}
    for row, (ranking, values) in enumerate(zip(ids.tolist(), scores.tolist(), strict=True)):
        query = str(query_ids[row] if query_ids is not None else row)
        run[query] = {}
        for doc, score in zip(ranking, values, strict=True):
            if doc >= 0:
                name = str(doc_ids[doc] if doc_ids is not None else doc)
                if name in run[query]:
                    raise ValueError(f"Document {name!r} is retrieved twice for query {query!r}.")
                run[query][name] = score
    return run


def as_qrels(
    qrels: Sequence[Mapping[int, int]], query_ids: Ids | None = None, doc_ids: Ids | None = None
) -> dict[str, dict[str, int]]:
    """Return `RetrievalDataset.qrels`, one dict {row: grade} per query, as qrels with text ids like `as_run`."""
    names = query_ids if query_ids is not None else range(len(qrels))
    return {
        str(query): {str(doc_ids[doc] if doc_ids is not None else doc): int(grade) for doc, grade in docs.items()}
        for query, docs in zip(names, qrels, strict=False)
    }


def export(data: RetrievalDataset, folder: PathLike) -> None:
    """Write a collection in BEIR's layout, with judgements in TREC's format too, `qrels/dev.qrels`.

    BEIR: `corpus.jsonl` {_id, title, text}, `queries.jsonl` {_id, text}, `qrels/dev.tsv` with a header line. The title
    is empty, since the text of a passage includes it.
    """
    corpus = ({"_id": name, "title": "", "text": text} for name, text in zip(data.corpus_ids, data.corpus, strict=True))
    queries = ({"_id": name, "text": text} for name, text in zip(data.query_ids, data.queries, strict=True))
    qrels = as_qrels(data.qrels, data.query_ids, data.doc_ids)
    rows = [f"{query}\t{doc}\t{grade}\n" for query, docs in qrels.items() for doc, grade in docs.items()]
    files = {
        "corpus.jsonl": "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in corpus),
        "queries.jsonl": "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in queries),
        "qrels/dev.tsv": "".join(["query-id\tcorpus-id\tscore\n", *rows]),
        "qrels/dev.qrels": _qrels_lines(qrels),
    }
    (Path(folder) / "qrels").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_text(Path(folder) / name, text)


def _lines(path: Path, encoding: str = "") -> Iterator[tuple[str, str]]:
    name = repr(path.name)
    with open_text(path, encoding=encoding) as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip(BLANKS)
            if text and text[0] != "#" and not re.fullmatch('"?sep=.?"?', text):  # Excel's line of its mark
                yield f"{name}, line {number}", text


def _separator(line: str) -> str:
    if line.count("\t") == 2:
        return "\t"
    by_blank = BLANK.split(line)
    if len(by_blank) in (3, 4) and not all(field.endswith((",", ";")) for field in by_blank[:-1]):
        return " "
    return next((mark for mark in "\t,;|" if len(_split(line, mark)) in (3, 4)), " ")


def _split(line: str, separator: str) -> list[str]:
    if separator == " ":
        return BLANK.split(line)
    fields = line.split("\t") if separator == "\t" else next(csv.reader([line], delimiter=separator))
    return [field.strip(BLANKS) for field in fields]


def add_grade(qrels: dict[str, dict[str, int]], query: str, doc: str, grade: int, place: str) -> None:
    """Add a judgement; a repeated one with the same grade is allowed."""
    earlier = qrels.setdefault(query, {}).setdefault(doc, grade)
    if earlier != grade:
        raise ValueError(
            f"{place}: document {doc!r} is judged twice for query {query!r}, with the grades {earlier} and {grade}. "
            "Keep one of them."
        )


def read_grade(place: str, text: str) -> int:
    """Return a grade, a whole number of 32 bits; `1.0` is one."""
    number = re.fullmatch(r"\s*([+-]?[0-9]{1,20})([.]0*)?\s*", text)
    if number is None or abs(int(number[1])) > LARGEST_GRADE:
        raise ValueError(f"{place}: the grade must be a whole number of 32 bits, not {text[:60]!r}.")
    return int(number[1])


def _qrels_lines(qrels: Mapping[str, Mapping[str, int]]) -> str:
    rows = ((query, doc, int(grade)) for query, docs in qrels.items() for doc, grade in docs.items())
    return "".join(f"{require_field(query, first=True)} 0 {require_field(doc)} {grade}\n" for query, doc, grade in rows)


def require_field(name: object, *, first: bool = False) -> str:
    """Return an id or tag as a field of a line; raise ValueError if it is empty, has blanks or begins a comment."""
    text = str(name)
    if not text or BLANK.search(text):
        raise ValueError(
            f"{text!r} cannot be written to a TREC file: ids and tags must have no blanks and not be empty."
        )
    if first and text.startswith("#"):
        raise ValueError(f"{text!r} cannot be written to a TREC file: a line that begins with # is a comment.")
    return text
