"""The documentation site in a real browser: Debian's chromium, pages served on this machine alone.

`make test-site` says what it needs where that is missing (conftest.py).
"""

from __future__ import annotations

import gzip
import json
import re
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docs.site.search import settings
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names
from notebooks.kit.translation import glossary
from tests.bench.bench_search import measure
from tests.site.browser import PHONE, WIDE, Site

pytestmark = pytest.mark.browser

LIGHT = 130_000  # bytes


def names() -> list[str]:
    """The pages of one language, lessons among them, as the sources say."""
    made = [path.stem for path in sorted((ROOT / "docs" / "en").glob("*.md"))] + lesson_names(ROOT)
    return [*made, "genindex", "search", "helpers.metrics"]


def inspect(site: Site, language: str, name: str) -> None:
    """Look at the page that the browser shows: in light and dark, and on a phone; that first, where it is one.

    Axe's rules are held against the English page, and a Chinese one that has more: the same code builds both.
    """
    looks = [(WIDE, "light"), (WIDE, "dark"), (PHONE, "light")]
    for size, scheme in looks if site.page.viewport_size == WIDE else looks[::-1]:
        site.look(size, scheme)
        if size == PHONE:
            assert site.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], f"{language}, phone"
        else:
            assert site.faint() == [], f"{language}, {scheme}"
        more = language == "en" or name in ("index", "03_model_comparison", "search")  # with the switch of the data
        if more and (size == PHONE or (name, scheme) == ("index", "light")):  # the bars at the sides, hidden on a phone
            assert site.violations() == [], f"{language}, {size}"
    for image in site.page.locator("article img").all():
        assert image.evaluate("async i => { await i.decode(); return i.naturalWidth; }") > 100
    assert site.wrong == []


def weight(answer: object) -> int:
    """Return the bytes of an answer as a server sends it: text packed, pictures and fonts as they are."""
    body = answer.body()
    return len(gzip.compress(body)) if re.search(r"\.(?:html|css|js|json|svg)(?:\?|$)", answer.url) else len(body)


