"""What stands in a file is read, refused or told: a column or key that no reader knows is never passed over."""

import json
from pathlib import Path

import datasets
import pytest

from helpers.data import load_dataset
from helpers.data.spans import load_spans
from helpers.data.trec import read_qrels
from helpers.models import load_model
from tests.checkpoints import save_checkpoint
from tests.data.files import beir, jsonl, mteb, put

ROWS = [{"query": "one", "positive": "uno", "rater": "r7"}, {"query": "two", "positive": "dos", "rater": ""}]
JUDGED = [{"assessor": 3, "corpus-id": "00", "score": 2, "query-id": "q0"}]
JUDGED += [{"assessor": 1, "corpus-id": "01", "score": 1, "query-id": "q1"}]


def _delimited(rows: list[dict[str, object]], mark: str) -> str:
    return "".join(mark.join(map(str, row)) + "\n" for row in [list(rows[0]), *(row.values() for row in rows)])


MTEB = {
    "corpus": [{"_id": f"0{n}", "text": text, "url": "u"} for n, text in enumerate("ab")],
    "queries": [{"_id": f"q{n}", "text": text, "lang": "en"} for n, text in enumerate("ab")],
    "qrels": JUDGED,
}
DATA = {
    "a.csv": (lambda d: put(d / "a.csv", _delimited(ROWS, ",")), {"a.csv": ["rater"]}),
    "rows in a folder": (lambda d: put(d / "set" / "dev.jsonl", jsonl(ROWS)).parent, {"set": ["rater"]}),
    "MTEB": (lambda d: mteb(d / "m", **MTEB), {"qrels": ["assessor"], "queries": ["lang"], "corpus": ["url"]}),
}


@pytest.mark.parametrize("kind", DATA)
def test_columns_that_are_not_read_are_told(kind: str, tmp_path: Path):
    """A reader would never learn that his column of grades is not one here."""
    make, expected = DATA[kind]
    assert load_dataset(make(tmp_path)).unused == expected


@pytest.mark.parametrize("name", ["dev.csv", "dev.qrels", "dev.jsonl", "dev.parquet"])
def test_columns_of_judgements_that_are_not_read_are_told(name: str, tmp_path: Path):
    """An assessor, a number in a column before the others, would be read as the query or the grade."""
    (beir(tmp_path) / "qrels" / "dev.tsv").unlink()
    if name == "dev.parquet":
        datasets.Dataset.from_list(JUDGED).to_parquet(tmp_path / "qrels" / name)
    else:
        mark = {"dev.csv": ";", "dev.qrels": "\t"}.get(name)
        put(tmp_path / "qrels" / name, _delimited(JUDGED, mark) if mark else jsonl(JUDGED))
    data = load_dataset(tmp_path)
    assert (data.unused, data.query_ids, data.qrels) == ({name: ["assessor"]}, ["q0", "q1"], [{0: 2}, {1: 1}])


def test_what_is_read_and_what_is_empty_is_not_told(tmp_path: Path):
    """A note beside every report would be read by nobody: an empty `metadata` stands in every BEIR corpus."""
    rows = [
        {"_id": f"0{n}", "title": "T", "text": text, "metadata": {}} for n, text in enumerate(["uno", "dos", "tres"])
    ]
    folder = beir(tmp_path, **{"corpus.jsonl": jsonl([*rows, {"_id": "03", "text": "dos", "metadata": {}}])})
    assert load_dataset(folder).unused == {}
    assert load_dataset("pocket-en").unused == {}
    trec = put(tmp_path / "iterations.csv", "query_id,iteration,doc_id,relevance\nq0,0,00,1\n")
    assert load_dataset(folder, qrels=str(trec)).unused == {}


def test_judgements_read_alone_tell_it_too(tmp_path: Path):
    """A script of the reader's own would not learn it."""
    with pytest.warns(UserWarning, match=r"a\.csv: not used: assessor"):
        assert read_qrels(put(tmp_path / "a.csv", _delimited(JUDGED, ","))) == {"q0": {"00": 2}, "q1": {"01": 1}}
    with pytest.warns(UserWarning, match=r"b\.csv: not used: the second column, '00'"):
        read_qrels(put(tmp_path / "b.csv", "q0,00,2,1700000000\n"))  # query, document, grade, time, without a header
    rows = {"documents": {"_id": "d", "text": "uno dos"}, "queries": {"_id": "q", "text": "one"}}
    rows["spans"] = {"query": "q", "document": "d", "text": "uno", "relevance": "2"}
    for name, row in rows.items():
        put(tmp_path / "spans" / f"{name}.jsonl", jsonl([row]))
    with pytest.warns(UserWarning, match=r"spans\.jsonl: not used: relevance"):  # the grade would be 1
        load_spans(tmp_path / "spans")


MODEL = {
    "prompts": ("config_sentence_transformers.json", {"prompts": {"s2p_query": "a ", "document": "the "}}, "s2p_query"),
    "settings": ("config_sentence_transformers.json", {"default_prompt_name": "s2s"}, "default_prompt_name"),
    "length": (
        "sentence_xlnet_config.json",
        {"max_seq_length": 9, "query_expansion": {"length": 9}},
        "query_expansion",
    ),
    "length of others": ("sentence_mpnet_config.json", {"max_seq_length": 9}, "max_seq_length"),
    "network": ("sentence_bert_config.json", {"processing_kwargs": {"text": {"max_length": 3}}}, "processing_kwargs"),
    "pooling": ("1_Pooling/config.json", {"pooling_mode": "mean", "temperature": 2}, "temperature"),
}


@pytest.mark.parametrize("kind", MODEL)
def test_keys_of_a_model_that_are_not_read_are_told(kind: str, tmp_path: Path):
    """A prompt of another name, or a length in a new key, would be missing from a score, and nobody notice."""
    file, content, name = MODEL[kind]
    folder = save_checkpoint(tmp_path / "tiny")
    (folder / file).write_text(json.dumps(content))
    told = "prompts" if kind == "prompts" else file
    with pytest.warns(UserWarning, match=f"tiny: not used of its files: {told}: {name}\\. Give a prompt"):
        model = load_model(folder, device="cpu")
    assert model.info.unused == [f"{told}: {name}"]


def test_a_model_of_which_all_is_read_is_not_warned_of(tmp_path: Path, recwarn: pytest.WarningsRecorder):
    """What sentence-transformers writes into every folder would be a warning with every model."""
    from sentence_transformers import SentenceTransformer

    SentenceTransformer(str(save_checkpoint(tmp_path / "tiny")), device="cpu").save_pretrained(str(tmp_path / "saved"))
    assert load_model(tmp_path / "saved", device="cpu").info.unused is None
    assert load_model().info.unused is None
    assert not [warning for warning in recwarn if "not used" in str(warning.message)]
