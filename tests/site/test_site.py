"""The documentation site in a real browser: Debian's chromium, pages served on this machine alone.

`make test-site` says what it needs where that is missing (conftest.py).
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docs.site.search import settings
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names, lesson_path, read
from notebooks.kit.translation import glossary
from tests.site.browser import PHONE, WIDE, Site
from tests.site.queries import PLAIN, QUERIES, QUESTIONS, TRADE

pytestmark = pytest.mark.browser

LIGHT = 130_000  # bytes


def names() -> list[str]:
    """The pages of one language, lessons among them, as the sources say."""
    made = [path.stem for path in sorted((ROOT / "docs" / "en").glob("*.md"))] + lesson_names(ROOT)
    return [*made, "genindex", "search"]


def formulas(language: str, name: str) -> int:
    """Count the formulas in the source of a page or lesson."""
    page = ROOT / "docs" / language / f"{name}.md"
    notebook = lesson_path(ROOT, language, name)
    texts = [page.read_text(encoding="utf-8")] if page.exists() else []
    if notebook.exists():
        texts = [cell.source for cell in read(notebook).cells if cell.cell_type == "markdown"]
    count = 0
    for text in texts:
        bare = re.sub(r"^```.*?^```|`[^`\n]+`", "", text, flags=re.S | re.M)
        count += len(re.findall(r"\$\$.+?\$\$|(?<!\\)\$[^$\n]+?(?<!\\)\$", bare, flags=re.S))
    return count


def inspect(site: Site, language: str, name: str) -> None:
    """Look at the page that the browser shows: in light and dark, and on a phone; that first, where it is one."""
    assert site.page.locator(".math:not(.has *)").count() == formulas(language, name)  # nor those of docstrings
    looks = [(WIDE, "light"), (WIDE, "dark"), (PHONE, "light")]
    for size, scheme in looks if site.page.viewport_size == WIDE else looks[::-1]:
        site.look(size, scheme)
        if size == PHONE:
            assert site.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], f"{language}, phone"
            assert site.cut() == [], f"{language}, phone"
        else:
            assert site.faint() == [], f"{language}, {scheme}"
        if size == PHONE or (name, scheme) == ("index", "light"):  # the bars at the sides, hidden on a phone
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
    site.switch()
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


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", lesson_names(ROOT))
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_formulas_need_no_script(site: Site, language: str):
    """Without JavaScript, a formula would be LaTeX or nothing; a wide one would lie outside of a phone's window."""
    site.look(PHONE)
    session = site.page.context.new_cdp_session(site.page)
    session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        site.open(f"{language}/02_metrics.html")
        assert site.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert site.page.locator(".math").count() == formulas(language, "02_metrics")
        for box in site.page.locator("article div.math").all():
            assert all(math.bounding_box()["height"] > 8 for math in box.locator("math").all())
            assert box.bounding_box()["width"] <= PHONE["width"]
        condition = site.page.locator("div.math > math + math").first.bounding_box()  # of the reciprocal rank
        assert condition["x"] + condition["width"] <= PHONE["width"]
    finally:
        session.send("Emulation.setScriptExecutionDisabled", {"value": False})
        session.detach()
        site.open(f"{language}/index.html")


@pytest.mark.slow
def test_pages_of_modules(site: Site):
    """A page on a module would fail, bar some readers or be too wide for a phone.

    The Chinese edition has the same pages; `test_page` looks at its list of them.
    """
    paths = sorted(site.folder.glob("en/helpers.*.html"))
    assert paths
    for path in paths:
        site.look(WIDE)
        site.open(f"en/{path.name}")
        assert site.faint() == [], path
        site.look(PHONE)
        assert site.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        assert site.violations() == [], path
        assert site.wrong == [], path
    site.look(WIDE)


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


