"""Long documents in the report: cut into chunks to rank, and the evidence that reaches a reader within a budget."""

import re

import numpy as np

from helpers.chunks import Chunker, evidence, paragraphs, sections, sentences, tokens, whole
from helpers.data.spans import Span, SpanDataset
from helpers.report.results import Results

CHUNKERS: dict[str, Chunker] = {
    "sentences": sentences, "paragraphs": paragraphs, "sections": sections, "whole": whole,
}  # fmt: skip
SPAN_ID = re.compile(r"(.+):([0-9]+)-([0-9]+)", re.DOTALL)  # document:start-end, as chunks are named


def read_chunker(text: str) -> Chunker:
    """Read how documents are cut: a name, a number of tokens, or that number and the overlap, ``100/50``.

    Raises:
        ValueError: neither.
    """
    if text in CHUNKERS:
        return CHUNKERS[text]
    if not re.fullmatch(r"[0-9]+(/[0-9]+)?", text):
        raise ValueError(f"--chunks {text!r}: expected {', '.join(CHUNKERS)}, or tokens and overlap such as 100/50.")
    return tokens(*map(int, text.split("/")))


def evidence_of(results: Results, documents: SpanDataset, budget: int) -> dict[str, dict[str, np.ndarray]]:
    """Measure what each system hands over, see :func:`helpers.chunks.evidence`: columns (q,), by system.

    A run may have cut the documents in its own way: an id ``document:start-end`` that is no chunk of this collection
    is read as that span.

    Raises:
        ValueError: an id of a run that is of another form, or names another document.
    """
    rows = {name: row for row, name in enumerate(documents.document_ids)}
    measured: dict[str, dict[str, np.ndarray]] = {}
    for name in results.scored:
        result = results.results[name]
        if result.ranking is not None:
            retrieved = [
                [_span(str(result.doc_ids[place]), rows, name) for place in ranking if place >= 0]
                for ranking in result.ranking.ids.tolist()
            ]
            table = evidence(documents, retrieved, budget)
            measured[name] = {column: table[column].to_numpy() for column in table}
    return measured


def _span(chunk: str, rows: dict[str, int], system: str) -> Span:
    match = SPAN_ID.fullmatch(chunk)
    if match is None or match[1] not in rows:
        raise ValueError(
            f"{system}: {chunk!r} names no characters of a document; expected document:start-end, "
            f"such as {next(iter(rows))}:0-100."
        )
    return Span(rows[match[1]], int(match[2]), int(match[3]))


def means(columns: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the mean of each column; of ``first`` the median over the queries that get any evidence, else NaN."""
    found = columns["first"][~np.isnan(columns["first"])]
    averages = {name: float(values.mean()) for name, values in columns.items() if name != "first"}
    return averages | {"first": float(np.median(found)) if len(found) else float("nan")}
