"""A run as arrays, read from a file line by line: what retrieval systems of any size write."""

import itertools
import math
import os
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from helpers._io import open_lines, open_text, sha256_of

FIELDS = 6  # query Q0 document rank score tag; trec_eval ignores further ones
COMMENT = b"#"


@dataclass(frozen=True)
class RunTable:
    """A run: n retrieved documents, each with its query and its score, in the order of the file."""

    queries: list[str]  # the distinct ids, in order of appearance
    documents: list[str]
    query: np.ndarray  # rows of these, (n,) int32 each
    document: np.ndarray
    scores: np.ndarray  # (n,) float64
    ranks: np.ndarray  # the rank column, (n,) float32, NaN where it is no number; empty if the run comes from memory
    sha256: str = ""  # of the file

    @classmethod
    def of(cls, run: Mapping[str, Mapping[str, float]]) -> "RunTable":
        """Return the table of ``{query: {doc: score}}``."""
        lengths = [len(docs) for docs in run.values()]
        row_of: dict[str, int] = {}
        rows = [row_of.setdefault(doc, len(row_of)) for docs in run.values() for doc in docs]
        scores = [score for docs in run.values() for score in docs.values()]
        return cls(
            list(run), list(row_of), np.repeat(np.arange(len(run), dtype=np.int32), lengths),
            np.array(rows, dtype=np.int32), np.array(scores, dtype=np.float64), np.empty(0, np.float32),
        )  # fmt: skip

    @classmethod
    def of_rows(cls, ids: np.ndarray, scores: np.ndarray, queries: list[str], documents: list[str]) -> "RunTable":
        """Return the table of a ranking: row numbers and scores, (q, k) each, without padding (-1)."""
        found = ids >= 0
        return cls(queries, documents, np.nonzero(found)[0], ids[found], scores[found].astype(np.float64), np.empty(0))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query: {doc: score}}``."""
        run: dict[str, dict[str, float]] = {query: {} for query in self.queries}
        rows = zip(self.query.tolist(), self.document.tolist(), self.scores.tolist(), strict=True)
        for query, document, score in rows:
            run[self.queries[query]][self.documents[document]] = score
        return run

    @cached_property
    def longest(self) -> int:
        """The largest number of documents of a query."""
        return int(np.bincount(self.query).max(initial=0))

    @cached_property
    def rising(self) -> int:
        """The number of queries whose scores never fall and rise at least once from the first rank to the last.

        Distances do. A query whose ranks are not distinct numbers, as where all are 0, says nothing.
        """
        if not len(self.ranks):
            return 0
        order = np.lexsort((self.ranks, self.query))
        query, ranks, scores = self.query[order], self.ranks[order], self.scores[order]
        same = query[1:] == query[:-1]
        against = same & ((scores[1:] < scores[:-1]) | ~(ranks[1:] > ranks[:-1]))
        rises = same & (scores[1:] > scores[:-1])
        return len(np.setdiff1d(query[1:][rises], query[1:][against]))


def read_run_table(path: str | os.PathLike[str]) -> RunTable:
    """Read a run file; as in trec_eval, scores determine the order, and lines that begin with ``#`` are comments."""
    path = Path(path)
    queries: dict[bytes, int] = {}
    documents: dict[bytes, int] = {}
    query, document, scores, ranks = array("i"), array("i"), array("d"), array("f")
    with open_lines(path) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if not fields or line.startswith(COMMENT):
                continue
            score = _number(fields[4]) if len(fields) >= FIELDS else math.nan
            if not -math.inf < score < math.inf:
                is_json = line.lstrip()[:1] in (b"{", b"[")
                found = "it looks like JSON" if is_json else f"found {len(fields)}"
                reason = (
                    f"expected 6 fields (query Q0 document rank score tag), {found}; helpers.data.trec.write_run "
                    "writes such lines from {query: {document: score}}."
                )
                if len(fields) >= FIELDS and not is_json:
                    reason = f"the score must be a finite number, not {fields[4].decode(errors='replace')[:60]!r}."
                raise _fault(path, number, reason)
            query.append(queries.setdefault(fields[0], len(queries)))
            document.append(documents.setdefault(fields[2], len(documents)))
            scores.append(score)
            ranks.append(_number(fields[3]))
    try:
        query_ids, doc_ids = ([name.decode() for name in ids] for ids in (queries, documents))
    except UnicodeDecodeError:
        raise _fault(path, 1, "an id is not UTF-8.") from None
    del queries, documents
    columns = [np.array(column) for column in (query, document, scores, ranks)]
    table = RunTable(query_ids, doc_ids, columns[0], columns[1], columns[2], columns[3], sha256_of(path))
    pairs = table.query.astype(np.int64) * max(1, len(doc_ids)) + table.document
    ordered = np.sort(pairs)
    if (ordered[1:] == ordered[:-1]).any():
        row = int(np.setdiff1d(np.arange(len(pairs)), np.unique(pairs, return_index=True)[1])[0])
        doc, asked = doc_ids[table.document[row]], query_ids[table.query[row]]
        with open_lines(path) as lines:
            rows = (number for number, line in enumerate(lines, 1) if line.strip() and not line.startswith(COMMENT))
            number = next(itertools.islice(rows, row, None))
        raise _fault(path, number, f"document {doc!r} is retrieved twice for query {asked!r}.")
    return table


def _number(text: bytes) -> float:
    try:
        return math.nan if b"_" in text else float(text)
    except ValueError:
        return math.nan


def _fault(path: Path, number: int, message: str) -> ValueError:
    """Return the error of a line. Raises ValueError instead if the file is not UTF-8, which is the nearer reason."""
    with open_text(path) as lines:
        for _ in lines:
            pass
    return ValueError(f"{path.name!r}, line {number}: {message}")
