"""The bundled collection: well-formed, bilingual, and the one that the lessons were recorded with."""

import json
import subprocess
import sys
from collections import Counter

import pytest

from helpers.data import bundled as collections
from helpers.data import load_dataset, upstream_example
from notebooks.kit.notebooks import ROOT


def test_languages_can_be_crossed():
    """Cross-lingual retrieval needs Chinese queries over the English corpus, with the same judgements."""
    crossed = load_dataset("pocket-zh-en")
    assert crossed.queries == load_dataset("pocket-zh").queries
    assert crossed.corpus == load_dataset("pocket-en").corpus
    assert crossed.qrels == load_dataset("pocket-zh").qrels
    assert (crossed.name, crossed.relevance_level, crossed.split) == ("pocket-zh-en", 2, "dev")
    with pytest.raises(ValueError, match="'pocket-en-zh' has no split 'test'; it has dev and typed"):
        load_dataset("pocket-en-zh", split="test")


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


def test_the_fingerprint_of_a_collection_is_the_recorded_one():
    """The lessons would record another fingerprint for the same texts."""
    lesson = (ROOT / "notebooks" / "en" / "05_languages.ipynb").read_text(encoding="utf-8")
    for name in ("pocket-en", "pocket-zh"):
        assert f'\\"{name}\\": \\"{load_dataset(name).sha256}\\"' in lesson


def test_the_upstream_example_has_one_grade():
    """Gains of its published experiment would differ from those of a yes or no."""
    data, found = upstream_example()
    assert {grade for judged in data.qrels for grade in judged.values()} == {1}
    assert {rows.shape for rows in found.values()} == {(len(data.queries), 2)}


KINDS = {"zh": dict.fromkeys(("homophone", "pinyin", "mixed", "spoken"), 6), "en": {"typo": 24}}


@pytest.mark.parametrize("language", KINDS)
def test_the_split_has_its_own_queries_over_the_same_passages(language):
    """Scores of the collection would change, or a kind would be too rare to be shown."""
    usual, typed = (load_dataset(f"pocket-{language}", split=split) for split in ("dev", "typed"))
    assert typed.corpus == usual.corpus
    assert not set(typed.queries) & set(usual.queries)
    assert not set(typed.query_ids) & set(usual.query_ids)
    assert typed.split == "typed"
    assert all(typed.relevant(row) for row in range(len(typed.queries)))
    lines = (collections.FOLDER / "pocket" / f"typed.queries.{language}.jsonl").read_text(encoding="utf-8").splitlines()
    listed = [json.loads(line) for line in lines]
    assert [one["text"] for one in listed] == typed.queries
    assert Counter(one["kind"] for one in listed) == KINDS[language]
    assert all(one["plain"] not in (one["text"], "") for one in listed)
