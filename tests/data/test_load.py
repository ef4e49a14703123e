"""Loading: which source is meant, what it becomes, and what is said when it is none."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.data import load_dataset


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


def test_a_corpus_of_its_own_is_searched_whole(tmp_path):
    """Relevance must follow the passage to its row in a corpus that was loaded separately."""
    folder = hub_folder(tmp_path / "set", ROWS)
    texts = ["vier", "dos", "ein", "uno", "dos"]
    hub_folder(folder, [{"docid": i, "content": text} for i, text in enumerate(texts)], "corpus.jsonl")
    data = load_dataset(folder, corpus="corpus")
    assert data.corpus == ["vier", "dos", "ein", "uno"]
    assert data.qrels == [{3: 1, 2: 1, 4: 0}, {1: 1, 3: 1}]  # the negative "tres" is not searched
    assert data.merged == 1


def test_wrong_columns_are_answered_with_those_that_exist(tmp_path):
    """The reader must see at once which column to rename."""
    folder = hub_folder(tmp_path / "set", [{"question": "one", "positive": ["uno"]}])
    with pytest.raises(ValueError, match=r"no column 'query'; it has 'question', 'positive'"):
        load_dataset(folder)


def test_unknown_split_is_answered_with_those_that_exist():
    """The reader must see which splits there are."""
    with pytest.raises(ValueError, match="no split 'train'; it has dev and typed"):
        load_dataset("pocket-en", split="train")


def test_positive_missing_from_the_corpus_is_an_error(tmp_path):
    """A relevant passage that cannot be found would count as the model's failure."""
    folder = hub_folder(hub_folder(tmp_path / "set", ROWS), [{"text": "uno"}], "corpus.jsonl")
    with pytest.raises(
        ValueError,
        match=r"2 relevant passages .*not in the corpus, the first of query 0.*'ein', 'dos'.*on_missing=\"skip\"",
    ):
        load_dataset(folder, corpus="corpus")


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
