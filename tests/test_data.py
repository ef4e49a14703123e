"""Loading: what a collection must look like, from every kind of source, and what is said when it does not."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.data import RetrievalDataset, from_columns, load_dataset


def tiny(**changes) -> RetrievalDataset:
    """Make a collection of two queries and three passages, with some fields replaced."""
    fields = {
        "name": "tiny",
        "queries": ["one", "two"],
        "corpus": ["uno", "dos", "tres"],
        "qrels": [{0: 3, 2: 1}, {1: 2, 0: 0}],
        "query_ids": ["q1", "q2"],
        "corpus_ids": ["p1", "p2", "p3"],
        "relevance_level": 2,
    }
    return RetrievalDataset(**{**fields, **changes})


def hub_folder(folder: Path, rows: list[dict], name: str = "dev.jsonl") -> Path:
    """Write rows as a data set in the hub's layout."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    head = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: dev\n    path: dev.jsonl\n"
    (folder / "README.md").write_text(head + "- config_name: corpus\n  data_files: corpus.jsonl\n---\n")
    return folder


ROWS = [
    {"query": "one", "positive": ["uno", "ein"], "negative": ["tres"]},
    {"query": "two", "positive": ["dos", "uno"], "negative": []},
]


def test_rows_become_one_collection_with_equal_passages_merged(tmp_path):
    """Relevance by text, or a passage kept twice, would let a ranking lose points to its own double."""
    data = load_dataset(hub_folder(tmp_path / "set", ROWS))
    assert data.queries == ["one", "two"]
    assert data.corpus == ["uno", "ein", "tres", "dos"]
    assert data.qrels == [{0: 1, 1: 1, 2: 0}, {3: 1, 0: 1}]
    assert data.name == "set"  # no path of this machine


def test_another_folder_of_the_same_name_is_not_taken_for_this_one(tmp_path):
    """The cache of datasets knows folders by name alone: a reader's edited file would score as its old self."""
    for text in ("first", "second"):
        (tmp_path / text).mkdir()
        data = load_dataset(hub_folder(tmp_path / text / "set", [{"query": "one", "positive": [text]}]))
        assert data.corpus == [text]


def test_limits_keep_the_answers_of_the_kept_queries(tmp_path):
    """Cutting the corpus must never cut away an answer: recall would fall for no fault of the model."""
    data = load_dataset(hub_folder(tmp_path / "set", ROWS), max_queries=1, corpus_queries=2)
    assert data.queries == ["one"]
    assert data.corpus == ["uno", "ein", "dos"]
    assert data.qrels == [{0: 1, 1: 1}]
    assert load_dataset(tmp_path / "set", max_queries=2, corpus_queries=1).corpus == ["uno", "ein", "dos"]


def test_subset_follows_its_rows():
    """Embeddings taken at the same rows must belong to the passages of the subset."""
    part = tiny().subset([2, 0])
    assert (part.corpus, part.corpus_ids) == (["tres", "uno"], ["p3", "p1"])
    assert part.qrels == [{1: 3, 0: 1}, {1: 0}]
    assert tiny().relevant_rows() == [0, 1]
    assert tiny().relevant_rows(1) == [0]


def test_a_corpus_of_its_own_is_searched_whole(tmp_path):
    """Relevance must follow the passage to its row in a corpus that was loaded separately."""
    folder = hub_folder(tmp_path / "set", ROWS)
    texts = ["vier", "dos", "ein", "uno", "dos"]
    hub_folder(folder, [{"docid": i, "content": text} for i, text in enumerate(texts)], "corpus.jsonl")
    data = load_dataset(folder, corpus="corpus")
    assert data.corpus == ["vier", "dos", "ein", "uno"]
    assert data.qrels == [{3: 1, 2: 1}, {1: 1, 3: 1}]  # the negative "tres" is not searched
    assert data.merged == 1


def test_rows_view_reads_back_as_the_same_relevance():
    """The {query, positive, negative} view must say what the judgements say at the relevance level."""
    data = tiny()
    assert data.rows() == [
        {"query": "one", "positive": ["uno"], "negative": ["tres"]},
        {"query": "two", "positive": ["dos"], "negative": ["uno"]},
    ]
    rows = data.rows()
    again = from_columns("again", data.queries, *([row[c] for row in rows] for c in ("positive", "negative")))
    assert [[again.corpus[p] for p in again.relevant(i)] for i in range(2)] == [["uno"], ["dos"]]


def test_digest_tells_collections_apart():
    """Provenance would name two different collections alike."""
    assert tiny().sha256 == tiny().sha256
    assert tiny().sha256 != tiny(qrels=[{0: 3, 2: 0}, {1: 2, 0: 0}]).sha256


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": [], "qrels": [], "query_ids": []}, "No query at all"),
        ({"corpus": [], "corpus_ids": []}, "No passage at all"),
        ({"queries": ["one", None]}, "query 1 is missing"),
        ({"corpus": ["uno", float("nan"), "tres"]}, "passage 1 is missing"),
        ({"corpus": ["uno", 7, "tres"]}, "passage 1 is of type int"),
        ({"queries": ["one", " \n"]}, "query 1 is blank"),
        ({"qrels": [{0: 1}]}, "judgements for 1 queries, but 2"),
        ({"qrels": [{0: 1}, {3: 1}]}, r"query 1 name passage rows \[3\].*rows 0 to 2"),
        ({"query_ids": ["q1"]}, "1 query ids for 2 texts"),
    ],
)
def test_a_collection_that_would_score_wrongly_is_refused(changes, message):
    """Any of these, let through, ends in a number that looks right and is not."""
    with pytest.raises(ValueError, match=message):
        tiny(**changes)


