"""The data card of the pocket collection: every figure on it follows from the files beside it."""

import re
from collections import Counter
from functools import cache

import pytest

from helpers.data import load_dataset
from helpers.judgements import Agreement, agreement
from tests.data.pocket import FOLDER, by_query, card, grades, labels

KAPPAS = ({}, {"weights": "quadratic"}, {"relevance_level": 2})  # the card's columns, as options of `agreement`


def rows(text: str) -> dict[str, list[str]]:
    """Return the cells of every table row by the first cell."""
    found = re.findall(r"^\| ([^|]+) \|(.+)\|$", text, re.M)
    return {label: [cell.strip() for cell in cells.split("|")] for label, cells in found}


@cache
def agreements(one: str, other: str) -> list[Agreement]:
    """Return each kappa of two assessors, with its interval over 10,000 resamples of queries."""
    return [agreement(by_query(one), by_query(other), seed=16, **options) for options in KAPPAS]


def kappa_row(one: str, other: str) -> list[str]:
    """Return the row of the card on two assessors."""
    found = agreements(one, other)
    cells = [f"{a.kappa:.3f} ({a.interval[0]:.3f} to {a.interval[1]:.3f})" for a in found]
    return [str(found[0].pairs), str(found[0].queries), *cells]


def middle(given: dict[str, int]) -> int:
    """Return the middle of a pair's labels, of two the lower."""
    return sorted(given.values())[(len(given) - 1) // 2]


def tables(scores: dict) -> dict[str, list[str]]:
    """Return what the tables of the card must hold, by the first cell of the row."""
    data = load_dataset("pocket-en")
    counts = Counter(grade for judged in data.qrels for grade in judged.values())
    values = {
        "queries": len(data.queries),
        "passages": len(data.corpus),
        "judgements": counts.total(),
        **{f"grade {grade}": counts[grade] for grade in range(4)},
        **{f"{n} {metric}": f"{scores[n].mean[metric]:.3g}" for n in scores for metric in ("ndcg@10", "success@1")},
    }
    return {
        **{name: [str(value)] for name, value in values.items()},
        "first and second": kappa_row("first", "second"),
        "authors and first": kappa_row("authors", "first"),
        **{str(grade): [str(int(n)) for n in agreements("authors", "first")[0].table[grade]] for grade in range(4)},
    }


def test_tables_hold_what_the_files_hold(scores):
    """A card with stale figures is worse than none."""
    stated = rows(card())
    expected = tables(scores)
    assert {name: stated.get(name) for name in expected} == expected


def test_the_chinese_card_states_the_same_figures():
    """A figure that changes in one language would be wrong in the other."""
    chinese = (FOLDER / "README.zh.md").read_text(encoding="utf-8")
    english, chinese = (Counter(re.findall(r"\d+(?:[.,]\d+)*", text)) for text in (card(), chinese))
    assert english == chinese


def test_grades_are_the_middle_of_the_labels():
    """A grade that follows from no label was made up."""
    assert {pair: middle(given) for pair, given in labels().items()} == grades("qrels.tsv")
    assert {grade for given in labels().values() for grade in given.values()} == {0, 1, 2, 3}


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
