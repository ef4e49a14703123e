"""Stages of a pipeline: what it could deliver at best, and which stage loses an answer."""

import itertools

import numpy as np
import pytest

from helpers.data import RetrievalDataset
from helpers.metrics import evaluate
from helpers.systems.stages import best_possible, ideal_order, lost_by_stage, trace, union


def collection(qrels: list[dict[int, int]], passages: int = 8) -> RetrievalDataset:
    """Return a data set with such judgements; its texts are of no matter."""
    corpus = [f"passage {number}" for number in range(passages)]
    queries = [f"query {number}" for number in range(len(qrels))]
    return RetrievalDataset("stages", queries, corpus, qrels, queries, [f"p{number}" for number in range(passages)])


def test_oracle_is_the_best_of_all_orders():
    """A ceiling that some reranker can exceed would stop work that pays, one too high would start other work."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        qrels = [{int(p): int(rng.integers(0, 4)) for p in rng.choice(8, 4, replace=False)}]
        qrels[0][int(rng.integers(8))] = 2
        ids = rng.choice(8, (1, 5), replace=False)
        orders = np.array(list(itertools.permutations(ids[0])))
        for metric in ("ndcg@3", "mrr@3", "recall@2", "map@5"):
            best = evaluate(orders, qrels * len(orders), metric).per_query[metric].max()
            assert evaluate(ideal_order(ids, collection(qrels)), qrels, metric).mean[metric] == best


def test_ceiling_of_a_hand_worked_ranking():
    """The depth to rerank would be chosen from wrong numbers."""
    data = collection([{0: 1, 5: 2}, {3: 1}])
    ids = np.array([[1, 0, 2, 5], [4, 6, 7, -1]])
    table = best_possible(ids, data, [2, 4], ["mrr@2"])
    assert table.loc[2].tolist() == [0.25, 0.5]
    assert table.loc[4].tolist() == [0.5, 0.5]
    for depth in (1, 5):
        with pytest.raises(ValueError, match=f"depth {depth}: the ranking has 4 candidates"):
            best_possible(ids, data, [depth], ["mrr@2"])


def test_union_takes_turns_and_has_each_passage_once():
    """A candidate that two systems retrieve would count twice, or one system's would be left out."""
    first, second = np.array([[0, 1, 2], [3, -1, -1]]), np.array([[1, 4], [3, 5]])
    assert union(first, second).tolist() == [[0, 1, 4, 2], [3, 5, -1, -1]]


def test_each_answer_is_lost_where_it_was_lost():
    """A stage would be blamed for what another one did, and repaired in vain."""
    data = collection([{0: 1}, {1: 1}, {2: 1}, {3: 1}, {4: 1}, {5: 1, 6: 1, 7: 0}])
    retrieved = np.array([[1, 2, 3, 0], [1, 2, 3, 0], [0, 1, 3, 2], [3, 0, 1, 2], [0, 1, 2, 3], [0, 5, 6, 7]])
    fused = np.array([[1, 2, 3], [1, 2, 3], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 6, 5]])
    reranked = np.array([[2, 3, 1], [2, 3, 1], [1, 0, 2], [1, 2, 0], [2, 1, 0], [6, 0, 5]])
    followed = trace(retrieved, {"fusion": fused, "reranker": reranked}, data, k=2)
    fusion, reranker = "lost by fusion", "lost by reranker"
    outcomes = [fusion, reranker, "cut off", fusion, "not retrieved", "cut off", "delivered"]
    assert followed["outcome"].tolist() == outcomes
    assert followed.loc[1, ["fusion", "reranker"]].tolist() == [1, 3]
    shares = lost_by_stage(followed)
    assert (shares.name, shares.index.name) == ("queries", "outcome")
    expected = {"not retrieved": 1, fusion: 2, reranker: 1, "cut off": 1, "delivered": 1}
    assert shares.to_dict() == pytest.approx({name: count / 6 for name, count in expected.items()})
    alone = lost_by_stage(trace(retrieved, {"alone": retrieved}, data, k=4))
    assert alone.tolist() == pytest.approx([1 / 6, 0, 0, 5 / 6])  # nothing is lost by the stage, nor cut off


def test_without_relevant_passages_the_table_is_empty_and_has_its_columns():
    """Losses of a part of the queries that has no relevant passage would end in a missing column."""
    followed = trace(np.array([[0]]), {"fusion": np.array([[0]])}, collection([{0: 0}]), 1)
    assert (len(followed), list(followed)) == (0, ["query", "passage", "grade", "fusion", "outcome"])


def test_stages_that_do_not_belong_together_are_refused():
    """Ranks of other queries or of passages from nowhere would be followed without a word."""
    data = collection([{0: 1}, {1: 1}])
    ids = np.array([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match="fusion ranks 1 queries, the data has 2"):
        trace(ids, {"fusion": ids[:1]}, data, 1)
    with pytest.raises(ValueError, match="fusion, query 1: passage 5 is not among the candidates"):
        trace(ids, {"fusion": np.array([[0, 1], [5, 2]])}, data, 1)
