"""Read and write qrels and runs in TREC's text formats, so that trec_eval and any other tool can check us.

A qrels line is `query 0 document grade`, a run line `query Q0 document rank score tag`, both separated by blanks
or tabs. In memory both are dicts by query: `{query: {doc: grade}}` and `{query: {doc: score}}`, all ids text,
which `helpers.metrics.evaluate` takes as they are. Nothing else in the package reads or writes such files. A file
whose name ends in `.gz` is unpacked on the way.
"""

import csv
import json
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from helpers._atomic import whole_file
from helpers._printable import printable
from helpers._trec_order import single_precision, trec_order
from helpers.data.dataset import LARGEST_GRADE, RetrievalDataset
from helpers.data.packed import unpacked

if TYPE_CHECKING:
    import numpy as np

__all__ = ["as_qrels", "as_run", "export", "read_qrels", "read_run", "write_qrels", "write_run"]

PathLike = str | os.PathLike[str]
Ids = Sequence[object]
Number = TypeVar("Number", int, float)
FOUR = ("query", "0", "document", "grade")
THREE = ("query", "document", "grade")
BLANKS = " \t\r\n\v\f"  # separate fields, as in trec_eval; others may be part of an id
BLANK = f"[{BLANKS}]+"


def read_qrels(path: PathLike) -> dict[str, dict[str, int]]:
    """Read judgements: TREC's `query 0 document grade`, or BEIR's `query document grade`.

    The first line tells which, and whether blanks, tabs, commas or semicolons separate the fields; Excel's `sep=;` may
    stand above it. Where tabs or commas do, ids may hold blanks. A first line without a number is a header.

    Raises:
        ValueError: no judgements, a line with another number of fields, a grade that is not a whole number of 32
            bits (`1.0` is one), a document judged twice; the message starts with file and line number.
    """
    qrels: dict[str, dict[str, int]] = {}
    separator: str | None = None
    header: str | None = None
    names: tuple[str, ...] = ()
    for place, line in _lines(path):
        if not names:
            if stated := re.fullmatch("sep=(.)", line):
                separator = stated[1]
                continue
            columns, separator = _form(line, separator)
            names = THREE if columns == 3 else FOUR
            if _is_header(_split(line, columns, separator), columns):
                header = line
                continue
        fields = _split(line, len(names), separator)
        _require_fields(place, fields, names)
        query, doc, grade = fields[0], fields[-2], read_grade(place, fields[-1])
        _add(qrels, query, doc, grade, f"{place}: document {doc!r} is judged twice for query {query!r}.")
    if not qrels:
        why = ", the file is empty" if header is None else f" below the header {header!r}"
        raise ValueError(f"{_name_of(path)}: no judgements{why}.")
    return qrels


def read_run(path: PathLike) -> dict[str, dict[str, float]]:
    """Read a run file. As in trec_eval the order comes from the scores; the rank column is not used.

    An empty run is warned of.

    Raises:
        ValueError: a line without six fields, a score that is not a finite number, a document retrieved twice;
            the message starts with file and line number.
    """
    run: dict[str, dict[str, float]] = {}
    for place, line in _lines(path):
        fields = re.split(BLANK, line)
        _require_fields(place, fields, ("query", "Q0", "document", "rank", "score", "tag"))
        query, _, doc, _, score, _ = fields
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in score:
            raise ValueError(f"{place}: the score must be a finite number, not {score[:60]!r}.")
        _add(run, query, doc, value, f"{place}: document {doc!r} is retrieved twice for query {query!r}.")
    if not run:
        warnings.warn(f"{_name_of(path)}: the run is empty; every judged query will score 0.", stacklevel=2)
    return run


