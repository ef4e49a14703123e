"""Loading: which source is meant, what it becomes, rows or ids, and what is said when it is none or does not match."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.data import load_dataset, trec
from helpers.data.formats import parse_columns
from tests.data.files import beir, jsonl, put


def hub_folder(folder: Path, rows: list[dict], name: str = "dev.jsonl") -> Path:
    """Write rows as a data set in the hub's layout."""
    put(folder / name, jsonl(rows))
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


def test_unknown_split_is_answered_with_those_that_exist():
    """The reader must see which splits there are."""
    with pytest.raises(ValueError, match="no split 'train'; it has dev and typed"):
        load_dataset("pocket-en", split="train")


def test_beir_folder_loads_by_id(tmp_path):
    """Judgements must follow ids to rows; equal passages are one, with the highest grade; unasked queries go."""
    data = load_dataset(beir(tmp_path / "set"))
    assert data.queries == ["one", "two"]
    assert data.query_ids == ["q0", "q1"]
    assert data.corpus == ["T\nuno", "dos", "tres"]
    assert data.corpus_ids == ["00", "01", "02"]
    assert data.qrels == [{0: 2}, {1: 3, 2: 0}]
    assert data.merged == 1
    assert load_dataset(tmp_path / "set", relevance_level=2).relevant(1) == [1]


def test_a_folder_of_texts_without_judgements_says_how_to_name_them(tmp_path):
    """A reader whose judgements are in a file elsewhere would be told of columns that no file has."""
    folder = beir(tmp_path / "set")
    (folder / "qrels" / "dev.tsv").rename(tmp_path / "judged.tsv")
    (folder / "qrels").rmdir()
    with pytest.raises(ValueError, match=r"'set' has passages and queries but no folder qrels.*: qrels=\"…\"\.$"):
        load_dataset(folder)


def test_rows_without_an_id_are_counted_and_the_first_is_named(tmp_path):
    """A table with an empty cell would give a passage the id nan."""
    rows = '{"_id": "00", "text": "uno"}\n{"_id": " ", "text": "dos"}\n'
    with pytest.raises(ValueError, match=r"1 passage rows have no id, the first is row 1\."):
        load_dataset(beir(tmp_path, **{"corpus.jsonl": rows}))


def test_folders_may_have_blanks_and_chinese_in_their_names(tmp_path):
    """A path of many a desktop would be taken for a hub id, or not be found."""
    folder = tmp_path / "我的 数据"
    assert load_dataset(beir(tmp_path / "BEIR [1]")).queries == ["one", "two"]
    put(folder / "dev.jsonl", jsonl([{"query": "one", "positive": ["uno"]}]))
    put(folder / "段落" / "all.csv", "text\nuno\ndos\n")
    for corpus in (folder / "段落", folder / "段落" / "all.csv"):
        data = load_dataset(folder, corpus=str(corpus))
        assert (data.queries, data.corpus, data.name) == (["one"], ["uno", "dos"], folder.name)
    assert load_dataset(folder.rename(tmp_path / "数据 [1]")).queries == ["one"]


def test_what_export_wrote_loads_as_the_same_collection(tmp_path):
    """A collection handed to another tool must come back as it was."""
    pocket = load_dataset("pocket-zh")
    trec.export(pocket, tmp_path)
    assert load_dataset(tmp_path, relevance_level=2).sha256 == pocket.sha256
    files = {"queries": "queries.jsonl", "corpus": "corpus.jsonl", "qrels": "qrels/dev.qrels"}
    assert load_dataset(tmp_path, **files).sha256 == pocket.sha256


def test_trec_files_may_have_any_columns_and_lie_anywhere(tmp_path):
    """MS MARCO's collection has no header and bare quotes; its first line would be lost, or its lines joined."""
    queries = put(tmp_path / "elsewhere" / "topics.csv", "number,asked\n7,one\n8,two\n")
    put(tmp_path / "set" / "collection.tsv", '0\tuno "\n1\tdos\n')
    put(tmp_path / "set" / "qrels.txt", "7 0 0 1\n8 0 1 1\n8 0 9 0\n")
    named = {"query": "asked", "query_id": "number"}
    data = load_dataset(
        tmp_path / "set", queries=str(queries), corpus="collection.tsv", qrels="qrels.txt", columns=named
    )
    assert (data.queries, data.corpus, data.qrels) == (["one", "two"], ['uno "', "dos"], [{0: 1}, {1: 1, 2: 0}])


BAD_FILES = [
    ({"qrels/dev.tsv": "a\tb\tc\nq0\t00\t1\nq7\t00\t1\n"}, r"1 of 2 queries that 'queries.jsonl' lacks.*'q7'"),
    (
        {"qrels/dev.tsv": "".join(f"q0\tx{i}\t1\n" for i in range(5))},
        "5 of 5 passages .*'x0', 'x1', 'x2'. .*on_missing=\"skip\".*on_missing=\"keep\"\\.$",
    ),
    ({"qrels/dev.tsv": "a\tb\tc\nq0\t00\tyes\n"}, "dev.tsv', line 2: the grade must be a whole number"),
    ({"queries.jsonl": jsonl([{"_id": "q0", "text": "one"}] * 2)}, r"1 id\(s\) occur twice. The first: 'q0'"),
    ({"corpus.jsonl": jsonl([{"_id": "00", "body": "uno"}])}, "it has '_id', 'body'.*columns=.passage=…"),
]


@pytest.mark.parametrize(("files", "message"), BAD_FILES)
def test_files_that_do_not_match_are_answered_with_how_many_and_which(files, message, tmp_path):
    """Ids of another release would give scores of 0 that look like the model's fault."""
    with pytest.raises(ValueError, match=message):
        load_dataset(beir(tmp_path / "set", **files))


def test_wrong_arguments_are_answered_with_the_right_ones(tmp_path):
    """A slip in a parameter must not be passed over."""
    folder = beir(tmp_path / "set")
    with pytest.raises(ValueError, match=r"goes with corpus= and qrels="):
        load_dataset(folder, queries="queries.jsonl", qrels="qrels/dev.tsv")
    with pytest.raises(FileNotFoundError, match=r"No file 'topics', neither in the folder 'set'"):
        load_dataset(folder, queries="topics", corpus="corpus.jsonl", qrels="qrels/dev.tsv")
    with pytest.raises(ValueError, match="names question; it may name query, "):
        parse_columns("question=query")
    with pytest.raises(ValueError, match="expected role=column"):
        parse_columns("query")


OFFLINE_PROBE = """
import datasets, huggingface_hub, sys, time
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
    run = subprocess.run(
        [sys.executable, "-c", OFFLINE_PROBE.format(module=module, function=function)],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    answer = run.stdout
    assert default in answer, run.stderr
    assert "HF_ENDPOINT" in answer
    assert closed in answer
    assert int(answer.split()[0]) < 15


@pytest.mark.parametrize(("name", "near"), [("pocket-em", "pocket-en"), ("docstring", "docstrings"), ("biir", "beir")])
def test_a_misspelt_name_has_a_suggestion(tmp_path, monkeypatch, name, near):
    """A folder beside it, or a bundled collection, would have to be guessed from a list."""
    (tmp_path / "beir").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=f"Unknown collection '{name}'. Did you mean '{near}'\\? Bundled: pocket-en, "):
        load_dataset(name)
