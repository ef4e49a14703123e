"""Part of an index: the same results as an index of that part alone, and nothing silently short."""

import numpy as np
import pytest

from helpers.index import PartialIndex, build_index, search

ROWS = np.random.default_rng(3).permutation(300)[:90]


@pytest.fixture
def vectors() -> np.ndarray:
    """Give 300 vectors of small whole numbers: many equal inner products."""
    return np.random.default_rng(1).integers(-1, 2, (300, 6)).astype(np.float32)


@pytest.mark.parametrize("k", [1, 7, 90])
@pytest.mark.parametrize("factory", ["Flat", "IVF4,Flat", "HNSW64"])
def test_a_part_is_searched_as_if_it_were_all(vectors, factory, k):
    """A small corpus cut from a large index would give other passages than its own index, or the large one's rows."""
    index = build_index(vectors, factory)
    if factory.startswith("IVF"):
        index.nprobe = 4
    if factory.startswith("HNSW"):
        index.hnsw.efSearch = 300
    scores, ids = search(PartialIndex(index, ROWS), vectors[:50], k=k)
    alone = search(build_index(vectors[ROWS]), vectors[:50], k=k)
    assert np.array_equal(scores, alone[0])
    assert np.array_equal(ids, alone[1])


@pytest.mark.parametrize("nprobe", [1, 30])
def test_a_setting_of_the_index_holds_for_its_part(nprobe):
    """An IVF index told to look into one cluster would look into another number of them, and seem better or worse."""
    vectors = np.random.default_rng(4).standard_normal((300, 6)).astype(np.float32)
    index = build_index(vectors, "IVF30,Flat")
    index.nprobe = nprobe
    found = PartialIndex(index, range(300)).search(vectors[:50], 3)[1]
    assert np.array_equal(found, index.search(vectors[:50], 3)[1])


def test_too_few_in_the_clusters_looked_into_is_an_error(vectors):
    """Rows would be filled up with -1, which counts as a passage that is not relevant."""
    part = PartialIndex(build_index(vectors, "IVF30,Flat"), ROWS)
    with pytest.raises(ValueError, match="fewer than k=60 passages"):
        search(part, vectors[:5], k=60)


@pytest.mark.parametrize("rows", [[], [0, 300], [-1, 2], [5, 1, 5]])
def test_rows_that_are_none_are_refused(vectors, rows):
    """A row twice, or of another corpus, would shift every id behind it."""
    with pytest.raises(ValueError, match="expected some of the rows 0 to 299, each once"):
        PartialIndex(build_index(vectors), rows)


def test_an_index_that_cannot_be_searched_in_part_is_named(vectors):
    """FAISS's own message says nothing of what to do."""
    with pytest.raises(ValueError, match="cannot be searched in part; use 'Flat'"):
        PartialIndex(build_index(vectors, "PCA4,Flat"), ROWS)
