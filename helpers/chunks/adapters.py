"""Convert the results of LlamaIndex, LangChain and Haystack to spans of the judged documents.

The libraries are not imported; the adapters read attributes of their results. The splitters must record where a chunk
begins: LangChain's with ``add_start_index=True``, the others do so by default.
"""

from collections.abc import Sequence
from typing import Any

from helpers.data.spans import Span, SpanDataset, check_span


def from_llamaindex(nodes: Sequence[Any], data: SpanDataset) -> list[Span]:
    """Convert a list of ``NodeWithScore``; ``ref_doc_id`` of a node is the document id."""
    return [
        _span(result.node.ref_doc_id, result.node.start_char_idx, result.node.text, data, "start_char_idx")
        for result in nodes
    ]


def from_langchain(documents: Sequence[Any], data: SpanDataset, source: str = "source") -> list[Span]:
    """Convert a list of ``Document``, whose metadata have the document id (key ``source``) and ``start_index``."""
    return [
        _span(chunk.metadata.get(source), chunk.metadata.get("start_index"), chunk.page_content, data, "start_index")
        for chunk in documents
    ]


def from_haystack(documents: Sequence[Any], data: SpanDataset) -> list[Span]:
    """Convert a list of ``Document`` from ``DocumentSplitter``, with ``source_id`` and ``split_idx_start``."""
    return [
        _span(chunk.meta.get("source_id"), chunk.meta.get("split_idx_start"), chunk.content, data, "split_idx_start")
        for chunk in documents
    ]


def _span(document: str | None, start: int | None, text: str, data: SpanDataset, key: str) -> Span:
    """Return the span of a chunk; raise ValueError if its text differs from the document's."""
    if document not in data.document_ids:
        raise ValueError(f"a chunk of document {document!r}; {data.name} has no such id.")
    if start is None:
        raise ValueError(f"a chunk of document {document!r} without {key!r}; ask the splitter to note it.")
    row = data.document_ids.index(document)
    span = Span(row, int(start), int(start) + len(text))
    check_span(f"a chunk of document {document!r}", span, data.documents)
    if data.documents[row][span.start : span.end] != text:
        raise ValueError(
            f"document {document!r} has {data.documents[row][span.start : span.start + 40]!r} at {start}, "
            f"the chunk {text[:40]!r}; the splitter changed the text or counted from elsewhere."
        )
    return span
