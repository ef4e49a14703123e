"""The page on which a reader asks the pocket collection: its word systems in node, the page itself in a browser."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docs.site.ask import collection
from docs.site.pocket import ANSWERS, read_pocket
from docs.site.project import Edition, read_yaml
from helpers.index.words import STOP_WORDS
from helpers.metrics import evaluate
from notebooks.kit.notebooks import LANGUAGES, ROOT
from tests.site.browser import PHONE, WIDE, Site

ASK = ROOT / "docs" / "site" / "ask.yml"
SEARCH = """
import { WordIndex } from "./try/metrics.js";
const { passages, queries, stop } = JSON.parse(text);
const index = new WordIndex(passages.map(([, title, words]) => (title ? `${title}\\n${words}` : words)), new Set(stop));
const scored = queries.map((query) => index.search(query.text).map((passage) => passages[passage][0]));
"""
MATCHING = {"en": "BM25", "zh": "BM25:bigrams"}
DENSE = {"en": "MiniLM", "zh": "multilingual"}
METRICS = ("ndcg@10", "mrr@10", "recall@10", "judged@10")


@pytest.mark.parametrize("language", LANGUAGES)
def test_word_systems_rank_as_those_of_the_package(node: Any, language: str):
    """A reader's question would be answered by something else than BM25 as the lessons compute it."""
    data = collection(Edition(ROOT, language))
    assert data["stop"] == sorted(STOP_WORDS)
    recorded = [query["lists"][MATCHING[language]] for query in data["queries"]]
    assert node(SEARCH, data) == recorded


def scores(language: str, query: str, system: str, changed: dict[str, int]) -> list[float]:
    """Return the metrics of one query and system by the package, some grades changed."""
    pocket = read_pocket(Edition(ROOT, language))
    ids = pocket.lists[query][system]
    grades = pocket.grades[query] | changed
    run = {query: {passage: float(-rank) for rank, passage in enumerate(ids)}}
    mean = evaluate(run, {query: grades}, METRICS, relevance_level=ANSWERS).mean
    return [mean[name] for name in METRICS]


def showing(site: Site, text: str) -> None:
    """Wait until the page shows one of the questions that it offers by its subject."""
    site.until(f"document.querySelector('.ask-subjects [aria-pressed=\"true\"]')?.value === {json.dumps(text)}")


def ask(site: Site, language: str, question: str) -> None:
    """Open the page and ask it a question."""
    site.open(f"{language}/ask.html")
    site.until("!!document.querySelector('.ask form')")
    site.page.fill(".ask input", question)
    site.page.press(".ask input", "Enter")


