"""Data as found: packed, with a header or none, graded, with gaps; read as they are, or refused with the way out."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from helpers.data import load_dataset, trec
from helpers.data.runs import read_run_table
from helpers.metrics import evaluate
from tests.data.files import Rows, beir, configured, jsonl, mteb, put

FILES = {"queries": "queries.jsonl", "corpus": "corpus.jsonl", "qrels": "qrels/dev.tsv"}


# --- packed -----------------------------------------------------------------------------------------------------------


def test_a_packed_folder_of_beir_is_the_same_collection(tmp_path: Path):
    """Most downloads are packed: each would have to be unpacked by hand, or be refused as an unknown kind."""
    plain = load_dataset(beir(tmp_path / "set"))
    for name in FILES.values():
        path = tmp_path / "set" / name
        put(path.with_name(path.name + ".gz"), gzip.compress(path.read_bytes()))
        path.unlink()
    assert load_dataset(tmp_path / "set").sha256 == plain.sha256
    files = {role: f"{name}.gz" for role, name in FILES.items()}
    assert load_dataset(tmp_path / "set", **files).sha256 == plain.sha256


@pytest.mark.parametrize("name", ["dev.csv", "dev.tsv", "dev.parquet"])
@pytest.mark.parametrize("cut", [0, 12], ids=["not packed", "cut short"])
def test_a_broken_packed_file_is_answered_in_one_line(tmp_path: Path, name: str, cut: int):
    """A download that broke off would end in the words of a library, without the file's name."""
    rows = b"query,positive\none,uno\n"
    content = gzip.compress(rows)[:-cut] if cut else rows
    with pytest.raises(ValueError, match=rf"{name}.gz' cannot be unpacked \(.+\); fetch it again"):
        load_dataset(put(tmp_path / f"{name}.gz", content))


# --- judgements -------------------------------------------------------------------------------------------------------

JUDGED = {"q 1": {"d1": 2, "d,2": 0}, "q2": {"d1": 1}}


@pytest.mark.parametrize(
    "text",
    [
        'q 1,d1,2\nq 1,"d,2",0\nq2,d1,1\n',
        'query-id,corpus-id,score\nq 1,d1,2\nq 1,"d,2",0\nq2,d1,1\n',
        'q 1,0,d1,2\nq 1,0,"d,2",0\nq2,0,d1,1\n',
        "q 1;d1;2.0\nq 1;d,2;0.0\nq2;d1;1.\n",
        '"query","iteration","document","grade"\n"q 1","0","d1","2"\n"q 1","0","d,2","0"\nq2,0,d1,1\n',
        "q 1\td1\t2\nq 1\td,2\t0\nq2\td1\t1\n",
        "query id\tcorpus id\tscore\r\nq 1\td1\t2.0\r\n\r\nq 1\td,2\t0\r\nq2\td1\t1.0",
        "\ufeffq 1;d1;+2\nq 1;d,2;-0\nq2;d1;01\n",
    ],
)
def test_judgements_are_read_however_they_are_separated(tmp_path: Path, text: str):
    """A header would count as a judgement, 1.0 as no grade, or an id with a comma as two."""
    assert trec.read_qrels(put(tmp_path / "qrels", text)) == JUDGED
    assert trec.read_qrels(put(tmp_path / "a.json", json.dumps(JUDGED))) == JUDGED  # as ranx writes it


def test_an_empty_run_is_warned_of(tmp_path: Path):
    """A system that failed would look like one that finds nothing."""
    with pytest.warns(UserWarning, match="run.txt': the run is empty"):
        assert trec.read_run(put(tmp_path / "run.txt", "\n")) == {}
    assert read_run_table(tmp_path / "run.txt").longest == 0


