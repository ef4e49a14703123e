"""Somebody's own files: every layout loads as the same collection, and a wrong file is answered with what is wrong."""

import json
from pathlib import Path

import datasets
import pytest

from helpers import trec
from helpers.data import from_ids, load_dataset
from helpers.sources import parse_columns

ROWS = [
    {"question": "one", "answer": "uno, ein", "other": "tres"},
    {"question": "two", "answer": "dos", "other": ""},
    {"question": "one", "answer": "un", "other": ""},
]
COLUMNS = "query=question, positive=answer, negative=other"


def put(path: Path, text: str | bytes) -> Path:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def jsonl(rows: list[dict]) -> str:
    """Write rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def beir(folder: Path, **files: str) -> Path:
    """Write a small collection in BEIR's layout; files replace those of the same name."""
    contents = {
        "queries.jsonl": jsonl([{"_id": f"q{i}", "text": text} for i, text in enumerate(["one", "two", "unasked"])]),
        "corpus.jsonl": jsonl(
            [{"_id": f"0{i}", "title": "T" * (i == 0), "text": t} for i, t in enumerate(["uno", "dos", "tres", "dos"])]
        ),
        "qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq0\t00\t2\nq1\t03\t1\nq1\t01\t3\nq1\t02\t0\n",
    } | files
    for name, text in contents.items():
        put(folder / name, text)
    return folder


def write_table(path: Path) -> Path:
    """Write ROWS in the format that the suffix names."""
    table = datasets.Dataset.from_list(ROWS)
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".jsonl":
        put(path, jsonl(ROWS))
    else:
        delimiter = {".tsv": "\t"}.get(path.suffix, path.stem[-1])
        table.to_csv(path, sep=delimiter)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a,.csv", "a;.csv", "a|.csv", "a.tsv", "数 据 [1],.csv"])
def test_every_format_gives_the_same_collection(name, tmp_path):
    """A quoted comma, a delimiter of another country or a path with blanks would change texts or fail."""
    data = load_dataset(write_table(tmp_path / name), columns=COLUMNS)
    assert data.queries == ["one", "two"]
    assert data.corpus == ["uno, ein", "un", "tres", "dos"]
    assert data.qrels == [{0: 1, 1: 1, 2: 0}, {3: 1}]
    assert data.name == name


def test_cells_of_a_csv_stay_the_text_they_are(tmp_path):
    """pandas would read NA as missing, 007 as 7, and a byte order mark as part of the first column's name."""
    path = put(tmp_path / "a.csv", b"\xef\xbb\xbf" + b'query,positive\nNA,007\nnull,"two\nlines"\n')
    data = load_dataset(path)
    assert (data.queries, data.corpus) == (["NA", "null"], ["007", "two\nlines"])


def test_ids_and_texts_that_look_like_dates_stay_text(tmp_path):
    """The JSON reader makes a point in time of them, and an id of a day's diary would match nothing."""
    days = ["2026-01-31", "2026-02-01"]
    corpus = jsonl([{"_id": day, "text": day} for day in days])
    data = load_dataset(beir(tmp_path / "set", **{"corpus.jsonl": corpus, "qrels/dev.tsv": f"q0\t{days[1]}\t1\n"}))
    assert (data.corpus, data.corpus_ids, data.qrels) == (days, days, [{1: 1}])


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
    pattern = folder.rename(tmp_path / "数据 [1]")
    assert load_dataset(pattern / "dev.jsonl").queries == ["one"]
    with pytest.raises(ValueError, match=r"Cannot read .*数据 \[1\].*holds '\['.*name the file"):
        load_dataset(pattern)


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
    assert (data.queries, data.corpus, data.qrels) == (["one", "two"], ['uno "', "dos"], [{0: 1}, {1: 1}])


