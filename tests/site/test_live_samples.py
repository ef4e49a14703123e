"""The pictures of lessons 01, 03, 04, 05, 07 and 08 in a real browser: their numbers are those of the lessons."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from docs.site import samples
from docs.site.project import Edition
from helpers.chunks import cut, tokens
from helpers.data.spans import load_spans
from helpers.judgements import agreement, pool, unjudged
from helpers.metrics import evaluate
from helpers.significance import bootstrap_interval, minimum_detectable_difference, queries_needed
from helpers.systems import Fusion, Ranking
from notebooks.kit.cells import by_id
from notebooks.kit.notebooks import LANGUAGES, ROOT
from tests.site.browser import PAINTED, PHONE, WIDE, Site

pytestmark = pytest.mark.browser

PLACES = {
    "resample": ["01_evaluation", "03_model_comparison"],
    "plan": ["03_model_comparison"],
    "pool": ["04_judgements"],
    "grades": ["04_judgements"],
    "fuse": ["07_stages"],
    "cut": ["08_chunks"],
    "threshold": ["05_languages"],
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
    data, ids = samples.pocket(), samples.recorded("mean").ids
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


def test_queries_that_a_difference_takes(site: Site):
    """The picture of lesson 03 would ask for other numbers of queries than helpers do, or know other SDs."""
    figure = opened(site, "en", "03_model_comparison", "plan")
    grid = [(difference / 1000, sd / 1000) for difference in range(10, 105, 5) for sd in range(80, 601, 13)]
    pairs = [list(pair) for pair in grid]
    got = called(site, "plan", "scores", f"return {pairs}.map(([d, sd]) => [of.needed(d, sd), of.detectable(sd, 132)])")
    for (difference, sd), (queries, least) in zip(grid, got, strict=True):
        assert abs(queries - queries_needed(difference, sd)) <= (queries > 5000)  # there scipy is not exact
        assert least == pytest.approx(minimum_detectable_difference(sd, 132), abs=1e-5)
    html = by_id(Edition(ROOT, "en").lesson("03_model_comparison"))["sd"].outputs[0]["data"]["text/html"]
    values = re.findall(r"<td>(.*)</td>", html)
    for number in range(4):
        figure.locator(".live-choice button").nth(number).click()
        *_, sd, least, queries, _ = values[7 * number : 7 * number + 7]
        assert figure.locator(".live-slider b").all_text_contents() == ["0.050", sd]
        assert figure.locator(".plan-number b").text_content() == queries
        assert f"132 queries detect {least}" in told(figure)
    assert "26 are enough only if" in told(figure)
    slide(site, figure, 1, "End")
    assert "4.0 times" in told(figure)
    assert figure.locator('.live-choice [aria-pressed="true"]').count() == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_ten_grades(site: Site, language: str):
    """The collection's grades would be others or come too early, or the agreement would not be that of helpers."""
    figure = opened(site, language, "04_judgements", "grades")
    text = by_id(Edition(ROOT, language).lesson("04_judgements"))["answers-result"].source
    theirs, mine = json.loads(re.findall(r"`(\[.*])`", text)[0]), [3, 0, 1, 3, 0, 1, 2, 3, 0, 1]
    rows, lines = site.page.locator(".grades-row"), figure.locator("tbody tr")
    for number, grade in enumerate(mine):
        assert lines.nth(1).inner_text().split()[1:] == []
        rows.nth(number).locator("label").nth(grade).click()
        progress = rows.nth(number).locator("p").inner_text()
        assert (str(number + 1) in progress) == (number < 9), "how many are graded is not said where one grades"
    assert [line.inner_text().split()[1:] for line in lines.all()] == [list(map(str, one)) for one in (mine, theirs)]
    marked = [rows.nth(number).locator("label:has(small:visible) b").text_content() for number in range(10)]
    assert marked == list(map(str, theirs))
    assert figure.locator("code").text_content() == f"MINE = {mine}"
    rng = np.random.default_rng(0)
    for one in (mine, *rng.integers(0, 4, (20, 10)).tolist()):
        got = called(site, "grades", "tops", f"return of.compare({one}, {theirs}, 2)")
        judged = [[dict(enumerate(grades))] for grades in (one, theirs)]
        assert got["kappa"] == pytest.approx(agreement(*judged, relevance_level=2).kappa)
        assert got["exact"] == sum(a == b for a, b in zip(one, theirs, strict=True))
        assert got["same"] == sum((a > 1) == (b > 1) for a, b in zip(one, theirs, strict=True))
    assert re.findall(r"\d+\.?\d*", told(figure).replace("10", "")) == ["7", "8", "0.58"]
    figure.locator("button").last.click()
    assert site.page.locator(".grades-row :checked").count() == 0
    assert not figure.locator("code").is_visible()


