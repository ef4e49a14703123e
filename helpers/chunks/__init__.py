"""Long documents: cut into chunks, judged by spans, and measured by what reaches a reader.

chunkers   functions from a text to its chunks, and cut, which checks that they lose no text
evidence   chunks as a collection to rank, documents by their best chunk, and evidence within a budget of tokens
adapters   what LlamaIndex, LangChain and Haystack retrieve, as spans
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
