"""The pictures of lessons 01, 03 and 07 in a real browser: their numbers are those of the lessons."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from docs.site import samples
from helpers.metrics import evaluate
from helpers.significance import bootstrap_interval
from helpers.systems import Fusion, Ranking
from notebooks.kit.notebooks import LANGUAGES
from tests.site.browser import PAINTED, PHONE, WIDE, Site

pytestmark = pytest.mark.browser

PLACES = {
    "resample": ["01_evaluation", "03_model_comparison"],
    "fuse": ["07_stages"],
}
PAIRS = [(name, kind) for kind, names in PLACES.items() for name in names]
BESIDE = {"width": 1440, "height": 900}
INSIDE = ":not(:has(+ .opening))"  # the picture beside its section, not the one with which a lesson begins


def opened(site: Site, language: str, name: str, kind: str, size: dict[str, int] = BESIDE) -> Any:
    """Load a lesson, go to its picture, and return it."""
    site.look(size)
    site.open(f"{language}/{name}.html")
    site.show(f"figure.{kind}{INSIDE}")
    site.until(f"document.querySelector('figure.{kind}{INSIDE} .live-said')?.textContent")
    return site.page.locator(f"figure.{kind}{INSIDE}")


def called(site: Site, kind: str, data: str, body: str) -> Any:
    """Run a function body in the open lesson with a picture's module, `of`, and the data it fetches, `data`."""
    return site.page.evaluate(f"""async () => {{
        const at = new URL("_static/live/", document.baseURI).href;
        const of = await import(at + "{kind}.js"), data = await (await fetch(at + "{data}.json")).json();
        {body}
    }}""")


def slide(site: Site, figure: Any, number: int, *keys: str) -> None:
    """Move a slider with the keyboard."""
    figure.locator("input[type=range]").nth(number).focus()
    for key in keys:
        site.page.keyboard.press(key)
    site.page.evaluate(PAINTED)


def told(figure: Any) -> str:
    """What the picture says."""
    return str(figure.locator(".live-said").text_content())


def settled(ranking: Ranking) -> np.ndarray:
    """Return the first ten of a ranking, of those with equal scores the one with the greater id first (lesson 04)."""
    names = samples.pocket().corpus_ids
    rows = zip(ranking.scores.round(5).tolist(), ranking.ids.tolist(), strict=True)
    pairs = [[(score, names[one], one) for score, one in zip(*row, strict=True) if one >= 0] for row in rows]
    tops = [[one for _, _, one in sorted(row, reverse=True)[:10]] for row in pairs]
    return np.array([row + [-1] * (10 - len(row)) for row in tops])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_each_picture_is_whole(site: Site, language: str, name: str, kind: str):
    """A picture would be wider than a phone, break a rule of axe, be too faint, or too tall for the rail."""
    figure = opened(site, language, name, kind)
    assert figure.locator("> div").bounding_box()["height"] < BESIDE["height"] - 220  # windows of laptops are lower
    for size, scheme in ((BESIDE, "light"), (BESIDE, "dark"), (PHONE, "light"), (WIDE, "dark")):
        site.look(size, scheme)
        site.show(f"figure.{kind}{INSIDE}")
        assert site.faint() == []
        box, inside = figure.bounding_box(), f"document.querySelector('figure.{kind}{INSIDE}')"
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size["width"]
        assert site.page.evaluate(f"{inside}.scrollWidth <= {inside}.clientWidth")
    assert [fault for fault in site.violations() if "live" in fault] == []
    assert site.wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_means_of_drawn_queries(site: Site, language: str):
    """The interval beside lesson 01 would not be the lesson's, or not widen as fewer queries are drawn."""
    figure = opened(site, language, "01_evaluation", "resample")
    shown = figure.locator(".live-spans i").first.locator("b")
    assert re.search("1,?000", told(figure)), "too few draws for an interval"
    first = shown.all_text_contents()
    figure.locator("button").click()
    assert shown.all_text_contents() != first, "the same draws again"
    ends = [float(one) for one in shown.all_text_contents()]
    data, ids = samples.pocket(language), samples.recorded("mean", language).ids
    values = evaluate(ids, data.qrels, "ndcg@10", relevance_level=data.relevance_level).per_query["ndcg@10"]
    low, high = bootstrap_interval(values)[1:3]
    assert ends == pytest.approx([low, high], abs=0.006)
    slide(site, figure, 0, "Home")
    wide = [float(one) for one in shown.all_text_contents()]
    assert wide[1] - wide[0] > 2.5 * (ends[1] - ends[0])


