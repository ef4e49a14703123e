"""Long documents: chunking, judgements on spans, and the evidence within a reader's budget of tokens.

A chunker such as `paragraphs` is a function from a text to the bounds of its chunks: (start, end) in characters, end
exclusive. `cut` applies one to documents, and `as_collection` makes of the chunks passages to rank.
"""

# chunkers   functions from a text to its chunks, and cut, which checks that no text is lost
# evidence   chunks as a collection, documents ranked by their best chunk, evidence within a budget of tokens

from helpers.chunks.budget import as_collection, best_documents, evidence
from helpers.chunks.chunkers import Chunker, cut, paragraphs, sections, sentences, token_starts, tokens, whole

__all__ = [
    "Chunker", "as_collection", "best_documents", "cut", "evidence", "paragraphs", "sections", "sentences",
    "token_starts", "tokens", "whole",
]  # fmt: skip
