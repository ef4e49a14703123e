"""Claims, worked numbers and formulas, numbers without a marker, and both languages of a text compared."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from nbformat import NotebookNode

from notebooks.kit import __main__ as cli
from notebooks.kit.arithmetic import ExpressionError, evaluate
from notebooks.kit.cells import alt_text, by_id
from notebooks.kit.check import check
from notebooks.kit.figures import without_markers
from notebooks.kit.listed import FILE
from notebooks.kit.notebooks import LANGUAGES
from notebooks.kit.wording import language_differences
from tests.sample import NAME, edit, replaced

FIGURES = {"a": 0.5, "b": 0.25, "column/1": 3, "column/2": 2, "column/3": 2}


def lookup(name: str) -> list[Fraction]:
    """Return the numbers of invented figures."""
    pattern = re.escape(name).replace(r"\*", ".*")
    return [Fraction(str(value)) for key, value in FIGURES.items() if re.fullmatch(pattern, key)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a' > 'b'", True),
        ("'b' > 'a'", False),
        ("'a' == 1 / 2 and 'b' > 'a'", False),
        ("0.2 < 'b' < 'a' <= 0.4", False),
        ("abs('b' - 'a') == min('a', 'b', 0.3)", True),
        ("1/2 + 1/3 == 5/6", True),
        ("falls('column/*')", True),
        ("rises('column/*')", False),
        ("first('column/*') - last('column/*')", 1),
        ("sqrt(16) + log2(8) * 2 ** 3 - -1", 29),
    ],
)
def test_expressions(text: str, value: float) -> None:
    """A claim would be taken for true that is false, or the other way."""
    assert evaluate(text, lookup) == value


@pytest.mark.parametrize(
    "text",
    ["'a' <", "a > 1", "__import__('os')", "'a'.real", "(lambda: 1)()", "1 / 0", "falls('a', 'b')", "max()", "True"],
)  # fmt: skip
def test_other_expressions_are_refused(text: str) -> None:
    """A marker could run code, or a claim that says nothing would pass."""
    with pytest.raises(ExpressionError, match=r"allowed|cannot be evaluated"):
        evaluate(text, lookup)


def change(root: Path, old: str, new: str, cell: str = "intro", languages: tuple[str, ...] = LANGUAGES) -> None:
    """Replace a part of a markdown cell of the sample."""
    edit(root, replaced(cell, old, new), *languages)


def found(root: Path) -> set[tuple[str, str]]:
    """Return rule and message of every problem of the sample, staleness apart."""
    return {(p.rule, p.message) for p in check(root, [NAME]) if p.rule != "stale"}


CLAIMS: dict[str, tuple[str, str, str]] = {
    "true": ("'printed/best' > 0.6 and 'scores/system a/recall' < 'printed/best'", "", ""),
    "false": ("'printed/best' < 0.6", "claim", "no longer holds (printed/best is 0.6667): correct the sentence"),
    "series": (
        "falls('scores/*/recall')",
        "claim",
        "scores/system a/recall is 0.123457, scores/system b/recall is 0.666667",
    ),
    "unknown figure": ("'printed/worst' < 0.6", "figure-gone", "no recorded figure has that name"),
    "unknown series": ("rises('printed/*/x')", "figure-gone", "names 0 recorded figures"),
    "no expression": ("best is best", "claim-marker", "is not allowed: an expression has"),
    "no claim": ("'printed/best' + 1", "claim-marker", "is no comparison"),
}


@pytest.mark.parametrize(("expression", "rule", "message"), CLAIMS.values(), ids=CLAIMS)
def test_claims(project: Path, expression: str, rule: str, message: str) -> None:
    """A sentence that the figures no longer bear out, or a claim that nothing can read, would stand."""
    change(project, "-->66.7%", f"-->66.7%<!--holds: {expression}-->")
    problems = found(project)
    assert {kind for kind, _ in problems} == ({rule} if rule else set())
    assert all(message in text and "\n" not in text for _, text in problems)


MALFORMED = ("<!--holds 1 < 2-->", "<!--holds:-->", "<!--calc: 1 + 1", "<!--nofig:-->5", "<!--fig:a\nb-->5")


@pytest.mark.parametrize(
    ("marker", "message"),
    [*((marker, "write <!--fig:NAME-->") for marker in MALFORMED), ("\n<!--holds: 1 < 2--> x", "begins a line")],
)
def test_malformed_markers(project: Path, marker: str, message: str) -> None:
    """A marker that nothing reads would make a number look checked, or hide the line that it begins."""
    change(project, "-->66.7%", f"-->66.7% {marker}")
    problems = {p.message for p in check(project, [NAME]) if p.rule == "figure-marker"}
    assert problems
    assert all(message in told and "\n" not in told for told in problems)


def test_the_list_names_what_exists(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reason would outlive its cell, and cover the next of that name; a damaged list would list nothing."""
    path = project / FILE
    path.write_text(path.read_text(encoding="utf-8") + 'lost = ["volatile", "why"]\n', encoding="utf-8")
    assert {p.rule for p in check(project, [NAME])} == {"listed"}
    for damaged in ('["00_sample".cells]\nb = ["1"]', "["):
        path.write_text(damaged, encoding="utf-8")
        assert cli.main(["--root", str(project), "check", NAME]) == 1
        assert 'an entry is CELL = ["what", "the reason"]' in capsys.readouterr().err


