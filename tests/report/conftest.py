"""Comparisons that several tests look at; whoever changes one takes a copy."""

import pytest

from helpers.report import Comparison, compare
from tests.systems.samples import collection, numbered, shifted, write_embeddings, write_foreign_run


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Compare a run of another engine, embeddings and BM25 on the tiny collection."""
    folder = tmp_path_factory.mktemp("compared")
    run, vectors = write_foreign_run(folder / "theirs.trec"), write_embeddings(folder / "vectors")
    return compare([str(run), str(vectors), "bm25"], collection())


@pytest.fixture(scope="session")
def clear() -> Comparison:
    """Compare two systems of which one is right on all of twelve queries and the other on none."""
    return compare({"good": shifted(12, 0), "bad": shifted(12, 1)}, numbered(12), 1)
