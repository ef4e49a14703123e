"""The pictures of lessons that answer to a reader's hand: what they show is what helpers.metrics computes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from docs.site.live import hits
from docs.site.pocket import ANSWERS, read_pocket
from docs.site.project import Edition
from helpers.metrics import evaluate
from helpers.significance import bootstrap_interval
from notebooks.kit.cells import by_id
from notebooks.kit.notebooks import LANGUAGES, ROOT
from tests.site.browser import PHONE, Site
from tests.site.rankings import SCORES

BESIDE = {"width": 1440, "height": 900}
PAIRS = [("01_evaluation", "hits"), ("01_evaluation", "resample"), ("03_model_comparison", "resample")]


def opened(site: Site, path: str, kind: str) -> Any:
    """Load a lesson in a wide window, go to its picture of a kind, and return it."""
    site.look(BESIDE)
    site.open(path)
    site.show(f"figure.{kind}")
    site.until(f"document.querySelector('figure.{kind} button') !== null")
    return site.page.locator(f"figure.{kind}")


def slide(site: Site, figure: Any, k: int) -> None:
    """Set a slider with the keyboard."""
    figure.locator("input[type=range]").focus()
    site.page.keyboard.press("Home")
    for _ in range(k - 1):
        site.page.keyboard.press("ArrowRight")


def recorded(language: str) -> list[list[int]]:
    """The passages in the recorded figure of lesson 01, those of a row of ten after each other."""
    cell = by_id(Edition(ROOT, language).lesson("01_evaluation"))["picture"]
    svg = next(output.data["image/svg+xml"] for output in cell.outputs if "image/svg+xml" in output.get("data", {}))
    numbers = [int(text) for text in re.findall(r"<text[^>]*>(\d+)</text>", svg)][-80:]
    return [numbers[at : at + 10] for at in range(0, 80, 10)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_questions_are_those_of_the_lesson(language: str):
    """The picture at the top of lesson 01 would show other passages than the figure that it stands for."""
    passages = list(read_pocket(Edition(ROOT, language)).passages.values())
    titles = [[title for title, *_ in query["passages"]] for query in hits(Edition(ROOT, language))["queries"]]
    assert titles == [[passages[row][0] for row in rows] for rows in recorded(language)]


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_line_through_the_questions(site: Site, language: str):
    """The scores of the eight questions would not be those of helpers.metrics; a press would show another passage."""
    figure = opened(site, f"{language}/01_evaluation.html", "hits")
    pocket = read_pocket(Edition(ROOT, language))
    ids, grades = list(pocket.passages), list(pocket.grades.values())[:8]
    assert not site.page.locator("figure.opening").is_visible()
    for k in (1, 3, 10):
        slide(site, figure, k)
        lists = [[ids[row] for row in rows] for rows in recorded(language)]
        expected = evaluate(lists, grades, ["recall", "mrr", "ndcg"], [k], relevance_level=ANSWERS)
        shown = [float(text) for text in figure.locator(".hits-bars b").all_inner_texts()]
        assert shown == pytest.approx(list(expected.mean.values()), abs=0.00051)
    figure.locator(".hits-row p").nth(3).click()  # shows the first relevant passage of the question
    title, _ = pocket.passages[next(one for one in lists[3] if grades[3].get(one, 0) >= ANSWERS)]
    assert figure.locator(".hits-passage > span").inner_text() == title
    assert "answers" in figure.locator(".hits-passage").get_attribute("class")
    figure.locator(".hits-row").nth(3).locator("button").nth(1).focus()
    site.page.keyboard.press("ArrowRight")
    assert figure.locator(".hits-passage > span").inner_text() == pocket.passages[lists[3][2]][0]
    figure.locator("a.term").last.hover()  # what nDCG means, as the glossary has it
    assert "DCG" in site.page.locator("#means > span").inner_text()
    assert site.wrong == []


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_everybody_can_use_a_picture(site: Site, language: str, name: str, kind: str):
    """Some readers could not see or operate a picture, or a phone would scroll sideways because of it."""
    figure = opened(site, f"{language}/{name}.html", kind)
    for size, scheme in ((BESIDE, "light"), (BESIDE, "dark"), (PHONE, "light")):
        site.look(size, scheme)
        site.show(f"figure.{kind}")
        assert size == PHONE or site.faint() == []
        box = figure.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["width"]
        assert figure.evaluate("f => f.scrollWidth <= f.clientWidth")
    assert site.violations() == []
    assert site.wrong == []


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_means_of_drawn_queries(site: Site, language: str):
    """The interval beside lesson 01 would not be the lesson's, or not widen as fewer queries are drawn."""
    figure = opened(site, f"{language}/01_evaluation.html", "resample")
    shown = figure.locator(".live-spans i").first.locator("b")
    assert re.search("1,?000", figure.locator(".live-said").inner_text()), "too few draws for an interval"
    first = shown.all_text_contents()
    figure.locator("button").click()
    assert shown.all_text_contents() != first, "the same draws again"
    ends = [float(one) for one in shown.all_text_contents()]
    values = json.loads(SCORES.read_text(encoding="utf-8"))[language]["ndcg@10"]["mean"]
    assert ends == pytest.approx(bootstrap_interval(values)[1:3], abs=0.006)
    slide(site, figure, 1)
    wide = [float(one) for one in shown.all_text_contents()]
    assert wide[1] - wide[0] > 2.5 * (ends[1] - ends[0])


@pytest.mark.browser
def test_differences_of_drawn_queries(site: Site):
    """An order that is sure would turn over, or one that is not sure never."""
    figure = opened(site, "en/03_model_comparison.html", "resample")
    told = figure.locator(".live-said")
    assert "In 0 of them" in told.inner_text()
    figure.get_by_role("button", name="CLS − max").click()
    assert 200 < int(told.inner_text().partition("In ")[2].split()[0]) < 500
    assert figure.locator(".turned").count() > 10
