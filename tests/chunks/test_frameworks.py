"""The adapters on what LlamaIndex, LangChain and Haystack really retrieve. `make test-slow`: it installs all three."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("llama-index-core", "langchain-core", "langchain-text-splitters", "haystack-ai", "numpy", "pandas")
SCRIPT = """
from helpers.chunks import evidence
from helpers.chunks.adapters import from_haystack, from_langchain, from_llamaindex
from helpers.data.spans import load_spans

data = load_spans("pages-en")
documents = dict(zip(data.document_ids, data.documents))
queries = data.queries[:5]

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter
splitter = RecursiveCharacterTextSplitter(chunk_size=600, chunk_overlap=100, add_start_index=True)
texts = [Document(page_content=text, metadata={"source": name}) for name, text in documents.items()]
store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
store.add_documents(splitter.split_documents(texts))
found = {"LangChain": [from_langchain(store.similarity_search(q, k=8), data) for q in queries]}

from haystack import Document
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
store = InMemoryDocumentStore()
splitter = DocumentSplitter(split_by="word", split_length=100, split_overlap=20)
store.write_documents(splitter.run([Document(id=name, content=text) for name, text in documents.items()])["documents"])
bm25 = InMemoryBM25Retriever(store, top_k=8)
found["Haystack"] = [from_haystack(bm25.run(query=q)["documents"], data) for q in queries]

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
nodes = SentenceSplitter(chunk_size=200, chunk_overlap=20).get_nodes_from_documents(
    [Document(id_=name, text=text) for name, text in documents.items()]
)
retriever = VectorStoreIndex(nodes, embed_model=MockEmbedding(8)).as_retriever(similarity_top_k=8)
found["LlamaIndex"] = [from_llamaindex(retriever.retrieve(q), data) for q in queries]

from dataclasses import replace
five = replace(data, queries=queries, spans=data.spans[:5], query_ids=data.query_ids[:5])
for name, spans in found.items():
    print(name, sum(map(len, spans)), evidence(five, spans, 500)["recall"].mean())
"""


@pytest.mark.slow
def test_adapters_read_what_the_real_packages_retrieve(tmp_path):
    """A new version of a framework could name its attributes otherwise, and the adapters would fail at a reader's."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "-q", "--link-mode", "copy", "--python", python, *PACKAGES],
        check=True,
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HAYSTACK_TELEMETRY_ENABLED": "False"}
    done = subprocess.run([python, "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}
    assert counts == {"LangChain": 40, "Haystack": 40, "LlamaIndex": 40}
