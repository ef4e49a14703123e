"""Read and write qrels and runs in TREC's text formats, for trec_eval and other tools.

A qrels line is `query 0 document grade`, a run line `query Q0 document rank score tag`, both separated by spaces
or tabs. In memory both are dicts with text ids, `{query: {doc: grade}}` and `{query: {doc: score}}`, which
`helpers.metrics.evaluate` accepts. Files in `.gz` are decompressed.
"""

import csv
import json
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helpers._atomic import write_text
from helpers._files import open_text
from helpers._trec_order import single_precision, trec_order
from helpers.data.dataset import LARGEST_GRADE, RetrievalDataset

if TYPE_CHECKING:
    import numpy as np

__all__ = ["as_qrels", "as_run", "export", "read_qrels", "read_run", "write_qrels", "write_run"]

PathLike = str | os.PathLike[str]
Ids = Sequence[object]
FOUR = ("query", "0", "document", "grade")
THREE = ("query", "document", "grade")
BLANKS = " \t\r\n\v\f"  # field separators, as in trec_eval; other white space may be part of an id
BLANK = re.compile(f"[{BLANKS}]+")


def read_qrels(path: PathLike) -> dict[str, dict[str, int]]:
    """Read judgements: TREC's `query 0 document grade`, or BEIR's `query document grade`.

    The format and the separator (white space, tab, comma or semicolon) are detected in the first line, which Excel's
    `sep=;` may precede. With tabs, commas or semicolons ids may contain spaces. A first line without a grade is a
    header.

    Raises:
        ValueError: there are no judgements; a line has a wrong number of fields; a grade is not a whole number of 32
            bits (`1.0` is one); a document has two grades. The message starts with file and line number.
    """
    qrels: dict[str, dict[str, int]] = {}
    separator = header = ""
    names: tuple[str, ...] = ()
    for place, line in _lines(path):
        if not names and (stated := re.fullmatch("sep=(.)", line)):
            separator = stated[1]
            continue
        separator = separator or _separator(line)
        fields = _split(line, separator)
        if not names:
            names = THREE if len(fields) == 3 else FOUR
            is_number = re.fullmatch(r"[+-]?[0-9]+([.][0-9]*)?", fields[-1])
            if len(fields) == len(names) and not is_number and (names == THREE or fields[1].upper() not in ("0", "Q0")):
                header = line
                continue
        if len(fields) != len(names) or not all(fields):
            raise ValueError(_wrong_fields(place, fields, names))
        add_grade(qrels, fields[0], fields[-2], read_grade(place, fields[-1]), place)
    if not qrels:
        why = f" below the header {header!r}" if header else ", the file is empty"
        raise ValueError(f"{Path(path).name!r}: no judgements{why}.")
    return qrels


def read_run(path: PathLike) -> dict[str, dict[str, float]]:
    """Read a run file: scores determine the order; rank column, comments and fields after the sixth are ignored.

    Warns:
        UserWarning: the run is empty.

    Raises:
        ValueError: as :func:`helpers.data.runs.read_run_table`.
    """
    from helpers.data.runs import read_run_table  # needs NumPy

    run = read_run_table(path).to_dict()
    if not run:
        warnings.warn(f"{Path(path).name!r}: the run is empty; every judged query will score 0.", stacklevel=2)
    return run


