"""Layouts: BEIR's folder and three files by id, as judgements by row, and what is said when they do not match."""

import pytest

from helpers.data import load_dataset, trec
from helpers.data.formats import parse_columns
from tests.data.files import beir, jsonl, put


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
    ({"qrels/dev.tsv": "a\tb\tc\n"}, "no judgements below the header"),
    ({"qrels/dev.tsv": " "}, "the file is empty"),
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
    with pytest.raises(ValueError, match=r"need queries=, corpus= and qrels=.*corpus is missing"):
        load_dataset(folder, queries="queries.jsonl", qrels="qrels/dev.tsv")
    with pytest.raises(FileNotFoundError, match=r"No file 'topics', neither in the folder 'set'"):
        load_dataset(folder, queries="topics", corpus="corpus.jsonl", qrels="qrels/dev.tsv")
    with pytest.raises(ValueError, match="names question; it may name query, "):
        parse_columns("question=query")
    with pytest.raises(ValueError, match="expected role=column"):
        parse_columns("query")


def test_a_blank_text_in_a_list_is_left_out_where_asked(tmp_path):
    """An empty passage would stand in the corpus, or its neighbours in the list be left out with it."""
    rows = [{"query": "one", "positive": ["uno", " "], "negative": ["dos", "", "tres"]}]
    path = put(tmp_path / "set.jsonl", jsonl(rows))
    with pytest.raises(ValueError, match="2 of 5 passages are blank"):
        load_dataset(path)
    data = load_dataset(path, on_blank="skip")
    assert (data.corpus, data.qrels) == (["uno", "dos", "tres"], [{0: 1, 1: 0, 2: 0}])
    assert data.skipped == {"blank_passages": 2}
