"""The words that the site adds: labels of tables, questions, definitions; without a browser."""

from __future__ import annotations

import ast
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nbformat.v4 import new_output

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docutils import nodes

import helpers.metrics
from docs.site.api import MOST, grouped
from docs.site.cells import glossed, in_chinese, pieces, table
from docs.site.chinese import cut, polished
from docs.site.companions import box, boxes, quoted
from docs.site.figures import COLOURS, STROKES, inline
from docs.site.formulas import mathml
from docs.site.head import first_paragraph, links
from docs.site.pdf import _linked, add_pdfs
from docs.site.project import DocsError, Edition, notes, site_words
from docs.site.search import readable
from docs.site.terms import explain, questions
from helpers.metrics import evaluate
from helpers.show.plots import COLOURS as PALETTE
from notebooks.kit.cells import code_cells, is_volatile
from notebooks.kit.companions import PARAMETERS, UNSTABLE, read_companion
from notebooks.kit.figures import Figures, check_text
from notebooks.kit.labels import (
    books,
    chinese,
    comments_of,
    form,
    is_name,
    labels,
    missing_labels,
    names_before,
    names_of,
    printed_labels,
    values_of,
)
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names
from notebooks.kit.tables import parse, text_of
from tests.sample import code


def test_a_text_cut_at_a_comma_is_refused(tmp_path: Path) -> None:
    """The picture of a lesson would be introduced by half a sentence."""
    (tmp_path / "docs").mkdir()
    row = "{en: Eight questions, and a row of each, zh: 八个问题}"  # a comma ends an unquoted text
    text = f"lessons: {{02_metrics: {{picture: {row}}}}}\n"
    (tmp_path / "docs" / "lessons.yml").write_text(text, encoding="utf-8")
    with pytest.raises(DocsError, match=r"02_metrics, picture: .*and a row of each"):
        notes(tmp_path)


def test_every_label_of_a_table_or_figure_has_its_chinese():
    """The Chinese site would have English in a table or a figure; or labels.yml words that none has any more."""
    assert missing_labels(ROOT) == []
    found = {label for _, label in printed_labels(ROOT, lesson_names(ROOT))}
    known = set(labels(ROOT)["labels"])
    assert sorted(known - found) == []
    assert [label for label in known if is_name(label, ROOT)] == []
    assert all(re.search("[\u4e00-\u9fff]", str(chinese)) for chinese in labels(ROOT)["labels"].values())


def test_a_label_without_chinese_is_named(monkeypatch: pytest.MonkeyPatch):
    """Whoever adds a figure would have to look through it for the word that stops the build."""
    for label in ("cosine of query and passage", "adjusted p"):
        monkeypatch.setitem(labels(ROOT), "labels", {k: v for k, v in labels(ROOT)["labels"].items() if k != label})
    faults = missing_labels(ROOT)
    assert any("'cosine of query and passage', a label of 05_languages [cosines]" in fault for fault in faults)
    assert any("'adjusted p', a label of " in fault for fault in faults)
    assert len(faults) == 2


def test_every_printed_name_has_its_chinese():
    """A printed line would stay unexplained on the Chinese site; or labels.yml have words that no lesson prints."""
    known, found = labels(ROOT), {"printed": set(), "values": set()}
    for _, book in books(ROOT, lesson_names(ROOT)):
        found["printed"] |= {form(name, known["printed"]) for _, name in names_of(book)} - {""}
        found["values"] |= {form(value, known["values"]) for _, value in values_of(book, known["values"])}
    for table_of, forms in found.items():
        assert sorted(known[table_of].keys() - forms) == []
        assert all(name.count("#") == str(words).count("#") for name, words in known[table_of].items())


def test_a_printed_name_without_chinese_is_named(monkeypatch: pytest.MonkeyPatch):
    """Whoever prints a new line would have to look through the lessons for what stops the build."""
    known = labels(ROOT)["printed"]
    monkeypatch.setitem(
        labels(ROOT), "printed", {name: words for name, words in known.items() if name != "bytes of the vectors"}
    )
    assert missing_labels(ROOT) == [
        "docs/labels.yml has no Chinese for 'bytes of the vectors', which 01_evaluation [index] prints"
    ]


