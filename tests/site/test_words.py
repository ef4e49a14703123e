"""The words that the site adds: labels of tables, questions, definitions; without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docutils import nodes

from docs.site.cells import fold_sources, table
from docs.site.figures import COLOURS, STROKES, inline
from docs.site.head import links
from docs.site.project import DocsError, Edition, notes, site_words
from docs.site.terms import explain, questions
from helpers.show.plots import COLOURS as PALETTE
from notebooks.kit.labels import (
    labels,
    missing_labels,
)
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names, lesson_path, read
from notebooks.kit.tables import parse, text_of


def test_a_text_cut_at_a_comma_is_refused(tmp_path: Path) -> None:
    """The picture of a lesson would be introduced by half a sentence."""
    (tmp_path / "docs").mkdir()
    row = "{en: Eight questions, and a row of each, zh: 八个问题}"  # a comma ends an unquoted text
    text = f"lessons: {{02_metrics: {{picture: {row}}}}}\n"
    (tmp_path / "docs" / "lessons.yml").write_text(text, encoding="utf-8")
    with pytest.raises(DocsError, match=r"02_metrics, picture: .*and a row of each"):
        notes(tmp_path)


def test_a_label_without_chinese_is_named(monkeypatch: pytest.MonkeyPatch):
    """Whoever adds a figure would have to look through it for the word that stops the build."""
    for label in ("theirs", "adjusted p"):
        monkeypatch.setitem(labels(ROOT), "labels", {k: v for k, v in labels(ROOT)["labels"].items() if k != label})
    faults = missing_labels(ROOT)
    assert any("'theirs', a label of 02_metrics [" in fault for fault in faults)
    assert any("'adjusted p', a label of " in fault for fault in faults)
    assert len(faults) == 2


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="10pt" height="5pt" viewBox="0 0 10 5" stroke-linejoin="round" '
    'stroke-linecap="butt" font-family="Verdana"><defs><path id="a" d="M 0 0 L 1 1"/></defs>'
    '<use href="#a" fill="{colour}"/><text x="1" y="2">rank</text></svg>'
)


def test_a_figure_takes_the_colours_and_words_of_the_page():
    """A figure would be white in the dark theme, English in Chinese, or take a part of the figure above it."""
    shown = inline(SVG.format(colour="#0072b2"), 'two "ranks"', "cell-0", {"rank": "名次"}.__getitem__)
    [figure] = parse(shown).find_all("svg")
    assert (figure["role"], figure["aria-label"], figure["width"]) == ("img", 'two "ranks"', "16")
    assert figure.find("use").attrs == {"href": "#cell-0-a", "fill": "var(--figure-blue)"}
    assert figure.find("path")["id"] == "cell-0-a"
    assert text_of(figure) == "名次"
    assert "style" not in shown


@pytest.mark.parametrize(
    ("old", "new"), [("<defs>", "<script/><defs>"), ("<defs>", '<defs onload="a()">'), ("#0072b2", "#123456")]
)
def test_a_page_takes_no_figure_that_it_does_not_know(old: str, new: str):
    """A script would get into a page, or a colour that nobody can see in the dark theme."""
    svg = SVG.format(colour="#0072b2")
    with pytest.raises(DocsError, match=r"cell-0: .*(script|onload|#123456)"):
        inline(svg.replace(old, new), "", "cell-0", str)


def test_the_palette_has_its_colours_on_the_site():
    """A figure in a colour of the lessons would stop the build, or be drawn in no colour at all."""
    assert {colour.lower() for colour in PALETTE} <= set(COLOURS)
    css = (ROOT / "docs" / "site" / "_static" / "site.css").read_text(encoding="utf-8")
    light, dark = re.findall(r"^html(?:\[data-theme=\"dark\"\])? \{\n(.*?)^\}", css, flags=re.S | re.M)
    own = {name for name in STROKES.values() if name not in ("ground", "ink")}
    for theme in (light, dark):
        assert own <= set(re.findall(r"--figure-([a-z-]+):", theme))


def test_a_label_keeps_what_the_notebook_prints():
    """The prose, which names the printed label or its beginning, would speak of a row that the reader cannot see."""
    printed = (
        "<table><tr><th>theirs</th><th>recall</th><th>passages in the corpus</th><td>theirs</td>"
        "<td>beyond 10</td></tr></table>"
    )
    shown = parse(table(printed, Edition(ROOT, "zh"), {"passages in the corpus", "theirs"}))
    assert [text_of(cell) for cell in shown.find_all(["th", "td"])] == [
        "所示公式 theirs", "recall", "语料库的段落数 passages in the corpus", "所示公式 theirs", "第10位以后",
    ]  # fmt: skip
    assert shown.select_one("[title]")["title"] == "beyond 10"  # which no text beside it says


def test_sources_are_told_from_what_is_printed_beside_them():
    """Numbers would be coloured as code, or half of a source left grey."""
    source = '@metric("x")\ndef f(a):\n    """Doc.\n\n    More.\n    """\n    return a\n\n\nclass A:\n    x = 1'
    output = nodes.container("", nodes.literal_block("", f"recall = 1\n{source}\n\nthe loop says the same: True\n"))
    fold_sources(output, "{} lines")
    shown = [(block["language"], block.astext()) for block in output.findall(nodes.literal_block)]
    assert shown == [("none", "recall = 1"), ("python", source), ("none", "the loop says the same: True")]
    assert "<summary>11 lines</summary>" in output[1].astext()


ASKED = [(name, place) for name in lesson_names(ROOT) for place in questions(ROOT).get(name, {})]


@pytest.mark.parametrize(("lesson", "place"), ASKED)
def test_a_question_answers_each_choice(lesson: str, place: str):
    """A reader would choose a wrong answer and not be told why, or meet the same answer twice."""
    asked = questions(ROOT)[lesson][place]
    answers = [str(answer.get("en", answer.get("both"))) for answer in asked["answers"]]
    assert len(set(answers)) == len(answers) >= 3
    for language in LANGUAGES:
        assert asked["question"][language]
        assert asked["because"][language]
        assert all(("but" in answer) == (number != asked["right"]) for number, answer in enumerate(asked["answers"]))
        assert all(answer["but"][language] for answer in asked["answers"] if "but" in answer)


@pytest.mark.parametrize("name", lesson_names(ROOT))
def test_a_lesson_says_the_minutes_that_the_site_counts(name: str):
    """The head of a page would promise 45 minutes, and the sentence below it 35."""
    title = read(lesson_path(ROOT, "en", name)).cells[0].source
    assert re.findall(r"counted from its words and code-->(\d+)", title) == [str(Edition(ROOT, "en").minutes(name))]


def test_words_around_pages_are_there_in_both_languages():
    """A Chinese page would show an English word, or stop the build."""
    english, chinese = (site_words(language) for language in LANGUAGES)
    assert set(english) == set(chinese)
    assert set(english["fold"]) == set(chinese["fold"])
    assert "edit" not in links(Edition(ROOT, "en"), "genindex")


@pytest.mark.parametrize(
    ("language", "text", "linked"),
    [
        ("en", "Where it documents the difference in half precision, see a document.", ["document"]),
        ("en", "The rank-biased precision and the expected reciprocal rank; precision", ["precision"]),
        ("zh", "代码本来用GB18030编码，编码器不是交叉编码器", ["编码器"]),
        ("zh", "取自已安装的库的文档，给它们排序", []),
    ],
)
def test_a_word_is_explained_only_in_the_meaning_of_the_glossary(language: str, text: str, linked: list[str]):
    """A reader would be told what the metric is where a sentence speaks of numbers in 16 bits."""
    paragraph = nodes.paragraph("", text)
    explain(next(iter(paragraph.findall(nodes.Text))), Edition(ROOT, language), set())
    assert [link.astext() for link in paragraph.findall(nodes.reference)] == linked