def by_word(places: dict[str, tuple[str, str]], language: str) -> dict[str, str]:
    """Return the place of each word or phrase of one language."""
    at = LANGUAGES.index(language)
    return {query: place for place, words in places.items() for query in words[at].split("|") if query}


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_finds_the_section_first(site: Site, language: str):
    """A reader who types a word, a part of one, a mistyped one or its translation would miss what explains it."""
    site.look(WIDE)
    site.open(f"{language}/search.html")
    first, expected = {}, by_word(QUERIES, language)
    for query in expected:
        site.page.fill(".bd-search-container input[name=q]", query)
        site.until(f"document.getElementById('search-summary').dataset.query === {query!r}")
        links = site.page.locator("#search-results li > a")
        first[query] = (links.first.get_attribute("href") or "").replace(".html", "") if links.count() else "nothing"
        shown = "".join(site.page.locator("#search-results p").all_inner_texts())
        assert not re.search(r"\\[a-z]+\{|find_spec", shown), query
    assert first == expected
    assert len(first) >= 30
    assert site.wrong == []


def found(site: Site, question: str) -> list[str]:
    """Return the addresses that the search page finds for a question."""
    site.page.fill(".bd-search-container input[name=q]", question)
    site.until(f"document.getElementById('search-summary').dataset.query === {question!r}")
    return site.page.evaluate(
        "[...document.querySelectorAll('#search-results li > a')].map(a => a.getAttribute('href'))"
    )


