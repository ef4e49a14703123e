"""The pictures of lessons that answer to a reader's hand: what they show is what helpers.metrics computes."""

from __future__ import annotations

import re

import pytest

from docs.site.live import hits
from docs.site.pocket import ANSWERS, read_pocket
from docs.site.project import Edition
from helpers.metrics import evaluate
from notebooks.kit.cells import by_id
from notebooks.kit.notebooks import LANGUAGES, ROOT
from tests.metrics.samples import RELEVANT, RETRIEVED
from tests.site.browser import PHONE, WIDE, Site

BESIDE = {"width": 1440, "height": 900}
BOARDS = ["recall", "capped_recall", "precision", "mrr", "map", "ndcg"]


def opened(site: Site, path: str, kind: str, size: dict[str, int] = BESIDE, scheme: str = "light") -> None:
    """Load a lesson, and wait until all its pictures of a kind that this window shows are there."""
    site.look(size, scheme)
    site.open(path)
    figures = f"[...document.querySelectorAll('figure.{kind}')].filter(one => one.offsetParent)"
    for at in range(site.page.evaluate(f"{figures}.length")):
        site.page.evaluate(f"{figures}[{at}].scrollIntoView({{behavior: 'instant'}})")
        site.until(f"{figures}[{at}].querySelector('button') !== null")


def slide(site: Site, figure: object, k: int) -> None:
    """Set the slider of k with the keyboard."""
    figure.locator("input[type=range]").focus()
    site.page.keyboard.press("Home")
    for _ in range(k - 1):
        site.page.keyboard.press("ArrowRight")


def board(site: Site, metric: str) -> tuple[list[float], float, str]:
    """Return what the board of a metric shows: the value of each row, their mean, how far it is from the lesson's."""
    figure = site.page.locator(f"figure.board[data-metric={metric}]")
    rows = [float(text) for text in figure.locator(".board-row p b").all_inner_texts()]
    change = figure.locator(".rise, .fall").all_inner_texts()
    return rows, float(figure.locator("output b").inner_text()), "".join(change).strip()


def same_as_helpers(site: Site, retrieved: list[list[int]], relevant: list[list[int]], k: int) -> None:
    """Compare all boards of the page with helpers.metrics."""
    names = [f"{metric}@{k}" for metric in BOARDS]
    expected, lesson = evaluate(retrieved, relevant, names), evaluate(RETRIEVED, RELEVANT, BOARDS, [5])
    for metric, name in zip(BOARDS, names, strict=True):
        rows, mean, change = board(site, metric)
        assert rows == pytest.approx(expected.per_query[name], abs=0.00051), name
        assert mean == pytest.approx(expected.mean[name], abs=0.00051), name
        by = expected.mean[name] - lesson.mean[f"{metric}@5"]
        assert float(change.replace("−", "-") or 0) == pytest.approx(by, abs=0.0006), name


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_boards_show_the_lesson_and_what_was_moved(site: Site, language: str):
    """A board would begin with other values than the lesson, or another section would not know what was changed."""
    opened(site, f"{language}/02_metrics.html", "board")
    retrieved, relevant = [list(row) for row in RETRIEVED], [list(row) for row in RELEVANT]
    same_as_helpers(site, retrieved, relevant, 5)
    first = site.page.locator("figure.board").first
    first.locator("[data-at='0']").nth(2).click()  # document 24 of C becomes relevant
    relevant[2].append(24)
    same_as_helpers(site, retrieved, relevant, 5)
    site.page.keyboard.press("Shift+ArrowRight")
    site.page.keyboard.press("Shift+ArrowRight")
    retrieved[2][:3] = [10, 26, 24]
    same_as_helpers(site, retrieved, relevant, 5)
    site.page.keyboard.press("ArrowLeft")
    site.page.keyboard.press("Space")  # 26 is not relevant any more
    relevant[2].remove(26)
    slide(site, first, 10)
    same_as_helpers(site, retrieved, relevant, 10)
    last = site.page.locator("figure.board").last
    last.scroll_into_view_if_needed()
    start, end = (last.locator(f"[data-at='{at}']").nth(1).bounding_box() for at in (5, 2))
    site.page.mouse.move(start["x"] + 9, start["y"] + 9)
    site.page.mouse.down()
    site.page.mouse.move(end["x"] + 9, end["y"] + 9, steps=6)
    site.page.mouse.up()  # document 4 of B, from rank 6 to rank 3
    retrieved[1].insert(2, retrieved[1].pop(5))
    same_as_helpers(site, retrieved, relevant, 10)
    last.locator("[data-at='2']").nth(1).press("Shift+ArrowLeft")  # one rank up
    retrieved[1][1:3] = retrieved[1][2:0:-1]
    same_as_helpers(site, retrieved, relevant, 10)
    last.locator(".board-foot button").click()  # as in the lesson
    assert not last.locator(".board-foot").is_visible()
    same_as_helpers(site, RETRIEVED, RELEVANT, 5)
    means = []
    for button in first.locator(".live-choice button").all():
        button.click()
        means.append(float(first.locator("output b").inner_text()))
    chosen = [f"{metric}@5" for metric in first.get_attribute("data-metric").split()]
    assert means == pytest.approx(list(evaluate(RETRIEVED, RELEVANT, chosen).mean.values()), abs=0.00051)
    assert site.wrong == []


