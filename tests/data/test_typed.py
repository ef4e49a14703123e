"""The split of queries as people type them: its files, its judgements, and what the data card says of it."""

from collections import Counter
from dataclasses import replace

import pytest

from helpers.data import load_dataset
from helpers.metrics import evaluate
from helpers.systems import rank
from tests.data.pocket import records

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
    listed = records(f"typed.queries.{language}.jsonl")
    assert [one["text"] for one in listed] == typed.queries
    assert Counter(one["kind"] for one in listed) == KINDS[language]
    assert all(one["plain"] not in (one["text"], "") for one in listed)


@pytest.mark.parametrize("language", KINDS)
@pytest.mark.parametrize("form", ["text", "plain"])
def test_what_word_matching_retrieves_is_judged(language, form):
    """An unjudged passage counts as wrong, whoever retrieved it."""
    data = load_dataset(f"pocket-{language}", split="typed")
    data = replace(data, queries=[one[form] for one in records(f"typed.queries.{language}.jsonl")])
    for system in ("BM25", "BM25:characters", "TF-IDF"):
        judged = evaluate(rank(system, data, 10).ids, data.qrels, "judged@10").per_query["judged@10"]
        assert set(judged) <= {0.0, 1.0}  # 0 where nothing is retrieved
        assert form == "text" or judged.all()