def test_differences_of_drawn_queries(site: Site):
    """The values of lesson 03's systems would not be helpers', or an order that is not sure would never turn over."""
    figure = opened(site, "en", "03_model_comparison", "resample")
    data = samples.pocket()
    got = called(site, "resample", "scores", """
        const values = of.valuesOf(data["mrr@10"], "cls max"), next = () => 0.25;
        return [values, of.middle(values), of.resample([1, 2, 3, 4], 3, 2, next)];
    """)  # fmt: skip
    one, other = (
        evaluate(samples.recorded(name).ids, data.qrels, "mrr@10", relevance_level=data.relevance_level)
        for name in ("cls", "max")
    )
    values = one.per_query["mrr@10"] - other.per_query["mrr@10"]
    assert got[0] == pytest.approx(values.tolist(), abs=2e-6)
    assert got[1] == pytest.approx(np.percentile(values, [2.5, 97.5]).tolist(), abs=2e-6)
    assert got[2] == [2, 2]
    assert "In 0 of them" in told(figure)
    figure.get_by_role("button", name="CLS − max").click()
    assert 200 < int(told(figure).partition("In ")[2].split()[0]) < 500
    assert figure.locator(".turned").count() > 10


def test_fused_orders(site: Site):
    """The picture of lesson 07 would fuse otherwise than helpers, or show other means than the lesson computes."""
    figure = opened(site, "en", "07_stages", "fuse")
    got = called(site, "fuse", "ranks", """
        return [10, 100].map(depth => data.constants.map(k => data.queries.map(({passages, ideal}) => {
          const order = of.ordered(passages, k, depth);
          return [order.slice(0, 10).map(one => one.id), of.ndcg(order, ideal)];
        })));
    """)  # fmt: skip
    data, both = samples.pocket(), [samples.recorded("mean"), samples.recorded("BM25")]
    means = {}
    for depth, by_constant in zip((10, 100), got, strict=True):
        parts = [Ranking(one.scores[:, :depth], one.ids[:, :depth]) for one in both]
        for constant, queries in zip(samples.CONSTANTS, by_constant, strict=True):
            ids = Fusion(parts, depth=depth, rrf_k=constant).rank(data, 10).ids
            assert [order for order, _ in queries] == [[one for one in row if one >= 0] for row in ids.tolist()]
            scores = evaluate(ids, data.qrels, "ndcg@10", relevance_level=data.relevance_level).per_query["ndcg@10"]
            assert [value for _, value in queries] == pytest.approx(scores.tolist())
            means[depth, constant] = f"{scores.mean():.3f}"
    assert means[10, 0] in figure.locator(".live-curve").get_attribute("aria-label")  # k = 0 and ten of each list
    figure = site.page.locator("figure.fuse").first
    figure.scroll_into_view_if_needed()
    assert means[100, 60] in figure.locator(".live-curve").get_attribute("aria-label")
    assert "0.000" in told(figure)
    assert figure.locator(".lost.relevant").count() == 1
    slide(site, figure, 0, "Home")
    assert "0.631" in told(figure)
    assert figure.locator(".lost").count() == 0
    first = figure.locator(".live-query").text_content()
    figure.get_by_role("button", name="Next query").press("Enter")
    assert figure.locator(".live-query").text_content() != first