def missed(site: Site, questions: dict[str, str]) -> dict[str, list[str]]:
    """Return the first three results of each question of which none is one of its answers."""
    results = {question: [link.replace(".html", "") for link in found(site, question)[:3]] for question in questions}
    return {question: links for question, links in results.items() if not {*links} & {*questions[question].split()}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_answers_questions(site: Site, language: str):
    """A newcomer, who asks in words of their own, or an engineer in those of the trade would not meet the section."""
    site.look(WIDE)
    site.open(f"{language}/search.html")
    questions = {row[LANGUAGES.index(language)]: row[2] for row in QUESTIONS if row[LANGUAGES.index(language)]}
    assert len(questions) == 50
    assert len(faults := missed(site, questions)) <= 4, faults
    assert missed(site, by_word(TRADE, language) | by_word(PLAIN, language)) == {}
    assert site.wrong == []


def test_a_plain_question_brings_the_definition_and_marks_its_own_words(site: Site):
    """A newcomer who asks "what is ndcg" would get no definition, a name said twice, or marks of words not typed."""
    site.look(WIDE)
    for language, question, name in (("en", "What is nDCG?", "discounted"), ("zh", "什么是nDCG", "折损")):
        site.open(f"{language}/search.html")
        found(site, question)
        assert name in site.page.inner_text("#search-term")
        assert language == "zh" or site.page.inner_text("#search-term").startswith("nDCG, "), "not as it was typed"
        marked = site.page.locator("#search-results li > a mark").all_inner_texts()
        assert {word.lower() for word in marked} == {"ndcg"}
        found(site, "BM25")
        assert site.page.inner_text("#search-term").startswith("BM25 ")
        assert "(BM25)" not in site.page.inner_text("#search-term")


def test_a_result_shows_prose(site: Site):
    """A reader would see the cells of a table run together, or Chinese on an English page."""
    site.look(WIDE)
    for language, question, begin in (
        ("en", "why is my nDCG lower than in the paper", "You score a model"),
        ("zh", "我的nDCG为什么比论文低", "给模型打了分"),
    ):
        site.open(f"{language}/search.html")
        found(site, question)
        page = site.page.locator("#search-results li", has=site.page.locator("a[href='differences.html']"))
        assert page.locator("p").inner_text().startswith(begin)
        assert site.page.locator("#search-term:not(:empty) + #search-results").count(), "it is not at the top"
    site.open("en/search.html")
    found(site, "ndcg")
    assert not re.search("[\u4e00-\u9fff]", site.page.inner_text("#search-term"))
    found(site, "rounding grades")
    row = site.page.locator("#search-results li", has=site.page.locator("a[href='libraries.html#why-they-differ']"))
    assert " · " in row.locator("p").first.inner_text(), "a section that is a table alone shows a row"


def test_a_metric_is_found_with_its_cutoff(site: Site):
    """Who types a cutoff, or another name of a metric, would get no definition, or an excerpt without its formula."""
    site.look(WIDE)
    for language, question, name, row in (
        ("en", "hit rate at 10", "success", "success@k · is there anything relevant in the top k? (hit rate)"),
        ("zh", "前10位的命中率", "命中率", "success@k · 前k位里有没有相关的？（命中率）"),
    ):
        site.open(f"{language}/search.html")
        assert found(site, question)[0] == "cheatsheet.html#the-metrics"
        assert site.page.locator("#search-results p").first.inner_text() == row
        assert site.page.locator("#search-term b").all_inner_texts() == [name]


def test_a_number_counts_for_nothing_and_a_title_for_much(site: Site):
    """Who asks whether a cosine of 0.8 is good would meet scores of 0.8, below titles that say nothing of it."""
    site.look(WIDE)
    site.open("en/search.html")
    assert found(site, "is cosine 0.8 good")[0] == "05_languages.html#why-a-threshold-on-the-cosine-fails"
    marks = site.page.locator("#search-results mark").all_inner_texts()
    assert {mark.lower() for mark in marks} <= {"cosine", "cosines"}
    of = site.page.locator("#search-results li:has(> a[href*='#']:not(:has(mark)))")
    assert of.count() == of.filter(has=site.page.locator("> .search-where")).count() > 0, "a title, and not of what"
    lessons = site.page.locator("#search-results li:has(> a[href^='03_']) > .search-where").all_inner_texts()
    assert lessons
    assert all(one.startswith("Lesson 3 · ") for one in lessons), "which lesson it is, is not said"
    found(site, "why does my ndcg differ from sklearn")
    kind = site.page.locator("#search-results li:has(> a[href='libraries.html']) > .search-where").inner_text()
    assert kind == "Why numbers differ", "of which kind the page is, is not said"


def test_marks_are_whole_words(site: Site):
    """A reader of Chinese would see the end of one word and the beginning of the next marked as a word."""
    site.look(WIDE)
    site.open("zh/search.html")
    found(site, "为什么我的分数比论文低")
    marks = site.page.locator("li > p mark").all_inner_texts()
    assert marks
    assert {*marks} <= {"分数", "论文"}


def test_a_question_about_two_things_finds_both(site: Site):
    """Who asks for a difference would not meet what compares the two, then each, or would see "between" marked."""
    both = ["recall-how-much-of-what-is-relevant-was-found", "precision-how-much-of-what-was-shown-is-relevant"]
    both = ["which-metric-for-which-task", *both]
    site.look(WIDE)
    for language, question, names in (
        ("en", "what is the difference between recall and precision", ["recall", "precision"]),
        ("zh", "召回率和精确率有什么区别", ["召回率", "精确率"]),
    ):
        site.open(f"{language}/search.html")
        assert found(site, question)[:3] == [f"02_metrics.html#{anchor}" for anchor in both]
        assert site.page.locator("#search-term b").all_inner_texts() == names
        assert "between" not in site.page.locator("#search-results mark").all_inner_texts()
    assert found(site, "如何处理并列")[0] == "02_metrics.html#ties-which-document-comes-first-when-scores-are-equal"
    assert not re.search("并\u200b?列出", "".join(site.page.locator("#search-results p").all_inner_texts()))
    assert found(site, "要多少个查询才够")[0] == "03_model_comparison.html#how-many-queries-do-i-need"
    assert site.violations() == []
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_is_answered_in_a_sentence(site: Site, language: str):
    """Who asks a question would read a sentence beside the point, or a list of sections that share a common word."""
    site.look(WIDE)
    site.open(f"{language}/search.html")
    english = language == "en"
    assert 1 <= len(found(site, "what is a good score" if english else "分数多高算好")) <= 5
    first, said = site.page.locator("#search-results > li").first, "小语料库上测得的分数"
    assert ("a score measured on a small corpus" if english else said) in first.locator("p").inner_text()
    for question in ("difference between MAP and MRR", "MRR vs MAP", "MAP和MRR的区别", "MRR与MAP哪个更好"):
        assert found(site, question)[0] == "02_metrics.html#which-metric-for-which-task"
        assert [("MRR" in row, "MAP" in row) for row in first.locator("p").all_inner_texts()] == [
            (True, False), (False, True),
        ]  # fmt: skip


def test_whole_words_are_marked_in_singular_and_plural(site: Site):
    """Who asks for a paper would see "papermill" marked, or not see the word that was found."""
    site.look(WIDE)
    site.open("en/search.html")
    for question, said in (
        ("why is my ndcg lower than the paper", {"ndcg", "lower", "lowers", "paper", "papers"}),
        ("queries", {"query", "queries"}),
        ("find_hits", {"find_hits", "find", "finds", "hits", "hit"}),
        ("retriev", {"retrieve", "retrieved", "retrieves", "retrieval", "retriever", "retrievers", "retrieving"}),
    ):
        found(site, question)
        marked = {word.lower() for word in site.page.locator("#search-results mark").all_inner_texts()}
        assert marked <= said, question
        assert len(marked) > 1, question
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_found_leads_on(site: Site, language: str):
    """A reader whose words the site lacks would see an empty page, or an empty box."""
    site.look(WIDE)
    site.open(f"{language}/search.html")
    pages = ["cheatsheet.html", "glossary.html", "pitfalls.html"]
    assert found(site, "xyzzy") == []
    links = "links => links.map(link => link.getAttribute('href'))"
    assert site.page.locator("#search-summary a").evaluate_all(links) == pages
    assert found(site, "xyzzy recall")
    assert "“xyzzy”" in site.page.inner_text("#search-summary"), "it is not said that half of the query was passed over"
    site.open(f"{language}/trust.html")
    site.page.click("button.search-button-field")
    site.page.fill("dialog input[name=q]", "xyzzy")
    site.page.wait_for_selector("dialog .search-none a")
    assert site.page.locator("dialog .search-none a").evaluate_all(links) == pages
    site.page.keyboard.press("ArrowDown")
    assert site.page.locator("dialog .search-none a").first.evaluate("link => link === document.activeElement")
    assert site.violations() == []
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_few_results_are_followed_by_near_ones_and_none_by_examples(site: Site, language: str):
    """Who asks what few sections answer would be left with them; a blank page would not say what to ask."""
    site.look(WIDE)
    site.open(f"{language}/search.html")
    asked = site.page.locator("#search-summary a").all_inner_texts()
    assert len(asked) == 4
    for question in [*asked, "GPU out of memory" if language == "en" else "GPU显存不够"]:
        assert 3 <= len(found(site, question)) <= 5, question
        assert site.page.locator("#search-results > li:has(p):not(:has(mark))").count() == 0, question
    site.page.goto(f"{site.base}{language}/pitfalls.html")
    site.page.click("button.search-button-field")
    site.page.wait_for_selector("dialog .search-none a")
    assert site.page.locator("dialog .search-none a").all_inner_texts() == asked
    site.page.locator("dialog .search-none a").first.click()
    site.page.wait_for_selector("#search-results li a")
    assert site.page.input_value(".bd-search-container input[name=q]") == asked[0]
    assert site.violations() == []
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_sections_of_one_name_are_one_result(site: Site, language: str):
    """Six results called "Exercises" would push all others out of sight; or five of them could not be reached."""
    site.look(WIDE)
    site.open(f"{language}/search.html")
    links = found(site, "exercises" if language == "en" else "练习")
    first = site.page.locator("#search-results li").filter(has=site.page.locator("a[href$='#exercises']"))
    assert len([link for link in links if link.endswith("#exercises")]) == 1 == first.count()
    assert first.locator("a[href$='#exercises']").count() > 5


def test_another_word_for_a_term_brings_its_definition_and_a_count_is_true(site: Site):
    """A reader who says a term in part would get no definition; or five sections would be taken for all there are."""
    site.look(WIDE)
    site.open("zh/search.html")
    found(site, "显著性")
    assert "统计显著" in site.page.inner_text("#search-term")
    for language, said, all_said in (
        ("en", r"Best 5 of (\d+) sections", "{} sections"),
        ("zh", r"最相关的5个章节，共(\d+)个", "{}个章节"),
    ):
        site.open(f"{language}/search.html")
        assert len(found(site, "recall")) == 5
        every = int(re.fullmatch(said, site.page.inner_text("#search-summary"))[1])
        assert str(every) in site.page.inner_text(".search-more")
        site.page.click(".search-more")
        assert site.page.inner_text("#search-summary") == all_said.format(every)
        assert site.page.locator("#search-results > li").count() == every
        shown = len(found(site, "should I use recall or ndcg for RAG"))
        assert site.page.inner_text("#search-summary") == all_said.format(shown), "a best part of what is shown whole"
    assert found(site, "colbert maxsim") != []
    assert found(site, "evaluate()")[0].endswith("#helpers.metrics.evaluate"), "who types a call looks for its page"
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


def test_the_magnifier_stands_beside_the_words(site: Site):
    """The picture in the search field would lie on what the reader types."""
    for size in (WIDE, PHONE):
        site.look(size)
        site.open("en/search.html?q=recall")
        icon = site.page.locator(".bd-search-container .bd-search > svg").bounding_box()
        field = site.page.locator(".bd-search-container input[name=q]")
        padding = float(field.evaluate("f => parseFloat(getComputedStyle(f).paddingLeft)"))
        assert icon["x"] + icon["width"] <= field.bounding_box()["x"] + padding


def test_search_from_any_page(site: Site):
    """The search field would do nothing, while one types or at the end, or not say what a term means."""
    site.page.set_viewport_size(WIDE)
    site.open("zh/pitfalls.html")
    site.page.click("button.search-button-field")
    site.page.fill("dialog input[name=q]", "召回率")
    site.page.wait_for_selector(".search-quick li a")
    quick = site.page.locator(".search-quick li > a")
    assert 1 < quick.count() <= 6
    texts = site.page.locator(".search-quick li p")
    assert texts.count() == quick.count()
    assert all(box.bounding_box()["height"] < 48 for box in texts.all()), "more than two lines"
    assert quick.first.get_attribute("href") == by_word(QUERIES, "zh")["召回率"].replace("#", ".html#")
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
    site.open("zh/pitfalls.html")
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
        site.open("en/citation.html")
        store = (
            "localStorage.removeItem('language')" if stored == "null" else f"localStorage.setItem('language', {stored})"
        )
        site.page.evaluate(store)
        site.page.goto(site.base)
        site.page.wait_for_url(f"{site.base}{expected}/index.html")
    site.page.evaluate("localStorage.removeItem('language')")


def test_pages_outside_of_sphinx(site: Site):
    """The page for a wrong address, or a lesson saved as HTML, would bar some readers or fail."""
    for path in ("404.html", *(f"{code}/downloads/{name}.html" for code in LANGUAGES for name in lesson_names(ROOT))):
        site.open(path)
        if path == "404.html":
            assert site.violations() == []
            assert site.page.evaluate("getComputedStyle(document.querySelector('main')).textAlign") == "center"
        else:
            assert site.page.locator("math").count() >= formulas(path[:2], Path(path).stem)
        assert site.wrong == [], path


@pytest.mark.parametrize("language", LANGUAGES)
def test_cheat_sheet_prints_on_one_page(site: Site, language: str):
    """The cheat sheet would be no sheet."""
    site.page.set_viewport_size(WIDE)
    site.page.emulate_media(color_scheme="light")
    site.open(f"{language}/cheatsheet.html")
    assert len(re.findall(rb"/Type\s*/Page\b", site.page.pdf(format="A4"))) == 1