def test_every_comment_has_its_chinese(monkeypatch: pytest.MonkeyPatch):
    """A setting or function would be explained in English on the Chinese site; or labels.yml keep what no cell says."""
    known = labels(ROOT)["comments"]
    found = {words for name in lesson_names(ROOT) for _, words in comments_of(Edition(ROOT, "zh").lesson(name))}
    assert sorted(known.keys() - found) == []
    assert all(re.search("[\u4e00-\u9fff]", words) and not words.endswith("。") for words in known.values())
    gone = ("Advanced", "Recall@k, one query after the other.")
    less = {english: words for english, words in known.items() if english not in gone}
    monkeypatch.setitem(labels(ROOT), "comments", less)
    assert missing_labels(ROOT) == [
        "docs/labels.yml has no Chinese for 'Advanced', a comment of 06_scaling_up [parameters]",
        "docs/labels.yml has no Chinese for 'Recall@k, one query after the other.', a comment of 02_metrics [recall]",
    ]


@pytest.mark.parametrize("name", lesson_names(ROOT))
def test_chinese_comments_leave_the_code_alone(name: str):
    """The code that a Chinese reader copies or runs would do something else than the notebook's."""
    known = labels(ROOT)["comments"]
    for cell in code_cells(Edition(ROOT, "zh").lesson(name)):
        shown = in_chinese(cell.source, known)
        assert _without_docstrings(shown) == _without_docstrings(cell.source)
        assert len(shown.splitlines()) == len(cell.source.splitlines())


