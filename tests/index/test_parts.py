"""Rankings of parts of a corpus, merged into that of the whole."""

import numpy as np
import pytest

from helpers.index import build_index, search
from helpers.index.order import merge

VECTORS = np.random.default_rng(1).integers(-1, 2, (300, 6)).astype(np.float32)  # many equal inner products
QUERIES = np.random.default_rng(2).integers(-1, 2, (50, 6)).astype(np.float32)
STARTS = (0, 7, 8, 150)


@pytest.mark.parametrize("k", [1, 10, 300])
def test_parts_give_what_the_whole_gives(k):
    """A passage at the edge of a part would be lost, or equal scores come in the order of the parts."""
    parts = []
    for first, end in zip(STARTS, [*STARTS[1:], len(VECTORS)], strict=True):
        scores, ids = search(build_index(VECTORS[first:end]), QUERIES, min(k, end - first))
        parts.append((scores, ids + first))
    expected = search(build_index(VECTORS), QUERIES, k)
    for order in (parts, parts[::-1]):
        found = merge(order, k)
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(found[1], expected[1])


def test_padding_stays_last():
    """Padding of a part, -1, would push out passages of the others."""
    one = np.array([[0.5, 0.0]], np.float32), np.array([[1, -1]])
    two = np.array([[-0.5, -1.0]], np.float32), np.array([[3, 2]])
    assert merge([one, two], 4)[1].tolist() == [[1, 3, 2, -1]]


def test_nothing_cannot_be_merged():
    """A search over no parts at all is a fault before it, such as an empty folder."""
    with pytest.raises(ValueError, match="at least one part"):
        merge([], 3)
