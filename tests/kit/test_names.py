"""Names beside figures, and the same names in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from notebooks.kit.notebooks import ROOT
from notebooks.kit.wording import mentions, missing_names, swapped
from tests.kit.test_claims import change, found

LABELS = frozenset({"MiniLM, mean", "BM25", "TF-IDF"})


@pytest.mark.parametrize(
    ("sentence", "rows", "wrong"),
    [
        ("The dense model is at #, BM25 at #.", ["MiniLM, mean", "BM25"], ""),
        ("BM25 is at #, the dense model at #.", ["MiniLM, mean", "BM25"], "MiniLM, mean"),
        ("The dense model is at #, TF-IDF at #.", ["MiniLM, mean", "BM25"], "MiniLM, mean"),
        ("稠密模型是#，BM25是#。", ["MiniLM, mean", "BM25"], ""),
        ("BM25是#，稠密模型是#。", ["MiniLM, mean", "BM25"], "MiniLM, mean"),
        ("It is # for BM25 and # for TF-IDF.", ["BM25", "TF-IDF"], ""),
        ("For BM25 and TF-IDF it is # and #.", ["BM25", "TF-IDF"], ""),
        ("BM25 leads, # against #.", ["BM25", "MiniLM, mean"], ""),
        ("TF-IDF has #.", ["BM25"], "BM25"),
    ],
)
def test_swapped_names(sentence: str, rows: list[str], wrong: str) -> None:
    """The score of one system could be given to another."""
    places = [at for at, character in enumerate(sentence) if character == "#"]
    named = mentions(sentence, LABELS, ROOT)
    assert swapped(list(zip(places, rows, strict=True)), named) == wrong


def test_the_check_names_the_sentence(project: Path) -> None:
    """The rule would be written and not asked."""
    change(project, "System a reaches", "System b reaches", languages=("en",))
    assert {rule for rule, _ in found(project)} == {"subject"}


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