@pytest.mark.parametrize(
    "rows",
    [
        [{"query": "one", "positive": "uno", "grade": grade} for grade in (1, 2)],
        [{"query": "one", "positive": ["uno", "dos"], "negative": ["uno"]}],
        [{"query": "one", "positive": ["uno", "uno"], "grade": [1, 2]}],
    ],
)
def test_a_pair_with_two_grades_is_refused_in_every_layout(tmp_path: Path, rows: Rows):
    """Which of two grades counts would depend on the order of rows."""
    with pytest.raises(ValueError, match=r"a.jsonl': row .*judged twice for query '0', with the grades 1 and"):
        load_dataset(put(tmp_path / "a.jsonl", jsonl(rows)))
    twice: Rows = [{"query-id": "q0", "corpus-id": "00", "score": grade} for grade in (1, 2)]
    with pytest.raises(ValueError, match="judged twice for query 'q0', with the grades 1 and 2"):
        load_dataset(mteb(tmp_path / "set", judged="default", qrels=twice))


# --- layouts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("qrels", ["qrels", "default"])
def test_the_configurations_of_mteb_are_put_together(tmp_path: Path, qrels: str):
    """Most public retrieval sets are of this layout; each would have to be rewritten as files first."""
    data = load_dataset(mteb(tmp_path / "set", judged=qrels))
    assert (data.queries, data.query_ids, data.corpus) == (["one", "two"], ["q0", "q1"], ["T\nuno {}", "dos"])
    assert data.qrels == [{0: 2}, {1: 1, 0: 0}]
    assert (data.split, data.skipped, data.titled) == ("test", {"unjudged_queries": 1}, 1)
    assert "split 'test'" in repr(data)


@pytest.mark.parametrize("own_table", [False, True])
def test_the_instruction_of_a_query_is_read_with_it(tmp_path: Path, own_table: bool):
    """Half of the question would be missing in the tasks of mteb that have instructions."""
    told: Rows = [{"query-id": "q1", "instruction": "Only numbers."}, {"query-id": "q0", "instruction": ""}]
    tables: dict[str, Rows] = {"instruction": told} if own_table else {}
    if not own_table:
        tables["queries"] = [told[0] | {"_id": "q1", "text": "two"}, told[1] | {"_id": "q0", "text": "one"}]
    data = load_dataset(mteb(tmp_path / "set", **tables))
    assert dict(zip(data.query_ids, data.queries, strict=True)) == {"q0": "one", "q1": "two Only numbers."}


def test_each_language_of_mteb_is_a_collection(tmp_path: Path):
    """The multilingual sets of MTEB name a configuration a language and table; none of them could be read."""
    cards = ""
    for form in ("zh-{}", "{}-de", "pt_br-{}"):
        cards += mteb(tmp_path / "set", form).joinpath("README.md").read_text().partition("configs:\n")[2][:-4]
    put(tmp_path / "set" / "README.md", f"---\nconfigs:\n{cards}---\n")
    for name, form in (("zh", "zh-{}"), ("de", "{}-de"), ("pt_br", "pt_br-{}")):
        data = load_dataset(tmp_path / "set", config=name)
        assert (data.corpus, data.qrels) == ([f"T\nuno {form}", "dos"], [{0: 2}, {1: 1, 0: 0}])
    with pytest.raises(ValueError, match=r"'set' holds 3 collections: 'zh', 'de', 'pt_br'\. Choose one: config='zh'"):
        load_dataset(tmp_path / "set")
    with pytest.raises(ValueError, match="'set' has no configuration 'fr'; it has 'zh', 'de', 'pt_br'"):
        load_dataset(tmp_path / "set", config="fr")


def test_one_of_several_tables_is_chosen_by_its_configuration(tmp_path: Path):
    """A data set with a table a language could not be read, and the message not say how to choose."""
    tables: dict[str, Rows] = {name: [{"query": f"{name}?", "positive": ["uno"]}] for name in ("xquad.de", "xquad.zh")}
    folder = configured(tmp_path / "set", split="dev", **tables)
    assert load_dataset(folder, config="xquad.zh").queries == ["xquad.zh?"]
    with pytest.raises(ValueError, match=r"several configurations \('xquad.de', 'xquad.zh'\); choose one: config="):
        load_dataset(folder)
    with pytest.raises(ValueError, match=r"'set' has no configuration 'zh'; it has 'xquad.de', 'xquad.zh'"):
        load_dataset(folder, config="zh")


