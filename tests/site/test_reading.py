"""What readers stumbled over, in a real browser: widths, folds, links, touch, print, titles, terms, questions."""

from __future__ import annotations

import pytest

from docs.site.project import site_words
from notebooks.kit.notebooks import LANGUAGES, ROOT
from notebooks.kit.translation import glossary
from tests.site.browser import PHONE, WIDE, Site

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("language", LANGUAGES)
def test_print_is_light_and_has_the_solutions(site: Site, language: str):
    """White would be printed on black; questions or solutions would be missing, or solutions beside their exercises."""
    site.look(WIDE, "dark")
    site.open(f"{language}/02_metrics.html")
    solutions = site.page.locator("#exercises > details > :not(summary)")
    assert solutions.count() > 1
    assert not any(solution.is_visible() for solution in solutions.all())
    dark = site.page.evaluate("getComputedStyle(document.body).backgroundColor")
    site.page.emulate_media(media="print", color_scheme="dark")
    site.until("document.documentElement.dataset.theme === 'light'")
    assert site.page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    for part in ("p.on-paper", ".quiz legend", ".quiz p.right", "#exercises > details > p"):
        assert site.page.locator(part).first.is_visible(), part
    folded = site.page.locator("details.behind:not(.launch, :has(> .cell_output))")
    assert all(box.locator("summary").is_visible() and not box.locator("pre").is_visible() for box in folded.all())
    exercise, solution = (
        site.page.locator(f"#exercises > {part}").bounding_box() for part in ("ol:last-of-type", "details >> nth=0")
    )
    assert exercise["y"] < solution["y"]
    site.page.emulate_media(media="screen", color_scheme="dark")
    site.until("document.documentElement.dataset.theme === 'dark'")
    site.page.emulate_media(media="null", color_scheme="light")


@pytest.mark.parametrize("language", LANGUAGES)
def test_terms_are_explained_where_they_stand(site: Site, language: str):
    """A reader would have to leave the page to learn what a word means; or the words would cover the text for good."""
    site.look(WIDE)
    site.open(f"{language}/01_evaluation.html")
    means = {term.means[language] for term in glossary(ROOT)}
    terms = site.page.locator("article a.term:not(figure a, .setup a)")
    texts = terms.all_inner_texts()
    assert len(texts) == len({text.lower() for text in texts}) > 10
    box = site.page.locator("#means")
    for number in (0, 5):
        terms.nth(number).hover()
        assert box.is_visible()
        name, link = terms.nth(number).inner_text(), box.locator("a")
        assert link.inner_text() == name
        assert box.inner_text().removeprefix(f"{name} ") in means
        assert link.get_attribute("href") == terms.nth(number).evaluate("a => a.href")
        link.hover()
        assert box.is_visible(), "its link cannot be reached"
        site.page.mouse.move(1, 1)
        assert not box.is_visible()
    terms.first.focus()
    assert box.is_visible()
    site.page.keyboard.press("Escape")
    assert not box.is_visible()
    terms.first.click()
    site.until("location.pathname.endsWith('glossary.html') && location.hash.startsWith('#term-')")
    site.until("document.getElementById(location.hash.slice(1)) !== null")  # the page is still loading here


def test_a_tapped_term_is_explained_at_the_foot_of_the_screen(site: Site):
    """The words would cover the sentence that they explain, or stay when a reader taps elsewhere."""
    site.look(PHONE)
    touch = site.page.context.new_cdp_session(site.page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def tap(x: float, y: float) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    try:
        site.open("en/test_set.html")
        place, box = site.page.locator("article a.term").first.bounding_box(), site.page.locator("#means")
        tap(place["x"] + 5, place["y"] + 5)
        box.wait_for(state="visible")
        assert site.page.url.endswith("test_set.html")
        shown = box.bounding_box()
        assert shown["y"] > place["y"] + 100
        assert 0 < PHONE["height"] - shown["y"] - shown["height"] < 20
        tap(PHONE["width"] - 5, 200)
        box.wait_for(state="hidden")
    finally:
        touch.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        touch.detach()


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_answer_at_once(site: Site, language: str):
    """A choice would do nothing, say right to a wrong answer, or put what it says elsewhere on the page."""
    site.look(WIDE)
    site.open(f"{language}/02_metrics.html")
    quizzes = site.page.locator("fieldset.quiz")
    assert quizzes.count() > 3
    for quiz in quizzes.all():
        assert quiz.locator("p:visible").count() == 0
        for choice in quiz.locator("input").all():
            choice.check()
            said = quiz.locator("p:visible")
            assert said.count() == 1
            kind = "right" if "right" in said.get_attribute("class") else "wrong"
            assert said.inner_text().startswith(site_words(language)[kind].strip())
        assert quiz.locator("p.right").count() == 1
