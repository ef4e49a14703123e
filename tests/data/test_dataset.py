"""A collection: what it must look like, how it is built and cut, and what is said when it would score wrongly."""

from dataclasses import replace

import pytest

from helpers.data import RetrievalDataset, from_ids


def tiny(**changes) -> RetrievalDataset:
    """Make a collection of two queries and three passages, with some fields replaced."""
    qrels, ids = [{0: 3, 2: 1}, {1: 2, 0: 0}], (["q1", "q2"], ["p1", "p2", "p3"])
    data = RetrievalDataset("tiny", ["one", "two"], ["uno", "dos", "tres"], qrels, *ids, relevance_level=2)
    return replace(data, **changes)


def test_subset_follows_its_rows():
    """Embeddings taken at the same rows must belong to the passages of the subset."""
    part = tiny().subset([2, 0])
    assert (part.corpus, part.corpus_ids) == (["tres", "uno"], ["p3", "p1"])
    assert part.qrels == [{1: 3, 0: 1}, {1: 0}]
    assert part.subset([0]).all_passages == 3, "the passages that were there before anything was left out"
    assert tiny().relevant_rows() == [0, 1]
    assert "p1" not in repr(tiny()), "a cell that ends in a data set would print the ids of millions"
    assert tiny().relevant_rows(1) == [0]


def test_relevance_follows_the_level():
    """A passage of a lower grade would count as an answer, or be listed before a better one."""
    assert [tiny().relevant(row) for row in range(2)] == [[0], [1]]
    assert [tiny(relevance_level=1).relevant(row) for row in range(2)] == [[0, 2], [1]]


def test_ids_of_rows_are_listed_once():
    """A report on 300,000 judgements of as many documents would list all of them 300,000 times, and never end."""
    data = from_ids("t", {"q": "one"}, {"p": "uno"}, {"q": {"p": 1, "absent": 2}})
    assert data.doc_ids == ["p", "absent"]
    assert data.doc_ids is data.doc_ids


def test_digest_tells_collections_apart():
    """Provenance would name two different collections alike."""
    assert tiny().sha256 == tiny().sha256
    assert tiny().sha256 != tiny(qrels=[{0: 3, 2: 0}, {1: 2, 0: 0}]).sha256
    assert tiny(queries=["哪里", "two"]).sha256.startswith("9776f806d6475557"), "the digest of reports made earlier"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": [], "qrels": [], "query_ids": []}, "No query at all"),
        ({"corpus": [], "corpus_ids": []}, "No passage at all"),
        ({"queries": ["one", None]}, "query 1 is missing"),
        ({"corpus": ["uno", float("nan"), "tres"]}, "passage 1 is missing"),
        ({"corpus": ["uno", 7, "tres"]}, "passage 1 is of type int"),
        ({"queries": ["one", " \n"]}, "query 1 is blank"),
        ({"queries": "ab"}, "Expected a list of texts, not the one query text"),
        ({"qrels": [{0: 1}]}, "judgements for 1 queries, but 2"),
        ({"qrels": [{0: 1}, {3: 1}]}, r"query 1 name passage rows \[3\].*rows 0 to 2"),
        ({"query_ids": ["q1"]}, "1 query ids for 2 texts"),
    ],
)
def test_a_collection_that_would_score_wrongly_is_refused(changes, message):
    """Any of these, let through, ends in a number that looks right and is not."""
    with pytest.raises(ValueError, match=message):
        tiny(**changes)


@pytest.mark.parametrize("limit", [0, -1, 2.5, True, "10"])
def test_limits_are_whole_numbers_of_at_least_one(limit):
    """A limit of 0 or -1 would slice away queries from the wrong end."""
    with pytest.raises(ValueError, match=r"max_queries=.*whole number"):
        tiny().first(max_queries=limit)


@pytest.mark.parametrize("rows", [[0, 0, 1], [-1, 0], [0, 3]])
def test_a_subset_takes_each_row_once(rows):
    """A judgement would go to the passage beside the one that was judged, or be lost."""
    with pytest.raises(ValueError, match="each once"):
        tiny().subset(rows)
