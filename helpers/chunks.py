"""Long documents: chunking, judgements on spans, and the evidence within a reader's budget of tokens.

A chunker such as `paragraphs` is a function from a text to the bounds of its chunks: (start, end) in characters, end
exclusive. `cut` applies one to documents, and `as_collection` makes of the chunks passages to rank.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from helpers._scripts import sentence_end, token
from helpers.data import RetrievalDataset
from helpers.data.spans import Span, SpanDataset, check_span

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Chunker", "as_collection", "best_documents", "cut", "evidence", "paragraphs", "sections", "sentences",
    "token_starts", "tokens", "whole",
]  # fmt: skip

Bounds: TypeAlias = list[tuple[int, int]]
Chunker: TypeAlias = Callable[[str], Bounds]


def token_starts(text: str) -> list[int]:
    """Return where the tokens of a text begin: words, numbers, single characters of Chinese and other single signs.

    In all scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Myanmar) a character is a token; marks, such as
    the vowel signs of Hindi, belong to what they follow. The rule needs no model. The tokenizers of language models
    split rare words, so their counts are somewhat larger.
    """
    return [match.start() for match in token().finditer(text)]


def whole(text: str) -> Bounds:
    """Return the whole text as one chunk."""
    return _trimmed(text, [0, len(text)])


def sections(text: str) -> Bounds:
    """Split before each Markdown heading (a line that begins with ``#``, outside of code)."""
    return _trimmed(text, [0, *_headings(text), len(text)])


def paragraphs(text: str) -> Bounds:
    """Split at blank lines; a heading is joined with the next paragraph."""
    headings = set(_headings(text))
    pieces = _trimmed(text, [0, *(match.end() for match in re.finditer(r"\n\s*\n", text)), len(text)])
    joined: Bounds = []
    for start, end in pieces:
        if joined and joined[-1][0] in headings and "\n" not in text[slice(*joined[-1])]:
            start = joined.pop()[0]
        joined.append((start, end))
    return joined


def sentences(text: str) -> Bounds:
    """Split after each sentence and at each line end; what closes a quotation or bracket stays with its sentence.

    Sentences end as Unicode says (Sentence_Terminal: 。 । ؟ ።), after . ! ? only before a space.
    """
    return _trimmed(text, [0, *(match.end() for match in sentence_end().finditer(text)), len(text)])


def tokens(size: int, overlap: int = 0) -> Chunker:
    """Return a chunker with chunks of ``size`` tokens, of which neighbours share ``overlap``."""
    if size < 1 or not 0 <= overlap < size:
        raise ValueError(f"size={size}, overlap={overlap}: expected a size of at least 1 and 0 <= overlap < size.")

    def chunker(text: str) -> Bounds:
        starts = token_starts(text)
        firsts = range(0, max(len(starts) - overlap, 1), size - overlap)
        ends = [*starts, len(text)]
        return [_trim(text, ends[first], ends[min(first + size, len(starts))]) for first in firsts]

    return chunker


def cut(data: SpanDataset, chunker: Chunker) -> list[Span]:
    """Return the chunks of all documents, in the order of the documents.

    ``chunker`` is any function from a text to the bounds of its chunks, (start, end) in characters, end exclusive, such
    as :func:`paragraphs` or ``tokens(200)``. ValueError if a chunk is empty or out of range, or a character other than
    white space is in no chunk and could never be retrieved.
    """
    chunks = []
    for row, text in enumerate(data.documents):
        bounds, place = chunker(text), f"document {data.document_ids[row]!r}"
        covered = bytearray(len(text))
        for start, end in bounds:
            if not 0 <= start < end <= len(text):
                raise ValueError(
                    f"{place}: the chunker returned ({start}, {end}) for a text of {len(text)} characters."
                )
            covered[start:end] = b"\1" * (end - start)
        if lost := [place for place, sign in enumerate(text) if not covered[place] and not sign.isspace()]:
            raise ValueError(
                f"{place}: the chunker loses {len(lost)} of {len(text)} characters, the first at {lost[0]}: "
                f"{text[lost[0] : lost[0] + 30]!r}."
            )
        chunks += [Span(row, start, end) for start, end in bounds]
    return chunks


def _headings(text: str) -> list[int]:
    """Return where the headings begin, outside of code."""
    headings, start, in_code = [], 0, False
    for line in text.splitlines(keepends=True):
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code:
            headings.append(start)
        start += len(line)
    return headings


def _trimmed(text: str, bounds: Sequence[int]) -> Bounds:
    """Return the pieces between neighbouring bounds, stripped of white space, without blank ones."""
    return [_trim(text, start, end) for start, end in itertools.pairwise(bounds) if text[start:end].strip()]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


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
    size = len(rows), max(map(len, rows), default=0)
    return np.array([*itertools.zip_longest(*rows, fillvalue=-1)], np.int64).T.reshape(size)


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
