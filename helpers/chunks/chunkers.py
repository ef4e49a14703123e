"""Chunkers: functions from a text to the ``(start, end)`` of its chunks, and `cut`, which applies one to documents."""

import itertools
import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from helpers._scripts import sentence_end, token
from helpers.data.spans import Span, SpanDataset

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
        lost = [place for place, sign in enumerate(text) if not covered[place] and not sign.isspace()]
        if lost:
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
