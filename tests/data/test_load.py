"""Loading: which source is meant, what it becomes, rows or ids, and what is said when it is none or does not match."""

import pytest

from helpers.data import load_dataset, load_files, trec
from helpers.data.formats import parse_columns
from tests.data.files import beir, configured, jsonl, put

ROWS = [
    {"query": "one", "positive": ["uno", "ein"], "negative": ["tres"]},
    {"query": "two", "positive": ["dos", "uno"], "negative": []},
]


def test_rows_become_one_collection_with_equal_passages_merged(tmp_path):
    """Relevance by text, or a passage kept twice, would let a ranking lose points to its own double."""
    data = load_dataset(put(tmp_path / "set" / "dev.jsonl", jsonl(ROWS)).parent)
    assert data.queries == ["one", "two"]
    assert data.corpus == ["uno", "ein", "tres", "dos"]
    assert data.qrels == [{0: 1, 1: 1, 2: 0}, {3: 1, 0: 1}]
    assert data.name == "set"  # no path of this machine


def test_limits_keep_the_answers_of_the_kept_queries(tmp_path):
    """Cutting the corpus must never cut away an answer: recall would fall for no fault of the model."""
    folder = put(tmp_path / "set" / "dev.jsonl", jsonl(ROWS)).parent
    data = load_dataset(folder, max_queries=1, corpus_queries=2)
    assert data.queries == ["one"]
    assert data.corpus == ["uno", "ein", "dos"]
    assert data.qrels == [{0: 1, 1: 1}]
    assert load_dataset(folder, max_queries=2, corpus_queries=1).corpus == ["uno", "ein", "dos"]


def test_a_corpus_of_its_own_is_searched_whole(tmp_path):
    """Relevance must follow the passage to its row in a corpus that was loaded separately."""
    passages = [{"docid": i, "content": text} for i, text in enumerate(["vier", "dos", "ein", "uno", "dos"])]
    data = load_dataset(configured(tmp_path / "set", split="dev", default=ROWS, corpus=passages), corpus="corpus")
    assert data.corpus == ["vier", "dos", "ein", "uno"]
    assert data.qrels == [{3: 1, 2: 1, 4: 0}, {1: 1, 3: 1}]  # the negative "tres" is not searched
    assert data.merged == 1


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
    queries = jsonl([{"_id": f"q{i}", "question": "a word", "text": "a sentence"} for i in range(2)])
    assert load_dataset(beir(tmp_path / "titled", **{"queries.jsonl": queries})).queries == ["a sentence"] * 2


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
    folder = tmp_path / "我的 数据 [1]"
    put(folder / "dev.jsonl", jsonl([{"query": "one", "positive": ["uno"]}]))
    put(folder / "段落" / "all.csv", "text\nuno\ndos\n")
    for corpus in (folder / "段落", folder / "段落" / "all.csv"):
        data = load_dataset(folder / "dev.jsonl", corpus=str(corpus))
        assert (data.queries, data.corpus) == (["one"], ["uno", "dos"])
    assert load_dataset(beir(folder / "BEIR [1]")).name == "BEIR [1]"


def test_what_export_wrote_loads_as_the_same_collection(tmp_path):
    """A collection handed to another tool must come back as it was."""
    pocket = load_dataset("pocket-zh")
    trec.export(pocket, tmp_path)
    assert load_dataset(tmp_path, relevance_level=2).sha256 == pocket.sha256
    files = [tmp_path / name for name in ("queries.jsonl", "corpus.jsonl", "qrels/dev.qrels")]
    by_file = load_files(*files, relevance_level=2)
    assert (by_file.sha256, by_file.relevance_level) == (pocket.sha256, 2)
    with pytest.raises(FileNotFoundError, match=r"No file '.*nothing'\. Check the path"):
        load_files(*files[:2], tmp_path / "nothing")


def test_trec_files_may_have_any_columns_and_lie_anywhere(tmp_path):
    """MS MARCO's collection has no header and bare quotes; its first line would be lost, or its lines joined."""
    queries = put(tmp_path / "elsewhere" / "topics.csv", "number,asked\n7,one\n8,two\n")
    put(tmp_path / "set" / "collection.tsv", '0\tuno "\n1\tdos\n')
    put(tmp_path / "set" / "qrels.txt", "7 0 0 1\n8 0 1 1\n8 0 9 0\n")
    put(tmp_path / "set" / "qrels.tsv", "query-id\tcorpus-id\tscore\n7\t0\t1\n8\t1\t1\n8\t9\t0\n")
    named = {"query": "asked", "query_id": "number", "passage_id": "id"}
    for qrels in ("qrels.txt", "qrels.tsv"):
        data = load_dataset(tmp_path / "set", queries=str(queries), corpus="collection.tsv", qrels=qrels, columns=named)
        assert (data.queries, data.corpus, data.qrels) == (["one", "two"], ['uno "', "dos"], [{0: 1}, {1: 1, 2: 0}])


BAD_FILES = [
    ({"qrels/dev.tsv": "qid\tpid\tgrade\nq0\t00\t1\nq7\t00\t1\n"}, r"1 of 2 queries that 'queries.jsonl' lacks.*'q7'"),
    (
        {"qrels/dev.tsv": "".join(f"q0\tx{i}\t1\n" for i in range(5))},
        "5 of 5 passages .*'x0', 'x1', 'x2'. .*on_missing=\"skip\".*on_missing=\"keep\"\\.$",
    ),
    ({"qrels/dev.tsv": "qid\tpid\tgrade\nq0\t00\tyes\n"}, "dev.tsv', row 1: the grade must be a whole number"),
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
    with pytest.raises(ValueError, match="no column 'nope'; it has 'query', 'positive'"):
        load_dataset(put(tmp_path / "a.csv", "query,positive\none,uno\n"), columns="negative=nope")
    with pytest.raises(ValueError, match="names question; it may name query, "):
        parse_columns("question=query")
    with pytest.raises(ValueError, match="expected role=column"):
        parse_columns("query")


def test_an_unknown_name_is_answered_with_the_known_ones():
    """The reader would have to look the names up."""
    with pytest.raises(ValueError, match=r"Unknown collection 'pocket-em'\. Bundled: pocket-en, .*, docstrings; a hub"):
        load_dataset("pocket-em")