def test_a_query_without_a_relevant_passage_is_kept_for_evaluate_to_count():
    """Dropping it here would raise every mean without a word."""
    assert tiny(qrels=[{}, {1: 2}]).relevant(0) == []


@pytest.mark.parametrize("limit", [0, -1, 2.5, True, "10"])
def test_limits_are_whole_numbers_of_at_least_one(limit):
    """A limit of 0 or -1 would slice away queries from the wrong end."""
    with pytest.raises(ValueError, match=r"max_queries=.*whole number"):
        tiny().first(max_queries=limit)


def test_wrong_columns_are_answered_with_those_that_exist(tmp_path):
    """The reader must see at once which column to rename."""
    folder = hub_folder(tmp_path / "set", [{"question": "one", "positive": ["uno"]}])
    with pytest.raises(ValueError, match=r"no column query; it has question, positive"):
        load_dataset(folder)


def test_corpus_without_a_text_column_is_answered_with_those_that_exist(tmp_path):
    """As above, for the corpus."""
    folder = hub_folder(hub_folder(tmp_path / "set", ROWS), [{"body": "uno"}], "corpus.jsonl")
    with pytest.raises(ValueError, match="it has body"):
        load_dataset(folder, corpus="corpus")


def test_unknown_split_is_answered_with_those_that_exist(tmp_path):
    """The reader must see which splits there are."""
    with pytest.raises(ValueError, match=r"test.*dev"):
        load_dataset(hub_folder(tmp_path / "set", ROWS), split="test")
    with pytest.raises(ValueError, match="no split 'train'; it has dev"):
        load_dataset("pocket-en", split="train")


def test_positive_missing_from_the_corpus_is_an_error(tmp_path):
    """A relevant passage that cannot be found would count as the model's failure."""
    folder = hub_folder(hub_folder(tmp_path / "set", ROWS), [{"text": "uno"}], "corpus.jsonl")
    with pytest.raises(ValueError, match=r"1 relevant passage.* of query 0 are not in the corpus, .*'ein'"):
        load_dataset(folder, corpus="corpus")


@pytest.mark.parametrize(
    ("cell", "message"), [([None], "passage 0 is missing"), (["uno", " "], "passage 1 is blank"), ([3], "of type int")]
)
def test_broken_texts_in_a_column_are_refused(cell, message):
    """None, NaN and numbers where text belongs would be embedded as words."""
    with pytest.raises(ValueError, match=message):
        from_columns("broken", ["one"], [cell])


def test_no_rows_is_an_error():
    """An empty split would give a mean over nothing."""
    with pytest.raises(ValueError, match="no rows"):
        from_columns("empty", [], [])


@pytest.mark.parametrize("source", ["no-such-collection", "pocket-xx"])
def test_unknown_name_lists_the_known_ones(source):
    """A typing slip must not end in a search of the hub."""
    with pytest.raises(ValueError, match=r"Bundled: pocket-en, pocket-zh"):
        load_dataset(source)


def test_missing_folder_is_named(tmp_path):
    """A wrong path must not be taken for a hub id."""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_dataset(tmp_path / "nowhere")


OFFLINE_PROBE = """
import sys, time
from helpers.{module} import {function}
start = time.monotonic()
try:
    {function}("someone/some-thing")
except ConnectionError as error:
    print(round(time.monotonic() - start), error)
"""


@pytest.mark.parametrize(
    ("module", "function", "default"),
    [("data", "load_dataset", "pocket-en"), ("models", "load_model", "sentence-transformers/all-MiniLM-L6-v2")],
)
def test_hub_without_network_answers_in_seconds(module, function, default, tmp_path):
    """A learner behind a firewall must not wait through retries, and must learn what works without the hub."""
    closed = "http://127.0.0.1:9"  # the discard port: nothing listens there
    settings = {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": closed, "HF_HOME": str(tmp_path)}
    start = time.monotonic()
    run = subprocess.run(
        [sys.executable, "-c", OFFLINE_PROBE.format(module=module, function=function)],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answer = run.stdout
    assert default in answer, run.stderr
    assert "HF_ENDPOINT" in answer
    assert closed in answer
    assert int(answer.split()[0]) < 15, f"took {time.monotonic() - start:.0f} s in all"


@pytest.mark.parametrize(
    ("name", "queries", "passages"), [("xquad_en", 1190, 240), ("xquad_zh", 1190, 240), ("msmarco_dev", 6980, 6978)]
)
def test_real_sets_load_with_the_counts_on_their_cards(real_data, name, queries, passages):
    """The hub's own layout must load as the data cards describe it."""
    data = load_dataset(real_data / name, split="dev")
    assert (len(data.queries), len(data.corpus)) == (queries, passages)
    assert all(data.relevant(row) for row in range(queries))
    whole = load_dataset(real_data / name, corpus="corpus")
    assert len(whole.corpus) == passages
    assert [whole.corpus[whole.relevant(row)[0]] for row in range(50)] == [
        data.corpus[data.relevant(row)[0]] for row in range(50)
    ]
