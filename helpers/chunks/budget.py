"""Evaluate chunks: as a collection, by document, and by the evidence within a reader's budget of tokens."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from helpers.chunks.chunkers import token_starts
from helpers.data import RetrievalDataset
from helpers.data.spans import Span, SpanDataset, check_span

if TYPE_CHECKING:
    import pandas as pd


def as_collection(data: SpanDataset, chunks: Sequence[Span], share: float = 0.5) -> RetrievalDataset:
    """Return a collection whose passages are chunks, for any system and metric.

    The grade of a chunk is the highest of the spans of which it contains at least ``share`` of the characters.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share={share}: expected more than 0 and at most 1.")
    rows_of: dict[int, list[int]] = {}  # the chunks of each document
    for row, chunk in enumerate(chunks):
        rows_of.setdefault(chunk.document, []).append(row)
    qrels: list[dict[int, int]] = []
    for spans in data.spans:
        judged: dict[int, int] = {}
        for span in spans:
            for row in rows_of.get(span.document, ()):
                common = min(span.end, chunks[row].end) - max(span.start, chunks[row].start)
                if common >= share * (span.end - span.start):
                    judged[row] = max(span.grade, judged.get(row, 0))
        qrels.append(dict(sorted(judged.items())))
    return RetrievalDataset(
        name=data.name,
        queries=data.queries,
        corpus=[data.documents[chunk.document][chunk.start : chunk.end] for chunk in chunks],
        qrels=qrels,
        query_ids=data.query_ids,
        corpus_ids=[f"{data.document_ids[c.document]}:{c.start}-{c.end}" for c in chunks],
    )


def best_documents(ids: np.ndarray, chunks: Sequence[Span]) -> np.ndarray:
    """Rank documents by their best chunk: (q, m) rows of documents, from a ranking of chunks (q, k), padded with -1."""
    rows = [list(dict.fromkeys(chunks[chunk].document for chunk in ranking if chunk >= 0)) for ranking in ids]
    ranked = np.full((len(ids), max(map(len, rows), default=0)), -1, np.int64)
    for query, documents in enumerate(rows):
        ranked[query, : len(documents)] = documents
    return ranked


def evidence(data: SpanDataset, retrieved: Sequence[Sequence[Span]], budget: int) -> "pd.DataFrame":
    """Measure the evidence that reaches a reader, or a language model, within a budget of tokens: one row per query.

    The reader gets the chunks retrieved for each query, best first, until the budget is spent; the last one is cut off
    there. Evidence is the tokens of spans with a grade above 0. Columns:

    * ``answered``: 1 if the reader gets a whole span of the query's highest grade, else 0;
    * ``recall``: the share of the evidence that the reader gets;
    * ``precision``: distinct evidence tokens / tokens that the reader gets;
    * ``first``: the number of tokens before the first evidence, NaN if there is none;
    * ``repeated``: the share of the reader's tokens that are repetitions, from overlapping chunks.

    Recall and precision over spans follow Smith and Troynikov, Evaluating Chunking Strategies for Retrieval (2024),
    who count tokens of all retrieved chunks; here a budget is fixed instead of a number of chunks, since long chunks
    would win by their length alone. Tokens are those of :func:`helpers.chunks.token_starts`.
    """
    import pandas as pd

    if len(retrieved) != len(data.queries):
        raise ValueError(f"retrieved: {len(retrieved)} queries, the data has {len(data.queries)}.")
    starts = [np.array(token_starts(text)) for text in data.documents]

    def tokens_of(span: Span) -> list[tuple[int, int]]:
        first, last = np.searchsorted(starts[span.document], [span.start, span.end])
        return [(span.document, token) for token in range(first, last)]

    rows = []
    for query, (chunks, spans) in enumerate(zip(retrieved, data.spans, strict=True)):
        read: list[tuple[int, int]] = []
        for chunk in chunks:
            check_span(f"retrieved, query {query}", chunk, data.documents)
            read += tokens_of(chunk)
            if len(read) >= budget:
                break
        read = read[:budget]
        distinct, highest = set(read), max((span.grade for span in spans), default=0)
        answers = [set(tokens_of(span)) for span in spans if span.grade == highest > 0]
        relevant = {token for span in spans if span.grade > 0 for token in tokens_of(span)}
        if not relevant:
            raise ValueError(f"{data.name}: query {data.query_ids[query]!r} has no span with a grade above 0.")
        rows.append(
            {
                "answered": float(any(answer <= distinct for answer in answers)),
                "recall": len(relevant & distinct) / len(relevant),
                "precision": len(relevant & distinct) / max(len(read), 1),
                "first": next((float(place) for place, token in enumerate(read) if token in relevant), np.nan),
                "repeated": 1 - len(distinct) / max(len(read), 1),
            }
        )
    return pd.DataFrame(rows, index=pd.Index(data.query_ids, name="query"))