PAIRS = [
    ("Four of the 5 queries, 8.8 million, 1,234 of 100", "5个查询中的四个，880万，一百里有1234", []),
    ("about a third, .25", "约三分之一，0.25", []),
    ("recall@1 and 31", "recall@10和31", ["names"]),
    ("recall@10 of BM25 and TF-IDF", "BM25和TF-IDF的recall@10", []),
    ("BM25 and TF-IDF", "TF-IDF和BM25", ["names"]),
    ("GPUs and the CPU", "GPU和CPU，CPU", []),
    ("It is <!--fig:a/b-->0.5.", "是<!--fig:a/c-->0.5。", ["markers", "markers"]),
    ("It is 0.5.", "是0.6。", ["numbers"]),
    ("| 13 | 2.5 |", "| 14 | 2.5 |", ["numbers", "rows"]),
    ("rank 2 and $k = 7$", "第2名，$k = 8$", ["formulas", "formulas"]),
    (r"$\frac{1}{R}\sum_i \text{hits}$", r"$\frac{1}{R} \sum_i \text{命中}$，$k$", []),
    (r"$\frac{1}{R}$", r"$\frac{1}{k}$", ["formulas", "formulas"]),
]


def test_formulas_are_the_same_on_other_data() -> None:
    """A Chinese lesson on Chinese data would define a metric by another formula, or not be free in its numbers."""
    found = language_differences("0.5 of $R = 1$<!--holds: 1 < 2-->", "0.6，$R = 2$", recorded=True)
    assert [rule for rule, _ in found] == ["formulas", "formulas"]


@pytest.mark.parametrize(("english", "chinese", "rules"), PAIRS)
def test_both_languages_name_the_same_numbers(english: str, chinese: str, rules: list[str]) -> None:
    """A reader of one language would read another number, or one that nothing checks."""
    assert [rule for rule, _ in language_differences(english, chinese)] == rules


def test_alternative_texts_take_markers(project: Path) -> None:
    """The words for a figure could name a number that the figure does not show, or show a marker to a reader."""

    def marked(book: NotebookNode) -> None:
        cell = by_id(book)["figure"]
        cell.metadata.mystnb.image.alt = alt_text(cell) + "<!--fig:printed/best-->0.66"
        assert without_markers(alt_text(cell)).endswith("0.66")
        assert "<!--" not in without_markers(alt_text(cell))

    edit(project, marked)
    assert {(p.cell, p.rule) for p in check(project, [NAME])} == {("figure", "figure-value")}


@pytest.mark.parametrize(
    ("cell", "metadata", "rule"),
    [
        ("printed", {"tags": ["volatile"]}, "hidden"),
        ("places", {"verify": {"rtol": 0.5}}, "hidden"),
        ("printed", {"tags": ["remove-output"]}, "metadata"),
        ("printed", {"jupyter": {"outputs_hidden": True}}, "metadata"),
        ("printed", {"tags": ["provenance"]}, "provenance"),
    ],
)
def test_what_hides_outputs_is_listed(project: Path, cell: str, metadata: dict[str, object], rule: str) -> None:
    """A tag could take a cell out of the comparison, or off the page, without a reason."""
    edit(project, lambda book: by_id(book)[cell].metadata.update(metadata))
    assert {p.rule for p in check(project, [NAME])} == {rule}


def test_prose_is_no_finer_than_the_tolerance_and_claims_survive_it(project: Path) -> None:
    """A sentence could be false on the next machine although every output there is as recorded."""
    change(project, "-->66.7%", "-->66.7%<!--holds: 'scores/system a/recall' < 0.124-->")
    assert found(project) == set()
    edit(project, lambda book: by_id(book)["scores"].metadata.update(verify={"atol": 0.002}))
    for listed, rules in (("0.02", {"hidden", "figure-digits", "claim"}), ("0.002", {"figure-digits", "claim"})):
        entry = f'["00_sample".cells]\ntiming = ["volatile", "a time"]\nscores = ["atol={listed}", "an example"]\n'
        (project / FILE).write_text(entry, encoding="utf-8")
        assert {rule for rule, _ in found(project)} == rules


def test_opposite_words_are_a_hint(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A translation that says the opposite would be shown to nobody, or what only looks so would fail the check."""
    change(project, "grow with", "decrease with", languages=("en",))
    assert cli.main(["--root", str(project), "accept", NAME, "intro"]) == 0
    assert cli.main(["--root", str(project), "check", NAME]) == 0
    assert "[intro] read again: English says 'decrease', Chinese '增'" in capsys.readouterr().out
