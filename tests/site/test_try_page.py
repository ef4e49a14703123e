"""The widget "Try the metrics" in a real browser: hands, keys, links."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from docs.site.project import Edition
from docs.site.widget import passages, settings
from helpers.metrics import evaluate
from notebooks.kit.notebooks import ROOT
from tests.metrics.samples import RELEVANT, RETRIEVED
from tests.site.browser import PAINTED, PHONE, STILL, WIDE, Site
from tests.site.vectors import METRICS

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


def places(site: Site, selector: str) -> list[float]:
    """Left, top, width and height of all that the selector finds, in one list."""
    return [side for one in site.page.locator(selector).all() for side in one.bounding_box().values()]


def puzzles(site: Site) -> None:
    """Turn from the experiments to the puzzles."""
    site.page.locator(".try-modes button").nth(1).click()


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


@pytest.mark.parametrize("path", ["en/try.html?set=lesson", "zh/02_metrics.html"])
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_document_under_the_pointer_can_be_read(site: Site, scheme: str):
    """The title of a relevant document would vanish where the pointer is: the colour of links on that very colour."""
    opened(site, "en/try.html")
    site.look(WIDE, scheme)
    for kind in (".relevant", ":not(.relevant)"):
        hovered = site.page.locator(f".try-retrieved li:not(.beyond) > .try-doc{kind}").first
        hovered.hover()
        site.until(STILL)
        words, ground = hovered.evaluate("b => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor]")
        assert words != ground
    site.look(WIDE)


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


def test_a_press_chooses_and_a_mark_changes_relevance(site: Site):
    """Whoever presses a document, to choose it or on the way to a drag, would change the scores without wanting to."""
    opened(site, "en/try.html")
    before, chosen = [values(site, metric) for metric in METRICS], site.page.locator("li.chosen")
    assert chosen.count() == 0
    first = site.page.locator(".try-retrieved li").first
    for _ in range(3):
        first.locator(".try-doc").click()
        assert [values(site, metric) for metric in METRICS] == before
    assert chosen.count() == 1
    for rank in (1 / 2, 1):
        first.locator(".try-mark").click()
        assert values(site, "mrr")[0] == rank
    assert site.page.inner_text(".try-last") != ""
    assert first.locator(".try-doc").evaluate("button => button === document.activeElement")
    assert site.violations() == []
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


def test_a_link_brings_the_state_back(site: Site):
    """A link sent to a colleague would show something else, and a broken one nothing at all."""
    opened(site, "en/try.html?set=lesson")
    slide(site, 3)
    drag(site, document(site, "C", 10), document(site, "C", 24))
    address, shown = site.page.evaluate("location.href"), values(site, "ndcg")
    opened(site, "en/try.html?set=lesson")
    site.page.goto(address)
    site.until(READY)
    assert (values(site, "ndcg"), documents(site, "C")[:2]) == (shown, ["10", "24"])
    site.page.goto(f"{site.base}zh/try.html?set=lesson&k=5&a=1.1_1.0")
    site.until(READY)
    assert "1" in site.page.locator(".tool-fault").inner_text()
    assert documents(site, "A") == [str(doc) for doc in RETRIEVED[0]]
    assert site.wrong == []


def test_bars_say_what_a_change_did(site: Site):
    """A reader would see that a number moved, and not which metrics changed and by how much."""
    opened(site, "en/try.html?set=lesson")
    before = {metric: values(site, metric)[-1] for metric in METRICS}
    assert site.page.locator(".try-bars small").all_inner_texts() == [""] * len(METRICS)
    site.page.locator(".try-retrieved").nth(2).locator("button").nth(1).focus()
    site.page.keyboard.press("Shift+ArrowLeft")
    changes = dict(zip(METRICS, site.page.locator(".try-bars small").all_inner_texts(), strict=True))
    after = {metric: values(site, metric)[-1] for metric in METRICS}
    same = settings(ROOT)["words"]["en"]["same"]
    assert changes["recall"] == same == changes["precision"]
    for metric in METRICS:
        gap = after[metric] - before[metric]
        assert changes[metric] == (same if gap == 0 else f"{gap:+.2f}".replace("-", "−")), metric
    assert after["mrr"] > before["mrr"]
    site.until("[...document.querySelectorAll('.try-bars small')].every(e => e.textContent === '')")
    assert site.wrong == []


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1024, 768), (1440, 900)], ids=["phone", "tablet", "laptop"])
def test_the_bars_hide_nothing_and_no_name_is_cut(site: Site, width: int, height: int):
    """The means would cover the ranking that a reader moves, or a metric or a passage would end in dots."""
    opened(site, "en/try.html?k=10", {"width": width, "height": height})
    covered = """() => {
      const bars = document.querySelector('.try-bars').getBoundingClientRect();
      return [...document.querySelectorAll('.current :is(.try-name, li)')].filter(one => {
        const { top, bottom, right } = one.getBoundingClientRect();
        return right > bars.left && top < bars.bottom - 1 && bottom > bars.top + 1;
      }).length;
    }"""
    site.page.evaluate("scrollTo(0, 0)")
    assert site.page.evaluate(covered) == 0
    site.page.locator(".try-experiments button").first.click()
    site.until(STILL)
    assert site.page.evaluate(covered) == 0
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"
    assert site.page.locator(".try-bars label span, .try-goals li, .try-doc").evaluate_all(cut) == []
    assert site.page.evaluate("document.documentElement.scrollWidth") <= width


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
    ends = """all => all.map(li => [...li.querySelectorAll('small, b')].map(part => {
      const text = document.createRange();
      text.selectNodeContents(part);
      return text.getBoundingClientRect();
    })).map(boxes => [boxes[0].left, Math.max(...boxes.map(box => box.right))])"""
    cells = site.page.locator(".try-bars ul li").evaluate_all(ends)
    assert all(one[1] < other[0] for one, other in pairwise(cells) if other[0] > one[0]), (
        "a change is over the next value"
    )
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


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_an_experiment_leads_to_the_next(site: Site, size: dict[str, int]):
    """A reader would have to scroll up after each move, or the bars jump away at the moment he watches them."""
    opened(site, "en/try.html", size)
    words = settings(ROOT)["words"]["en"]
    names = [each["name"] for each in words["experiments"].values()]
    moves, steps = site.page.locator(".try-experiments [aria-pressed]"), site.page.locator(".try-steps button")
    moves.first.click()
    for name in [*names[1:], ""]:
        assert steps.all_inner_texts() == [words["move"]], "the next move is offered before this one is made"
        site.until(STILL)
        bars = places(site, ".try-bars li > b")
        site.page.get_by_role("button", name=words["move"]).click()
        assert places(site, ".try-bars li > b") == pytest.approx(bars, abs=0.5)
        rows = site.page.locator(".try-bars ul li").all()
        marked = [row.locator(".try-ghost").is_visible() for row in rows]
        assert size == PHONE or marked == [words["same"] not in row.inner_text() for row in rows], (
            "a mark where nothing changed"
        )
        offered = [words["next"].replace("{name}", name)] * (name != "") + [words["start"]]
        assert steps.all_inner_texts() == offered
        frame, widest = site.page.locator(".try-bars").bounding_box(), steps.first.bounding_box()
        assert widest["x"] + widest["width"] < frame["x"] + frame["width"], "a button reaches out of its frame"
        assert steps.first.evaluate("button => button === document.activeElement")
        box = steps.first.bounding_box()
        assert 50 < box["y"] < size["height"] - box["height"], "the next move is out of sight"
        if name:
            steps.first.click()
    assert moves.all_inner_texts() == [f"✓ {name}" for name in names]
    assert site.violations() == []
    steps.last.click()
    site.until("document.querySelector('.try-experiments').getBoundingClientRect().top > 50")
    assert steps.count() == 0
    given = passages(Edition(ROOT, "en"))
    assert documents(site, "A") == [given["titles"][one] for one in given["passages"][0]["retrieved"]], "not the start"
    assert site.wrong == []


@pytest.mark.parametrize("by_hand", [False, True], ids=["experiment", "hand"])
def test_one_button_is_the_place_to_start_until_something_is_tried(site: Site, by_hand: bool):
    """A reader would find nothing to press first, or be told to start when he has, or a puzzle would have no k."""
    opened(site, "en/try.html")
    words = settings(ROOT)["words"]["en"]
    filled, name = site.page.locator(".try .main"), words["experiments"]["up"]["name"]
    assert filled.all_inner_texts() == [words["experiment"]["first"] + name]
    assert site.page.locator(".try-settings :visible").count() == 0
    if by_hand:
        site.page.locator(".try-doc").first.click()
        site.page.keyboard.press("Shift+ArrowDown")
        assert words["rule"]["keys"] in site.page.inner_text(".try-legend"), "the keys are not told who uses them"
        assert filled.count() == 0
    else:
        filled.click()
        assert filled.all_inner_texts() == [words["move"]]
    assert site.page.locator(".try-experiments button").first.inner_text() == name
    puzzles(site)
    assert site.page.locator(".try-settings input:visible").evaluate_all("all => all.map(one => one.type)") == ["range"]
    assert site.wrong == []


@pytest.mark.parametrize("width", [1024, 1440])
def test_a_rank_is_one_line_in_all_three_rankings(site: Site, width: int):
    """A title of two lines would shift one ranking against the others, which a reader compares rank by rank."""
    opened(site, "en/try.html", {"width": width, "height": 900})
    tops = "lists => lists.map(list => [...list.children].map(item => Math.round(item.getBoundingClientRect().top)))"
    first, second, third = site.page.locator(".try-retrieved").evaluate_all(tops)
    assert first == second == third
    assert len({box.bounding_box()["y"] for box in site.page.locator(".try-query").all()}) == 1, "a head is lower"
    assert len(set(first)) == 10


def test_passages_have_titles_and_run_down(site: Site):
    """A reader would see ids in the place of titles, or the arrow down would lead to another question."""
    opened(site, "en/try.html")
    given = passages(Edition(ROOT, "en"))
    shown = documents(site, "A")
    assert shown == [given["titles"][passage] for passage in given["passages"][0]["retrieved"]]
    rule, first = (site.page.locator(one).first.bounding_box()["y"] for one in (".try-rule", ".try-doc"))
    assert rule < first, "how to move a document is told below the documents"
    dots = site.page.locator(".try-grip").first.evaluate("grip => getComputedStyle(grip, '::before').content")
    assert "⠿" in dots, "nothing shows that a document can be dragged"
    site.page.locator(".try-doc[tabindex='0']").focus()
    site.page.keyboard.press("Shift+ArrowDown")
    assert documents(site, "A")[:2] == shown[1::-1]
    site.page.keyboard.press("Shift+ArrowRight")
    assert documents(site, "A", "missed") == shown[:1]
    site.page.get_by_role("button", name=settings(ROOT)["words"]["en"]["add"]).click()
    assert documents(site, "A")[-1] == given["titles"][given["passages"][0]["spare"][0]]
    drag(site, site.page.locator(".try-grip").nth(1), site.page.locator(".try-grip").nth(0))
    assert documents(site, "A")[0] == shown[2]
    ranked = documents(site, "A")
    assert "set=passages" in site.page.url, "a move would be lost if the page were reloaded at once"
    site.page.goto(site.page.url)
    site.until(READY)
    assert documents(site, "A") == ranked
    assert site.wrong == []


@pytest.mark.parametrize("k", [1, 7])
def test_curves_have_the_means_of_the_package(site: Site, k: int):
    """A curve would run elsewhere than the metric does, or its mark stand elsewhere than the slider says."""
    opened(site, "en/try.html?set=lesson")
    site.page.locator(".try > details > summary").click()
    site.page.locator(".try-curves input").fill(str(k))
    assert site.page.locator(".try-settings output").text_content() == f"k = {k}", "two sliders disagree"
    for metric in METRICS:
        names = [f"{metric}@{cutoff}" for cutoff in range(1, 11)]
        means = evaluate(RETRIEVED, RELEVANT, names).mean
        figure = site.page.locator(".try-curves figure").nth(METRICS.index(metric))
        points = [one.split(",") for one in figure.locator("polyline").get_attribute("points").split()]
        assert [1 - (float(y) - 4) / 52 for _, y in points] == pytest.approx([means[name] for name in names], abs=2e-3)
        mark = figure.locator("circle").evaluate("dot => [dot.getAttribute('cx'), dot.getAttribute('cy')].map(Number)")
        assert mark == pytest.approx([float(part) for part in points[k - 1]], abs=0.1)


def test_puzzles_can_be_solved(site: Site):
    """A puzzle would have no solution, or a reader who has found it would not hear so; or one would begin solved."""
    words = settings(ROOT)["words"]["en"]
    left, right, out = "Shift+ArrowLeft", "Shift+ArrowRight", "Shift+ArrowDown"
    last = [("C", 5, right, 5), ("C", 2, out, 2)]
    moves = [  # k; ranking, rank and key, and how often
        (5, [("C", 2, left, 1), ("A", 2, out, 4), ("B", 2, out, 1)]),
        (1, [("C", 2, left, 1)]),
        (10, [("A", 1, right, 9), ("A", 1, out, 4), ("B", 1, right, 9), ("B", 1, out, 1), ("B", 4, out, 1), *last]),
    ]
    opened(site, "en/try.html?set=lesson")
    puzzles(site)
    start = site.page.locator(".try-goals li").all_inner_texts()
    for number, (k, steps) in enumerate(moves):
        puzzle = site.page.locator(".try-puzzles button").nth(number)
        puzzle.click()
        assert site.page.locator(".try-goals .met").count() < 2, "solved without a move"
        name = puzzle.inner_text()
        slide(site, k)
        for ranking, rank, key, times in steps:
            for done in range(times):
                box = site.page.locator(".try-ranking").nth("ABC".index(ranking))
                at = rank - 1 + (done if key == right else 0)
                box.locator(".try-retrieved .try-doc").nth(at).focus()
                site.page.keyboard.press(key)
        assert site.page.locator(".try-goals .met").count() == 2
        assert site.page.inner_text(".try-puzzles [role=status]") == words["solved"] + words["puzzles"][number]["why"]
        assert puzzle.inner_text() == f"✓ {name}"
    site.page.locator(".try-puzzles button").first.click()
    assert site.page.locator(".try-goals li").all_inner_texts() == start, "the board of another puzzle"


def test_an_experiment_solves_no_puzzle(site: Site):
    """A reader who makes the move of an experiment would find a puzzle solved that he has not tried."""
    opened(site, "en/try.html?set=lesson")
    site.page.locator(".try-pills button").first.click()
    assert not site.page.locator(".try-goals").is_visible()
    site.page.locator(".try-steps .main").click()
    puzzles(site)
    assert not any(site.page.locator(".try-bars small").all_inner_texts()), "the way back counts as a move"
    assert site.page.locator(".try-goals li").count() == 2
    assert site.page.locator(".try-goals .met").count() == 0, "the move of the experiment stays"
    assert not site.page.locator(".try-experiments").is_visible()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_puzzle_says_what_is_missing_while_one_moves(site: Site, size: dict[str, int]):
    """A reader who has solved half of a puzzle would not be told, or have to leave the documents to see it."""
    opened(site, "en/try.html?set=lesson", size)
    puzzles(site)
    goals = site.page.locator(".try-goals li")
    assert goals.all_inner_texts() == ["MRR = 1 (now 0.83)", "nDCG < 0.6 (now 0.79)"]
    drag(site, document(site, "C", 10), document(site, "C", 24))
    assert goals.all_inner_texts()[0] == "MRR = 1: met"
    assert goals.all_inner_texts()[1].startswith("nDCG < 0.6 (now 0.")
    site.page.locator(".try-ranking").nth(2).hover()
    for goal in goals.all():
        box = goal.bounding_box()
        assert 50 < box["y"] < size["height"] - box["height"], "a condition is out of sight"
    site.page.evaluate("scrollTo(0, 0)")  # the bars lie over no button
    assert site.violations() == []


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1024, 768), (1440, 900)], ids=["phone", "tablet", "laptop"])
def test_a_chosen_experiment_is_in_view(site: Site, width: int, height: int):
    """A reader would press an experiment and see no more than small boxes: what it does and the button out of sight."""
    opened(site, "en/try.html", {"width": width, "height": height})
    site.page.evaluate("scrollTo(0, 0)")
    moves = site.page.locator(".try-experiments [aria-pressed]")
    for number in (5, 2):
        moves.nth(number).click()
        site.until(STILL)
        assert moves.evaluate_all("all => all.map(one => one.ariaPressed)") == [
            str(n == number).lower() for n in range(6)
        ]
        for part in [
            moves.nth(number),
            *site.page.locator(".try-question, .try-steps .main, .try-bars input").all(),
        ]:
            box = part.bounding_box()
            assert 50 < box["y"] < height - box["height"]
    grounds = [moves.nth(n).evaluate("one => getComputedStyle(one).backgroundColor") for n in (2, 5)]
    assert grounds[0] != grounds[1], "the chosen one looks like the others"
    assert site.violations() == []
    site.page.keyboard.press("Enter")  # in a box
    words = settings(ROOT)["words"]["en"]
    said = site.page.inner_text(".try-question")
    assert said.startswith("Changed: recall")
    assert words["right"].split("{")[0] not in said, "a verdict on a guess that nobody made"
    assert set(site.page.locator(".try-guess").all_inner_texts()) == {""}


def test_twenty_documents_can_be_moved(site: Site):
    """A ranking of twenty documents would not be shown whole, or would lose one when it is moved."""
    twenty = "_".join(f"{number}.{number % 2}" for number in range(20))
    opened(site, f"en/try.html?k=20&a={twenty}&b={twenty}&c={twenty}")
    site.page.evaluate(PAINTED)
    assert documents(site, "C") == [str(number) for number in range(20)]
    site.page.locator(".try-retrieved button").first.focus()
    for _ in range(10):
        site.page.keyboard.press("Shift+ArrowRight")
        site.page.keyboard.press("Shift+ArrowLeft")
    assert documents(site, "A") == [str(number) for number in range(20)]


def test_a_finger_chooses_a_document_before_it_changes_it(site: Site):
    """On a phone nobody could choose a document to move without making it relevant."""
    opened(site, "en/try.html", PHONE)
    title = documents(site, "A")[3]
    document = site.page.get_by_role("button", name=title)
    document.evaluate("button => button.scrollIntoView({block: 'center'})")
    touch = site.page.context.new_cdp_session(site.page)

    def tap() -> str:
        box = document.bounding_box()
        spot = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [spot]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        return document.get_attribute("aria-pressed")

    assert [document.get_attribute("aria-pressed"), tap(), tap()] == ["false"] * 3
    buttons = document.locator("xpath=..").locator(".try-bar button")
    buttons.last.click()
    assert document.get_attribute("aria-pressed") == "true"
    assert {40 <= button.bounding_box()["height"] < 50 for button in buttons.all()} == {True}, "small, or two lines"
    place = buttons.first.bounding_box()
    buttons.first.click()
    assert documents(site, "A").index(title) == 2
    assert buttons.first.bounding_box() == pytest.approx(place, abs=1), "the button moves away from the finger"
    assert buttons.first.evaluate("button => button === document.activeElement")
    buttons.nth(2).click()
    counts = site.page.locator(".try-query").evaluate_all("all => all.map(one => Number(one.dataset.count))")
    assert counts[0] == len(documents(site, "A")) == counts[1] - 1, "a closed ranking says how many passages it has"
    bars = site.page.locator(".try-bars")
    assert bars.bounding_box()["height"] <= 116
    site.page.locator(".try > details").scroll_into_view_if_needed()
    site.page.evaluate("scrollBy(0, 600)")
    assert bars.bounding_box()["y"] < 0, "the means cover what is below the rankings"