@pytest.mark.parametrize("source", ["set/dev.csv", "pocket-en", "set", "beir"])
def test_a_configuration_of_what_has_none_is_refused(tmp_path: Path, source: str):
    """The option would be passed over, and another language be scored than the one asked for."""
    put(tmp_path / "set" / "dev.csv", "query,positive\none,uno\n")
    beir(tmp_path / "beir")
    with pytest.raises(ValueError, match=r"no configurations|has its own judgements"):
        load_dataset(source if source == "pocket-en" else tmp_path / source, config="zh")


def test_rows_beside_a_corpus_and_queries_are_rows(tmp_path: Path):
    """The columns of a table that was taken for judgements at first would be called unused."""
    texts: Rows = [{"_id": "0", "text": "uno"}]
    rows: Rows = [{"query": "one", "positive": "uno"}]
    data = load_dataset(configured(tmp_path / "set", default=rows, corpus=texts, queries=texts))
    assert (data.queries, data.corpus, data.unused) == (["one"], ["uno"], {})


def test_judgements_may_lie_in_a_data_set_of_their_own(tmp_path: Path):
    """BEIR keeps the judgements of its sets on the hub in repositories beside them."""
    folder = mteb(tmp_path / "set", judged="judged")
    with pytest.raises(ValueError, match=r'no judgements; name the data set or file that holds them: qrels="…"'):
        load_dataset(folder)
    apart = put(tmp_path / "apart" / "test.tsv", "query-id\tcorpus-id\tscore\nq0\t00\t1\n").parent
    data = load_dataset(folder, qrels=str(apart))
    assert (data.queries, data.qrels, data.split) == (["one"], [{0: 1}], "test")


def test_the_only_split_is_taken_and_named(tmp_path: Path):
    """Half of all sets have a test split alone: asked for nothing else, that is what was meant, and must be said."""
    for name, split in (("test", "test"), ("dev", "validation")):  # the hub's name for it
        put(tmp_path / name / f"{name}.csv", "query,positive\none,uno\n")
        assert load_dataset(tmp_path / name).split == split
    folder = beir(tmp_path / "beir")
    (folder / "qrels" / "dev.tsv").rename(folder / "qrels" / "test.tsv")
    assert load_dataset(folder).split == load_dataset(folder, split="test").split == "test"
    put(folder / "qrels" / "train.tsv", "q0\t00\t1\n")
    with pytest.raises(ValueError, match="'beir', folder qrels: no split 'dev'; it has 'test', 'train'"):
        load_dataset(folder)
    with pytest.raises(ValueError, match="no split 'train'; it has 'test'"):
        load_dataset(tmp_path / "test", split="train")


def test_a_title_is_joined_in_a_corpus_without_ids_too(tmp_path: Path):
    """The same passage would lose its title, and its score, by the layout it lies in."""
    passages: Rows = [{"title": "T", "text": "uno"}, {"title": "", "text": "dos"}, {"title": "alone", "text": ""}]
    default: Rows = [{"query": "one", "positive": ["T\nuno"]}]
    folder = configured(tmp_path / "set", default=default, corpus=passages)
    for corpus in ("corpus", str(folder / "corpus"), str(folder / "corpus" / "part.jsonl")):
        assert load_dataset(folder, config="default", corpus=corpus).corpus == ["T\nuno", "dos", "alone"]


# --- tables -----------------------------------------------------------------------------------------------------------


def test_a_folder_s_csv_files_are_read_as_one_alone_is(tmp_path: Path):
    """pandas would make 7 of the text 007, nothing of NA, and one column of two that a semicolon separates."""
    for name, text in {
        "dev-1.csv": '\ufeff"sep=;"\r\nquery;positive\r\n007;NA, or none\r\n',  # as Excel writes it
        "dev-2.csv": "query,positive\nnull,1e5\n",
    }.items():
        put(tmp_path / "set" / name, text)
    data = load_dataset(tmp_path / "set")
    assert (data.queries, data.corpus) == (["007", "null"], ["NA, or none", "1e5"])