@pytest.mark.browser
def test_the_pieces_of_a_bar_are_its_value(site: Site):
    """A bar would be longer or shorter than the value below it, so what a box adds would be wrong."""
    opened(site, "en/02_metrics.html", "board")
    for metric in BOARDS:
        bars = site.page.locator(f"figure.board[data-metric={metric}] .board-row .board-bar")
        pieces = bars.evaluate_all(
            "bars => bars.map(b => [...b.children].reduce((s, i) => s + parseFloat(i.style.width), 0))"
        )
        assert pieces == pytest.approx([100 * value for value in board(site, metric)[0]], abs=0.05), metric


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
    opened(site, f"{language}/01_evaluation.html", "hits")
    pocket = read_pocket(Edition(ROOT, language))
    ids, grades = list(pocket.passages), list(pocket.grades.values())[:8]
    assert not site.page.locator("figure.opening").is_visible()
    for figure in site.page.locator("figure.hits").all():
        for k in (1, 3, 10):
            slide(site, figure, k)
            lists = [[ids[row] for row in rows] for rows in recorded(language)]
            expected = evaluate(lists, grades, ["recall", "mrr", "ndcg"], [k], relevance_level=ANSWERS)
            shown = [float(text) for text in figure.locator(".hits-bars b").all_inner_texts()]
            assert shown == pytest.approx(list(expected.mean.values()), abs=0.00051)
    figure = site.page.locator("figure.hits").first
    figure.locator(".hits-row p").nth(3).click()  # shows the first relevant passage of the question
    title, _ = pocket.passages[lists[3][1]]
    assert figure.locator(".hits-passage > span").inner_text() == title
    assert "answers" in figure.locator(".hits-passage").get_attribute("class")
    figure.locator(".hits-row").nth(3).locator("button").nth(1).focus()
    site.page.keyboard.press("ArrowRight")
    assert figure.locator(".hits-passage > span").inner_text() == pocket.passages[lists[3][2]][0]
    figure.locator("a.term").last.hover()  # what nDCG means, as the glossary has it
    assert "DCG" in site.page.locator("#means > span").inner_text()
    assert site.wrong == []


SHOWS = """figure => {
  const seen = (what) => [...figure.querySelectorAll(what)].filter((one) => one.offsetParent);
  const texts = (what) => seen(what).map((one) => one.textContent);
  return {
    titles: texts("li > span"), ranks: texts("li > b").filter(Boolean), answers: texts("li.relevant > b"),
    products: texts("li > small").map(Number).filter(Boolean), scores: texts(".hits-bars b").map(Number),
  };
}"""


def shows(site: Site, at: int) -> dict[str, list]:
    """Return what one of the pictures of the lesson's steps shows: titles, ranks, products, scores."""
    return site.page.locator("figure.journey").nth(at).evaluate(SHOWS)


@pytest.mark.browser
@pytest.mark.parametrize("path", ["en/01_evaluation", "zh/02_metrics", "en/06_scaling_up"])
def test_everybody_can_use_a_picture(site: Site, path: str):
    """Some readers could not see or operate a picture, or a phone would scroll sideways because of it."""
    for size, scheme in ((BESIDE, "light"), (BESIDE, "dark"), (PHONE, "light")):
        opened(site, f"{path}.html", "live", size, scheme)
        assert size == PHONE or site.faint() == []
        assert site.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert site.violations() == []
    site.look(WIDE)
