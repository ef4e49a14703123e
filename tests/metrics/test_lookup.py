"""Hits: judged rows looked up by their marks, against a plain search."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.metrics import average_precision, evaluate, find_hits, lookup
from tests.metrics.samples import random_run


@pytest.mark.parametrize("width", [2, 100])
@pytest.mark.parametrize("bits", [24, 25, 31, 32, 33, 56, 57])
def test_ids_that_agree_in_their_lower_bits_are_told_apart(bits, width):
    """Ids would be cut to what fits 32 or 64 bits and taken for the same document."""
    big, rest = 1 << bits, np.arange(100, 98 + width)
    for ranking, qrels, values in (
        ([big + 5, 7], {5: 1, 7: 1}, [0.5, 0.5]),
        ([5, big + 5], {big + 5: 1}, [1, 0.5]),
        ([5, 7], {big + 5: 1, 7: 1}, [0.5, 0.5]),
    ):
        means = evaluate(np.array([[*ranking, *rest]]), [qrels], ["recall", "mrr"], [width]).mean
        assert list(means.values()) == values
    with pytest.raises(ValueError, match=f"{big + 5} twice"):
        evaluate(np.array([[big + 5, big + 5, *rest]]), [{5: 1}], "recall", [width])


@pytest.mark.parametrize("offset", [0, 1 << 23, 1 << 31, 1 << 40, (1 << 63) - 1000])
@pytest.mark.parametrize(("width", "most"), [(1, 30), (12, 20), (12, 21), (100, 1), (100, 40)])
def test_hits_are_those_of_a_plain_search(width, most, offset):
    """A judged row would be missed or given to another query, at some width or size of the ids."""
    rng = np.random.default_rng([width, most])
    ids = np.array([rng.permutation(150)[:width] for _ in range(40)]) + offset
    for row in range(20):
        ids[row, rng.integers(1, width + 1) :] = rng.choice([-1, -9])
    qrels = [
        {
            int(doc) + offset: int(grade)
            for doc, grade in zip(rng.permutation(150)[:n], rng.integers(-2, 4, n), strict=True)
        }
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


@pytest.mark.parametrize("offset", [0, 1 << 40, (1 << 63) - 1000])
@pytest.mark.parametrize("width", [12, 100])
def test_a_repeated_id_is_named_with_its_query(width, offset):
    """A repetition far from its like, or beside padding, would go unseen or be told of another query."""
    ids = np.tile(np.arange(width), (30, 1)) + offset
    qrels = [{7 + offset: 1}] * 30
    find_hits(ids, qrels, width)
    ids[17, -1] = ids[17, 0]
    with pytest.raises(ValueError, match=f"query 17 holds {offset} twice"):
        find_hits(ids, qrels, width)
    ids[3, 5:] = -1
    with pytest.raises(ValueError, match=f"query 17 holds {offset} twice"):
        find_hits(ids, qrels, width)
    ids[17, -1], ids[18, 0] = width + offset, -1
    with pytest.raises(ValueError, match="query 18 has padding"):
        find_hits(ids, qrels, width)


def test_blocks_do_not_change_values(monkeypatch):
    """Rankings split over several blocks would be matched with the wrong query."""
    qrels, ids, scores = random_run("many relevant", 3)
    names = ["recall@100", "ndcg@10", "map@100"]
    whole = evaluate(ids, qrels, names, scores=scores).per_query
    monkeypatch.setattr(lookup, "BLOCK", 300)
    parts = evaluate(ids, qrels, names, scores=scores).per_query
    assert all(np.array_equal(whole[name], parts[name]) for name in names)
    twice = np.tile(ids[:, :50], (1, 2))
    with pytest.raises(ValueError, match="twice"):
        evaluate(twice, qrels, names)


@pytest.mark.parametrize("most", [3, 200, 300, 70_000])
def test_queries_with_few_and_with_many_judgements_mix(most):
    """The number of a judgement would overflow, or a query with few would get those of its neighbour."""
    ids = np.array([[0, 1, 2, 3, 4]] * 4)
    qrels = [{4: 1}, {doc: 1 for doc in range(most, -1, -1)}, {7: 1}, {1: 1, 3: 2}]
    values = evaluate(ids, qrels, ["precision@5", "mrr@5"]).per_query
    assert values["precision@5"].tolist() == [1 / 5, min(5, most + 1) / 5, 0, 2 / 5]
    assert values["mrr@5"].tolist() == [1 / 5, 1, 0, 1 / 2]


@pytest.mark.parametrize("marks", [1, 64])
def test_a_mark_of_another_pair_is_no_hit(monkeypatch, marks):
    """Where marks are few, pairs share them, and a row that is not judged for the query would count as judged."""
    monkeypatch.setattr(lookup, "MARKS", marks)
    qrels, ids, scores = random_run("graded", 5)
    found = evaluate(ids, qrels, "recall@100", scores=scores).per_query["recall@100"]
    share = [
        len(set(row.tolist()) & relevant) / max(1, len(relevant))
        for row, relevant in zip(
            ids, ({doc for doc, grade in judged.items() if grade > 0} for judged in qrels), strict=True
        )
    ]
    assert found.tolist() == share


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
