"""The home page: its rankings are those of the systems, and the script shows what the page itself shows."""

from __future__ import annotations

import json
import re
from math import log2

import pytest

from docs.site.covers import cover
from docs.site.home import FAR, LOWEST, SHOWN, figure, rankings
from docs.site.pocket import SYSTEMS, read_pocket
from docs.site.project import Edition, read_yaml
from helpers.index.words import tokenize
from notebooks.kit.figures import notebook_figures
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names
from tests.site import rankings as recorded
from tests.site.browser import PHONE, WIDE, Site

SLOW = pytest.mark.slow  # the multilingual model takes a minute


@pytest.mark.parametrize(
    ("language", "without"), [("en", "multilingual"), *(pytest.param(each, "", marks=SLOW) for each in LANGUAGES)]
)
def test_rankings_are_those_of_the_systems(language: str, without: str):
    """The first thing that a reader sees of the project would be wrong."""
    shown = json.loads(recorded.TARGET.read_text(encoding="utf-8"))[language]
    ranked = recorded.rankings(language, without)
    for text, lists in ranked["suggested"].items():
        assert lists.items() <= shown["suggested"][text].items(), "run python -m tests.site.rankings"
    systems = shown["ndcg@10"].keys() - {without}
    assert ranked["ndcg@10"] == pytest.approx({name: shown["ndcg@10"][name] for name in systems}, abs=0.0006)
    assert len(shown["queries"]) == 132
    unlike = [q for q, lists in ranked["queries"].items() if lists.items() - shown["queries"][q].items()]
    assert unlike == [], "run python -m tests.site.rankings"
    assert ranked["sentences"] == shown["sentences"]
    assert ranked.get("near") == shown.get("near")
    later = {q: {name: at for name, at in lists.items() if name in systems} for q, lists in shown["later"].items()}
    assert ranked["later"] == {q: lists for q, lists in later.items() if lists}


def test_the_query_shown_first_tells_the_systems_apart():
    """The page would begin with an example on which both systems do the same."""
    words = read_yaml(ROOT / "docs" / "site" / "home.yml")
    for language in LANGUAGES:
        lists = {row[0]: row[2] for row in rankings(Edition(ROOT, language))["queries"]}[words[language]["first"]]
        assert lists["dense"][0] == 1
        assert lists["BM25"][0] not in range(1, FAR + 1)


def test_bm25_wins_on_the_query_shown_second():
    """The page would say that the model is good, not that it depends on the question."""
    words = read_yaml(ROOT / "docs" / "site" / "home.yml")
    for language in LANGUAGES:
        lists = {row[0]: row[2] for row in rankings(Edition(ROOT, language))["queries"]}[words[language]["second"]]
        assert lists["BM25"][0] == 1
        assert lists["dense"][0] > 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_row_gives_the_reasons_for_its_rank(language: str):
    """The page would name other words than those by which BM25 ranks, cut a sentence in two, or hide an answer."""
    pocket = read_pocket(Edition(ROOT, language))
    for query, text, lists in rankings(Edition(ROOT, language))["queries"]:
        query_words = set(tokenize([text])[0])
        best = min((ranked[0] for ranked in lists.values() if 0 < ranked[0] <= FAR), default=None)
        for label, (first, outcome, *rows) in lists.items():
            assert outcome == {0: "missed", best: "answered"}.get(first, "late"), "a tick beside the worse of two"
            system = SYSTEMS[language][label]
            answer = pocket.first_answer(query, system)
            assert [row[0] for row in rows if row[3]] == [first] * bool(first) == [answer[0]] * bool(answer[0])
            top = pocket.lists[query][system][: SHOWN - (first > SHOWN) if first else FAR]
            assert [row[0] for row in rows] == [*range(1, len(top) + 1), *([first] if first > SHOWN else [])]
            places = [*top, *([answer[1]] if first > SHOWN else [])]
            for one, (_, title, grade, sentence, *shared) in zip(places, rows, strict=True):
                assert (title, grade) == (pocket.passages[one][0], pocket.grades[query].get(one, 0))
                words = query_words & set(tokenize(["\n".join(pocket.passages[one])])[0])
                assert [{*found} for found in shared] == [words] * (one == places[0]), (query, one)
                before, cut, _ = pocket.passages[one][1].partition(sentence or ".")
                assert not sentence or {before.strip()[-1:], cut[-1:]} <= {"", *".!?。！？"}, "cut within a sentence"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_growing_corpus_is_drawn_as_lesson_01_recorded_it(language: str):
    """The figure would show other scores than the lesson, or name a curve that is another."""
    recorded = notebook_figures(Edition(ROOT, language).lesson("01_evaluation"))
    html = figure(Edition(ROOT, language), "")
    drawn = re.findall(r'<polyline points="([^"]+)"/><text [^>]+>(\S+) (\S+)</text>', html)
    assert {name for _, name, _ in drawn} == {"recall@1", "recall@10", "MRR@10", "nDCG@10"}
    for points, name, last in drawn:
        scores = [float(value) for key, value in recorded.items() if re.fullmatch(rf"growth/\d+/{name}", key, re.I)]
        heights = [1 - (1 - LOWEST) * (float(point.partition(",")[2]) - 10) / 190 for point in points.split()]
        assert heights == pytest.approx(scores, abs=2e-3)
        assert float(last) == pytest.approx(scores[-1], abs=6e-3)
    ticks = re.findall(r'd="M40 ([\d.]+)H330"/><text[^>]*>([\d.]+)</text>', html)
    assert len(ticks) == 3
    assert [1 - (1 - LOWEST) * (float(height) - 10) / 190 for height, _ in ticks] == [
        float(label) for _, label in ticks
    ]


