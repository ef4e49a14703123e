"""The data card of the pocket collection: its counts and scores follow from the files beside it."""

import re
from collections import Counter

import numpy as np
import pytest

from helpers.data import load_dataset
from helpers.embeddings import encode
from helpers.index import build_index, search
from helpers.metrics import evaluate
from helpers.models import load_model
from tests.data.pocket import FOLDER, card, grades


def scored(name: str, ids: np.ndarray) -> dict[str, str]:
    """Return the scores of a system's top ten as the card shows them, and see that all of it is judged."""
    data = load_dataset("pocket-en")
    mean = evaluate(ids, data.qrels, ["ndcg@10", "success@1", "judged@10"], relevance_level=2).mean
    assert mean.pop("judged@10") == 1, "an unjudged passage counts as wrong, whoever retrieved it"
    return {f"{name} {metric}": f"{value:.3g}" for metric, value in mean.items()}


def test_tables_hold_what_the_files_hold():
    """A card with stale figures is worse than none."""
    en, zh, model = load_dataset("pocket-en"), load_dataset("pocket-zh"), load_model()
    index = build_index(encode(model, en.corpus))
    counts = Counter(grade for judged in en.qrels for grade in judged.values())
    expected = {
        "queries": str(len(en.queries)),
        "passages": str(len(en.corpus)),
        "judgements": str(counts.total()),
        **{f"grade {grade}": str(counts[grade]) for grade in range(4)},
        **scored("dense", search(index, encode(model, en.queries, kind="query"), 10)[1]),
        **scored("bm25", search(build_index(en.corpus, "BM25"), en.queries, 10)[1]),
        **scored("bm25 zh", search(build_index(zh.corpus, "BM25"), zh.queries, 10)[1]),
    }
    stated = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", card(), re.M))
    assert {name: stated.get(name) for name in expected} == expected


def test_the_chinese_card_states_the_same_figures():
    """A figure that changes in one language would be wrong in the other."""
    chinese = (FOLDER / "README.zh.md").read_text(encoding="utf-8")
    english, chinese = (Counter(re.findall(r"\d+(?:[.,]\d+)*", text)) for text in (card(), chinese))
    assert english == chinese


@pytest.mark.parametrize(("file", "language"), [("guidelines.md", "en"), ("guidelines.zh.md", "zh")])
def test_examples_of_the_guidelines_have_the_grade_they_stand_for(file, language):
    """An example that the judgements contradict would teach the next assessor another scale."""
    text = (FOLDER / file).read_text(encoding="utf-8")
    examples = re.findall(r"^\| (\d) \|[^|]+\| (q\d{3}) ([^|]+) \| (p\d{3})", text, re.M)
    data = load_dataset(f"pocket-{language}")
    assert [int(grade) for grade, *_ in examples] == [3, 2, 1, 0]
    for grade, query, words, passage in examples:
        assert data.queries[data.query_ids.index(query)] == words
        assert grades("qrels.tsv")[query, passage] == int(grade)
    for query, passage, grade in (("q127", "p466", 1), ("q117", "p880", 0)):
        assert query in text
        assert passage in text
        assert grades("qrels.tsv")[query, passage] == grade
        assert data.queries[data.query_ids.index(query)] in text
