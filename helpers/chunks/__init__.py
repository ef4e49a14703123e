"""Long documents: chunking, judgements on spans, and the evidence within a reader's budget of tokens.

Its modules::

    chunkers   functions from a text to its chunks, and cut, which checks that no text is lost
    evidence   chunks as a collection, documents ranked by their best chunk, evidence within a budget of tokens
    adapters   the results of LlamaIndex, LangChain and Haystack as spans
"""

from helpers.chunks.chunkers import Chunker, cut, paragraphs, sections, sentences, token_starts, tokens, whole
from helpers.chunks.evidence import as_collection, best_documents, evidence

__all__ = [
    "Chunker",
    "as_collection",
    "best_documents",
    "cut",
    "evidence",
    "paragraphs",
    "sections",
    "sentences",
    "token_starts",
    "tokens",
    "whole",
]