def write_qrels(path: PathLike, qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Write `{query: {doc: grade}}`, in the order given."""
    _write(path, _qrels_lines(qrels))


def write_run(path: PathLike, run: Mapping[str, Mapping[str, float]], tag: str = "run") -> None:
    """Write `{query: {doc: score}}` ranked as trec_eval ranks: score descending, then id as text descending."""
    lines = []
    for query, docs in run.items():
        order = trec_order(list(docs), single_precision(list(docs.values())).tolist(), str)
        for rank, doc in enumerate(order, 1):
            score = docs[doc]
            if not math.isfinite(score):
                raise ValueError(f"Document {doc!r} of query {query!r} has the score {score}: it must be finite.")
            lines.append(
                f"{require_field(query)} Q0 {require_field(doc)} {rank} {float(score)!r} {require_field(tag)}\n"
            )
    _write(path, "".join(lines))


def as_run(
    ids: "np.ndarray", scores: "np.ndarray", query_ids: Ids | None = None, doc_ids: Ids | None = None
) -> dict[str, dict[str, float]]:
    """The arrays of a search, ids and scores of shape (q, k), as a run keyed by text. Padding (-1) is left out.

    Row numbers serve as ids unless `query_ids` (q) and `doc_ids` (one for each row of the corpus) name them.
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
        query = _id(row, query_ids)
        run[query] = {}
        for doc, score in zip(ranking, values, strict=True):
            if doc >= 0:
                name = _id(doc, doc_ids)
                _add(run, query, name, score, f"Document {name!r} is retrieved twice for query {query!r}.")
    return run


def as_qrels(
    qrels: Sequence[Mapping[int, int]], query_ids: Ids | None = None, doc_ids: Ids | None = None
) -> dict[str, dict[str, int]]:
    """One dict {row: grade} per query, as `RetrievalDataset.qrels` has them, keyed by text like `as_run`."""
    return {
        _id(row, query_ids): {_id(doc, doc_ids): int(grade) for doc, grade in docs.items()}
        for row, docs in enumerate(qrels)
    }


def export(data: RetrievalDataset, folder: PathLike) -> None:
    """Write a collection for other tools: the layout of BEIR, and the judgements in TREC's as well.

    BEIR: `corpus.jsonl` {_id, title, text}, `queries.jsonl` {_id, text}, `qrels/dev.tsv` with a header line.
    TREC: `qrels/dev.qrels`. The title is left empty, since a passage of the collection begins with its own.

    Raises:
        ValueError: an id that TREC's format cannot hold, a text that is not Unicode; nothing is written then.
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
    for text in files.values():
        text.encode()
    (Path(folder) / "qrels").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        _write(Path(folder) / name, text)


def _lines(path: PathLike) -> Iterator[tuple[str, str]]:
    """Each line that is not blank, without the blanks around it, and its place (`file:line`)."""
    name = _name_of(path)
    with unpacked(Path(path)) as plain, plain.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            place = f"{name}:{number}"
            try:
                text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8").strip(BLANKS)
            except UnicodeDecodeError:
                raise ValueError(
                    f"{place}: the line is not UTF-8 text. Convert the file: iconv -f GB18030 -t UTF-8, "
                    "with its own encoding after -f."
                ) from None
            if text:
                yield place, text


def _form(line: str, separator: str | None) -> tuple[int, str | None]:
    """Read off a first line how many columns a file of judgements has, 3 or 4, and what separates them (None: blanks).

    ``separator`` is what a line ``sep=;`` above it said.
    """
    if separator is not None:
        return (3 if len(_split(line, 4, separator)) == 3 else 4), separator
    fields, tabs = re.split(BLANK, line), line.count("\t") + 1
    if tabs == 3:
        return 3, None
    if len(fields) in (3, 4) and not all(field.endswith((",", ";")) for field in fields[:-1]):
        return len(fields), None
    for mark in ",;":
        if (columns := len(_split(line, 4, mark))) in (3, 4):
            return columns, mark
    return 4, "\t" if tabs == 4 else None


def _split(line: str, columns: int, separator: str | None) -> list[str]:
    """Split a line of judgements into its fields; three columns may have blanks in ids where tabs separate them."""
    if separator is None and not (columns == 3 and "\t" in line):
        return re.split(BLANK, line)
    if separator in (None, "\t"):
        return [field.strip(BLANKS) for field in line.split("\t")]
    return [field.strip(BLANKS) for field in next(csv.reader([line], delimiter=str(separator)))]


def _is_header(fields: Sequence[str], columns: int) -> bool:
    """Tell whether a first line names the fields: no number ends it, nor is the second of four fields 0 or Q0."""
    named = len(fields) == columns and re.fullmatch(r"[+-]?[0-9]+([.][0-9]*)?", fields[-1]) is None
    return named and (columns == 3 or fields[1].upper() not in ("0", "Q0"))


def _require_fields(place: str, fields: Sequence[str], names: Sequence[str]) -> None:
    """Raise unless a line has these fields, each with something in it."""
    if len(fields) != len(names) or not all(fields):
        raise ValueError(f"{place}: expected {len(names)} fields ({' '.join(names)}), found {sum(map(bool, fields))}.")


def read_grade(place: str, text: str) -> int:
    """Read a grade, a whole number of 32 bits; `1.0` is one.

    Raises:
        ValueError: it is none; the message starts with `place`.
    """
    if re.fullmatch(r"[+-]?[0-9]+([.]0*)?", text) is None:
        raise ValueError(f"{place}: the grade must be a whole number, not {text[:60]!r}.")
    whole = text.split(".")[0]
    if len(whole) > 20 or abs(int(whole)) > LARGEST_GRADE:
        shown = text if len(text) <= 20 else f"{text[:20]}… ({len(text)} characters)"
        raise ValueError(f"{place}: the grade must be a whole number of 32 bits, not {shown}.")
    return int(whole)


def _qrels_lines(qrels: Mapping[str, Mapping[str, int]]) -> str:
    """Put judgements into TREC's lines."""
    lines = []
    for query, docs in qrels.items():
        lines += [f"{require_field(query)} 0 {require_field(doc)} {int(grade)}\n" for doc, grade in docs.items()]
    return "".join(lines)


def _add(table: dict[str, dict[str, Number]], query: str, doc: str, value: Number, message: str) -> None:
    """Enter a value, or raise the message if the document is there already."""
    docs = table.setdefault(query, {})
    if doc in docs:
        raise ValueError(message)
    docs[doc] = value


def _id(row: int, ids: Ids | None) -> str:
    """The id of a row as text."""
    return str(row if ids is None else ids[row])


def _name_of(path: PathLike) -> str:
    """The name of a file for a message: no output repeats where it lies on somebody's machine."""
    return printable(Path(path).name)


def require_field(name: object) -> str:
    """Return an id or tag as one field of a line. Raises ValueError if it has blanks or is empty."""
    text = str(name)
    if not text or re.search(BLANK, text):
        raise ValueError(
            f"{text!r} cannot be written to a TREC file: ids and tags must have no blanks and not be empty."
        )
    return text


def _write(path: PathLike, text: str) -> None:
    """Write text as UTF-8 with Unix line ends, the whole file or none of it."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