def write_qrels(path: PathLike, qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Write `{query: {doc: grade}}` as a qrels file, in the same order."""
    write_text(path, _qrels_lines(qrels))


def write_run(path: PathLike, run: Mapping[str, Mapping[str, float]], tag: str = "run") -> None:
    """Write `{query: {doc: score}}` as a run file in trec_eval's order: score, then id as text, descending.

    Args:
        tag: the name of the system, the last field of each line.
    """
    lines = []
    for query, docs in run.items():
        order = trec_order(list(docs), single_precision(list(docs.values())).tolist(), str)
        for rank, doc in enumerate(order, 1):
            score = docs[doc]
            if not math.isfinite(score):
                raise ValueError(f"Document {doc!r} of query {query!r} has the score {score}: it must be finite.")
            lines.append(
                f"{_first_field(query)} Q0 {require_field(doc)} {rank} {float(score)!r} {require_field(tag)}\n"
            )
    write_text(path, "".join(lines))


def as_run(
    ids: "np.ndarray", scores: "np.ndarray", query_ids: Ids | None = None, doc_ids: Ids | None = None
) -> dict[str, dict[str, float]]:
    """Return the results of a search as a run with text ids, without padding (-1).

    Args:
        ids: rows of the corpus, (q, k).
        scores: the scores of these, (q, k).
        query_ids: the id of each query; by default its row.
        doc_ids: the id of each row of the corpus; by default its row.
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
    """Write a collection in BEIR's layout, with judgements in TREC's format too.

    BEIR: `corpus.jsonl` {_id, title, text}, `queries.jsonl` {_id, text}, `qrels/dev.tsv` with a header line.
    TREC: `qrels/dev.qrels`. The title is empty, since the text of a passage includes it.

    Raises:
        ValueError: an id has spaces; nothing is written then.
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


def _lines(path: PathLike) -> Iterator[tuple[str, str]]:
    """Yield the place of each line that is not blank, for messages, and its stripped text."""
    name = repr(Path(path).name)
    with open_text(Path(path)) as lines:
        for number, line in enumerate(lines, 1):
            if text := line.strip(BLANKS):
                yield f"{name}, line {number}", text


def _separator(line: str) -> str:
    """Return the separator of the three or four fields of a line: tab, comma, semicolon, or " " for white space."""
    if line.count("\t") == 2:
        return "\t"
    by_blank = BLANK.split(line)
    if len(by_blank) in (3, 4) and not all(field.endswith((",", ";")) for field in by_blank[:-1]):
        return " "
    return next((mark for mark in "\t,;" if len(_split(line, mark)) in (3, 4)), " ")


def _split(line: str, separator: str) -> list[str]:
    if separator == " ":
        return BLANK.split(line)
    fields = line.split("\t") if separator == "\t" else next(csv.reader([line], delimiter=separator))
    return [field.strip(BLANKS) for field in fields]


def _wrong_fields(place: str, fields: Sequence[str], names: Sequence[str]) -> str:
    return f"{place}: expected {len(names)} fields ({' '.join(names)}), found {sum(map(bool, fields))}."


def add_grade(qrels: dict[str, dict[str, int]], query: str, doc: str, grade: int, place: str) -> None:
    """Add a judgement; a repeated one with the same grade is allowed.

    Raises:
        ValueError: the document already has another grade; the message starts with `place`.
    """
    earlier = qrels.setdefault(query, {}).setdefault(doc, grade)
    if earlier != grade:
        raise ValueError(
            f"{place}: document {doc!r} is judged twice for query {query!r}, with the grades {earlier} and {grade}. "
            "Keep one of them."
        )


def read_grade(place: str, text: str) -> int:
    """Return a grade, a whole number of 32 bits; `1.0` is one.

    Raises:
        ValueError: the text is not such a number; the message starts with `place`.
    """
    number = re.fullmatch(r"([+-]?[0-9]{1,20})([.]0*)?", text)
    if number is None or abs(int(number[1])) > LARGEST_GRADE:
        raise ValueError(f"{place}: the grade must be a whole number of 32 bits, not {text[:60]!r}.")
    return int(number[1])


def _qrels_lines(qrels: Mapping[str, Mapping[str, int]]) -> str:
    lines = []
    for query, docs in qrels.items():
        lines += [f"{_first_field(query)} 0 {require_field(doc)} {int(grade)}\n" for doc, grade in docs.items()]
    return "".join(lines)


def _first_field(name: object) -> str:
    """Return a query's id as the first field of a line, which would be a comment if it began with ``#``."""
    text = require_field(name)
    if text.startswith("#"):
        raise ValueError(f"{text!r} cannot be written to a TREC file: a line that begins with # is a comment.")
    return text


def require_field(name: object) -> str:
    """Return an id or tag as a field of a line; raise ValueError if it is empty or has white space."""
    text = str(name)
    if not text or BLANK.search(text):
        raise ValueError(
            f"{text!r} cannot be written to a TREC file: ids and tags must have no blanks and not be empty."
        )
    return text
