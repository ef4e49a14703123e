"""The home page: its rankings are those of the systems, and the script shows what the page itself shows."""

from __future__ import annotations

import json

import pytest

from docs.site.home import FAR, rankings
from docs.site.project import Edition, read_yaml
from notebooks.kit.notebooks import LANGUAGES, ROOT
from tests.site import rankings as recorded
from tests.site.browser import WIDE, Site


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_rankings_are_those_of_the_systems(language: str):
    """The first thing that a reader sees of the project would be wrong."""
    shown = json.loads(recorded.TARGET.read_text(encoding="utf-8"))[language]
    ranked = recorded.rankings(language)
    for text, lists in ranked["suggested"].items():
        assert lists.items() <= shown["suggested"][text].items(), "run python -m tests.site.rankings"
    assert ranked["ndcg@10"] == pytest.approx(shown["ndcg@10"], abs=0.0006)
    assert len(shown["queries"]) == 132
    unlike = [q for q, lists in ranked["queries"].items() if lists.items() - shown["queries"][q].items()]
    assert unlike == [], "run python -m tests.site.rankings"
    assert ranked["sentences"] == shown["sentences"]
    assert ranked["later"] == shown["later"]


def test_each_system_wins_on_one_of_the_two_queries_shown_first():
    """The page would begin with an example on which both do the same, or say that the model is always better."""
    words = read_yaml(ROOT / "docs" / "site" / "home.yml")
    for language in LANGUAGES:
        rows = {row[0]: row[2] for row in rankings(Edition(ROOT, language))["queries"]}
        first, second = (rows[words[language][key]] for key in ("first", "second"))
        assert (first["dense"][0], second["BM25"][0]) == (1, 1)
        assert first["BM25"][0] not in range(1, FAR + 1)
        assert second["dense"][0] > 1


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
    site.page.click(".home-demo button")
    site.until(f"document.querySelector('.home-query').textContent === {json.dumps(second)}")
    for text in (later, first):
        site.page.evaluate(draw, text)
        site.page.click(".home-demo button")
        site.until(f"document.querySelector('.home-query').textContent === {json.dumps(text)}")
        assert site.page.locator(".home-lists .late").count() == ((text == later) or language == "zh")
    plain = [html.replace(' class=""', "") for html in (site.page.inner_html(".home-lists"), before)]
    assert plain[0] == plain[1]
    cards = site.page.locator(".home-paths a")
    links = cards.evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert links[:3] == ["ask.html", "try.html", "score.html"]
