"""Search over vectors that stay where they are."""

import numpy as np
import pytest

from helpers.index import blocks, build_index, search


class Shards:
    """Twelve vectors in three shards, two of them equal, and how often they were read."""

    def __init__(self):
        """Draw them."""
        self.all = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)
        self.all[9] = self.all[2]
        self.read = 0

    def __len__(self):
        """How many vectors."""
        return 12

    def __iter__(self):
        """Give the shards."""
        self.read += 1
        return iter([self.all[:5], self.all[5:6], self.all[6:]])


@pytest.mark.parametrize("block", [1, 5, 6, 100])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_blocks_give_what_a_flat_index_gives(block, k, monkeypatch):
    """A passage at the edge of a block would be lost, counted from the block's start, or win its tie by chance."""
    monkeypatch.setattr(blocks, "BLOCK", block)
    shards = Shards()
    queries = np.vstack([shards.all[2], np.random.default_rng(1).standard_normal((3, 4))]).astype(np.float32)
    expected = search(build_index(shards.all, "Flat"), queries, k)
    for _ in range(2):
        scores, ids = search(build_index(shards, "Blocks"), queries, k)
        np.testing.assert_array_equal(ids, expected[1])
        np.testing.assert_allclose(scores, expected[0], rtol=1e-6)
    assert shards.read == 2
