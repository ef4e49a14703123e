"""The bundled collection: well-formed, bilingual, judged without holes, and as hard as the lessons need it."""

import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from helpers.data import bundled as collections
from helpers.data import load_dataset
from notebooks.kit.notebooks import ROOT
from tests.data.pocket import FOLDER, query_types, records

HAN = re.compile(r"[\u3400-\u9fff]")


@pytest.mark.parametrize(("kind", "fields"), [("corpus", {"id", "title", "text"}), ("queries", {"id", "text"})])
def test_both_languages_hold_the_same_records(kind, fields):
    """Judgements are shared: an id that means another thing in Chinese would score the wrong passage."""
    english, chinese = records(f"{kind}.en.jsonl"), records(f"{kind}.zh.jsonl")
    assert [r["id"] for r in english] == [r["id"] for r in chinese]
    assert len({r["id"] for r in english}) == len(english)
    assert all(set(r) == fields for r in english + chinese)
    for one, other in zip(english, chinese, strict=True):
        assert not any(HAN.search(one[f]) for f in fields), one
        assert all(HAN.search(other[f]) for f in fields - {"id"}), other


def test_every_query_has_answers_and_traps():
    """A query without an answer scores 0 for every system; one without traps teaches nothing."""
    data = load_dataset("pocket-en")
    for row, judged in enumerate(data.qrels):
        grades = Counter(judged.values())
        assert set(grades) <= {0, 1, 2, 3}
        assert grades[3] >= 1, data.query_ids[row]
        assert grades[0] >= 4, data.query_ids[row]
    lines = (FOLDER / "query_types.tsv").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == data.query_ids
    assert set(query_types()) == {"question", "keyword", "paraphrase", "entity"}


def test_there_is_no_unjudged_hole(scores):
    """An unjudged passage in a top ten counts as wrong, whoever retrieved it."""
    assert {name: result.mean["judged@10"] for name, result in scores.items()} == {
        "dense": 1.0,
        "bm25": 1.0,
        "bm25 zh": 1.0,
    }


def test_languages_can_be_crossed():
    """Cross-lingual retrieval needs Chinese queries over the English corpus, with the same judgements."""
    crossed = load_dataset("pocket-zh-en")
    assert crossed.queries == load_dataset("pocket-zh").queries
    assert crossed.corpus == load_dataset("pocket-en").corpus
    assert crossed.qrels == load_dataset("pocket-zh").qrels
    assert crossed.name == "pocket-zh-en"


def test_reading_needs_no_third_party_library():
    """The collection must load in well under a tenth of a second: heavy imports would take that alone."""
    probe = "import sys; from helpers.data import bundled as b; b.load('pocket-en-zh'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "pandas", "datasets", "torch", "faiss"} & set(loaded)


def test_export_reads_back_in_trec_and_beir_layout(tmp_path):
    """The collection is useful to other tools only if they see the same judgements."""
    from beir.datasets.data_loader import GenericDataLoader

    from helpers.data import trec

    data = load_dataset("pocket-en")
    trec.export(data, tmp_path)
    corpus, queries, qrels = GenericDataLoader(str(tmp_path)).load("dev")
    assert [corpus[passage]["text"] for passage in data.corpus_ids] == data.corpus
    assert [queries[query] for query in data.query_ids] == data.queries
    expected = {
        query: {data.corpus_ids[passage]: grade for passage, grade in judged.items()}
        for query, judged in zip(data.query_ids, data.qrels, strict=True)
    }
    assert {q: {p: g for p, g in judged.items()} for q, judged in qrels.items()} == expected
    assert trec.read_qrels(tmp_path / "qrels" / "dev.qrels") == expected


def test_another_collection_is_a_folder_and_no_code(tmp_path, monkeypatch):
    """A contributor would have to find the places in the code that know the name pocket."""
    folder = tmp_path / "tales"
    folder.mkdir()
    (folder / "card.toml").write_text('name = "tales"\nlanguages = ["de"]\nrelevance_level = 1\n')
    (folder / "queries.de.jsonl").write_text('{"id": "q1", "text": "Wer schlief?"}\n')
    (folder / "corpus.de.jsonl").write_text('{"id": "p1", "title": "Schlaf", "text": "Es schlief die Prinzessin."}\n')
    (folder / "qrels.tsv").write_text("q1\t0\tp1\t1\n")
    shutil.copytree(FOLDER, tmp_path / "pocket")
    monkeypatch.setattr(collections, "FOLDER", tmp_path)
    assert collections.names() == ["pocket-en", "pocket-zh", "pocket-en-zh", "pocket-zh-en", "tales-de"]
    data = load_dataset("tales-de")
    assert (data.name, data.queries, data.corpus) == (
        "tales-de",
        ["Wer schlief?"],
        ["Schlaf\nEs schlief die Prinzessin."],
    )
    assert (data.qrels, data.relevance_level, load_dataset("pocket-en").relevance_level) == ([{0: 1}], 1, 2)


def test_the_fingerprint_of_a_collection_is_the_recorded_one():
    """The lessons would record another fingerprint for the same texts."""
    lesson = (ROOT / "notebooks" / "en" / "05_languages.ipynb").read_text(encoding="utf-8")
    for name in ("pocket-en", "pocket-zh"):
        assert f'\\"{name}\\": \\"{load_dataset(name).sha256}\\"' in lesson
