"""What LlamaIndex, LangChain and Haystack retrieve, as spans of the judged documents.

Nothing is imported from them: the adapters read the attributes that their results have. Each splitter must be asked
to note where a chunk begins: LangChain's with ``add_start_index=True``, the others do by themselves.
"""

from collections.abc import Sequence
from typing import Any

from helpers.data.spans import Span, SpanDataset, check_span


def from_llamaindex(nodes: Sequence[Any], data: SpanDataset) -> list[Span]:
    """Read a list of ``NodeWithScore``: the document is the node's ``ref_doc_id``."""
    return [
        _span(result.node.ref_doc_id, result.node.start_char_idx, result.node.text, data, "start_char_idx")
        for result in nodes
    ]


def from_langchain(documents: Sequence[Any], data: SpanDataset, source: str = "source") -> list[Span]:
    """Read a list of ``Document``: its metadata name the document (key ``source``) and its ``start_index``."""
    return [
        _span(chunk.metadata.get(source), chunk.metadata.get("start_index"), chunk.page_content, data, "start_index")
        for chunk in documents
    ]


def from_haystack(documents: Sequence[Any], data: SpanDataset) -> list[Span]:
    """Read a list of ``Document`` as ``DocumentSplitter`` makes them: ``source_id`` and ``split_idx_start``."""
    return [
        _span(chunk.meta.get("source_id"), chunk.meta.get("split_idx_start"), chunk.content, data, "split_idx_start")
        for chunk in documents
    ]


def _span(document: str | None, start: int | None, text: str, data: SpanDataset, key: str) -> Span:
    """Return the span of a chunk; its text must be what the document has there, or every number would be wrong."""
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
