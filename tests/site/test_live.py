"""The pictures of lessons that answer to a reader's hand: what they show is what helpers.metrics computes."""

from __future__ import annotations

import re
from base64 import b64decode

import numpy as np
import pytest

from docs.site.dense import quantize
from docs.site.live import hits, journey
from docs.site.pocket import ANSWERS, read_pocket
from docs.site.project import Edition
from helpers.metrics import evaluate
from notebooks.kit.cells import by_id
from notebooks.kit.notebooks import LANGUAGES, ROOT
from tests.metrics.samples import RELEVANT, RETRIEVED
from tests.site import journey as recorder
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
def test_a_phone_shows_the_row_that_a_task_speaks_of(site: Site):
    """A phone would repeat all rows below each metric, have another than its task, or never show the others."""
    opened(site, "en/02_metrics.html", "board", PHONE)
    names = "boxes => boxes.filter(box => box.offsetParent).map(box => box.previousSibling.textContent).join('')"
    for metric, name in zip(BOARDS, "AAABBC", strict=True):
        figure = site.page.locator(f"figure.board[data-metric={metric}]")
        assert figure.locator(".board-docs").evaluate_all(names) == name
        assert figure.bounding_box()["height"] < 260
    figure.locator(".board-open").click()
    assert figure.locator(".board-docs").evaluate_all(names) == "ABC"


@pytest.mark.browser
@pytest.mark.parametrize("metric", BOARDS)
def test_the_pieces_of_a_bar_are_its_value(site: Site, metric: str):
    """A bar would be longer or shorter than the value below it, so what a box adds would be wrong."""
    opened(site, "en/02_metrics.html", "board")
    bars = site.page.locator(f"figure.board[data-metric={metric}] .board-row .board-bar")
    pieces = bars.evaluate_all(
        "bars => bars.map(b => [...b.children].reduce((s, i) => s + parseFloat(i.style.width), 0))"
    )
    assert pieces == pytest.approx([100 * value for value in board(site, metric)[0]], abs=0.05)


