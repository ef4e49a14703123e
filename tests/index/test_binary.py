"""One bit a dimension: what the signs find, what scoring the best in full repairs, and what is refused."""

import faiss
import numpy as np
import pytest

from helpers.index import build_index, search

RNG = np.random.default_rng(0)
PASSAGES = RNG.standard_normal((200, 32)).astype(np.float32)
QUERIES = RNG.standard_normal((20, 32)).astype(np.float32)


def test_signs_alone_rank_by_the_number_that_differ():
    """A bit taken from the wrong dimension, or a distance taken for a similarity, would go unnoticed."""
    index = build_index(PASSAGES, "Binary:rescore=0")
    scores, ids = search(index, QUERIES, 10)
    distance = ((QUERIES[:, None] > 0) != (PASSAGES[None] > 0)).sum(axis=2)
    assert np.array_equal(-scores, np.take_along_axis(distance, ids, axis=1))
    assert np.array_equal(-scores[:, -1], np.sort(distance, axis=1)[:, 9])
    assert index.sa_code_size() == 32 / 8  # the bytes that lesson 6 prints


def test_so_many_candidates_for_each_result_are_rescored():
    """`rescore=4` would stand for other than the 4 · k passages whose signs differ least; of all it is exact."""
    candidates = search(build_index(PASSAGES, "Binary:rescore=0"), QUERIES, 40)[1]
    scores = np.take_along_axis(QUERIES @ PASSAGES.T, candidates, axis=1)
    best = np.take_along_axis(candidates, np.argsort(-scores, axis=1)[:, :10], axis=1)
    assert np.array_equal(search(build_index(PASSAGES, "Binary:rescore=4"), QUERIES, 10)[1], best)
    tied = np.vstack([PASSAGES, PASSAGES])
    expected = search(build_index(tied), QUERIES, 10)
    scores, ids = search(build_index([tied[:50], tied[50:]], "Binary:rescore=40"), QUERIES, 10)
    assert np.array_equal(ids, expected[1])
    np.testing.assert_allclose(scores, expected[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("Binary:rescore=-1", "at least 0"),
        ("Binary:rescore=2.5", "whole number"),
        ("Binary:candidates=3", "no setting 'candidates'"),
        ("Blocks:corpus_size=3", "no setting 'corpus_size'"),
        ("Binary:rescore", "name=number"),
        ("IVF4,Flat:efSearch=3", "no setting 'efSearch'"),
        ("Flat:nprobe=many", "name=number"),
    ],
)
def test_what_means_nothing_is_refused(factory, message):
    """A misspelt setting would leave the index at its default, and the lesson would print that as another row.

    Signs of dimensions that fill no bytes would be padded, and counted.
    """
    with pytest.raises(ValueError, match=message):
        build_index(PASSAGES, factory)
    with pytest.raises(ValueError, match="multiple of 8"):
        build_index(PASSAGES[:, :6], "Binary")


def test_settings_of_faiss_are_set():
    """The factory string's settings must reach the index, and inside a refined one the index that is searched first."""
    index = build_index(PASSAGES, "IVF4,SQ8,Refine(Flat):nprobe=3,k_factor_rf=7")
    assert (index.k_factor, faiss.extract_index_ivf(index).nprobe) == (7, 3)
    assert build_index(PASSAGES, "HNSW16:efSearch=99").hnsw.efSearch == 99


def test_equal_passages_come_by_ascending_id():
    """Which of several copies is found would depend on where it lies in a block."""
    vector = np.random.default_rng(2).standard_normal((1, 384)).astype(np.float32)
    scores, ids = search(build_index(np.repeat(vector, 50, 0), "Binary:rescore=2"), vector, 5)
    assert ids.tolist() == [[0, 1, 2, 3, 4]]
    assert len(set(scores[0].tolist())) == 1
