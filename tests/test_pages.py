"""Pages that other texts rely on: references with their keys, the versions tested, definitions of every term."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

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
def test_identifiers_lead_where_they_say(language):
    """A DOI that is shown and another that is linked: one of the two is another paper."""
    for kind, shown, target in re.findall(r"\[`(doi|arXiv):([^`]+)`\]\(([^\s)]+)\)", page(language, "references")):
        start = {"doi": "https://doi.org/", "arXiv": "https://arxiv.org/abs/"}[kind]
        assert unquote(target) == start + shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_library_page_names_the_versions_tested(language):
    """Conventions change from one version to the next; a table without versions cannot be checked."""
    locked = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))
    for package in PACKAGES:
        assert f"{package} {locked[package]}" in page(language, "differences")


def test_every_term_is_defined_in_both_languages():
    """A glossary that only translates explains nothing to a reader new to the field."""
    for term in yaml.safe_load((ROOT / "docs" / "glossary.yml").read_text(encoding="utf-8"))["terms"]:
        english, chinese = term["means"]["en"], term["means"]["zh"]
        assert re.fullmatch(r"[A-Z0-9][^\n|]*[.]", english), term["en"]
        assert re.fullmatch(r"[^\n|]*[\u3400-\u9fff][^\n|]*。", chinese), term["en"]
        assert not re.search(r"[\u3400-\u9fff][,;:?!()]|[\u3400-\u9fff] |\s[\u3400-\u9fff]", chinese), term["en"]
