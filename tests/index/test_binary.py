"""One bit a dimension: what the signs find, what scoring the best in full repairs, and what is refused."""

import faiss
import numpy as np
import pytest

from helpers.index import build_index, search


@pytest.fixture
def passages() -> np.ndarray:
    """Give 200 vectors of 32 dimensions."""
    return np.random.default_rng(0).standard_normal((200, 32)).astype(np.float32)


@pytest.fixture
def queries() -> np.ndarray:
    """Give 20 others."""
    return np.random.default_rng(1).standard_normal((20, 32)).astype(np.float32)


def test_signs_alone_rank_by_the_number_that_differ(passages, queries):
    """A bit taken from the wrong dimension, or a distance taken for a similarity, would go unnoticed."""
    scores, ids = search(build_index(passages, "Binary:rescore=0"), queries, 10)
    distance = ((queries[:, None] > 0) != (passages[None] > 0)).sum(axis=2)
    assert np.array_equal(-scores, np.take_along_axis(distance, ids, axis=1))
    assert np.array_equal(-scores[:, -1], np.sort(distance, axis=1)[:, 9])


def test_scoring_every_candidate_is_exact(passages, queries):
    """What is scored in full must come in the order of a flat index, ties and all, with its scores."""
    passages[7] = passages[100]
    expected = search(build_index(passages), queries, 10)
    scores, ids = search(build_index(passages, "Binary:rescore=20"), queries, 10)
    assert np.array_equal(ids, expected[1])
    np.testing.assert_allclose(scores, expected[0], rtol=1e-5)


def test_so_many_candidates_for_each_result_are_rescored(passages, queries):
    """`rescore=4` would stand for other than the 4 · k passages whose signs differ least."""
    candidates = search(build_index(passages, "Binary:rescore=0"), queries, 40)[1]
    scores = np.take_along_axis(queries @ passages.T, candidates, axis=1)
    best = np.take_along_axis(candidates, np.argsort(-scores, axis=1)[:, :10], axis=1)
    assert np.array_equal(search(build_index(passages, "Binary:rescore=4"), queries, 10)[1], best)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("Binary:rescore=-1", "at least 0"),
        ("Binary:rescore=2.5", "whole number"),
        ("Binary:candidates=3", "no setting 'candidates'"),
        ("Binary:rescore", "name=number"),
        ("IVF4,Flat:efSearch=3", "no setting 'efSearch'"),
        ("Flat:nprobe=many", "name=number"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(passages, factory, message):
    """A misspelt setting would leave the index at its default, and the lesson would print that as another row."""
    with pytest.raises(ValueError, match=message):
        build_index(passages, factory)


def test_a_passage_takes_a_bit_for_each_dimension(passages):
    """The report and lesson 06 would give another memory than the signs take."""
    assert build_index(passages, "Binary").sa_code_size() == passages.shape[1] / 8


def test_dimensions_that_fill_no_bytes_are_refused():
    """Signs of the last dimensions would be padded, and counted."""
    with pytest.raises(ValueError, match="multiple of 8"):
        build_index(np.ones((3, 6), np.float32), "Binary")


def test_settings_of_faiss_are_set(passages, queries):
    """The factory string's settings must reach the index, and inside a refined one the index that is searched first."""
    exact = search(build_index(passages), queries, 10)[1]
    assert np.array_equal(search(build_index(passages, "IVF4,Flat:nprobe=4"), queries, 10)[1], exact)
    index = build_index(passages, "IVF4,SQ8,Refine(Flat):nprobe=3,k_factor_rf=7")
    assert (index.k_factor, faiss.extract_index_ivf(index).nprobe) == (7, 3)
    assert build_index(passages, "HNSW16:efSearch=99").hnsw.efSearch == 99


def test_equal_passages_come_by_ascending_id():
    """Which of several copies is found would depend on where it lies in a block."""
    vector = np.random.default_rng(2).standard_normal((1, 384)).astype(np.float32)
    scores, ids = search(build_index(np.repeat(vector, 50, 0), "Binary:rescore=2"), vector, 5)
    assert ids.tolist() == [[0, 1, 2, 3, 4]]
    assert len(set(scores[0].tolist())) == 1


def test_shards_are_taken_as_one_array(passages, queries):
    """A generator of shards, which any other index takes, would end in a stack trace."""
    expected = search(build_index(passages, "Binary"), queries, 10)
    for shards in ([passages[:50], passages[50:]], (part for part in (passages[:50], passages[50:]))):
        found = search(build_index(shards, "Binary"), queries, 10)
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(found[1], expected[1])