def shown(site: Site) -> list[list[float]]:
    """Return the metrics of each system as the page shows them, without what they were before."""
    return site.page.evaluate(
        "[...document.querySelectorAll('.ask-scores:not(:empty)')]"
        ".map(line => [...line.querySelectorAll('b')].map(value => Number(value.textContent)))"
    )


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_query_of_the_collection_is_shown_scored_and_judged_again(site: Site, language: str):
    """The page would show other lists than the systems', or metrics that are not those of the grades on the page."""
    requests: list[str] = []
    site.page.on("request", lambda request: requests.append(request.url))
    site.look(WIDE)
    site.open(f"{language}/ask.html")
    site.until("!!document.querySelector('.ask form')")
    assert site.page.is_visible(".ask-begin"), "how one's own question is answered"
    pocket, systems = read_pocket(Edition(ROOT, language)), {"en": ["MiniLM", "BM25"], "zh": ["multilingual", "BM25"]}
    words = read_yaml(ASK)[language]
    for of in (words["example"], next(iter(words["subjects"]))):
        query = pocket.queries[of]
        if of == words["example"]:
            assert site.page.inner_text(".ask-question") == words["opening"].format(text=query)
        else:
            assert not [url for url in requests if "collection.json" in url], "loaded before it was wanted"
            site.page.click(".ask-subjects [value]")
        showing(site, query)
        for column, system in enumerate(systems[language], 1):
            ids = site.page.evaluate(
                f"[...document.querySelectorAll('.ask-lists > div:nth-child({column}) li')].map(li => li.dataset.id)"
            )
            assert ids == pocket.lists[of][system]
        assert str(len(pocket.queries)) in site.page.inner_text(".ask-hint"), "means over how many"
    grades, listed = pocket.grades[of], [pocket.lists[of][system] for system in systems[language]]
    answers = [one for ids in listed for one in ids if grades.get(one, 0) >= ANSWERS]
    assert answers
    quoted = site.page.locator(".ask-lists q:visible")
    assert quoted.all_inner_texts() == [pocket.sentence(of, answer) for answer in answers], "not what answers"
    assert site.page.locator(".ask-verdict .answered").count() == 1, "one of the systems has no answer"
    site.page.locator(".ask-lists li summary").first.focus()
    site.page.keyboard.press("Tab")
    menu = site.page.evaluate("document.activeElement.matches('li select') && document.activeElement.clientWidth")
    assert menu > 40, "the keyboard does not reach the grade"
    quoted.first.locator("xpath=..").locator("summary").click()
    assert quoted.count() == len(answers) - 1, "what the open passage says is said twice"
    assert site.page.locator(".ask-lists mark:visible").all_inner_texts() == [pocket.sentence(of, answers[0])]
    assert shown(site) == [pytest.approx(scores(language, of, each, {}), abs=6e-4) for each in systems[language]]
    best = pocket.lists[of]["BM25"][0]
    site.page.locator(f"li[data-id={best}] select").last.select_option("3")
    assert shown(site) == [pytest.approx(scores(language, of, each, {best: 3}), abs=6e-4) for each in systems[language]]
    assert site.page.locator(f"li[data-id={best}] select.own").count() > 0
    assert site.page.locator('.ask-subjects [aria-pressed="true"]').count() == 1
    site.look(PHONE)
    assert site.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], "wider than a phone"
    site.page.click(".ask form .main")
    sides = site.page.locator(".ask-switch button")
    ranks = [pocket.first_answer(of, system)[0] for system in systems[language]]
    highest = min(rank for rank in ranks if rank)
    for side, system in enumerate(systems[language]):
        rank = ranks[side]
        kind = ("answered" if rank == highest else "late") if 0 < rank <= 10 else "missed"
        said = words[kind].format(rank=rank)
        assert sides.nth(side).locator("strong").inner_text() == said, "what the other system does is not said"
        sides.nth(side).click()
        visible = site.page.locator(".ask-lists li:visible").evaluate_all("all => all.map(li => li.dataset.id)")
        assert visible == [one for one in pocket.lists[of][system] if one in visible] != [], "another system's list"
    assert site.page.locator(":is(.ask-scores, .ask-heads select):visible").count() == 0, "other controls above a list"
    site.page.click(".ask-change summary")
    assert site.page.locator(".ask-change .ask-scores:visible").count() == 2
    site.look(WIDE)
    assert site.page.locator(".ask-heads .ask-scores:visible").count() == 2, "metrics lost in a fold that is not there"
    assert site.wrong == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("language", "question"), [("en", "why does my bread dough rise slowly"), ("zh", "怎么用酵母和面粉做面包")]
)
def test_a_question_of_ones_own_is_ranked_by_words_and_scored_by_ones_own_grades(
    site: Site, language: str, question: str
):
    """A reader's own question would have no answer, an answer by a system that has not seen it, or invented grades."""
    site.look(WIDE)
    ask(site, language, question)
    site.until("document.querySelectorAll('.ask-result.mine li[data-id]').length > 0")
    systems = site.page.evaluate("[...document.querySelectorAll('.ask-heads select')].map(select => select.value)")
    assert systems == [MATCHING[language], ""], "not the systems compared"
    column = site.page.locator(".ask-list").first
    rows = column.locator("li[data-id]")
    text = read_pocket(Edition(ROOT, language)).passages[rows.first.get_attribute("data-id") or ""][1]
    assert [text.count(quoted) for quoted in column.locator("q:visible").all_inner_texts()] == [1]
    site.look(PHONE)
    assert site.page.locator(".ask-scores b").count() == 0
    assert site.page.locator(".ask > .tool-note:visible").count() == 1
    main = site.page.locator(".ask button.main:visible").all_inner_texts()
    assert len(main) == 1, main
    assert "MB" in main[0], "the dense model is the main thing to press"
    row = rows.nth(1)
    rank = int(row.get_attribute("data-rank") or "")
    row.locator("select").select_option("3")
    site.page.click(".ask-change summary")
    [ndcg, reciprocal, recall, judged], *_ = shown(site)
    assert (reciprocal, recall) == (pytest.approx(1 / rank, abs=6e-4), 1.0)
    assert judged == pytest.approx(1 / rows.count(), abs=6e-4)
    assert ndcg == pytest.approx(1 / math.log2(1 + rank), abs=6e-4)
    site.page.click(".ask-subjects [value]")
    site.until("document.querySelectorAll('.ask-scores b').length === 8")
    assert site.page.locator(".ask-heads select").first.input_value() == DENSE[language]
    assert site.wrong == []


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_suggested_question_is_answered_at_once(site: Site, language: str):
    """A reader would press the button of the home page for nothing, have to download the model first, or be logged."""
    pocket, [question] = read_pocket(Edition(ROOT, language)), read_yaml(ASK)[language]["suggested"]
    site.open(f"{language}/index.html")
    site.page.click(".home-mine button")
    site.until(f"document.querySelector('.ask input')?.value === {json.dumps(question)}")
    site.until("document.querySelectorAll('.ask-lists > div:first-child li').length === 10")
    first = site.page.locator(".ask-lists > div:first-child li").first
    best = pocket.suggested[question][DENSE[language]][0]
    assert first.get_attribute("data-id") == best
    assert first.locator("q:visible").inner_text() == pocket.sentence(question, best)
    assert site.page.locator(".ask-offer").count() == 0
    assert site.page.locator(".ask-verdict .answered").count() == site.page.locator(".ask-verdict .missed").count() == 1
    assert site.page.locator(".ask-lists .grade-3").count() == 1, "the answer looks like its neighbours"
    names = site.page.locator(".ask-scores span").all_text_contents()
    assert names == ["RR@10 1", "RR@10 0"], "metrics that need grades of the other passages"
    site.open(f"{language}/index.html")
    site.page.fill(".home-mine input", "bread & butter #1")
    site.page.click(".home-mine button")
    site.until("document.querySelectorAll('.ask-lists li').length > 0")
    assert site.page.input_value(".ask input") == "bread & butter #1"
    assert "?" not in site.page.url, "the question is sent to the server"
    assert site.wrong == []


