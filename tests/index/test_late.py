"""MaxSim: the sum over query tokens of the best cosine with a passage token."""

import numpy as np
import pytest

from helpers.embeddings import TokenVectors
from helpers.index import build_index, late, maxsim, search


@pytest.mark.parametrize("at_once", [1 << 23, 12, 1])
def test_maxsim_equals_the_hand_calculation(at_once, monkeypatch):
    """The sum of best cosines per query token; summed per passage token, or over one text's end, it would differ.

    Computed for all passages at once, for two of them, and one by one.
    """
    monkeypatch.setattr(late, "_COSINES_AT_ONCE", at_once)
    queries = TokenVectors(np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32), np.array([2, 1]))
    passages = TokenVectors(np.array([[0.8, 0.6], [0, -1], [0, 1], [1, 0]], np.float32), np.array([1, 2, 1]))
    # Query 0 = (1,0), (0,1). Passage 0: .8 + .6. Passage 1: max(0, 0) + max(-1, 1). Passage 2: 1 + 0.
    # Query 1 = (.6,.8).      Passage 0: .48 + .48.  Passage 1: max(-.8, .8).        Passage 2: .6.
    np.testing.assert_allclose(maxsim(queries, passages), [[1.4, 1.0, 1.0], [0.96, 0.8, 0.6]], rtol=1e-6)


def test_the_index_ranks_by_maxsim_with_ties_by_ascending_id():
    """Late interaction must come through the same two calls as every other index, and in the same order."""
    queries = TokenVectors(np.array([[1, 0], [0.6, 0.8]], np.float32), np.array([1, 1]))
    passages = TokenVectors(np.array([[0, 1], [1, 0], [1, 0], [0, -1]], np.float32), np.array([1, 1, 1, 1]))
    scores, ids = search(build_index(passages, "MaxSim"), queries, 3)
    assert ids.tolist() == [[1, 2, 0], [0, 1, 2]]
    np.testing.assert_allclose(scores, [[1, 1, 0], [0.8, 0.6, 0.6]], rtol=1e-6)
