"""Read and write qrels and runs in TREC's text formats, so that trec_eval and any other tool can check us.

A qrels line is `query 0 document grade`, a run line `query Q0 document rank score tag`, both separated by blanks
or tabs. In memory both are dicts by query: `{query: {doc: grade}}` and `{query: {doc: score}}`, all ids text,
which `helpers.metrics.evaluate` takes as they are.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers.files import whole_file

if TYPE_CHECKING:
    from helpers.data import RetrievalDataset

__all__ = ["as_qrels", "as_run", "export", "read_qrels", "read_run", "write_qrels", "write_run"]

PathLike = str | os.PathLike[str]


def read_qrels(path: PathLike) -> dict[str, dict[str, int]]:
    """Read a qrels file.

    Raises:
        ValueError: a line without four fields, a grade that is not a whole number, a document judged twice; the
            message starts with file and line number.
    """
    qrels: dict[str, dict[str, int]] = {}
    for where, (query, _, doc, grade) in _fields(path, ("query", "0", "document", "grade")):
        if not re.fullmatch(r"[+-]?[0-9]+", grade):
            raise ValueError(f"{where}: the grade must be a whole number, not {grade!r}.")
        _add(qrels, query, doc, int(grade), f"{where}: document {doc!r} is judged twice for query {query!r}.")
    return qrels


def read_run(path: PathLike) -> dict[str, dict[str, float]]:
    """Read a run file. As in trec_eval the order comes from the scores; the rank column is not used.

    Raises:
        ValueError: a line without six fields, a score that is not a finite number, a document retrieved twice;
            the message starts with file and line number.
    """
    run: dict[str, dict[str, float]] = {}
    for where, (query, _, doc, _, score, _) in _fields(path, ("query", "Q0", "document", "rank", "score", "tag")):
        try:
            value = float(score)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in score:
            raise ValueError(f"{where}: the score must be a finite number, not {score!r}.")
        _add(run, query, doc, value, f"{where}: document {doc!r} is retrieved twice for query {query!r}.")
    return run


def write_qrels(path: PathLike, qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Write `{query: {doc: grade}}`, in the order given."""
    lines = [
        f"{_token(query)} 0 {_token(doc)} {int(grade)}\n"
        for query, docs in qrels.items()
        for doc, grade in docs.items()
    ]
    _write(path, lines)


def write_run(path: PathLike, run: Mapping[str, Mapping[str, float]], tag: str = "run") -> None:
    """Write `{query: {doc: score}}` ranked as trec_eval ranks: score descending, then id as text descending."""
    lines = []
    for query, docs in run.items():
        with np.errstate(over="ignore"):
            order = sorted(docs.items(), key=lambda item: (np.float32(item[1]), str(item[0])), reverse=True)
        for rank, (doc, score) in enumerate(order, 1):
            if not math.isfinite(score):
                raise ValueError(f"Document {doc!r} of query {query!r} has the score {score}: it must be finite.")
            lines.append(f"{_token(query)} Q0 {_token(doc)} {rank} {float(score)!r} {_token(tag)}\n")
    _write(path, lines)


def as_run(
    ids: np.ndarray, scores: np.ndarray, query_ids: Sequence | None = None, doc_ids: Sequence | None = None
) -> dict[str, dict[str, float]]:
    """The arrays of a search, ids and scores of shape (q, k), as a run keyed by text. Padding (-1) is left out.

    Row numbers serve as ids unless `query_ids` (q) and `doc_ids` (one for each row of the corpus) name them.
    """
    ids, scores = np.asarray(ids), np.asarray(scores)
    if ids.shape != scores.shape or ids.ndim != 2 or ids.dtype.kind not in "iu":
        raise ValueError(
            f"ids must be integers (q, k) and scores of the same shape; found {ids.dtype} {ids.shape} and "
            f"{scores.dtype} {scores.shape}. FAISS returns (scores, ids), in that order."
        )
    run: dict[str, dict[str, float]] = {}
    for row, (ranking, values) in enumerate(zip(ids.tolist(), scores.tolist(), strict=True)):
        query = _name(row, query_ids)
        run[query] = {}
        for doc, score in zip(ranking, values, strict=True):
            if doc >= 0:
                name = _name(doc, doc_ids)
                _add(run, query, name, score, f"Document {name!r} is retrieved twice for query {query!r}.")
    return run


def as_qrels(
    qrels: Sequence[Mapping[int, int]], query_ids: Sequence | None = None, doc_ids: Sequence | None = None
) -> dict[str, dict[str, int]]:
    """One dict {row: grade} per query, as `RetrievalDataset.qrels` has them, keyed by text like `as_run`."""
    return {
        _name(row, query_ids): {_name(doc, doc_ids): int(grade) for doc, grade in docs.items()}
        for row, docs in enumerate(qrels)
    }


def export(data: RetrievalDataset, folder: PathLike) -> None:
    """Write a collection for other tools: the layout of BEIR, and the judgements in TREC's as well.

    BEIR: `corpus.jsonl` {_id, title, text}, `queries.jsonl` {_id, text}, `qrels/dev.tsv` with a header line.
    TREC: `qrels/dev.qrels`. The title is left empty, since a passage of the collection begins with its own.
    """
    folder = Path(folder)
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    corpus = ({"_id": name, "title": "", "text": text} for name, text in zip(data.corpus_ids, data.corpus, strict=True))
    queries = ({"_id": name, "text": text} for name, text in zip(data.query_ids, data.queries, strict=True))
    for name, records in (("corpus", corpus), ("queries", queries)):
        _write(folder / f"{name}.jsonl", (json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    qrels = as_qrels(data.qrels, data.query_ids, data.corpus_ids)
    rows = [f"{query}\t{doc}\t{grade}\n" for query, docs in qrels.items() for doc, grade in docs.items()]
    _write(folder / "qrels" / "dev.tsv", ["query-id\tcorpus-id\tscore\n", *rows])
    write_qrels(folder / "qrels" / "dev.qrels", qrels)


def _fields(path: PathLike, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each line's place (`file:line`) and fields. Lines are split at ASCII blanks only, as trec_eval does."""
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            where = f"{os.fspath(path)}:{number}"
            try:
                fields = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
            except UnicodeDecodeError:
                raise ValueError(f"{where}: the line is not UTF-8 text.") from None
            parts = re.split(r"[ \t\r\n\v\f]+", fields.strip(" \t\r\n\v\f"))
            if parts == [""]:
                continue
            if len(parts) != len(names):
                raise ValueError(f"{where}: expected {len(names)} fields ({' '.join(names)}), found {len(parts)}.")
            yield where, parts


def _add(table: dict[str, dict], query: str, doc: str, value: float, message: str) -> None:
    """Enter a value, or raise the message if the document is there already."""
    docs = table.setdefault(query, {})
    if doc in docs:
        raise ValueError(message)
    docs[doc] = value


def _name(row: int, names: Sequence | None) -> str:
    """The id of a row as text."""
    return str(row if names is None else names[row])


def _token(name: object) -> str:
    """An id or tag as one field of a line."""
    text = str(name)
    if not text or re.search(r"[ \t\r\n\v\f]", text):
        raise ValueError(
            f"{text!r} cannot be written to a TREC file: ids and tags must have no blanks and not be empty."
        )
    return text


def _write(path: PathLike, lines: Iterable[str]) -> None:
    """Write lines as UTF-8 with Unix line ends, the whole file or none of it."""
    with whole_file(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8", newline="\n")
