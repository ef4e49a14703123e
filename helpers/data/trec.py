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
SIX = ("query", "Q0", "document", "rank", "score", "tag")
BLANKS = " \t\r\n\v\f"  # separate fields, as in trec_eval; others may be part of an id
BLANK = re.compile(f"[{BLANKS}]+")


def read_qrels(path: PathLike) -> dict[str, dict[str, int]]:
    """Read judgements: TREC's `query 0 document grade`, or BEIR's `query document grade`.

    The first line tells which, and whether blanks, tabs, commas or semicolons separate the fields; Excel's `sep=;` may
    stand above it. Where tabs or commas do, ids may hold blanks. A first line without a number is a header.

    Raises:
        ValueError: no judgements, a line with another number of fields, a grade that is not a whole number of 32
            bits (`1.0` is one), a document with two grades; the message starts with file and line number.
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
    """Read a run file. As in trec_eval the order comes from the scores; the rank column is not used.

    An empty run is warned of.

    Raises:
        ValueError: a line without six fields, a score that is not a finite number, a document retrieved twice;
            the message starts with file and line number.
    """
    run: dict[str, dict[str, float]] = {}
    for place, line in _lines(path):
        fields = BLANK.split(line)
        if len(fields) != len(SIX):
            raise ValueError(_wrong_fields(place, fields, SIX))
        query, _, doc, _, score, _ = fields
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in score:
            raise ValueError(f"{place}: the score must be a finite number, not {score[:60]!r}.")
        if doc in run.setdefault(query, {}):
            raise ValueError(f"{place}: document {doc!r} is retrieved twice for query {query!r}.")
        run[query][doc] = value
    if not run:
        warnings.warn(f"{Path(path).name!r}: the run is empty; every judged query will score 0.", stacklevel=2)
    return run


def write_qrels(path: PathLike, qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Write `{query: {doc: grade}}`, in the order given."""
    write_text(path, _qrels_lines(qrels))


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
    write_text(path, "".join(lines))


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
    """One dict {row: grade} per query, as `RetrievalDataset.qrels` has them, keyed by text like `as_run`."""
    names = query_ids if query_ids is not None else range(len(qrels))
    return {
        str(query): {str(doc_ids[doc] if doc_ids is not None else doc): int(grade) for doc, grade in docs.items()}
        for query, docs in zip(names, qrels, strict=False)
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
        write_text(Path(folder) / name, text)


def _lines(path: PathLike) -> Iterator[tuple[str, str]]:
    """Each line that is not blank, without the blanks around it, and its place (`file:line`)."""
    name = repr(Path(path).name)
    with open_text(Path(path)) as lines:
        for number, line in enumerate(lines, 1):
            if text := line.strip(BLANKS):
                yield f"{name}, line {number}", text


def _separator(line: str) -> str:
    """Return what separates three or four fields of a first line: tabs, commas, semicolons, or " " for any blanks."""
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
    """Enter a judgement; the same one may come again.

    Raises:
        ValueError: the document has another grade already; the message starts with `place`.
    """
    earlier = qrels.setdefault(query, {}).setdefault(doc, grade)
    if earlier != grade:
        raise ValueError(
            f"{place}: document {doc!r} is judged twice for query {query!r}, with the grades {earlier} and {grade}. "
            "Keep one of them."
        )


def read_grade(place: str, text: str) -> int:
    """Read a grade, a whole number of 32 bits; `1.0` is one.

    Raises:
        ValueError: it is none; the message starts with `place`.
    """
    number = re.fullmatch(r"([+-]?[0-9]{1,20})([.]0*)?", text)
    if number is None or abs(int(number[1])) > LARGEST_GRADE:
        raise ValueError(f"{place}: the grade must be a whole number of 32 bits, not {text[:60]!r}.")
    return int(number[1])


def _qrels_lines(qrels: Mapping[str, Mapping[str, int]]) -> str:
    lines = []
    for query, docs in qrels.items():
        lines += [f"{require_field(query)} 0 {require_field(doc)} {int(grade)}\n" for doc, grade in docs.items()]
    return "".join(lines)


def require_field(name: object) -> str:
    """Return an id or tag as one field of a line. Raises ValueError if it has blanks or is empty."""
    text = str(name)
    if not text or BLANK.search(text):
        raise ValueError(
            f"{text!r} cannot be written to a TREC file: ids and tags must have no blanks and not be empty."
        )
    return text