def _without_docstrings(source: str) -> str:
    """What Python makes of code, without the words of its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            del node.body[0]
    return ast.dump(tree)


def test_comments_are_told_from_strings():
    """A string of a cell would change its value, or a docstring of several lines take code with it."""
    known = {"one": "一", "two": "二", "Say\n    one.": "说一"}
    source = 'def f():  # one\n    """{}"""\n    # two\n    return """one""", "# two"  # three\n'
    shown = source.replace("# one", "# 一").replace("    # two", "    # 二")
    assert in_chinese(source.format("Say\n    one."), known) == shown.format("说一")


def test_the_chinese_of_printed_names_has_their_numbers():
    """A line would be explained with another number than it prints, or code with none of its own."""
    known = {"beyond #": "第#位以后", "rank": "名次", "low end of the # % interval": "#%置信区间的下限"}
    assert [chinese(text, known) for text in ("beyond 10", "rank", "low end of the 95 % interval", "beyond all")] == [
        "第10位以后", "名次", "95%置信区间的下限", "",
    ]  # fmt: skip
    text = (
        'low end of the 95 % interval = 0.1\nrank: a < b: c\nrank: 2\n  "rank": 1\ndef f(a: int) -> str:\n[rank: 3]\n'
    )
    assert names_before(text) == ["low end of the 95 % interval", "rank"]
    assert glossed(text, known, {"rank"}).splitlines() == [
        '95%置信区间的下限<small lang="en"> low end of the 95 % interval</small> = 0.1',
        '名次<small class="said" lang="en"> rank</small>：a &lt; b: c',
        '名次<small class="said" lang="en"> rank</small>：2',
        "  &quot;rank&quot;: 1",
        "def f(a: int) -&gt; str:",
        "[rank: 3]",
    ]


def test_every_source_on_the_scoreboard_has_its_chinese():
    """The Chinese scoreboard would say in English where a quotation comes from."""
    libraries = json.loads((ROOT / "docs" / "benchmarks" / "acid.json").read_text(encoding="utf-8"))["libraries"]
    rows = [row for library in libraries.values() for row in library["families"].values()]
    sources = {row["source"] for row in rows if " " in row.get("source", "")}  # one word is a name
    assert sorted(notes(ROOT)["words"]["zh"]["acid"]["sources"]) == sorted(sources)


def test_a_sentence_is_quoted_as_one_quotes_it():
    """The line would quote a sentence with its colon, or quotation marks inside equal ones."""
    assert quoted("- 可是“of”比`eating`**多**：") == "可是‘of’比eating多"
    assert quoted("一样。") == "一样"


@pytest.mark.parametrize("name", PARAMETERS)
def test_outputs_on_chinese_data_are_below_those_that_differ(name: str):
    """The Chinese site would repeat equal outputs, show those that another machine changes, or leave some out."""
    lesson, companion = (
        {cell.id: cell.outputs for cell in code_cells(book)}
        for book in (Edition(ROOT, "zh").lesson(name), read_companion(ROOT, name))
    )
    shown = boxes(name, Edition(ROOT, "zh"))
    alike = {cell for cell, outputs in companion.items() if outputs in ([], lesson[cell])}
    volatile = {cell.id for cell in code_cells(read_companion(ROOT, name)) if is_volatile(cell)}
    assert UNSTABLE.get(name, set()) <= volatile
    assert set(shown) == set(companion) - alike - volatile


def test_outputs_on_chinese_data_are_escaped_and_refute_claims():
    """A text of the data could be a tag of the page; a reader would not learn that a sentence is false there."""
    cell = code("one", "print('<b>')")
    cell.outputs = [new_output("stream", text="<b> & 1\n")]
    shown = box(cell, ["a < b"], Edition(ROOT, "zh"), set())
    assert "&lt;b&gt; &amp; 1" in shown
    assert "正文说“a &lt; b”" in shown
    assert "refuted" not in box(cell, [], Edition(ROOT, "zh"), set())


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
        "<table><tr><th>theirs</th><th>recall</th><th>first (median)</th><td>theirs</td><td>beyond 10</td></tr></table>"
    )
    shown = parse(table(printed, Edition(ROOT, "zh"), {"first", "theirs"}))
    assert [text_of(cell) for cell in shown.find_all(["th", "td"])] == [
        "所示公式 theirs", "recall", "第一处证据之前的词元（中位数） first", "theirs", "第10位以后 beyond 10",
    ]  # fmt: skip
    assert [text_of(name) for name in shown.select(".said")] == ["theirs", "first"]


def test_sources_are_told_from_what_is_printed_beside_them():
    """Numbers would be coloured as code, or half of a source left grey."""
    source = '@metric("x")\ndef f(a):\n    """Doc.\n\n    More.\n    """\n    return a\n\n\n'
    text = f"recall = 1\n{source}the loop says the same: True\n"
    assert list(pieces(text)) == [(False, "recall = 1\n"), (True, source), (False, "the loop says the same: True\n")]
    assert list(pieces("def is no code\n")) == [(False, "def is no code\n")]
    assert [kind for kind, _ in pieces("class A:\n    x = 1\n")] == [True]


def _value(proof: dict[str, Any]) -> str:
    """What helpers.metrics says of a question's example, as a fraction or as the document that comes first."""
    if "tie" in proof:
        run = {"q": dict.fromkeys(proof["tie"], 1.0)}
        first = [doc for doc in proof["tie"] if evaluate(run, {"q": {doc: 1}}, "mrr@1").mean["mrr@1"] == 1]
        return first[0]
    lost = proof["R"] - len(proof["ranks"])
    ids = np.array([[rank if rank in proof["ranks"] else 100 + rank for rank in range(1, 21)]])
    wanted = {**dict.fromkeys(proof["ranks"], 1), **{200 + number: 1 for number in range(lost)}}
    value = evaluate(ids, [wanted], proof["metric"]).mean[proof["metric"]]
    if proof.get("exponential"):
        other = evaluate(ids, [wanted], proof["metric"], gain="exponential").mean[proof["metric"]]
        return "not at all" if other == value else "changes"
    return str(Fraction(value).limit_denominator(1000))


ASKED = [(name, place) for name in lesson_names(ROOT) for place in questions(ROOT)[name]]


@pytest.mark.parametrize(("lesson", "place"), ASKED)
def test_the_right_answer_is_right(lesson: str, place: str):
    """A reader would be told that a wrong answer is right, or meet a lesson without a question."""
    asked = questions(ROOT)[lesson][place]
    answers = [str(answer.get("en", answer.get("both"))) for answer in asked["answers"]]
    assert len(set(answers)) == len(answers) >= 3
    for language in LANGUAGES:
        assert asked["question"][language]
        assert asked["because"][language]
        assert all(("but" in answer) == (number != asked["right"]) for number, answer in enumerate(asked["answers"]))
        assert all(answer["but"][language] for answer in asked["answers"] if "but" in answer)
    if "proof" in asked:
        value = _value(asked["proof"])
        shown = [str(Fraction(a)) if re.fullmatch(r"\d+(/\d+)?", a) else a for a in answers]
        assert [number for number, answer in enumerate(shown) if answer == value] == [asked["right"]]