BAD_TABLES = [
    ("a.csv", "question,answer\none,uno\n", "no column positive and no column query; it has question, answer"),
    ("a.csv", "query;answer\none;uno\n", "no column positive; it has query, answer"),
    ("a.csv", "query,positive\n", "no rows"),
    ("a.csv", "\n", "no rows, the file is empty"),
    ("a.jsonl", "", "no rows, the file is empty"),
    ("a.csv", "query,positive\none,uno\n二,三\n".encode("gb18030"), "line 3: not UTF-8 .*iconv"),
    ("a.csv", "query,positive\none,uno\n".encode("utf-16"), "line 1: not UTF-8"),
    ("a.csv", "query,positive\none,uno,ein\n", r"2 columns in the header \(query, positive\) but 3"),
    ("a.csv", "query,positive\none,uno\ntwo,dos,tres\n", "Expected 2 fields in line 3, saw 3"),
    ("a.csv", "query,positive\none,uno\ntwo\n", "passage 1 is (missing|blank)"),
    ("a.jsonl", '{"query": "one", "positive": "uno"}\n{"query": \n', "line 2 is not JSON"),
    ("a.jsonl", '{"query": "one", "positive": 3}\n', "passage 0 is of type int"),
    ("a.xlsx", "query", "cannot read .xlsx; give .jsonl"),
    ("a.parquet", "no such thing", "a.parquet: "),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD_TABLES)
def test_a_bad_table_is_answered_with_what_is_wrong(name, text, message, tmp_path):
    """The reader must learn from the message which line or column to mend."""
    with pytest.raises(ValueError, match=message):
        load_dataset(put(tmp_path / name, text))


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    """A mean over nothing."""
    datasets.Dataset.from_dict({"query": [], "positive": []}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: .*no (rows|data)"):
        load_dataset(tmp_path / "a.parquet")


BAD_FILES = [
    ({"qrels/dev.tsv": "a\tb\tc\nq0\t00\t1\nq7\t00\t1\n"}, r"1 of 2 query ids that queries.jsonl lacks.*'q7'"),
    ({"qrels/dev.tsv": "".join(f"q0\tx{i}\t1\n" for i in range(5))}, "5 of 5 passage ids .*'x0', 'x1', 'x2'.$"),
    ({"qrels/dev.tsv": "a\tb\tc\nq0\t00\tyes\n"}, "dev.tsv, line 2: .*whole grade"),
    ({"qrels/dev.tsv": "a\tb\tc\n"}, "no judgements below the header"),
    ({"qrels/dev.tsv": " "}, "the file is empty"),
    ({"queries.jsonl": jsonl([{"_id": "q0", "text": "one"}] * 2)}, r"1 id\(s\) stand twice. The first: 'q0'"),
    ({"corpus.jsonl": jsonl([{"_id": "00", "body": "uno"}])}, 'it has _id, body.*columns="passage=…"'),
]


@pytest.mark.parametrize(("files", "message"), BAD_FILES)
def test_files_that_do_not_match_are_answered_with_how_many_and_which(files, message, tmp_path):
    """Ids of another release would give scores of 0 that look like the model's fault."""
    with pytest.raises(ValueError, match=message):
        load_dataset(beir(tmp_path / "set", **files))


def test_wrong_arguments_are_answered_with_the_right_ones(tmp_path):
    """A slip in a parameter must not be passed over."""
    folder = beir(tmp_path / "set")
    with pytest.raises(ValueError, match=r"no qrels/test.tsv; the splits are dev"):
        load_dataset(folder, split="test")
    with pytest.raises(ValueError, match=r"need queries=, corpus= and qrels=.*corpus is missing"):
        load_dataset(folder, queries="queries.jsonl", qrels="qrels/dev.tsv")
    with pytest.raises(FileNotFoundError, match=r"No file 'topics', neither in the folder set"):
        load_dataset(folder, queries="topics", corpus="corpus.jsonl", qrels="qrels/dev.tsv")
    with pytest.raises(ValueError, match="names question; it may name query, "):
        parse_columns("question=query")
    with pytest.raises(ValueError, match="expected role=column"):
        parse_columns("query")


def test_a_judged_passage_that_is_not_relevant_may_be_missing():
    """Search of part of a corpus must not be refused for its unsearched negatives."""
    data = from_ids("part", {"q": "one"}, {"p": "uno"}, {"q": {"p": 1, "gone": 0}})
    assert data.qrels == [{0: 1}]


def test_real_sets_load_from_their_trec_files_as_from_their_rows(real_data):
    """The two layouts of one collection must give the same judgements."""
    files = {"queries": "queries.jsonl", "corpus": "corpus.jsonl", "qrels": "qrels.tsv"}
    by_id = load_dataset(real_data / "xquad_zh", **files)
    by_row = load_dataset(real_data / "xquad_zh")
    pairs = [[(d.queries[q], d.corpus[p]) for q in range(1190) for p in d.relevant(q)] for d in (by_id, by_row)]
    assert pairs[0] == pairs[1]
