"""The widget "Try the metrics" in a real browser: hands, keys, links."""

from __future__ import annotations

import math

import pytest

from docs.site.widget import settings
from helpers.metrics import evaluate
from notebooks.kit.notebooks import ROOT
from tests.metrics.samples import RELEVANT, RETRIEVED
from tests.site.browser import PHONE, WIDE, Site
from tests.site.test_try import METRICS

pytestmark = pytest.mark.browser

READY = "document.querySelector('.try.ready') !== null"


def opened(site: Site, path: str, size: dict[str, int] = WIDE) -> None:
    """Load a page with the widget, and wait until it is there."""
    site.look(size)
    site.open(path)
    site.page.evaluate("document.querySelector('.try').scrollIntoView()")  # it loads when a reader comes near
    site.until(READY)


def values(site: Site, metric: str) -> list[float]:
    """What the table says of a metric: of the three rankings, and the mean."""
    cells = site.page.locator(f"tr[data-metric={metric}] td[data-of]").all()
    return [float(cell.get_attribute("data-value")) for cell in cells]


def documents(site: Site, name: str, kept: str = "retrieved") -> list[str]:
    """The documents of a ranking as shown, in order."""
    found = site.page.locator(f"ol.try-{kept}").nth("ABC".index(name)).locator(".try-doc")
    return found.evaluate_all("all => all.map(b => b.firstChild.data)")


def unfold(site: Site) -> None:
    """Open the settings."""
    site.page.locator(".try-modes [aria-expanded=false]").click()


def slide(site: Site, k: int) -> None:
    """Set the slider of k with the keyboard."""
    slider = site.page.locator(".try-controls input[type=range]").first
    if not slider.is_visible():
        unfold(site)
    slider.focus()
    site.page.keyboard.press("Home")
    for _ in range(k - 1):
        site.page.keyboard.press("ArrowRight")


def drag(site: Site, what: object, where: object) -> None:
    """Drag one thing onto another with the mouse."""
    what.hover()  # not below the bars
    start, end = what.bounding_box(), where.bounding_box()
    site.page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    site.page.mouse.down()
    site.page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=8)
    site.page.mouse.up()


def document(site: Site, name: str, id_: int) -> object:
    """The button of a document."""
    box = site.page.locator(".try-ranking").nth("ABC".index(name))
    return box.locator(".try-doc").filter(has_text=str(id_)).first


@pytest.mark.parametrize("path", ["en/try.html?set=lesson", "zh/try.html?set=lesson"])
def test_the_example_and_the_slider(site: Site, path: str):
    """The widget would begin with other rankings than lesson 02, or the slider would move nothing."""
    opened(site, path)
    for k in (5, 10, 1):
        slide(site, k)
        names = [f"{metric}@{k}" for metric in METRICS]
        expected = evaluate(RETRIEVED, RELEVANT, names)
        for name in names:
            got = values(site, name.split("@")[0])
            assert got == pytest.approx([*expected.per_query[name], expected.mean[name]], abs=1e-12), name
        name = settings(ROOT)["words"][path[:2]]["names"]["recall"]
        assert site.page.locator("tr[data-metric=recall] th span").text_content() == f"{name}@{k}"
    assert site.wrong == []


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_dragging(site: Site, size: dict[str, int]):
    """A document could not be dragged to another rank, out of the ranking or back into it."""
    opened(site, "en/try.html?set=lesson", size)
    drag(site, document(site, "C", 10), document(site, "C", 24))
    assert documents(site, "C")[:2] == ["10", "24"]
    assert values(site, "mrr")[2] == 1
    drag(site, document(site, "C", 22), document(site, "C", 26))
    assert "22" in documents(site, "C")[:4]
    assert documents(site, "C", "missed") == []
    drag(site, document(site, "A", 11), site.page.locator("ol.try-missed").first)
    assert documents(site, "A", "missed") == ["11"]
    assert values(site, "recall")[0] == pytest.approx(4 / 5)
    assert site.page.locator(".try-note").first.inner_text() == "5 relevant"
    assert site.wrong == []


def test_keyboard(site: Site):
    """A reader without a mouse could not move a document, take it out, or say that it is relevant."""
    opened(site, "en/try.html?set=lesson")
    press = site.page.keyboard.press
    site.page.locator(".try-doc[tabindex='0']").focus()
    press("Shift+ArrowRight")
    assert documents(site, "A")[:2] == ["1", "11"]
    press("Shift+ArrowLeft")
    assert documents(site, "A")[:2] == ["11", "1"]
    press("Space")
    assert values(site, "mrr")[0] == 1 / 2
    assert "not relevant" in site.page.locator(".try-said").inner_text()
    press("1")
    press("Shift+ArrowDown")
    assert documents(site, "A", "missed") == ["11"]
    press("Shift+ArrowUp")
    assert documents(site, "A")[-1] == "11"
    press("ArrowDown")
    press("Home")
    press("ArrowRight")
    press("Enter")
    assert values(site, "precision")[1] == pytest.approx(1 / 5)
    assert site.page.evaluate("document.activeElement.matches('.chosen > button')")
    assert site.wrong == []