def change_language(site: Site, name: str, language: str) -> None:
    """Press the switch on a page, in the middle of a lesson, and see that it leads to the same heading."""
    here = ""
    if name in lesson_names(ROOT):
        site.look(WIDE)
        sections = site.page.evaluate("[...document.querySelectorAll('article section section')].map(s => s.id)")
        here = "#" + sections[len(sections) // 2]
    site.show(here or "body")
    box = site.page.locator("a.language-switch").bounding_box()  # playwright's own click would scroll first
    site.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    site.page.wait_for_url(f"{site.base}{language}/{name}.html{here}")
    site.until("document.readyState === 'complete'")
    assert abs(site.page.evaluate(f"document.querySelector('{here or 'body'}').getBoundingClientRect().top")) < 300
    site.page.evaluate("location.hash = ''")  # unmarks the heading: axe can say nothing of its contrast


@pytest.mark.parametrize("name", names())
def test_page(site: Site, name: str):
    """In one of the languages the page would fail, call another server, bar some readers, or lose its other edition."""
    site.look(WIDE)
    site.open(f"en/{name}.html")
    inspect(site, "en", name)
    change_language(site, name, "zh")
    inspect(site, "zh", name)
    if name in lesson_names(ROOT):
        change_language(site, name, "en")


@pytest.mark.parametrize(
    ("name", "language"), [*((name, "en") for name in lesson_names(ROOT)), (lesson_names(ROOT)[0], "zh")]
)
def test_a_lesson_is_light(site: Site, name: str, language: str):
    """A reader with a weak connection would wait: all that a lesson loads at first, packed as servers send it."""
    site.page.goto("about:blank")  # ends what the last page still loads, whose answers could not be read any more
    session = site.page.context.new_cdp_session(site.page)
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    answers: list[object] = []

    def keep(answer: object) -> None:
        answers.append(answer)

    site.page.on("response", keep)
    try:
        site.look(WIDE)
        site.open(f"{language}/{name}.html")
        site.page.wait_for_load_state("networkidle")
        loaded = {answer.url: weight(answer) for answer in answers}
    finally:
        site.page.remove_listener("response", keep)
        session.detach()
    assert len(loaded) > 10
    assert sum(loaded.values()) < LIGHT, loaded


def test_search_keeps_what_is_typed_while_it_loads(site: Site):
    """On a slow line the reader's first word would vanish when the index arrives."""
    held: list = []
    site.page.route("**/index.json", lambda route: held.append(route))
    site.open("en/search.html")
    for _ in range(500):
        if not held:
            site.page.wait_for_timeout(20)
    site.page.fill(".bd-search-container input[name=q]", "recall")
    for route in held:
        route.continue_()
    site.page.unroute("**/index.json")
    site.until("document.getElementById('search-summary').dataset.query === 'recall'")
    assert site.page.locator("#search-results li").count()


def found(site: Site, question: str) -> list[str]:
    """Return the addresses that the search page finds for a question."""
    site.page.fill(".bd-search-container input[name=q]", question)
    site.until(f"document.getElementById('search-summary').dataset.query === {question!r}")
    return site.page.evaluate(
        "[...document.querySelectorAll('#search-results li > a')].map(a => a.getAttribute('href'))"
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_answers_questions(site: Site, language: str, node: Any):
    """A visitor's question, in words of their own, would lead to sections that do not answer it."""
    rows = [row for row in measure(site.folder, node) if row["language"] == language]
    missed = [row["question"] for row in rows if not row["success@3"]]
    assert len(missed) <= 0.2 * len(rows), missed


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_shows_definition_section_and_marks(site: Site, language: str):
    """A reader would not see what a term means, where a result leads, or that nothing was found and where to go on."""
    site.look(WIDE)
    site.open(f"{language}/search.html")
    site.until("document.querySelectorAll('#search-summary a').length === 4")  # what one can ask
    links = found(site, "capped recall" if language == "en" else "封顶召回率")
    assert links[0].endswith("#capped-recall-how-much-of-what-could-be-found")
    assert site.page.locator("#search-term b").count() == 1
    assert site.page.locator("#search-results li:first-child mark").count() > 1
    site.page.click(".search-more")
    assert site.page.locator("#search-results > li").count() > 5
    assert found(site, "xyzzy") == []
    assert site.page.locator("#search-summary a").count() == 3, "where to look"
    assert site.violations() == []
    assert site.wrong == []


def test_traditional_characters_find_what_simplified_ones_find(site: Site):
    """A reader from Taiwan or Hong Kong would find nothing."""
    opencc = pytest.importorskip("opencc", reason="the zh extra is not installed: pip install '.[zh]'")
    convert = opencc.OpenCC("s2t").convert
    site.look(WIDE)
    site.open("zh/search.html")
    asked = ["检索", "评估", "归一化折损累计增益", "显著性检验", "结果和我电脑上不一样", "长文档里的答案片段"]
    for question in asked:
        assert convert(question) != question
        links = found(site, question)
        assert links
        assert found(site, convert(question)) == links, question
    assert site.wrong == []


def test_words_for_a_section_name_one_that_is_there(site: Site):
    """A section that was renamed would lose the words by which people ask for it."""
    data = json.loads((site.folder / "en" / "_static" / "search" / "index.json").read_text(encoding="utf-8"))
    pages = [page["url"].removesuffix(".html") for page in data["pages"]]
    there = {f"{pages[page]}#{anchor}".removesuffix("#") for page, anchor, *_ in data["sections"]}
    assert sorted(settings(ROOT)["also"].keys() - there) == []


def test_search_from_any_page(site: Site):
    """The search field would do nothing, while one types or at the end, or not say what a term means."""
    site.page.set_viewport_size(WIDE)
    site.open("zh/differences.html")
    site.page.click("button.search-button-field")
    site.page.fill("dialog input[name=q]", "召回率")
    site.page.wait_for_selector(".search-quick li a")
    quick = site.page.locator(".search-quick li > a")
    assert 1 < quick.count() <= 6
    texts = site.page.locator(".search-quick li p")
    assert texts.count() == quick.count()
    assert "recall" in quick.first.get_attribute("href")
    meaning = next(term.means["zh"] for term in glossary(ROOT) if term.zh == "召回率")
    assert meaning in site.page.inner_text("dialog .search-term")
    assert site.violations() == []
    site.page.click("dialog button.search-close")
    assert not quick.first.is_visible()
    site.page.click("button.search-button-field")
    every = site.page.locator("dialog a.search-all").get_attribute("href")
    assert every.endswith(f"/zh/search.html?q={quote('召回率')}")
    site.page.keyboard.press("ArrowDown")
    assert quick.first.evaluate("link => link === document.activeElement")
    site.page.keyboard.press("ArrowUp")
    site.page.keyboard.press("Enter")
    site.page.wait_for_selector("#search-results li a")
    assert "/zh/search.html" in site.page.url
    assert site.wrong == []


def test_the_menu_of_a_phone_closes_and_leads_to_the_search(site: Site):
    """Who opens the menu or the contents with a finger would see no way back, or find no search in it."""
    site.look(PHONE)
    site.open("zh/differences.html")
    for panel in ("primary", "secondary"):
        site.page.click(f".{panel}-toggle:visible")
        close = site.page.locator("dialog[open] .sidebar-close button")
        assert close.evaluate("b => b === document.activeElement")
        assert site.violations() == []
        close.click()
        assert not site.page.locator("dialog[open]").count()
        site.until(f"document.activeElement.matches('.{panel}-toggle')")
    site.page.click(".primary-toggle:visible")
    site.page.click("dialog[open] .search-button-field")
    assert site.page.locator("dialog[open]").get_attribute("id") == "pst-search-dialog"
    assert site.page.locator("dialog[open] input[name=q]").evaluate("field => field === document.activeElement")
    site.page.keyboard.press("Escape")
    assert not site.page.locator(".sidebar-close:visible").count()
    assert site.wrong == []


def test_copy_and_theme_buttons(site: Site):
    """A reader could not copy code, or not leave the dark."""
    site.page.set_viewport_size(WIDE)
    site.page.emulate_media(color_scheme="light")
    site.open("en/own_model.html")
    assert site.page.locator("button.copybtn").count() == site.page.locator("article div.highlight").count() > 0
    for mode in ("dark", "light", "auto"):
        site.page.click("button.theme-switch-button")
        site.page.click(f"button.theme-change-button[data-mode={mode}]")
        assert site.page.evaluate("document.documentElement.dataset.mode") == mode
    assert site.wrong == []


def test_start_page_picks_a_language(site: Site):
    """A reader would be sent to a language he does not read, or the choice would be forgotten."""
    for stored, expected in (("null", "en"), ("'zh'", "zh"), ("'en'", "en")):
        site.open("en/references.html")
        store = (
            "localStorage.removeItem('language')" if stored == "null" else f"localStorage.setItem('language', {stored})"
        )
        site.page.evaluate(store)
        site.page.goto(site.base)
        site.page.wait_for_url(f"{site.base}{expected}/index.html")
    site.page.evaluate("localStorage.removeItem('language')")


def test_the_page_for_a_wrong_address(site: Site):
    """The page for a wrong address would bar some readers."""
    site.open("404.html")
    assert site.violations() == []
    assert site.page.evaluate("getComputedStyle(document.querySelector('main')).textAlign") == "center"
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_cheat_sheet_prints_on_one_page(site: Site, language: str):
    """The cheat sheet would be no sheet."""
    site.page.set_viewport_size(WIDE)
    site.page.emulate_media(color_scheme="light")
    site.open(f"{language}/cheatsheet.html")
    assert len(re.findall(rb"/Type\s*/Page\b", site.page.pdf(format="A4"))) == 1
