"""Search over vectors that stay where they are."""

import numpy as np
import pytest

from helpers.index import build_index, dense, search
from helpers.index.order import merge


@pytest.mark.parametrize("block", [1, 5, 6, 100])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_blocks_give_what_a_flat_index_gives(block, k, monkeypatch):
    """A passage at the edge of a block would be lost, counted from the block's start, or win its tie by chance."""
    monkeypatch.setattr(dense, "BLOCK", block)
    vectors = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)
    vectors[9] = vectors[2]
    queries = np.vstack([vectors[2], np.random.default_rng(1).standard_normal((3, 4))]).astype(np.float32)
    expected = search(build_index(vectors, "Flat"), queries, k)
    index = build_index([vectors[:5], vectors[5:6], vectors[6:]], "Blocks")
    for _ in range(2):
        scores, ids = search(index, queries, k)
        np.testing.assert_array_equal(ids, expected[1])
        np.testing.assert_allclose(scores, expected[0], rtol=1e-6)


def test_blocks_give_the_scores_of_a_flat_index_to_the_last_bit(monkeypatch):
    """A ranking would depend on whether the corpus fits into memory; large products round otherwise than small ones."""
    monkeypatch.setattr(dense, "BLOCK", 2048)
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((66_001, 16)).astype(np.float32)
    vectors[60_007] = vectors[13]
    queries = np.vstack([vectors[13], rng.standard_normal((269, 16))]).astype(np.float32)
    assert 256 * len(vectors) > dense.BLAS_FROM
    expected = search(build_index(vectors), queries, 10)
    for shards in (vectors, np.array_split(vectors, 13)):
        found = search(build_index(shards, "Blocks"), queries, 10)
        assert np.array_equal(found[1], expected[1])
        assert np.array_equal(found[0], expected[0])
    assert expected[1][0, :2].tolist() == [13, 60_007]
    part = search(dense.BlockIndex(vectors[:20_480], corpus_size=len(vectors)), queries, 10)
    scores, ids = search(dense.BlockIndex(vectors[20_480:], corpus_size=len(vectors)), queries, 10)
    found = merge([part, (scores, ids + 20_480)], 10)
    assert np.array_equal(found[1], expected[1])
    assert np.array_equal(found[0], expected[0])


def test_one_block_is_in_memory_at_a_time(monkeypatch):
    """Vectors larger than memory would be gathered in it before the search, or the scores of all queries with all."""
    monkeypatch.setattr(dense, "BLOCK", 1024)
    searched = []
    real = dense._Block.search
    monkeypatch.setattr(
        dense._Block,
        "search",
        lambda self, queries, k: searched.append((len(self.vectors), len(queries))) or real(self, queries, k),
    )
    vectors = np.random.default_rng(0).standard_normal((5000, 4)).astype(np.float32)
    search(build_index(vectors, "Blocks"), vectors[:500], 3, batch_size=100)
    assert max(searched) == (1024, 100)
    first, second, *_ = build_index(np.array_split(vectors, 9), "Blocks")._blocks(4)
    assert np.shares_memory(first, second)