@pytest.mark.browser
def test_a_collection_that_does_not_arrive_is_reported_and_asked_for_again(site: Site):
    """A reader whose connection is lost would press a button that does nothing, for ever."""
    site.open("en/ask.html")
    site.until("!!document.querySelector('.ask form')")
    site.page.route("**/collection.json", lambda route: route.fulfill(status=503))
    site.page.click(".ask-subjects [value]")
    site.until(
        "!document.querySelector('.ask > .tool-fault')?.hidden && !!document.querySelector('.ask > .tool-fault')"
    )
    assert "503" in site.page.inner_text(".ask > .tool-fault")
    site.page.unroute("**/collection.json")
    site.page.click(".ask form .main")
    showing(site, site.page.input_value(".ask input"))
    assert site.page.locator(".ask > .tool-note:visible").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize(
    ("language", "question"), [("en", "xyzzy"), ("en", "how do I get out of it"), ("zh", "为什么会这样")]
)
def test_a_question_without_a_known_word_is_answered_so(site: Site, language: str, question: str):
    """A reader would see empty lists, be asked to grade what is not there, or be led by a word such as "out"."""
    ask(site, language, question)
    words = read_yaml(ASK)[language]
    site.until("!!document.querySelector('.ask > .tool-note b')")
    assert site.page.locator(".ask > .tool-note > p > b:visible").all_inner_texts() == [words["nothing"]]
    assert site.page.locator(".ask-scores *, .ask-lists li, .ask-heads select:visible").count() == 0
    assert site.page.locator(".ask-offer button.main:visible").count() == 1, "nothing is offered"
    site.page.click(".ask-subjects [value]")
    site.until("!!document.querySelector('.ask-scores b')")
    assert site.wrong == []
