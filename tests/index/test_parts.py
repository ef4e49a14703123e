"""Several indexes over parts of a corpus, searched as one."""

import numpy as np
import pytest

from helpers.index import build_index, merge, search, search_parts

VECTORS = np.random.default_rng(1).integers(-1, 2, (300, 6)).astype(np.float32)  # many equal inner products
QUERIES = np.random.default_rng(2).integers(-1, 2, (50, 6)).astype(np.float32)
STARTS = (0, 7, 8, 150)


def parts(factory: str):
    """Load an index a part, one at a time."""
    for first, end in zip(STARTS, [*STARTS[1:], len(VECTORS)], strict=True):
        yield first, build_index(VECTORS[first:end], factory)


@pytest.mark.parametrize("factory", ["Flat", "Blocks", "HNSW8"])
@pytest.mark.parametrize("k", [1, 10, 300])
def test_parts_give_what_the_whole_gives(factory, k):
    """A passage at the edge of a part would be lost, or equal scores come in the order of the parts."""
    if factory == "HNSW8":
        k = min(k, 3)
    found = search_parts(parts(factory), QUERIES, k)
    expected = search(build_index(VECTORS), QUERIES, k)
    assert np.array_equal(found[0], expected[0])
    if factory != "HNSW8":  # which of equal neighbours it meets is its own choice
        assert np.array_equal(found[1], expected[1])


def test_words_are_searched_in_parts_too():
    """Padding of a part, -1, would be counted on to the row of a passage."""
    corpus = ["apple bread", "cat", "apple", "dog", "fish"]
    indexes = [(0, build_index(corpus[:2], "TF-IDF")), (2, build_index(corpus[2:], "TF-IDF"))]
    _, ids = search_parts(indexes, ["apple"], 3)
    assert ids.tolist() == [[2, 0, -1]]


@pytest.mark.parametrize("k", [0, 301, True])
def test_k_out_of_range_is_refused(k):
    """More than all parts hold would be padded with what is taken for passages."""
    with pytest.raises(ValueError, match="whole number from 1 to"):
        search_parts(parts("Flat"), QUERIES, k)


def test_nothing_cannot_be_merged():
    """A search over no parts at all is a fault before it, such as an empty folder."""
    with pytest.raises(ValueError, match="at least one part"):
        merge([], 3)
