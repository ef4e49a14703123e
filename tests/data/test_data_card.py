"""The data card of the pocket collection: its counts and scores follow from the files beside it."""

import re
from collections import Counter

import numpy as np

from helpers.data import bundled, load_dataset
from helpers.embeddings import encode
from helpers.index import build_index, search
from helpers.metrics import evaluate
from helpers.models import load_model

CARDS = [(bundled.FOLDER / "pocket" / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md")]


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
    stated = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", CARDS[0], re.M))
    assert {name: stated.get(name) for name in expected} == expected


def test_the_chinese_card_states_the_same_figures():
    """A figure that changes in one language would be wrong in the other."""
    english, chinese = (Counter(re.findall(r"\d+(?:[.,]\d+)*", text)) for text in CARDS)
    assert english == chinese
