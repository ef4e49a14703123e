"""Names beside figures, and the same names in both languages."""

from __future__ import annotations

import pytest

from notebooks.kit.wording import missing_names


@pytest.mark.parametrize(
    ("english", "chinese", "missing"),
    [
        ("recall@10 of BM25 and TF-IDF", "BM25和TF-IDF的recall@10", []),
        ("BM25 and TF-IDF", "TF-IDF和BM25", ["tf-idf"]),
        ("BM25 beats MiniLM", "BM25胜过BM25", ["minilm"]),
        ("GPUs and the CPU", "GPU和CPU，CPU", []),
    ],
)
def test_both_languages_name_the_same(english: str, chinese: str, missing: list[str]) -> None:
    """A name could be another in one language."""
    assert list(missing_names(english, chinese)) == missing
