"""Relevance judgements on spans of characters in documents.

A judgement on a chunk is void once the documents are chunked differently; a judgement on a span of the document holds
for every chunking, see :mod:`helpers.chunks`.
"""

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from helpers.data.build import Reading, texts_by_id
from helpers.data.bundled import FOLDER
from helpers.data.dataset import check_texts
from helpers.data.formats import Table, find_file, read_table

BUNDLED = ("pages-en", "pages-zh")
COLUMNS = ("query", "document", "start", "end", "grade")


class Span(NamedTuple):
    """The characters ``start`` to ``end`` (exclusive) of a document, given by its row, and their relevance grade."""

    document: int
    start: int
    end: int
    grade: int = 1


@dataclass(frozen=True)
class SpanDataset:
    """Queries, documents, and the spans that answer each query, one list per query in the order of ``queries``."""

    name: str
    queries: list[str]
    documents: list[str]
    spans: list[list[Span]]
    query_ids: list[str] = field(repr=False)
    document_ids: list[str] = field(repr=False)

    def __post_init__(self) -> None:
        """Raise ValueError for blank texts, and for spans that are blank or out of range."""
        check_texts("query", self.queries)
        check_texts("document", self.documents)
        if len(self.spans) != len(self.queries):
            raise ValueError(f"{self.name}: spans for {len(self.spans)} queries, but {len(self.queries)} queries.")
        for query, spans in zip(self.query_ids, self.spans, strict=True):
            for span in spans:
                check_span(f"{self.name}, query {query!r}", span, self.documents)

    def __repr__(self) -> str:
        """Return name and size without the texts."""
        count = sum(map(len, self.spans))
        return (
            f"SpanDataset({self.name!r}: {len(self.queries)} queries, {len(self.documents)} documents, {count} spans)"
        )

    @cached_property
    def sha256(self) -> str:
        """SHA-256 over every text, id and span."""
        parts = [self.queries, self.documents, self.query_ids, self.document_ids, self.spans]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def check_span(place: str, span: Span, documents: list[str]) -> None:
    """Raise ValueError if a span is blank or out of range; the message starts with ``place``."""
    document, start, end = span[:3]
    if not 0 <= document < len(documents):
        raise ValueError(f"{place}: document row {document}; there are rows 0 to {len(documents) - 1}.")
    size = len(documents[document])
    if not 0 <= start < end <= size:
        raise ValueError(
            f"{place}: characters {start} to {end} of document row {document}, which has {size}; "
            "expected 0 <= start < end <= its length."
        )
    if not documents[document][start:end].strip():
        raise ValueError(f"{place}: characters {start} to {end} of document row {document} are blank.")


def load_spans(source: str | Path = "pages-en") -> SpanDataset:
    """Load a collection with judgements on spans: ``pages-en`` or ``pages-zh``, which are bundled, or a folder.

    A folder has the tables ``documents`` and ``queries`` (columns ``_id`` and ``text``) and ``spans`` (``query``,
    ``document``, ``start``, ``end``, ``grade``), each JSONL, CSV, TSV or Parquet. Characters count from 0; ``end``
    is exclusive. An optional column ``text`` repeats the text of the span and is compared with the document, so that an
    edited document is noticed; without ``start`` and ``end`` it is looked for, and must occur once. Without ``grade``
    every span has 1. Columns of other names are not used, and a warning lists them.
    """
    folder = FOLDER / str(source) if str(source) in BUNDLED else Path(source).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"No folder {str(source)!r}; bundled are {' and '.join(BUNDLED)}.")
    tables: dict[str, Table] = {}
    for role in ("documents", "queries", "spans"):
        if (path := find_file(folder, role)) is None:
            raise FileNotFoundError(
                f"{folder.name!r} has no table {role!r}; expected {role}.jsonl, .csv, .tsv or .parquet."
            )
        tables[role] = read_table(path)
    documents = texts_by_id(tables["documents"], "passage", Reading()).by_id
    queries = texts_by_id(tables["queries"], "query", Reading()).by_id
    spans: dict[str, list[Span]] = {query: [] for query in queries}
    for query, span in _spans_of(tables["spans"], queries, documents):
        spans[query].append(span)
    for table in tables.values():
        if unread := table.columns.unread:
            warnings.warn(f"{table.source}: not used: {', '.join(unread)}.", stacklevel=2)
    ids, texts = list(queries), list(documents.values())
    return SpanDataset(str(source), list(queries.values()), texts, list(spans.values()), ids, list(documents))


def _spans_of(marked: Table, queries: Mapping[str, str], documents: Mapping[str, str]) -> Iterator[tuple[str, Span]]:
    by_quotation = "text" in marked.columns and "start" not in marked.columns
    needed = COLUMNS[:2] if by_quotation else COLUMNS[:4]
    if missing := [name for name in needed if name not in marked.columns]:
        raise ValueError(
            f"{marked.source!r}: no column {' and no '.join(map(repr, missing))}; it has {marked.listed}. A column "
            "'text' with a quotation from the document may stand for 'start' and 'end'."
        )
    row_of, texts = {document: row for row, document in enumerate(documents)}, list(documents.values())
    size = len(marked.columns["query"])
    columns = [marked.columns.get(name, [1 if name == "grade" else None] * size) for name in (*COLUMNS, "text")]
    for number, (query, document, *numbers, quote) in enumerate(zip(*columns, strict=True), 1):
        place = f"{marked.source!r}, row {number}"
        for role, name, known in (("query", query, queries), ("document", document, documents)):
            if str(name) not in known:
                raise ValueError(f"{place}: no {role} {name!r}; the first of {len(known)} is {next(iter(known))!r}.")
        if by_quotation:
            text = documents[str(document)]
            if (count := text.count(str(quote))) != 1:
                raise ValueError(
                    f"{place}: {str(quote)[:40]!r} occurs {count} times in the document; quote more or less of it, or "
                    "give 'start' and 'end'."
                )
            numbers[:2] = text.index(str(quote)), text.index(str(quote)) + len(str(quote))
        try:
            start, end, grade = (int(str(value)) for value in numbers)
        except ValueError:
            raise ValueError(f"{place}: start, end, grade are {numbers}; expected whole numbers.") from None
        span = Span(row_of[str(document)], start, end, grade)
        check_span(place, span, texts)
        if quote is not None and (text := texts[span.document][start:end]) != quote:
            raise ValueError(
                f"{place}: document {document!r} has {text[:40]!r} there, not {str(quote)[:40]!r}; the document was "
                "edited after the span was marked."
            )
        yield str(query), span