def test_buttons_do_what_dragging_does(site: Site):
    """Whoever can press but not drag, on a switch or by voice, could not move a document."""
    opened(site, "en/try.html?set=lesson", PHONE)
    words = settings(ROOT)["words"]["en"]
    document(site, "B", 4).click()
    bar = site.page.locator(".try-bar")
    recall = values(site, "recall")[1]
    for same in (False, True):
        bar.locator("button").last.click()
        assert (values(site, "recall")[1] == recall) is same
    bar.get_by_role("button", name=words["up"]).click()
    assert documents(site, "B")[4] == "4"
    assert site.page.evaluate("document.activeElement.textContent") == words["up"], "the next press needs a search"
    assert values(site, "recall")[1] == 1
    bar.get_by_role("button", name=words["out"]).click()
    assert documents(site, "B", "missed") == ["4"]
    bar.get_by_role("button", name=words["back"]).click()
    assert documents(site, "B")[-1] == "4"


def test_grades_and_formula(site: Site):
    """Grades would not reach nDCG, or the formula would not lead to the value beside it."""
    opened(site, "en/try.html?set=lesson")
    unfold(site)
    site.page.locator(".try-controls input[type=checkbox]").check()
    document(site, "C", 26).focus()
    document(site, "C", 26).press("3")
    assert documents(site, "C")[2] == "26"
    grades = [{doc: 3 if doc == 26 else 1 for doc in row} for row in RELEVANT]
    for gain in ("linear", "exponential"):
        site.page.locator(".try-controls select").nth(2).select_option(gain)
        expected = evaluate(RETRIEVED, grades, "ndcg@5", gain=gain).per_query["ndcg@5"]
        assert values(site, "ndcg")[:3] == pytest.approx(list(expected), abs=1e-12)
    for metric in METRICS:
        text = site.page.locator(f"tr[data-metric={metric}] td.try-formula").evaluate(
            "cell => [...cell.childNodes].map(n => n.nodeName === 'SUP' ? '**' + n.textContent : n.data).join('')"
        )
        python = text.replace("−", "-").replace("·", "*").replace("log₂ ", "")
        if "log₂" in text:
            python = text
            for number in range(30, 0, -1):
                python = python.replace(f"log₂ {number}", str(math.log2(number)))
        assert eval(python, {"max": max, "min": min}) == pytest.approx(values(site, metric)[2], abs=1e-3), text
    assert site.wrong == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_experiment_asks_first_and_then_shows(site: Site, language: str):
    """The move would be made before the reader has guessed, or a phone not show it, or the guess be judged wrongly."""
    opened(site, f"{language}/try.html", PHONE)
    words = settings(ROOT)["words"][language]
    before = {metric: values(site, metric) for metric in METRICS}
    site.page.locator(".try-experiments").get_by_role("button", name=words["experiments"]["up"]["name"]).click()
    assert {metric: values(site, metric) for metric in METRICS} == before
    for part in (".try-steps button", ".current .try-name"):
        box = site.page.locator(part).bounding_box()
        assert box["y"] > 50, f"{part} is behind the bar at the top"
        assert box["y"] + box["height"] <= PHONE["height"], f"{part} is below the window"
    question = site.page.locator(".try-question")
    assert words["guess"] in question.inner_text()
    assert site.page.evaluate("document.activeElement.type") == "checkbox"
    for metric in ("recall", "mrr", "map", "ndcg"):
        site.page.locator(f"[data-bar={metric}] input").check()
    site.page.get_by_role("button", name=words["move"]).click()
    assert values(site, "mrr")[2] == 1
    assert words["right"].replace("{right}", "6").replace("{all}", "8") in question.inner_text()
    changed = words["changed"].replace("{names}", words["comma"].join(("MRR", "MAP", "nDCG", "RBP")))
    assert changed in question.inner_text()
    assert site.page.locator(".try-bars input:visible").count() == 0, "boxes that nobody can tick"
    changes = site.page.locator(".try-bars small").all_inner_texts()
    assert changes[:4] == [words["same"]] * 4
    assert all(change.startswith("+") for change in changes[4:])
    guesses = site.page.locator(".try-guess").all_inner_texts()
    assert [guess.split() for guess in guesses] == [[words["you"], mark] for mark in "✗✓✓✓✓✓✓✗"]
    assert site.page.locator(".current .try-query b").inner_text() == "C"
    site.page.locator(".current .try-doc").nth(4).click()
    site.page.locator(".try-bar").get_by_role("button", name=words["relevant"], exact=True).click()
    assert changed in question.inner_text(), "what was found is gone as soon as one plays on"
    assert set(site.page.locator(".try-guess").all_inner_texts()) == {""}
    site.show(".try-ranking.current")  # no control is half behind the bar at the top, which axe takes for small
    assert site.violations() == []
    assert site.wrong == []
