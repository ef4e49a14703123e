"""Tables: every format loads as the same collection, and a wrong file is answered with what is wrong."""

import bz2
import gzip

import datasets
import pytest

from helpers.data import load_dataset
from helpers.data.trec import read_judgements, read_qrels
from tests.data.files import beir, jsonl, put

ROWS = [
    {"question": "one", "answer": "uno, ein", "other": "tres"},
    {"question": "two", "answer": "dos", "other": ""},
    {"question": "one", "answer": "un", "other": ""},
]


COLUMNS = "query=question, positive=answer, negative=other"


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a,.csv", "a;.csv", "a|.csv", "a.tsv", "数 据 [1],.csv"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_collection(name, packed, tmp_path):
    """A quoted comma, a delimiter of another country, a path with blanks or packing would change texts or fail."""
    table, path = datasets.Dataset.from_list(ROWS), tmp_path / name
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".jsonl":
        put(path, jsonl(ROWS))
    else:
        table.to_csv(path, sep="\t" if path.suffix == ".tsv" else path.stem[-1])
    if packed:
        path = put(tmp_path / f"{name}.gz", gzip.compress(path.read_bytes()))
    data = load_dataset(path, columns=COLUMNS)
    assert data.queries == ["one", "two"]
    assert data.corpus == ["uno, ein", "un", "tres", "dos"]
    assert data.qrels == [{0: 1, 1: 1, 2: 0}, {3: 1}]
    assert (data.name, data.titled, data.split, data.numbered) == (path.name, 0, "", True)


BAD_TABLES = [
    ("a.csv", "ask,reply\none,uno\n", r"no column 'query' or .*; it has 'ask', 'reply'\. Name .*, columns=\"query=…\""),
    ("a.csv", "query;reply\none;uno\n", r"no column 'positive' or .*; it has 'query', 'reply'"),
    ("a.csv", "query,positive\n", "no rows"),
    ("a.jsonl", "", "no rows, the file is empty"),
    ("a.csv", "query,positive\none,uno\n雾,水\n".encode("gb18030"), r"line 3: not UTF-8 .*iconv.*=\"gb18030\""),
    ("a.csv", "query,positive\none,uno\n".encode("utf-16"), r"line 1: not UTF-8 \(byte 0xff\)"),
    ("a.csv", b"\nquery,positive\none,\xff", r"line 3: not UTF-8 \(byte 0xff\)"),
    ("a.csv", "query,positive\none,uno,ein\n", r"line 2: 3 of 2 fields \('query', 'positive'\)"),
    ("a.csv", "query,positive\none,uno\ntwo\n", "a.csv', line 3: 1 of 2 fields"),
    ("a.jsonl", '{"query": "one", "positive": "uno"}\n{"query": \n', "line 2 is not JSON"),
    ("a.jsonl", '{"query": "one", "positive": 3}\n', "row 0, the positive is of type int"),
    ("a.jsonl", '{"query": ["one"], "positive": "uno"}\n', "row 0, the query is of type list"),
    ("a.csv", "prompt,text,answer\none,uno,dos\n", "no column 'query'"),
    ("a.xlsx", b"PK\3\4", "cannot read '.xlsx'; give .jsonl.* It is .*Excel.* save the sheet as \"CSV UTF-8\""),
    ("a.csv", "query,positive,positive\none,uno,dos\n", r"names 1 column\(s\) twice, first 'positive'"),
    ("a.parquet", "no such thing", "a.parquet' is no Parquet file"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD_TABLES)
def test_a_bad_table_is_answered_with_what_is_wrong(name, text, message, tmp_path):
    """The reader must learn from the message which line or column to mend."""
    with pytest.raises(ValueError, match=message):
        load_dataset(put(tmp_path / name, text))


@pytest.mark.parametrize("encoding", ["gbk", "big5", "utf-16"])
def test_a_file_of_another_encoding_is_read_when_asked(encoding, tmp_path):
    """What WPS and older Excel save in China would have to be converted first."""
    put(tmp_path / "f" / "data.jsonl", '{"query": "一", "positive": "二三"}\n'.encode(encoding))
    data = load_dataset(tmp_path / "f", encoding=encoding)
    qrels = put(tmp_path / "qrels.csv", "qid,pid,grade\n一,二,1\n".encode(encoding))
    assert read_judgements(qrels, {}, encoding)[0] == {"一": {"二": 1}}
    assert (data.queries, data.split) == (["一"], "train")  # as ``datasets`` calls files that belong to no split


def test_a_wrong_encoding_is_named(tmp_path):
    """A reader would see another error, or another text."""
    table = put(tmp_path / "a.csv", "query,positive\none,señor\n")
    with pytest.raises(ValueError, match=r"-f ENCODING -t UTF-8\.$"):  # where none can be chosen
        read_qrels(put(tmp_path / "qrels", b"q\xe9 0 d 1\n"))
    for encoding, message in (("ascii", "'a.csv' is not ascii"), ("gb2", "Unknown encoding 'gb2'; write")):
        with pytest.raises(ValueError, match=message):
            load_dataset(table, encoding=encoding)


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12345\n"
FOREIGN = {
    "a.txt": (bz2.compress(b"q0 0 00 1\n"), "packed by bzip2"),
    "c.csv": (b"PK\3\4....", "a ZIP archive or a workbook of Excel"),
    "d.csv": (gzip.compress(b"q0,00,1\n"), "packed by gzip: call it .gz"),
    "f.txt": (POINTER, "a Git LFS pointer"),
    "g.parquet": (POINTER, "a Git LFS pointer"),
    "g.jsonl.gz": (POINTER, "a Git LFS pointer"),
    "h.jsonl": (b"\n<!DOCTYPE HTML>\n<html>404</html>\n", "a page of HTML"),
    "i.csv": (b"PAR1....PAR1", "a Parquet file: call it .parquet"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_kind_is_called_what_it_is(tmp_path, name):
    """A packed file was said to be in GB18030, and a pointer to have two fields of four."""
    content, kind = FOREIGN[name]
    with pytest.raises(ValueError, match=f"'{name}' is {kind}"):
        load_dataset(beir(tmp_path / "set"), qrels=str(put(tmp_path / name, content)))
