"""Figures of lessons and of the page on speed in a real browser: colours, words, widths, both languages and themes."""

from __future__ import annotations

import re

import pytest

from docs.site.project import Edition
from notebooks.kit.labels import labels
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names
from tests.site.browser import PHONE, WIDE, Site

pytestmark = pytest.mark.browser

DRAWN = "article svg.drawn:not([aria-hidden])"  # shown where they are drawn
PAGES = [*lesson_names(ROOT), "benchmarks"]
# Of each mark of a figure: what it is, in which colour as the browser computes it, how large its words are.
MARKS = """selector => [...document.querySelectorAll(selector)].flatMap(figure =>
  [...figure.querySelectorAll('path, use, rect, text')].filter(e => !e.closest('defs')).map(e => {
    const {fill, stroke, fontSize} = getComputedStyle(e);
    const drawn = e.getAttribute('fill') || '', lined = e.getAttribute('stroke') || '';
    return {tag: e.tagName, fill, stroke, drawn, lined, size: parseFloat(fontSize)};
  }))"""
# How large the words of figures are on the screen, in pixels, but for the small print beside marks and long labels.
SIZES = """selector => [...document.querySelectorAll(selector)].flatMap(figure =>
  [...figure.querySelectorAll('text:not(.long)')].map(e => parseFloat(getComputedStyle(e).fontSize))
    .filter(size => size > 8)
    .map(size => size * figure.getBoundingClientRect().width / figure.viewBox.baseVal.width))"""
# Words that lie on each other, or are cut off: by their figure, or by the window where a figure lets them stand out.
CLASHES = """selector => [...document.querySelectorAll(selector)].flatMap(figure => {
  const box = figure.getBoundingClientRect(), stands = getComputedStyle(figure).overflow === 'visible';
  const edge = stands ? {left: 0, right: innerWidth, top: box.top - 2, bottom: box.bottom + 4} : box;
  const words = [...figure.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()])
    .filter(([, b]) => b.width);
  const found = words.filter(([, b]) => b.left < edge.left - 1 || b.right > edge.right + 1 ||
    b.top < edge.top - 1 || b.bottom > edge.bottom + 1).map(([word]) => `${word} is cut off`);
  words.forEach(([one, a], i) => words.slice(i + 1).forEach(([two, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 0.5 && high > 2) found.push(`${one} lies on ${two}`);
  }));
  return found;
})"""