def test_fused_orders(site: Site):
    """The picture of lesson 07 would fuse otherwise than helpers, or show other means than the lesson computes."""
    figure = opened(site, "en", "07_stages", "fuse")
    got = called(site, "fuse", "ranks", """
        return [10, 100].map(depth => data.constants.map(k => data.queries.map(({passages, ideal}) => {
          const order = of.fused(passages, k, depth);
          return [order.slice(0, 10).map(one => one.id), of.ndcg(order, ideal)];
        })));
    """)  # fmt: skip
    data, both = samples.pocket(), [samples.recorded("mean"), samples.recorded("BM25")]
    for depth, by_constant in zip((10, 100), got, strict=True):
        parts = [Ranking(one.scores[:, :depth], one.ids[:, :depth]) for one in both]
        for constant, queries in zip(samples.CONSTANTS, by_constant, strict=True):
            ids = Fusion(parts, depth=depth, rrf_k=constant).rank(data, 10).ids
            assert [order for order, _ in queries] == [[one for one in row if one >= 0] for row in ids.tolist()]
            scores = evaluate(ids, data.qrels, "ndcg@10", relevance_level=data.relevance_level).per_query["ndcg@10"]
            assert [value for _, value in queries] == pytest.approx(scores.tolist())
    assert "0.720" in figure.locator(".live-curve").get_attribute("aria-label")  # k = 0 and ten of each list
    figure = site.page.locator("figure.fuse").first
    figure.scroll_into_view_if_needed()
    assert "0.585" in figure.locator(".live-curve").get_attribute("aria-label")
    assert "0.000" in told(figure)
    assert figure.locator(".lost.relevant").count() == 1
    slide(site, figure, 0, "Home")
    assert "0.631" in told(figure)
    assert figure.locator(".lost").count() == 0
    first = figure.locator(".live-query").text_content()
    figure.get_by_role("button", name="Next query").press("Enter")
    assert figure.locator(".live-query").text_content() != first