def test_the_pictures_of_lessons_show_what_they_recorded():
    """The cards would draw ranks, weights, intervals or a curve that no lesson found."""
    edition = Edition(ROOT, "en")
    recorded = {name: notebook_figures(edition.lesson(name)) for name in lesson_names(ROOT)}
    drawn = {name: cover(edition, name) for name in recorded}
    assert all(drawn.values()), "a card without a picture"
    answers = [(int(x) + 6) / 11 for x in re.findall(r'class="answer" x="(\d+)"', drawn["01_evaluation"])]
    assert answers == [int(recorded["01_evaluation"][f"picture/{row}/first relevant at"]) for row in range(4)]
    answers = [(int(x) + 6) / 11 for x in re.findall(r'class="answer" x="(\d+)" y="36"', drawn["02_metrics"])]
    assert answers == json.loads(recorded["02_metrics"]["picture/B/ranks of the relevant documents"])
    weights = [float(high) / 30 for high in re.findall(r'height="([\d.]+)"', drawn["02_metrics"])[:10]]
    assert weights == pytest.approx([1 / log2(rank + 1) for rank in range(1, 11)], abs=0.01)
    bars, figures = drawn["03_model_comparison"], recorded["03_model_comparison"]
    for kind, system in (("answer", "MiniLM, mean"), ("other", "MiniLM, unmasked_mean")):
        low, mean, high = (float(figures[f"pocket-bars/{system}/{part}"]) for part in ("low", "mean", "high"))
        bar = re.findall(rf'<rect class="{kind}" x="([\d.]+)" [^>]* width="([\d.]+)" height="3"', bars)[0]
        x, width = map(float, bar)
        middle = float(re.findall(rf'<circle class="{kind}" cx="([\d.]+)"', bars)[0])
        assert (middle - x) / width == pytest.approx((mean - low) / (high - low), abs=0.01)
    points = re.findall(r'<polyline points="([^"]+)"', drawn["06_scaling_up"])[0].split()
    heights = [(44 - float(point.partition(",")[2])) / 56 for point in points]
    scores = [
        float(value) for key, value in recorded["06_scaling_up"].items() if re.fullmatch(r"growth/\d+/ndcg@10", key)
    ]
    assert heights == pytest.approx(scores, abs=2e-3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pictures_of_tools_show_what_was_recorded(language: str):
    """The cards would draw an answer that a system did not find, an interval or a change that nobody measured."""
    edition = Edition(ROOT, language)
    query, pocket = read_yaml(ROOT / "docs" / "site" / "home.yml")[language]["first"], read_pocket(edition)
    lists = {label: pocket.lists[query][system][:3] for label, system in SYSTEMS[language].items()}
    drawn = re.findall(r'class="answer" x="(\d+)" y="([\d.]+)" width="51" height="7"', cover(edition, "ask"))
    answers = {one for one, grade in pocket.grades[query].items() if grade > 1}
    places = [(x, enumerate(lists[label], 1)) for x, label in ((6, "dense"), (63, "BM25"))]
    found = [(x, rank) for x, ranked in places for rank, one in ranked if one in answers]
    assert [(int(x), (float(y) - 10.5) / 9.5) for x, y in drawn] == found
    figures = notebook_figures(edition.lesson("01_evaluation"))
    bars = re.findall(
        r'"both" x="50" y="[\d.]+" width="([\d.]+)"[^>]*><rect class="answer" x="([\d.]+)"', cover(edition, "score")
    )
    for metric, (mean, low) in zip(("recall@10", "ndcg@10", "mrr@10", "recall@1"), bars, strict=True):
        recorded = [float(figures[f"intervals/{metric}/{part}"]) for part in ("mean", "low")]
        assert [float(mean) / 66, (float(low) - 50) / 66] == pytest.approx(recorded, abs=0.01)
    bars = re.findall(
        r'<rect(?: class="answer")? x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', cover(edition, "differences")
    )
    report = json.loads((ROOT / "docs" / "benchmarks" / "differences.json").read_text(encoding="utf-8"))
    start = report["formula"]["ndcg@10"]
    ends = [report["ranking"]["answers only"], report["ranking"]["queries in the corpus"], report["formula"]["ndcg@1"]]
    moves = sorted((abs(end - start) for end in ends), reverse=True)
    assert [float(width) / 208 for _, width in bars[:3]] == pytest.approx(moves, abs=0.01)


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_another_question_is_drawn_as_the_first(site: Site, language: str):
    """The script would draw other lists than the page has without it, or leave the old question over new lists."""
    site.open(f"{language}/index.html")
    site.until("!document.querySelector('.home-demo button').hidden")
    data = rankings(Edition(ROOT, language))
    draw = """async text => {
      const data = await (await fetch(document.querySelector('.home-demo').dataset.rankings)).json();
      Math.random = () => data.queries.filter(q => q[1] !== document.querySelector('.home-query').textContent)
        .findIndex(q => q[1] === text) / (data.queries.length - 1) + 1e-9;
    }"""
    first = site.page.inner_text(".home-query")
    before = site.page.inner_html(".home-lists")
    texts = {query: text for query, text, _ in data["queries"]}
    second = texts[read_yaml(ROOT / "docs" / "site" / "home.yml")[language]["second"]]
    later = next(text for _, text, lists in data["queries"] if [*lists.values()][1][1] == "late")
    site.look(WIDE)
    height = site.page.locator(".home-demo").bounding_box()["height"]
    site.page.click(".home-demo button")
    site.until(f"document.querySelector('.home-query').textContent === {json.dumps(second)}")
    for text in (later, first):
        site.page.evaluate(draw, text)
        site.page.click(".home-demo button")
        site.until(f"document.querySelector('.home-query').textContent === {json.dumps(text)}")
        assert site.page.locator(".home-lists .late").count() == ((text == later) or language == "zh")
        assert site.page.locator(".home-demo").bounding_box()["height"] == height, "what is below would jump"
    plain = [html.replace(' class=""', "") for html in (site.page.inner_html(".home-lists"), before)]
    assert plain[0] == plain[1]
    tops = "['article h1', '.home-demo'].map(part => document.querySelector(part).getBoundingClientRect().top)"
    site.look(WIDE)
    title, demo = site.page.evaluate(tops)
    assert abs(title - demo) < 60, "the question and its example are not side by side"
    cards = site.page.locator(".home-paths a")
    links = cards.evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert links[:3] == ["ask.html", "try.html", "score.html"]
    order = [
        ".home-demo",
        "section:has(> .home-figure) > h2",
        "#lessons h2",
        "li .wrong",
        ".home-paths",
        "#run-the-lessons",
        "#your-turn",
    ]
    places = f"{order}.map(part => document.querySelector(`article ${{part}}`).getBoundingClientRect().top + scrollY)"
    at = site.page.evaluate(places)
    assert at == sorted(at)
    site.look({"width": 1440, "height": 900})
    site.open(f"{language}/index.html")
    at = site.page.evaluate(places)
    ends = """[...document.querySelectorAll('.home-lists ol')].map(list => {
      const { right } = list.getBoundingClientRect(), rows = [...list.children].map(row => row.getBoundingClientRect());
      return Math.max(...rows.filter(row => row.left < right).map(row => row.bottom));
    })"""
    one, other = site.page.evaluate(ends)
    assert abs(one - other) < 60, "a hole under the shorter of two lists"
    lists = site.page.locator(".home-lists q")
    assert all(lists.evaluate_all("all => all.map(q => q.scrollHeight <= q.clientHeight + 1)")), "cut evidence"
    assert at[-2] == at[-1], "how to run and what to do next are not side by side"
    line = "(line => line.getBoundingClientRect().height / parseFloat(getComputedStyle(line).lineHeight))"
    assert site.page.evaluate(f"{line}(document.querySelector('#run-the-lessons pre'))") < 5.5, "the command is broken"
    site.look(WIDE)
    height = "document.querySelector('h1').getBoundingClientRect().height"
    assert site.page.evaluate(height) < 3.3 * 46, "the title takes more than three lines"
    lesson = site.page.locator("main a[href='01_evaluation.html']:visible").count()
    assert lesson <= 3, "the same lesson is offered again and again"
    site.look({"width": 768, "height": 900})
    facts = [fact.bounding_box() for fact in site.page.locator(".home-facts li").all()]
    assert len({fact["x"] for fact in facts}) == 1 < len({fact["y"] for fact in facts}), "facts run on"
    site.look(PHONE)
    assert site.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], "wider than a phone"
    at = site.page.evaluate(places)
    assert at == sorted(at), "the parts of the page change their order on a phone"
    chart, link = (site.page.locator(f".home-figure > {part}").bounding_box() for part in ("svg", ".home-see"))
    assert chart["y"] < link["y"], "the chart follows the link that ends its section"
    texts = site.page.locator(".home-figure > svg text").evaluate_all(
        "all => all.map(text => text.getBoundingClientRect().right)"
    )
    assert max(texts) <= chart["x"] + chart["width"] + 1, "a name at the end of a line is cut"
    rows = [row.bounding_box() for row in site.page.locator("#lessons > ol > li").all()]
    assert {50 < row["height"] < 90 for row in rows} == {True}, "a lesson takes more than three lines of a phone"
    about = site.page.locator("#lessons > ol > li p:last-child")
    assert all(line.is_visible() for line in about.all()), "the name of a lesson alone does not say what it holds"
    lists, facts = (site.page.locator(part).bounding_box() for part in (".home-lists", ".home-facts"))
    answer = site.page.locator(".home-lists li").first.bounding_box()
    assert answer["y"] + answer["height"] < PHONE["height"], "no answer on the first screen of a phone"
    start, own = (link.bounding_box() for link in site.page.locator(".home-go a").all())
    assert start["y"] == own["y"], "two buttons take two rows"
    boxes = [card.bounding_box() for card in cards.all()]
    assert facts["y"] < lists["y"] < boxes[0]["y"] < boxes[1]["y"] < boxes[2]["y"], "the example is not first"
    assert site.page.evaluate("document.documentElement.scrollHeight") < 6 * PHONE["height"], "six screens of a phone"
    label, button = (part.bounding_box() for part in site.page.locator(".home-means p:first-child > *").all())
    assert button["x"] > label["x"], "the button is below its label"
    site.page.emulate_media(media="print")
    parts = site.page.locator("#lessons > ol > li").evaluate_all("all => all.map(e => getComputedStyle(e).breakInside)")
    site.page.emulate_media(media="null")
    assert {*parts} == {"avoid"}, "the edge of the paper would cut a lesson in two"


@pytest.mark.browser
@pytest.mark.parametrize("size", [PHONE, {"width": 1024, "height": 768}])
def test_the_contents_of_the_home_page_open_and_close(site: Site, size: dict[str, int]):
    """Below the width of a desk the button would open a dialog that nobody sees, and the page would take no press."""
    site.look(size)
    site.open("en/index.html")
    site.page.click(".secondary-toggle:visible")
    dialog = "document.querySelector('#pst-secondary-sidebar-modal')"
    site.until(f"{dialog}.open && {dialog}.getBoundingClientRect().width > 200")
    site.page.keyboard.press("Escape")
    site.until(f"!{dialog}.open")