@pytest.mark.parametrize("text", ["7\tone\n8\ttwo\n", "qid\ttext\n7\tone\n8\ttwo\n", "number\tasked\n7\tone\n8\ttwo\n"])
def test_a_table_of_two_columns_has_a_header_or_none(tmp_path: Path, text: str):
    """The first query would be lost as a header, or a header be asked as a query."""
    folder = beir(tmp_path / "set", **{"qrels/dev.tsv": "7\t00\t1\n8\t01\t1\n"})
    put(folder / "queries.tsv", text)
    named = "query=asked, query_id=number" if "asked" in text else None
    data = load_dataset(folder, **FILES | {"queries": "queries.tsv"}, columns=named)
    assert (data.queries, data.query_ids, data.skipped) == (["one", "two"], ["7", "8"], {})


@pytest.mark.parametrize("has_lists", [False, True])
def test_grades_of_a_table_are_kept(tmp_path: Path, has_lists: bool):
    """Graded relevance would be flattened to 1, and nDCG be another number."""
    rows: Rows = [
        {"query": "one", "positive": ["uno", "dos"], "rated": [3, 1]},
        {"query": "two", "positive": ["dos", "uno"], "rated": [2, -1]},
    ]
    text = "query,positive,Grade\none,uno,3\none,dos,1.0\ntwo,dos,2\ntwo,uno,-1\n"
    source = put(tmp_path / ("a.jsonl" if has_lists else "a.csv"), jsonl(rows) if has_lists else text)
    data = load_dataset(source, columns="grade=rated" if has_lists else None)
    assert (data.corpus, data.qrels) == (["uno", "dos"], [{0: 3, 1: 1}, {1: 2, 0: -1}])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query": "one", "positive": "uno", "grade": "high"}, "a.jsonl': row 0: the grade must be a whole number"),
        ({"query": "one", "positive": "uno", "grade": None}, "a.jsonl': row 0: the grade must be a whole number"),
        ({"query": "one", "positive": ["a", "b"], "grade": [1]}, "row 0: 1 grades for 2 passages"),
    ],
)
def test_a_grade_that_is_none_is_refused(tmp_path: Path, row: dict[str, object], message: str):
    """A missing grade would count as relevant, or shift the others."""
    with pytest.raises(ValueError, match=message):
        load_dataset(put(tmp_path / "a.jsonl", jsonl([row])))


# --- gaps -------------------------------------------------------------------------------------------------------------


def gaps(folder: Path, **files: str) -> Path:
    """Write a collection with a blank passage that is relevant, a blank query, and judgements of absent ids."""
    queries: Rows = [{"_id": "q0", "text": "one"}, {"_id": "q1", "text": " "}, {"_id": "q2", "text": "two"}]
    corpus: Rows = [{"_id": "00", "text": "uno"}, {"_id": "01", "text": ""}, {"_id": "02", "text": None, "title": " "}]
    qrels = "q0\t00\t1\nq0\t01\t1\nq1\t00\t1\nq2\t00\t1\nq2\t09\t1\nq9\t00\t1\n"
    written = {"queries.jsonl": jsonl(queries), "corpus.jsonl": jsonl(corpus), "qrels/dev.tsv": qrels}
    return beir(folder, **written | files)


NO_BLANK_QUERY = {"queries.jsonl": jsonl([{"_id": "q0", "text": "one"}, {"_id": "q2", "text": "two"}])}


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({}, {}, r"queries.jsonl': 1 of 3 queries are blank. The first: 'q1'. .*on_missing=\"skip\""),
        (NO_BLANK_QUERY, {}, "corpus.jsonl': 2 of 3 passages are blank. The first: '01', '02'."),
        ({}, {"on_missing": "keep"}, r"dev.tsv' judges 1 of 4 queries .*The first: 'q9'. .*on_missing=\"skip\""),
        ({}, {"on_missing": "drop"}, "on_missing='drop': expected 'raise' or 'skip'"),
    ],
)
def test_gaps_are_refused_with_file_id_number_and_option(tmp_path: Path, files, options, message: str):
    """A gap would be scored as the model's failure, or a refusal leave the reader to mend a file of millions."""
    with pytest.raises(ValueError, match=message):
        load_dataset(gaps(tmp_path / "set", **files), **options)


