"""Pages that other texts rely on: references with their keys, the versions tested, definitions of every term."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LANGUAGES = ("en", "zh")
PACKAGES = [
    "pytrec_eval-terrier",
    "beir",
    "FlagEmbedding",
    "ranx",
    "ir_measures",
    "sentence-transformers",
    "scikit-learn",
]


def page(language: str, name: str) -> str:
    """Return the text of a page."""
    return (ROOT / "docs" / language / f"{name}.md").read_text(encoding="utf-8")


def keys(language: str) -> list[str]:
    """Return the keys of the references in their order."""
    return re.findall(r"^### ([A-Za-z]\S*)$", page(language, "references"), re.M)


def test_references_have_the_same_keys_in_both_languages():
    """A reader of one language would miss a source; tests/project/test_truth.py follows the links to them."""
    assert keys("en") == keys("zh")
    assert len({key.lower() for key in keys("en")}) == len(keys("en"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_library_page_names_the_versions_tested(language):
    """Conventions change from one version to the next; a table without versions cannot be checked."""
    locked = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))
    for package in PACKAGES:
        assert f"{package} {locked[package]}" in page(language, "differences")