def recorded() -> list[list[int]]:
    """The passages in the recorded figure of lesson 01, those of a row of ten after each other."""
    cell = by_id(Edition(ROOT, "en").lesson("01_evaluation"))["picture"]
    svg = next(output.data["image/svg+xml"] for output in cell.outputs if "image/svg+xml" in output.get("data", {}))
    numbers = [int(text) for text in re.findall(r"<text[^>]*>(\d+)</text>", svg)][-80:]
    return [numbers[at : at + 10] for at in range(0, 80, 10)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_questions_are_those_of_the_lesson(language: str):
    """The picture at the top of lesson 01 would show other passages than the figure that it stands for."""
    passages = list(read_pocket(Edition(ROOT, language)).passages.values())
    titles = [[title for title, *_ in query["passages"]] for query in hits(Edition(ROOT, language))["queries"]]
    assert titles == [[passages[row][0] for row in rows] for rows in recorded()]


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_line_through_the_questions(site: Site, language: str):
    """The scores of the eight questions would not be those of helpers.metrics; a press would show another passage."""
    opened(site, f"{language}/01_evaluation.html", "hits")
    pocket = read_pocket(Edition(ROOT, language))
    ids, grades = list(pocket.passages), list(pocket.grades.values())[:8]
    assert not site.page.locator("figure.opening").is_visible()
    starts = [figure.locator("input").input_value() for figure in site.page.locator("figure.hits").all()]
    assert starts == ["3", "1"]  # the second one asks where MRR stops growing
    task = site.page.locator("figure.hits").last
    said = [(slide(site, task, k), task.locator(".hits-row p").last.inner_text())[1] for k in (4, 5, 10)]
    assert ["MRR" in text for text in said] == [False, True, True]
    for figure in site.page.locator("figure.hits").all():
        for k in (1, 3, 10):
            slide(site, figure, k)
            lists = [[ids[row] for row in rows] for rows in recorded()]
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


def test_the_recorded_vectors_are_those_of_the_lesson():
    """The shades and products of lesson 01 would be those of other texts, or of another model."""
    shown, exact = journey(Edition(ROOT, "en")), recorder.vectors()
    cell = by_id(Edition(ROOT, "en").lesson("01_evaluation"))["search"]
    scores = [float(text) for text in re.findall(r"^\d+ +(0\.\d+)", cell.outputs[-1]["data"]["text/plain"], re.M)]
    assert shown["products"] == pytest.approx(scores[: recorder.PASSAGES], abs=0.00051)  # of three digits
    assert shown["products"] == pytest.approx(exact[1:] @ exact[0], abs=0.00011)
    coded = np.array([np.frombuffer(b64decode(one), np.int8) for one in shown["vectors"]]).astype(int)
    assert np.abs(coded - quantize(exact)[0]).max() <= 1
    units = coded / np.linalg.norm(coded, axis=1, keepdims=True)
    assert units[1:] @ units[0] == pytest.approx(shown["products"], abs=0.005)


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
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [BESIDE, PHONE], ids=["beside", "phone"])
def test_one_question_through_the_steps(site: Site, language: str, size: dict[str, int]):
    """Scrolling would not move the picture on, or a step would show another order, product or score than the lesson."""
    opened(site, f"{language}/01_evaluation.html", "journey", size)
    pocket, products = read_pocket(Edition(ROOT, language)), journey(Edition(ROOT, language))["products"]
    ids, ranking = list(pocket.passages), recorded()[0]
    titles = [pocket.passages[ids[row]][0] for row in ranking[: len(products)]]
    unsorted = [pocket.passages[ids[row]][0] for row in sorted(ranking[: len(products)])]
    grades = [next(iter(pocket.grades.values()))]
    mean = evaluate(
        [[ids[row] for row in ranking]], grades, ["recall", "mrr", "ndcg"], [10], relevance_level=ANSWERS
    ).mean
    for step in (1, 2, 3, 4, 5, 2):
        at = 0 if size == BESIDE else step - 1
        section = site.page.locator("section:has(> figure.journey)").nth(step - 1)
        section.evaluate("section => section.scrollIntoView({behavior: 'instant'})")
        site.until(f"document.querySelectorAll('figure.journey > div')[{at}].dataset.step === '{step}'")
        got = shows(site, at)
        assert got["titles"] == [unsorted, titles, []][(step > 3) + (step > 4)]
        assert got["ranks"] == [str(rank) for rank in range(1, {4: len(products), 5: 10}.get(step, 0) + 1)]
        assert got["scores"] == (pytest.approx(list(mean.values()), abs=0.00051) if step == 5 else [])
        if step in (3, 4):
            by_title = dict(zip(titles, products, strict=True))
            assert got["products"] == pytest.approx([by_title[title] for title in got["titles"]], abs=0.0051)
        if step == 4:
            assert got["answers"] == [
                str(1 + next(i for i, row in enumerate(ranking) if grades[0].get(ids[row], 0) >= ANSWERS))
            ]
        if size == BESIDE:  # in view all the way, above the picture that comes next
            place = site.page.locator("figure.journey > div").first.bounding_box()
            following = site.page.locator("figure.hits").last.bounding_box()
            assert place["y"] > 0
            assert place["y"] + place["height"] < min(size["height"], following["y"])
    if size == BESIDE:
        site.page.goto("about:blank")
        site.open(f"{language}/01_evaluation.html#cell-search")  # whoever comes by a link to a later step
        site.until("document.querySelector('figure.journey > div')?.dataset.step === '4'")
        site.page.evaluate("scrollBy(0, document.getElementById('cell-score').getBoundingClientRect().top - 300)")
        place, following = site.page.locator("figure.journey > div").first, site.page.locator("figure.hits").last
        site.until("document.querySelector('figure.journey > div').dataset.step === '5'")
        ends = place.bounding_box()["y"] + place.bounding_box()["height"]
        assert following.bounding_box()["y"] - 60 < ends < following.bounding_box()["y"]
        site.page.locator(".journey-steps button").nth(3).click()  # by hand
        assert shows(site, 0)["titles"] == titles
        assert site.page.evaluate("document.getAnimations().length") == 0  # this reader wants less motion
    site.look(WIDE)
    assert site.wrong == []


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_drawn_index(site: Site, language: str):
    """The drawing would open other cells than the nearest, or count what was found and looked at wrongly."""
    opened(site, f"{language}/06_scaling_up.html", "ivf")
    figure = site.page.locator("figure.ivf").last
    figure.locator("circle.query").wait_for()

    def places(selector: str) -> np.ndarray:
        circles = "all => all.map(c => [c.cx.baseVal.value, c.cy.baseVal.value])"
        return np.array(figure.locator(selector).evaluate_all(circles))

    def open_cells() -> list[bool]:
        return figure.locator("polygon").evaluate_all("all => all.map(p => p.classList.contains('open'))")

    points = places("circle:not(.query)")
    starts = figure.locator("path").evaluate_all(
        "all => all.map(p => p.getAttribute('d').match(/[-.0-9]+/g).map(Number))"
    )
    centres = np.array(starts)[:, :2] + [1.4, 0]
    cells = np.linalg.norm(points[:, None] - centres, axis=2).argmin(axis=1)
    means = [points[cells == cell].mean(axis=0) for cell in range(len(centres))]
    assert np.allclose(means, centres, atol=0.01)  # k-means has settled
    shown = []
    for press in ("Home", "ArrowRight", "ArrowRight", "End"):
        if press == "ArrowRight":
            figure.locator("svg").click(position={"x": 40 + 90 * len(shown), "y": 120})
        figure.locator("input").focus()
        site.page.keyboard.press(press)
        query, nprobe = places("circle.query")[0], int(figure.locator("input").input_value())
        nearest = np.linalg.norm(centres - query, axis=1).argsort()[:nprobe]
        assert [cell in nearest for cell in range(len(centres))] == open_cells()
        ten = np.linalg.norm(points - query, axis=1).argsort()[:10]
        agreement, looked = np.isin(cells[ten], nearest).mean(), np.isin(cells, nearest).mean()
        shown.append(figure.locator(".ivf-bars b").all_inner_texts())
        assert float(shown[-1][0]) == pytest.approx(agreement)
        assert float(shown[-1][1].removesuffix(" %")) == pytest.approx(100 * looked, abs=0.51)
    assert float(shown[0][0]) < 1  # begins with something missed
    assert shown[-1] == ["1.000", "100 %"]
    assert site.wrong == []


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_two_gains(site: Site, language: str):
    """The graded example would begin with other values than the lesson, or a press would give one ranking a grade."""
    opened(site, f"{language}/02_metrics.html", "gains")
    figure, grades, rankings = site.page.locator("figure.gains"), [3, 2, 1, 1, 0], [[1, 0, 2, 3, 4], [0, 4, 3, 2, 1]]
    for doc in (None, 1, 1, 4):
        if doc is not None:
            figure.locator(".gains-docs").first.locator("button").nth(rankings[0].index(doc)).click()
            grades[doc] = (grades[doc] + 1) % 4
        judged = [dict(enumerate(grades))] * 2
        expected = [
            evaluate(rankings, judged, "ndcg@5", gain=gain).per_query["ndcg@5"] for gain in ("linear", "exponential")
        ]
        shown = [float(text) for text in figure.locator(".ivf-bars b").all_inner_texts()]
        assert shown == pytest.approx(np.array(expected).T.ravel(), abs=0.00051)
    assert site.wrong == []


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lesson", ["01_evaluation", "02_metrics", "06_scaling_up"])
def test_everybody_can_use_a_picture(site: Site, lesson: str, language: str):
    """Some readers could not see or operate a picture, or a phone would scroll sideways because of it."""
    for size, scheme in ((BESIDE, "light"), (BESIDE, "dark"), (PHONE, "light")):
        opened(site, f"{language}/{lesson}.html", "live", size, scheme)
        assert size == PHONE or site.faint() == []
        assert site.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert site.violations() == []
    site.look(WIDE)


@pytest.mark.browser
def test_a_picture_again_waits_on_a_phone(site: Site):
    """On a phone the picture with which a lesson begins would fill the window twice, or could not be had again."""
    site.look(PHONE)
    site.open("en/06_scaling_up.html")
    site.show("figure.ivf .again")
    button, again = site.page.locator("figure.ivf .again"), site.page.locator("figure.ivf:has(.again) > div")
    site.until("document.querySelector('figure.ivf > div')")
    assert again.count() == 0
    button.click()
    again.wait_for()
    button.click()
    assert not again.is_visible()