def luminance(colour: str) -> float:
    """The relative luminance of a colour as browsers write it, by WCAG's formula."""
    red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", colour)[:3])
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """The contrast of two colours, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_figures_fit_and_their_words_do_not_clash(site: Site, name: str, language: str):
    """A Chinese word longer than the English one would lie on its neighbour or be cut off; or a phone would scroll."""
    site.look(WIDE)
    site.open(f"{language}/{name}.html")
    assert site.page.locator(DRAWN).count() >= (5 if name == "benchmarks" else 1)
    choice = site.page.locator("label:has(#data-zh)")
    looks = [(WIDE, "light", "companion"), (WIDE, "dark", "companion"), (PHONE, "light", "companion")]
    for size, scheme, hidden in looks + [(PHONE, "light", "english")] * choice.count():
        site.look(size, scheme)
        if hidden == "english":
            choice.click()
        drawn = f"{DRAWN}:not(.{hidden} *)"
        assert site.page.evaluate(CLASHES, drawn) == []
        assert site.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert name == "benchmarks" or min(site.page.evaluate(SIZES, drawn)) >= 11
    if choice.count():
        site.page.locator("label:has(#data-en)").click()  # which is kept
    assert site.violations() == []
    assert site.wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_marks_and_words_can_be_seen(site: Site, name: str, scheme: str):
    """A line would vanish in the ground of the page, in the dark theme for instance; WCAG asks 3 to 1, words 4.5."""
    site.look(WIDE, scheme)
    site.open(f"en/{name}.html")
    ground = site.page.evaluate("getComputedStyle(document.body).backgroundColor")
    behind = {"var(--figure-ground)": "var(--figure-blue)", "var(--figure-quiet)": "var(--figure-box)"}
    marks = site.page.evaluate(MARKS, DRAWN)
    fills = {mark["drawn"]: mark["fill"] for mark in marks}
    assert any(mark["tag"] == "text" for mark in marks)
    for mark in marks:
        if mark["tag"] == "text":
            on = fills[behind[mark["drawn"]]] if mark["drawn"] in behind else ground
            assert contrast(mark["fill"], on) >= 4.5, mark
        elif mark["drawn"] == "var(--figure-ground)":
            assert mark["fill"] == ground, mark
        elif mark["lined"] not in ("", "var(--figure-grid)"):
            assert contrast(mark["stroke"], ground) >= 3, mark
        elif mark["drawn"] not in ("", "none", "var(--figure-box)"):
            assert contrast(mark["fill"], ground) >= 3 or mark["drawn"] == "var(--figure-sky)", mark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_series_are_told_apart(site: Site, scheme: str):
    """Two lines of a figure would have one colour."""
    site.look(WIDE, scheme)
    site.open("en/01_evaluation.html")
    names = ("blue", "vermilion", "green", "purple", "orange", "sky-line", "ink")
    probe = """names => names.map(name => {
      const mark = document.querySelector('article svg.drawn path');
      mark.setAttribute('fill', `var(--figure-${name})`);
      return getComputedStyle(mark).fill;
    })"""
    shown = site.page.evaluate(probe, list(names))
    values = [[int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in shown]
    apart = {
        (one, two): sum((a - b) ** 2 for a, b in zip(values[i], values[j], strict=True)) ** 0.5
        for i, one in enumerate(names) for j, two in enumerate(names) if i < j
    }  # fmt: skip
    assert min(apart.values()) > 45, apart


def test_chinese_figures_speak_chinese(site: Site):
    """A Chinese reader would meet English words in a figure, or an English reader Chinese ones."""
    known = labels(ROOT)["labels"]
    site.look(WIDE)
    seen = {}
    for language in LANGUAGES:
        for name in lesson_names(ROOT):
            site.open(f"{language}/{name}.html")
            seen[language, name] = site.page.locator(f"{DRAWN}:not(.companion *) text").all_text_contents()
            assert language == "en" or not known.keys() & set(site.page.locator(f"{DRAWN} text").all_text_contents())
            alts = [figure.get_attribute("aria-label") for figure in site.page.locator(DRAWN).all()]
            assert all(re.search("[\u4e00-\u9fff]", alt) for alt in alts) == (language == "zh")
            assert not any("<!--" in alt for alt in alts)
    for name in lesson_names(ROOT):
        assert seen["zh", name] == [known.get(word, word) for word in seen["en", name]]
    words = {word for (language, _), found in seen.items() if language == "zh" for word in found}
    assert sum(bool(re.search("[\u4e00-\u9fff]", word)) for word in words) > 10


def test_the_page_on_speed_speaks_chinese(site: Site):
    """The bars would have English names where the tables below have Chinese ones."""
    site.look(WIDE)
    site.open("zh/benchmarks.html")
    words = set(site.page.locator(f"{DRAWN} text").all_text_contents())
    chinese = Edition(ROOT, "zh").words["bench"]["labels"]
    shown = ("milliseconds (log scale)", "taught loops", "seconds", "texts", "alone")  # of each kind of chart
    assert {chinese[word] for word in shown} <= words
    assert "二值标注，查询数 × 每个排序的段落数" in words
    assert any(word.startswith("比模型多占，") for word in words)
    assert not words & set(chinese)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_figure_on_speed_is_split_for_phones(site: Site, language: str):
    """Two charts side by side would be too small to read on a phone."""
    site.open(f"{language}/benchmarks.html")
    for size, columns in ((WIDE, 2), (PHONE, 1)):
        site.look(size)
        boxes = [figure.bounding_box() for figure in site.page.locator(f".panels > {DRAWN.split()[1]}").all()]
        assert len(boxes) == 2
        assert len({round(box["x"]) for box in boxes}) == columns
        assert all(box["width"] > 300 for box in boxes)
        heights = [mark.bounding_box()["height"] for mark in site.page.locator(f"{DRAWN} text").all()[:20]]
        assert min(heights) > 9