def test_pools_of_judgements(site: Site):
    """The picture of lesson 04 would score otherwise than helpers do by the judgements of a pool."""
    figure = opened(site, "en", "04_judgements", "pool")
    depths = [(0, 1), (0, 3), (0, 10), (10, 0), (10, 10), (2, 5)]
    got = called(site, "pool", "tops", f"return {[list(one) for one in depths]}.map(d => of.judgedOnly(data, d))")
    data, both = samples.pocket(), [settled(samples.recorded(name)) for name in ("mean", "BM25")]
    for chosen, systems in zip(depths, got, strict=True):
        parts = [
            pool({"one": ids}, depth) if depth else [[] for _ in ids] for ids, depth in zip(both, chosen, strict=True)
        ]
        pooled = [{*one, *other} for one, other in zip(*parts, strict=True)]
        qrels = [
            {p: g for p, g in grades.items() if p in inside} for grades, inside in zip(data.qrels, pooled, strict=True)
        ]
        for ids, system in zip(both, systems, strict=True):
            mean = evaluate(ids, qrels, "ndcg@10", relevance_level=data.relevance_level).mean["ndcg@10"]
            assert system["value"] == pytest.approx(mean)
        assert 1 - systems[0]["judged"] == pytest.approx(unjudged(both[0], qrels, 10).mean)
    assert figure.locator(".live-bar b").all_text_contents()[:2] == ["0.417", "0.500"]
    assert "BM25 leads by 0.083" in told(figure)
    assert "0.275" in told(figure)
    slide(site, figure, 0, "End")
    assert figure.locator(".live-bar b").all_text_contents()[:3] == ["0.670", "0.632", "0.480"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_cuts_of_a_page(site: Site, language: str):
    """The picture of lesson 08 would cut elsewhere than helpers.chunks, or count other answers in one piece."""
    figure = opened(site, language, "08_chunks", "cut")
    data = load_spans(samples.PAGES.format(language))
    answers = [span for spans in data.spans for span in spans if span.grade == samples.GRADE]
    for size, overlap in ((100, 0), (100, 50), (20, 4), (300, 150)):
        got = called(site, "cut", "page", f"return of.measure(data, {size}, {overlap})")
        cuts = cut(data, tokens(size, overlap=overlap))
        whole = [any(c.document == s.document and c.start <= s.start and s.end <= c.end for c in cuts) for s in answers]
        assert got == {"vectors": len(cuts), "whole": pytest.approx(np.mean(whole))}
    shown = {"en": (["0.597"], ["0.917"]), "zh": (["0.493"], ["0.833"])}[language]
    assert figure.locator(".live-bar b").all_text_contents() == shown[0]
    assert figure.locator(".live-said.words").count() == 1
    assert figure.locator("mark").count() == 2
    slide(site, figure, 1, "End")
    assert figure.locator(".live-bar b").all_text_contents() == shown[1]
    slide(site, figure, 0, *["ArrowRight"] * 10)
    assert figure.locator(".live-said.dense").count() == 1
    chosen = next(span for span in data.spans[samples.QUERY] if data.document_ids[span.document] == samples.PAGE)
    holding = figure.locator(".live-chunk", has=site.page.locator("mark")).all()
    marked = ["".join(chunk.locator("mark").all_text_contents()).strip() for chunk in holding]
    assert max(marked, key=len) == data.documents[chosen.document][chosen.start : chosen.end].replace("*", "")


def test_a_threshold(site: Site):
    """The picture of lesson 05 would count other pairs above a threshold than the lesson does."""
    figure = opened(site, "en", "05_languages", "threshold")
    cell = by_id(Edition(ROOT, "en").lesson("05_languages"))["thresholds"]
    rows = re.findall(r"(zh→\w\w), ([\d.]+) .* ([\d.]+) +([\d.]+)$", cell.outputs[0]["data"]["text/plain"], re.M)
    assert len(rows) == 6
    for way, limit, recall, precision in rows:
        got = called(
            site, "threshold", "cosines", f"return of.above(data.ways['{way}'], {limit} * data.steps - data.least)"
        )
        assert [got["recall"], got["precision"]] == pytest.approx([float(recall), float(precision)], abs=0.0006)
    assert figure.locator(".live-numbers").first.text_content() == "recall 0.977, precision 0.033"
    slide(site, figure, 0, *["ArrowLeft"] * 8)
    assert "recall 0.301" in figure.locator(".live-numbers").last.text_content()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_labels_of_fusion_stay_apart(site: Site, language: str):
    """In the narrow picture a value would lie on the name of a line, on the line of the dense list or on the axis."""
    figure = opened(site, language, "07_stages", "fuse")
    for depth in range(2):
        figure.locator(".live-choice button").nth(depth).click()
        slide(site, figure, 0, "Home")
        for constant in samples.CONSTANTS:
            assert figure.locator(".live-slider b").text_content() == f"k = {constant}"
            crossed = figure.locator(".live-curve").evaluate("""curve => {
                const edges = [...curve.querySelectorAll(":scope > :is(span, b), svg, .alone, .live-axis")]
                    .map(one => [one, one.getBoundingClientRect()]);
                const [, ends] = edges.shift(), labels = edges.filter(([one]) => one.matches("span, b"));
                const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
                return labels.filter(([one, box]) => box.left < ends.left || box.right > ends.right
                    || edges.some(([other, edge]) => other !== one && meet(box, edge))).map(([one]) => one.textContent);
            }""")
            assert not crossed, (constant, depth)
            slide(site, figure, 0, "ArrowRight")
