"""The split of queries as people type them: queries of its own over the same passages."""

import json
from collections import Counter

import pytest

from helpers.data import bundled, load_dataset

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
    lines = (bundled.FOLDER / "pocket" / f"typed.queries.{language}.jsonl").read_text(encoding="utf-8").splitlines()
    listed = [json.loads(line) for line in lines]
    assert [one["text"] for one in listed] == typed.queries
    assert Counter(one["kind"] for one in listed) == KINDS[language]
    assert all(one["plain"] not in (one["text"], "") for one in listed)
