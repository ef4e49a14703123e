"""Hits: judged rows looked up in the rankings, against a plain search."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.metrics import average_precision, evaluate, find_hits, inputs


@pytest.mark.parametrize("bits", [24, 32, 57])
def test_ids_that_agree_in_their_lower_bits_are_told_apart(bits):
    """Ids would be cut to what fits 32 or 64 bits and taken for the same document."""
    big = 1 << bits
    for ranking, qrels, values in (([big + 5, 7], {5: 1, 7: 1}, [0.5, 0.5]), ([5, big + 5], {big + 5: 1}, [1, 0.5])):
        assert list(evaluate(np.array([ranking]), [qrels], ["recall", "mrr"], [2]).mean.values()) == values


@pytest.mark.parametrize("offset", [0, 1 << 31, (1 << 63) - 1000])
@pytest.mark.parametrize(("width", "most"), [(1, 30), (12, 21), (100, 40)])
def test_hits_are_those_of_a_plain_search(width, most, offset, monkeypatch):
    """A judged row would be missed or given to another query, at some width or size of the ids, or in a later block."""
    monkeypatch.setattr(inputs, "BLOCK", 200)
    rng = np.random.default_rng([width, most])
    ids = np.array([rng.permutation(150)[:width] for _ in range(40)]) + offset
    for row in range(20):
        ids[row, rng.integers(1, width + 1) :] = rng.choice([-1, -9])
    qrels = [
        dict(zip((rng.permutation(150)[:n] + offset).tolist(), rng.integers(-2, 4, n).tolist(), strict=True))
        for n in [most, *rng.integers(0, most + 1, 39).tolist()]
    ]
    hits = find_hits(ids, qrels, width)
    matched = zip(hits.judged.query.tolist(), hits.judged.rank.tolist(), hits.judged.grade.tolist(), strict=True)
    plain = [
        (query, rank, qrels[query][doc])
        for query, ranking in enumerate(ids.tolist())
        for rank, doc in enumerate(ranking, 1)
        if doc in qrels[query]
    ]
    assert sorted(matched) == plain
    assert np.all(np.diff(hits.judged.rank) >= 0)
    assert hits.retrieved.tolist() == np.count_nonzero(ids >= 0, axis=1).tolist()


def test_a_repeated_id_is_named_with_its_query():
    """A repetition far from its like would go unseen or be told of another query."""
    ids, qrels = np.tile(np.arange(12), (30, 1)), [{7: 1}] * 30
    ids[3, 5:] = -1
    assert find_hits(ids, qrels, 12).judged.query.tolist() == [query for query in range(30) if query != 3]
    ids[17, -1] = ids[17, 0]
    with pytest.raises(ValueError, match="query 17 holds 0 twice"):
        find_hits(ids, qrels, 12)
    ids[17, -1], ids[18, 0] = 12, -1
    with pytest.raises(ValueError, match="query 18 has padding"):
        find_hits(ids, qrels, 12)


def test_ranks_beyond_16_bits_are_kept_in_order():
    """A hit below rank 65,535 would come out at another rank, or before one above it."""
    depth = 70_000
    relevant = [[depth - 1, 65_535, 65_536, 3]]
    for ranking in (np.arange(depth)[None], [list(range(depth))]):
        for last in (65_535, 65_536):
            assert find_hits(ranking, [[3, last - 1]], last).relevant.rank.tolist() == [4, last]
        hits = find_hits(ranking, relevant, depth)
        assert hits.relevant.rank.tolist() == [4, 65_536, 65_537, depth]
        assert hits.relevant.so_far.tolist() == [1, 2, 3, 4]
        assert average_precision(hits, depth)[0] == (1 / 4 + 2 / 65_536 + 3 / 65_537 + 4 / depth) / 4