def test_gaps_that_may_be_left_out_are_counted(tmp_path: Path):
    """What was left out must stand on the page, or the score is of another collection than it says."""
    data = load_dataset(gaps(tmp_path / "set"), on_missing="skip")
    assert (data.query_ids, data.corpus, data.qrels) == (["q0", "q2"], ["uno"], [{0: 1}, {0: 1}])
    left = {"blank_queries": 1, "blank_passages": 2, "missing_queries": 1, "missing_passages": 1, "judgements": 4}
    assert data.first(1).skipped == data.subset([0]).skipped == data.skipped == left


def test_ids_of_another_release_are_refused_whatever_is_chosen(tmp_path: Path):
    """With every judgement left out each model would score 0."""
    for lines in ("q0\tx0\t1\nq1\tx1\t1\n", "x\t00\t1\n"):
        with pytest.raises(ValueError, match=r"no query has a relevant passage|no query is left of 1"):
            load_dataset(beir(tmp_path / "set", **{"qrels/dev.tsv": lines}), on_missing="skip")


def test_gaps_in_tables_are_treated_alike(tmp_path: Path):
    """The options would hold in one layout and be passed over in another."""
    rows: Rows = [{"query": "one", "positive": ["uno", " "]}, {"query": "", "positive": ["dos"]}]
    source = put(tmp_path / "dev.jsonl", jsonl([*rows, {"query": "two", "positive": ["dos"]}]))
    corpus = str(put(tmp_path / "all.jsonl", jsonl([{"text": "uno"}, {"text": "\n"}])))
    with pytest.raises(ValueError, match=r"dev.jsonl': 1 of 3 queries are blank. The first: .row 1.*on_missing=.skip"):
        load_dataset(source)
    with pytest.raises(ValueError, match=r"all.jsonl.*1 of 2 passages are blank.*row 1"):
        load_dataset(source, corpus=corpus)
    kept = load_dataset(source, corpus=corpus, on_missing="keep")
    assert (kept.qrels, kept.doc_ids) == ([{0: 1}, {1: 1}], ["0", "1"])
    data = load_dataset(source, corpus=corpus, on_missing="skip")
    assert (data.queries, data.corpus, data.qrels) == (["one", "two"], ["uno"], [{0: 1}, {}])
    assert data.skipped == {"blank_queries": 1, "blank_passages": 2, "missing_passages": 1, "judgements": 1}


# --- questions without an answer --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "lists", "files"])
def test_questions_without_an_answer_score_0_or_are_left_out(tmp_path: Path, kind: str):
    """SQuAD 2.0 is full of them: refused, it could not be used; dropped in silence, its mean would rise."""
    rows: Rows = [{"query": "one", "positive": ["uno"]}, {"query": "two", "positive": []}]
    source = {
        "csv": put(tmp_path / "a.csv", "query,positive\none,uno\ntwo,\n"),
        "lists": put(tmp_path / "a.jsonl", jsonl(rows)),
        "files": beir(tmp_path / "set", **{"qrels/dev.tsv": "q0\t00\t2\nq1\t02\t0\nq1\t01\t-1\n"}),
    }[kind]
    data = load_dataset(source)
    ids = np.zeros((2, 1), np.int64)
    assert (data.queries, data.unanswered()) == (["one", "two"], [1])
    assert evaluate(ids, data.qrels, "recall@1").mean["recall@1"] == 0.5
    left = data.without_unanswered()
    assert (left.queries, left.unanswered(), left.corpus) == (["one"], [], data.corpus)
    assert left.skipped["unanswered_queries"] == 1


