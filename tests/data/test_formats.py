"""Tables: every format loads as the same collection, and a wrong file is answered with what is wrong."""

from pathlib import Path

import datasets
import pytest

from helpers.data import load_dataset
from tests.data.files import jsonl, put

ROWS = [
    {"question": "one", "answer": "uno, ein", "other": "tres"},
    {"question": "two", "answer": "dos", "other": ""},
    {"question": "one", "answer": "un", "other": ""},
]


COLUMNS = "query=question, positive=answer, negative=other"


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
    assert (data.name, data.titled) == (name, 0)


def test_cells_of_a_csv_stay_the_text_they_are(tmp_path):
    """pandas would read NA as missing, 007 as 7, and a byte order mark as part of the first column's name."""
    path = put(tmp_path / "a.csv", b"\xef\xbb\xbf" + b'query,positive\nNA,007\nnull,"two\nlines"\n')
    data = load_dataset(path)
    assert (data.queries, data.corpus) == (["NA", "null"], ["007", "two\nlines"])


BAD_TABLES = [
    ("a.csv", "ask,reply\none,uno\n", "no column 'positive' and no column 'query'; it has 'ask', 'reply'"),
    ("a.csv", "query;reply\none;uno\n", "no column 'positive'; it has 'query', 'reply'"),
    ("a.csv", "query,positive\n", "no rows"),
    ("a.csv", "\n", "no rows, the file is empty"),
    ("a.jsonl", "", "no rows, the file is empty"),
    ("a.csv", "query,positive\none,uno\n二,三\n".encode("gb18030"), "line 3: not UTF-8 .*may be GB18030.*iconv"),
    ("a.csv", "query,positive\none,uno\n".encode("utf-16"), "line 1: not UTF-8 .*may be UTF-16"),
    (
        "a.csv",
        "query,positive\none,se\u00f1or".encode("latin-1") + b"\xff",
        r"line 2: not UTF-8 \(byte 0xf1\)\. Save.*-f GB18030",
    ),
    ("a.csv", b"\nquery,positive\none,\xff", r"line 3: not UTF-8 \(byte 0xff\)"),
    ("a.csv", "query,positive\none,uno,ein\n", r"line 2: 3 of 2 fields \('query', 'positive'\)"),
    ("a.csv", "query,positive\none,uno\ntwo,dos,tres\n", "line 3: 3 of 2 fields"),
    ("a.csv", "query,positive\none,uno\ntwo\n", "a.csv', line 3: 1 of 2 fields"),
    ("a.jsonl", '{"query": "one", "positive": "uno"}\n{"query": \n', "line 2 is not JSON"),
    ("a.jsonl", '{"query": "one", "positive": 3}\n', "row 0, column 'positive' is of type int"),
    ("a.xlsx", "query", "cannot read '.xlsx'; give .jsonl.* Save the sheet as \"CSV UTF-8\""),
    ("a.csv", "query,positive,positive\none,uno,dos\n", r"names 1 column\(s\) twice, first 'positive'"),
    ("a.parquet", "no such thing", "a.parquet' is no Parquet file"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD_TABLES)
def test_a_bad_table_is_answered_with_what_is_wrong(name, text, message, tmp_path):
    """The reader must learn from the message which line or column to mend."""
    with pytest.raises(ValueError, match=message):
        load_dataset(put(tmp_path / name, text))


@pytest.mark.parametrize("encoding", ["gbk", "gb18030", "big5", "utf-16"])
def test_a_file_of_another_encoding_is_read_when_asked(encoding, tmp_path):
    """What WPS and older Excel save in China would have to be converted first."""
    table = put(tmp_path / "a.csv", "query,positive\n一,二三\n四,五六\n".encode(encoding))
    assert load_dataset(table, encoding=encoding).corpus == ["二三", "五六"]
    put(tmp_path / "f" / "data.jsonl", '{"query": "一", "positive": "二三"}\n'.encode(encoding))
    data = load_dataset(tmp_path / "f", encoding=encoding)
    assert (data.queries, data.split) == (["一"], "train")  # as ``datasets`` calls files that belong to no split


def test_a_wrong_encoding_is_named(tmp_path):
    """A reader would see another error, or another text."""
    table = put(tmp_path / "a.csv", "query,positive\none,señor\n")
    for encoding, message in (("ascii", "'a.csv' is not ascii"), ("gb2", "Unknown encoding 'gb2'; write")):
        with pytest.raises(ValueError, match=message):
            load_dataset(table, encoding=encoding)


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    """A mean over nothing."""
    datasets.Dataset.from_dict({"query": [], "positive": []}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet': no rows"):
        load_dataset(tmp_path / "a.parquet")