def test_questions_give_the_numbers_of_their_lessons():
    """A question would give a number that its lesson no longer prints."""
    figures, marked = Figures(ROOT), 0
    for lesson, sections in questions(ROOT).items():
        for language in LANGUAGES:
            texts = [part[language] for asked in sections.values() for part in (asked["question"], asked["because"])]
            texts += [a["but"][language] for asked in sections.values() for a in asked["answers"] if "but" in a]
            assert [str(p) for text in texts for p in check_text(text, "questions", "", figures, lesson)] == []
            marked += sum(text.count("<!--") for text in texts)
    assert marked > 30


def test_titles_are_cut_between_words():
    """A term would be cut in two; or the page would be changed outside of its titles."""
    words = ["封顶召回率", "相关性标注"]
    assert "封顶召回率" in cut("封顶召回率能找到多少", words)
    page = '<h2>封顶召回率能找到多少<a href="#x">#</a></h2><p>封顶召回率</p><em>看nDCG@10的值</em>'
    done = polished(page, words, {})
    assert "封顶召回率" in done.split("</h2>")[0]
    assert "<wbr>" in done.split("</h2>")[0]
    assert '<a href="#x">#</a>' in done
    assert "<p>封顶召回率</p>" in done
    assert done.endswith('<em>看<span class="latin">nDCG@10</span>的值</em>')
    assert polished("<em>&amp;</em>", [], {}) == '<em><span class="latin">&amp;</span></em>'  # not "&<span>amp"


def test_a_short_name_in_bold_stays_on_one_line():
    """A term of two characters would be parted by the end of a line; or a sentence be wider than a phone."""
    assert polished("<strong>池化</strong>", [], {}) == '<strong class="together">池化</strong>'
    sentence = '<strong>不需要<a href="#">信息检索</a>的基础</strong>'
    assert polished(sentence, [], {}) == sentence


def test_no_line_begins_with_the_sign_after_a_formula():
    """A Chinese line would begin with a comma, where the one before ends with a formula."""
    written = mathml("k_1", display=False)
    page = polished(f'<p>取<span class="math">{written}</span>，再算</p>', [], {})
    assert f'<span class="together"><span class="math">{written}</span>，</span>再算' in page


def test_a_new_function_needs_a_group():
    """A function would be missing from the page of its module, or a heading lead to one that is gone."""
    groups = grouped(ROOT, "helpers.metrics", helpers.metrics.__all__[1:])
    names = [name for _, group in groups for name in group]
    assert names.index("recall") < names.index("ndcg") < names.index("bpref")
    for faulty in ([*names, "novel"], names[1:]):
        with pytest.raises(DocsError, match=r"novel|evaluate"):
            grouped(ROOT, "helpers.metrics", faulty)
    assert grouped(ROOT, "helpers.small", names[:MOST]) == [({}, names[:MOST])]
    with pytest.raises(DocsError, match="groups"):
        grouped(ROOT, "helpers.large", names[: MOST + 1])


def test_formulas_are_searched_as_text():
    """A search result would show LaTeX."""
    assert readable("k") == "k"
    assert readable(r"\text{recall@}k \le 1") == "recall@k ≤ 1"
    assert readable("2^{g}-1") == "2^g-1"
    assert readable(r"\frac{1}{R}") == "…"


def test_a_page_is_described_by_prose():
    """A page would be described by a tag, or by half a word."""
    from docutils.utils import new_document

    document = new_document("page")
    for text in ('<span id="cell-title"></span>', "short", "A first sentence that says " + "something " * 30):
        document += nodes.paragraph("", text)
    found = first_paragraph(document)
    assert found.startswith("A first sentence")
    assert found.endswith("something…")
    assert len(found) <= 200


def test_words_around_pages_are_there_in_both_languages():
    """A Chinese page would show an English word, or stop the build."""
    english, chinese = (site_words(language) for language in LANGUAGES)
    assert set(english) == set(chinese)
    assert set(english["fold"]) == set(chinese["fold"])
    assert "edit" not in links(Edition(ROOT, "en"), "genindex")


def test_pdfs_are_linked():
    """A PDF would be made that no page offers."""
    bar = '<a class="save" href="downloads/01_x.html" download>.html</a>'
    assert "downloads/01_x.pdf" in _linked(f"<h1>T</h1>{bar}", "01_x")
    assert "downloads/cheatsheet.pdf" in _linked("<h1>T</h1>", "cheatsheet")


def test_pdfs_need_chromium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Somebody without Chromium would get a stack trace from --pdf."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DocsError, match="apt install chromium"):
        add_pdfs(tmp_path, ["01_x"])


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