def test_what_counts_as_an_answer_is_the_relevance_level(tmp_path: Path):
    """A query with grade 1 alone has no answer at level 2; limits count the queries that are left."""
    folder = beir(tmp_path / "set", **{"qrels/dev.tsv": "q0\t00\t1\nq1\t02\t2\nq2\t02\t3\n"})
    assert load_dataset(folder, relevance_level=2).without_unanswered().first(2).query_ids == ["q1", "q2"]
    for lines, level in (("q0\t00\t0\nq1\t01\t0\n", None), ("q0\t00\t-1\n", 1), ("q0\t00\t2\n", 3)):
        with pytest.raises(ValueError, match=r"set: no query has a relevant passage: the highest of \d grades is -?\d"):
            load_dataset(beir(folder, **{"qrels/dev.tsv": lines}), relevance_level=level)


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("set/dew.csv", "Did you mean 'dev.csv'"),
        ("set/nothing", "Check the path"),
        ("./set/x", "Check the path"),
        ("nowhere/dev.csv.gz", "Check the path"),
        ("dew.csv", "No file or folder"),
    ],
)
def test_a_mistyped_path_is_not_taken_for_a_hub_id(tmp_path: Path, monkeypatch, name: str, message: str):
    """The answer would be that the hub cannot be reached, after a wait, and the slip stay unseen."""
    put(tmp_path / "set" / "dev.csv", "query,positive\none,uno\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=message):
        load_dataset(name)


# --- the formats that people have -------------------------------------------------------------------------------------

PAIRS = {
    "flag.jsonl": '{"query": "one", "pos": ["uno"], "neg": ["dos"]}\n',
    "anchor.csv": "anchor,positive,negative\none,uno,dos\n",
    "qa.csv": "Question , ANSWER,neg\none,uno,dos\n",
    "问答.csv": "问题,答案,negative\none,uno,dos\n",
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_usual_names_of_pairs_are_known(tmp_path: Path, name: str):
    """FlagEmbedding's own format, or a table in Chinese, would be refused for its names."""
    data = load_dataset(put(tmp_path / name, PAIRS[name]))
    assert (data.queries, data.corpus, data.qrels, data.unused) == (["one"], ["uno", "dos"], [{0: 1, 1: 0}], {})


@pytest.mark.parametrize("indent", [None, 4])
def test_a_test_set_of_llama_index_is_read(tmp_path: Path, indent: int | None):
    """It is the commonest generated test set; over several lines the message was that it is not JSON."""
    texts = {"queries": {"u1": "one", "u2": "two"}, "corpus": {"n1": "uno", "n2": "dos", "n3": "tres"}}
    content = json.dumps({**texts, "relevant_docs": {"u1": ["n1"], "u2": ["n3", "n2"]}, "mode": "text"}, indent=indent)
    data = load_dataset(put(tmp_path / "qa.json", content))
    assert (data.query_ids, data.corpus_ids) == (["u1", "u2"], ["n1", "n2", "n3"])
    assert data.qrels == [{0: 1}, {2: 1, 1: 1}]
    with pytest.raises(ValueError, match="expected one object of queries, corpus, relevant_docs, each an object by id"):
        load_dataset(put(tmp_path / "qa.json", '{"queries": [], "corpus": [], "relevant_docs": []}'))


def test_half_a_sign_is_found_in_its_row_and_column(tmp_path: Path):
    """The error of an encoder would name neither file nor row; a whole sign, written as two halves, is a text."""
    whole, half = r'{"query": "one", "positive": "uno \ud83d\ude00"}', r'{"query": "two", "positive": "dos \ud83d"}'
    assert load_dataset(put(tmp_path / "faq.jsonl", whole)).corpus == ["uno \U0001f600"]
    with pytest.raises(ValueError, match=r"'faq.jsonl': row 1, the positive has half a sign at character 4 \('\\ud83d"):
        load_dataset(put(tmp_path / "faq.jsonl", f"{whole}\n{half}"))
    corpus = r'{"_id": "00", "text": "uno"}' + "\n" + r'{"_id": "p2", "text": "dos \ud83d"}'
    with pytest.raises(ValueError, match=r"'corpus.jsonl': passage 'p2' has half a sign at character 4"):
        load_dataset(beir(tmp_path / "set", **{"corpus.jsonl": corpus}))
