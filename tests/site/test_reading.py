"""What readers stumbled over, in a real browser: widths, folds, links, touch, print, titles, terms, questions."""

from __future__ import annotations

import re

import pytest

from docs.site.project import Edition, site_words
from notebooks.kit.cells import by_id
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names
from notebooks.kit.translation import glossary
from tests.site.browser import PHONE, WIDE, Site

pytestmark = pytest.mark.browser

LESSONS = lesson_names(ROOT)
A4_INSIDE = 190 / 25.4 * 96  # pixels between the margins
LAPTOP = {"width": 1440, "height": 900}
TOO_WIDE = """selector => [...document.querySelectorAll(selector)]
  .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
  .map(box => `${box.scrollWidth} in ${box.clientWidth}: ${box.innerText.slice(0, 60)}`)"""
OPEN = "document.querySelectorAll('details').forEach(box => { box.open = true; })"
# Chinese terms inside headings, and whether the line breaks inside one.
BROKEN = """terms => [...document.querySelectorAll('article :is(h1, h2, h3)')].flatMap(heading => {
  const range = document.createRange(), found = [];
  const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
  const letters = [];
  while (walker.nextNode()) {
    [...walker.currentNode.data].forEach((letter, i) => letters.push([letter, walker.currentNode, i]));
  }
  const text = letters.map(([letter]) => letter).join('');
  for (const term of terms) {
    for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
      const tops = [at, at + term.length - 1].map(i => {
        range.setStart(letters[i][1], letters[i][2]);
        range.setEnd(letters[i][1], letters[i][2] + 1);
        return range.getBoundingClientRect().top;
      });
      if (Math.abs(tops[0] - tops[1]) > 4) found.push(`${term} in ${text}`);
    }
  }
  return found;
})"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", LESSONS)
def test_code_and_tables_fit_a_laptop(site: Site, name: str, language: str):
    """A reader would have to push code or a table aside to see the end of it: the last metric was hidden."""
    site.look(LAPTOP)
    site.open(f"{language}/{name}.html")
    site.page.evaluate(OPEN)
    assert site.page.evaluate(TOO_WIDE, "article .cell_input pre, article table") == []
    broken = """cells => cells.filter(cell => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return cell.innerText.length < 16 && range.getBoundingClientRect().height > 30;
    }).map(cell => cell.innerText)"""
    short = site.page.locator("table.dataframe :is(tbody th, td.words):not(:has(br))")
    assert short.evaluate_all(broken) == [], "a row twice as high as its numbers"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", LESSONS)
def test_the_scale_of_intervals_is_true(site: Site, name: str, language: str):
    """The ends of the axis would run together, or stand where the intervals below them do not begin and end."""
    places = """[...document.querySelectorAll('table:has(thead .range)')].flatMap(table => {
      const [from, to] = [...table.querySelectorAll('thead .range span')].map(span => span.getBoundingClientRect());
      const plot = table.querySelector('tbody .range svg').getBoundingClientRect();
      const shown = getComputedStyle(table.querySelector('thead .range')).visibility === 'visible';
      return table.checkVisibility() && shown ? [[from.left, from.right, to.left, to.right, plot.left, plot.right,
        to.top - from.top, getComputedStyle(table).display === 'grid' ? 1 : 0]] : [];
    })"""
    site.open(f"{language}/{name}.html")
    site.page.evaluate(OPEN)
    for width in (390, 1024, 1440):
        site.look({"width": width, "height": 900})
        for left, before, after, right, start, end, down, turned in site.page.evaluate(places):
            assert down == 0
            if turned:  # the names of its rows stand beside the plots
                assert left < before < after < right < start
            else:
                assert after - before >= 11
                assert (left, right) == pytest.approx((start, end), abs=2)


@pytest.mark.parametrize("language", LANGUAGES)
def test_passages_are_a_list_under_their_query_on_a_phone(site: Site, language: str):
    """The query would stand before each passage and run into it, in small letters, the other language as loud."""
    site.look(PHONE)
    site.open(f"{language}/04_judgements.html")
    lists = site.page.locator("table.passages")
    assert lists.count() == 2
    own, other = ("en", "zh-CN") if language == "en" else ("zh-CN", "en")
    for each in lists.all():
        assert each.locator("thead th").first.is_visible()
        assert each.locator("td .label").count() == 0
        assert each.locator("td[lang] > b").count() == each.locator("td[lang]").count() == 10
        sizes = [
            each.locator(f"td[lang='{lang}']").first.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)")
            for lang in (own, other)
        ]
        assert sizes[0] >= 14 > sizes[1]
        own_top, other_top = (each.locator(f"td[lang='{lang}']").first.bounding_box()["y"] for lang in (own, other))
        assert own_top < other_top


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_cheat_sheet_fits_a_phone(site: Site, language: str):
    """The formulas would lie outside of the window."""
    site.look(PHONE)
    site.open(f"{language}/cheatsheet.html")
    assert site.page.evaluate(TOO_WIDE, "section#the-metrics table") == []


@pytest.mark.parametrize(
    "path", ["zh/chinese.html", "en/own_reference.html", "en/02_metrics.html", "en/helpers.metrics.html"]
)
def test_a_table_of_words_is_a_list_on_a_phone(site: Site, path: str):
    """What the last column says would lie outside of the window, or nothing would say of what it is."""
    names = "[...document.querySelectorAll('table.listed .label')].filter(label => label.checkVisibility()).length"
    site.open(path)
    site.look(WIDE)
    assert site.page.evaluate(names) == 0
    site.look(PHONE)
    assert site.page.locator("table.listed").count() > 0
    assert site.page.evaluate(TOO_WIDE, "table.listed") == []
    if "helpers" not in path:  # two columns, without a head
        assert site.page.evaluate(names) > 5


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", LESSONS)
def test_numbers_stand_with_their_heading_on_a_phone(site: Site, name: str, language: str):
    """A metric would be outside of the window, or a number below or beside the name of another one."""
    site.look(PHONE)
    site.open(f"{language}/{name}.html")
    assert site.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    apart = """(all, side) => all.flatMap(({ rows }) => [...rows].flatMap(({ cells }) => [...cells].map((cell, at) => {
      const heading = rows[0].cells[at];
      const moved = heading.getBoundingClientRect()[side] - cell.getBoundingClientRect()[side];
      return getComputedStyle(heading).position === 'absolute' || Math.abs(moved) < 1 ? '' : cell.innerText;
    }).filter(Boolean)))"""
    for kind, side in (("turned", "top"), ("stacked", "right")):
        assert site.page.locator(f"table.{kind}").evaluate_all(apart, side) == []
        assert site.page.evaluate(TOO_WIDE, f"table.{kind}") == []
    heights = site.page.locator("table.stacked tbody td.words").evaluate_all(
        "all => all.map(cell => cell.clientHeight)"
    )
    assert max(heights, default=0) < 32, "a second line of words lies over the numbers"


def test_a_box_that_scrolls_says_so(site: Site):
    """Nobody would know that there is more to the right."""
    site.look({"width": 600, "height": 800})
    site.open("en/03_model_comparison.html")
    boxes = site.page.locator("article table.dataframe").all()
    wide = [box for box in boxes if box.evaluate("b => b.scrollWidth > b.clientWidth + 1")]
    assert wide, "a name would be broken to fit"
    for box in wide:
        edge = "b => { const s = getComputedStyle(b); return [s.backgroundImage, s.backgroundAttachment]; }"
        image, attachment = box.evaluate(edge)
        assert image.count("linear-gradient") == 4
        assert {"local", "scroll"} <= set(attachment.split(", "))


def test_a_list_of_contents_fades_only_where_it_goes_on(site: Site):
    """The last entry would be pale as if it were not to be used, or a longer list be cut through a line."""
    site.look(LAPTOP)
    mask = "getComputedStyle(document.querySelector('.bd-sidebar-secondary')).maskImage"
    site.open("en/pitfalls.html")
    masks = "all => [...new Set(all.map(one => getComputedStyle(one).maskImage))]"
    assert site.page.locator(".bd-sidebar-secondary, .bd-sidebar-secondary *").evaluate_all(masks) == ["none"]
    site.look(LAPTOP | {"height": 600})
    site.page.emulate_media(reduced_motion="no-preference")
    site.open("en/02_metrics.html")
    site.until(f"{mask} !== 'none'")
    site.page.evaluate("document.querySelector('.bd-sidebar-secondary').scrollTop = 1e4")
    site.until(f"{mask} === 'none'")
    site.page.emulate_media(reduced_motion="reduce")


def test_contents_stay_in_view(site: Site):
    """The mark for the section one reads would move out of the window in a long list of contents."""
    site.look(LAPTOP)
    site.open("en/02_metrics.html")
    site.until("document.readyState === 'complete'")
    site.show("#summary")
    inside = """(() => {
      const link = document.querySelector(".page-toc a[aria-current]");
      const { top, bottom } = link?.getBoundingClientRect() ?? {};
      return link?.hash === "#summary" && top > 0 && bottom < innerHeight;
    })()"""
    site.until(inside)


@pytest.mark.parametrize("share", [0.13, 0.5, 0.9])
def test_contents_mark_the_section_one_jumps_into(site: Site, share: float):
    """After a jump into the middle of a section the contents would mark another, or none."""
    site.look(LAPTOP)
    site.open("en/02_metrics.html")
    site.until("document.readyState === 'complete'")
    site.page.evaluate(f"scrollTo({{top: {share} * document.documentElement.scrollHeight, behavior: 'instant'}})")
    inside = """(() => {
      const links = [...document.querySelectorAll(".page-toc a")], at = links.findIndex(link => link.ariaCurrent);
      const [start, end] = [links[at], links[at + 1]].map(link => {
        return document.getElementById(link?.hash.slice(1))?.getBoundingClientRect().top;
      });
      return links.filter(link => link.matches(".active")).length === 1 && start < 300 && !(end < 200);
    })()"""
    site.until(inside, 3)


def test_name_and_search_stay_above_the_list_of_pages(site: Site):
    """A reader far down in the list of pages would have no way to search, or a link would lie under the search."""
    site.look(LAPTOP)
    site.open("en/helpers.provenance.html")
    links = site.page.locator(".bd-docs-nav a")
    links.last.evaluate("link => link.scrollIntoView({block: 'nearest', behavior: 'instant'})")
    search = site.page.locator(".search-button-field").bounding_box()
    below = search["y"] + search["height"]
    assert site.page.locator(".bd-sidebar-primary .navbar-brand").bounding_box()["y"] >= 0
    assert 0 < search["y"] < 150
    assert below < links.last.bounding_box()["y"] < LAPTOP["height"]
    assert links.first.bounding_box()["y"] < below, "the list is longer than the window"


def test_the_menu_begins_with_a_whole_line_and_shows_the_page_one_reads(site: Site):
    """A guide's menu would begin below the lessons or with half a line, or a folded group would hide one's page."""
    site.look(LAPTOP)
    cut = """
      const {top} = document.querySelector(".sidebar-primary-item:has(.bd-docs-nav)").getBoundingClientRect();
      return links.map(a => a.getBoundingClientRect()).filter(box => box.top < top && box.bottom > top + 3).length;
    """
    for page, folded in (("own_model", True), ("citation", False), ("helpers.metrics", False)):
        site.open(f"en/{page}.html")
        assert site.page.locator(".bd-docs-nav .group:not([open])").count() == folded
        current = site.page.locator(".bd-docs-nav a.current").bounding_box()
        assert 100 < current["y"] < LAPTOP["height"] - current["height"]
        assert site.page.locator(".bd-docs-nav a").evaluate_all(f"links => {{ {cut} }}") == 0
        if folded:
            assert site.page.locator(".bd-docs-nav a").first.bounding_box()["y"] > 100


def test_printed_sources_are_coloured(site: Site):
    """The source of a function would be grey where code is coloured, and its numbers would be coloured too."""
    site.look(WIDE)
    site.open("en/02_metrics.html")
    assert site.page.locator(".cell_output .highlight-python").count() >= 6
    assert site.page.locator(".cell_output .highlight-python .k", has_text="def").count() >= 7
    plain = site.page.locator(".cell_output :is(.highlight-none, .highlight-myst-ansi) pre").all_inner_texts()
    assert any("the loop says the same: True" in text for text in plain)
    assert not any(re.search(r"^def ", text, re.M) for text in plain)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", LESSONS)
def test_setup_and_versions_are_folded(site: Site, name: str, language: str):
    """A lesson would begin with a page of imports, or the code could not be brought out."""
    site.look(WIDE)
    site.open(f"{language}/{name}.html")
    folded = site.page.locator("details.fold")
    titles = [site_words(language)["setup"]] * site.page.locator(".setup").count()
    cells = by_id(Edition(ROOT, language).lesson(name))
    titles += [title for cell, title in site_words(language)["fold"].items() if cell in cells]
    assert folded.locator("> summary").all_text_contents() == titles
    code = folded.first.locator("pre").first
    assert not code.is_visible()
    for summary in folded.locator("> summary").all()[:-1]:
        summary.click()
    assert "import" in code.inner_text()
    assert code.is_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_see_it_leads_to_the_heading(site: Site, language: str):
    """A link of the pitfalls would land in the middle of code, under the bar at the top."""
    site.look(WIDE)
    site.open(f"{language}/pitfalls.html")
    targets = [link.get_attribute("href") for link in site.page.locator("article li a[href*='_']:not(.term)").all()]
    targets = [target for target in targets if target and "#" in target and re.match(r"0\d_", target)]
    assert len(targets) > 10
    for target in targets[:4]:
        site.open(f"{language}/{target}")
        heading = site.page.locator(f"section[id='{target.split('#')[1]}'] > :is(h2, h3)").first
        assert 0 <= heading.bounding_box()["y"] < 250, target
        assert site.wrong == []


@pytest.mark.parametrize("width", [390, 1024, 1440, 1920])
def test_the_bar_and_the_page_have_one_width(site: Site, width: int):
    """The buttons at the top would jump from page to page, or a page be wider than its foot."""
    site.look({"width": width, "height": 900})
    ends = """() => ['.language-switch', '.theme-switch-button', 'article', '.bd-footer-content__inner'].map(part => {
      const box = document.querySelector(part)?.getBoundingClientRect();
      return box && Math.round(box.right - parseFloat(getComputedStyle(document.querySelector(part)).paddingRight));
    })"""
    buttons = set()
    for page in ("index", "try", "glossary", "search", "pitfalls", "helpers.metrics", "03_model_comparison"):
        site.open(f"en/{page}.html")
        *places, article, foot = site.page.evaluate(ends)
        buttons.add(tuple(places))
        assert page in ("search", "03_model_comparison") or article == foot, page
    assert max(abs(a - b) for one in buttons for other in buttons for a, b in zip(one, other, strict=True)) <= 1


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_long_code_opens(site: Site, size: dict[str, int]):
    """The rest of long code could not be read, copied or found by a browser's search, or a button would cover code."""
    site.look(size)
    site.open("en/02_metrics.html")
    button = site.page.locator(".cell_input .all-lines:not(.on-phones)").first
    code = site.page.locator(".cell_input .notranslate:has(+ .all-lines:not(.on-phones)) pre").first
    assert code.inner_text().rstrip().count("\n") >= 12
    closed = code.bounding_box()["height"]
    assert button.bounding_box()["y"] >= code.bounding_box()["y"] + closed
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert code.bounding_box()["height"] > closed + 60
    button.press("Enter")
    assert code.bounding_box()["height"] == closed
    code.locator(".rest").evaluate("rest => { rest.scrollTop = 100; }")  # what a search does that finds something below
    site.page.wait_for_selector(".cell_input .all-lines:not(.on-phones)[aria-expanded='true']")
    site.page.emulate_media(media="print")
    assert not button.is_visible()
    assert code.evaluate("pre => pre.scrollHeight <= pre.clientHeight + 1")
    site.page.emulate_media(media="screen")
    assert site.wrong == []


@pytest.mark.parametrize("width", [390, 576, 700])
def test_links_to_sources_stay_in_their_signatures(site: Site, width: int):
    """A link to the source would hang below the signature, over what is said of it."""
    site.look({"width": width, "height": 900})
    site.open("zh/helpers.metrics.html")
    hanging = """links => links.filter(link => {
      return link.getBoundingClientRect().bottom > link.closest('dt').getBoundingClientRect().bottom + 1;
    }).length"""
    links = site.page.locator("dt.sig .viewcode-link")
    assert links.count() > 20
    assert links.evaluate_all(hanging) == 0


def test_the_rankings_of_lesson_02_fit_a_phone(site: Site):
    """A reader would have to push the picture aside that the whole lesson computes from."""
    site.look(PHONE)
    site.open("en/02_metrics.html")
    assert site.page.locator("#cell-picture + .cell svg.drawn").count() == 1
    assert site.page.evaluate(TOO_WIDE, "#cell-picture + .cell .drawing") == []


def test_the_scoreboard_is_a_list_on_a_phone(site: Site):
    """Most of its columns would be off the screen, or the list miss a family in which a library differs."""
    site.open("zh/libraries.html")
    cells = site.page.locator(".acid table a").evaluate_all("all => all.map(a => a.hash)")
    site.look(PHONE)
    assert not site.page.locator(".acid table").is_visible()
    listed = site.page.locator("details:visible > ul > li").evaluate_all("all => all.map(li => '#' + li.id)")
    assert sorted(listed) == sorted(cells)


@pytest.mark.parametrize("language", LANGUAGES)
def test_wrong_numbers_are_large(site: Site, language: str):
    """A pitfall would be a grey paragraph like the others, and what it does to a score not be seen."""
    site.look(WIDE)
    site.open(f"{language}/pitfalls.html")
    wrong = site.page.locator("li .wrong strong")
    assert wrong.all_inner_texts()[0] == "0.67"
    assert wrong.count() == 28
    assert all(one.evaluate("b => parseFloat(getComputedStyle(b).fontSize)") > 28 for one in wrong.all())
    site.open(f"{language}/index.html")
    assert wrong.count() == 3
    assert len({one.bounding_box()["y"] for one in wrong.all()}) == 1, "not a row"


@pytest.mark.parametrize("language", LANGUAGES)
def test_letters_lead_to_terms(site: Site, language: str):
    """A reader would scroll through a hundred terms for one of which he knows the first letter."""
    site.look(WIDE)
    site.open(f"{language}/glossary.html")
    links = site.page.locator(".term-letters a")
    letters = links.all_inner_texts()
    assert letters == sorted(letters, key=lambda letter: (letter == "abc", letter))
    assert len(letters) > 18
    link = links.get_by_text("R", exact=True)
    link.click()
    first = site.page.locator(link.get_attribute("href"))
    assert first.inner_text()[0] in {"en": "Rr", "zh": "融"}[language]
    rows = site.page.locator("#glossary tr")
    for size in (PHONE, WIDE):
        site.look(size)
        site.open(f"{language}/search.html")
        site.open(f"{language}/glossary.html#term-recall")
        site.until("document.querySelector('.term-letters')")
        site.page.wait_for_timeout(200)
        top = rows.filter(has=site.page.locator("#term-recall")).bounding_box()["y"]
        above = [".bd-header-article", ".term-letters"][size == WIDE]
        bar = site.page.locator(above).bounding_box()
        assert 0 < top - bar["y"] - bar["height"] < 20, "the term that a link leads to is not the first whole row"
    site.page.fill("#term-filter", "recall")
    assert not links.first.is_visible()


def test_copy_buttons_show_on_touch(site: Site):
    """A reader with a phone would never see the button that copies."""
    site.look(PHONE)
    session = site.page.context.new_cdp_session(site.page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        site.open("en/own_model.html")
        assert site.page.evaluate("matchMedia('(hover: none)').matches")
        button = site.page.locator("button.copybtn").first
        assert float(button.evaluate("b => getComputedStyle(b).opacity")) == 1
    finally:
        session.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        session.detach()


@pytest.mark.parametrize("language", LANGUAGES)
def test_print_is_light_and_has_the_solutions(site: Site, language: str):
    """White would be printed on black; questions or solutions would be missing, or solutions beside their exercises."""
    site.look(WIDE, "dark")
    site.open(f"{language}/02_metrics.html")
    closed = site.page.locator("article details:not(.fold)")
    assert closed.count() >= 4
    assert not any(box.evaluate("b => b.open") for box in closed.all())
    dark = site.page.evaluate("getComputedStyle(document.body).backgroundColor")
    order = "[...document.querySelector('#exercises').children].map(e => e.tagName)"
    before = site.page.evaluate(order)
    site.page.emulate_media(media="print", color_scheme="dark")
    site.until("document.documentElement.dataset.theme === 'light'")
    assert site.page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    assert all(box.evaluate("b => b.open") for box in closed.all())
    assert all(site.page.locator(part).first.is_visible() for part in ("p.on-paper", ".quiz legend", ".quiz p.right"))
    folded = site.page.locator("details.behind:not(.launch, :has(> .cell_output))")
    assert all(box.locator("summary").is_visible() and not box.locator("pre").is_visible() for box in folded.all())
    places = "all => all.map(part => part.getBoundingClientRect().top)"
    exercises, solutions = (
        site.page.locator(f"#exercises > {part}").evaluate_all(places) for part in ("ol", "details:not(.fold)")
    )
    assert max(exercises) < min(solutions)
    site.page.emulate_media(media="screen", color_scheme="dark")
    site.until("document.documentElement.dataset.theme === 'dark'")
    assert not any(box.evaluate("b => b.open") for box in closed.all())
    assert site.page.evaluate(order) == before
    site.page.emulate_media(media="null", color_scheme="light")


@pytest.mark.parametrize("lesson", ["01_evaluation", "02_metrics", "03_model_comparison"])
def test_pictures_are_on_paper(site: Site, lesson: str):
    """A picture that nobody scrolled to would be missing on paper, or its buttons and sliders would be printed."""
    site.look(WIDE)
    site.open(f"en/{lesson}.html")
    pictures = site.page.locator("figure.live")
    site.until("[...document.querySelectorAll('figure.live')].every(figure => figure.querySelector('.live-help, p'))")
    site.page.emulate_media(media="print")
    shown = [picture for picture in pictures.all() if picture.is_visible()]
    assert len(shown) == {"01_evaluation": 7, "02_metrics": 8, "03_model_comparison": 2}[lesson]
    assert not site.page.locator("figure.live input:visible").count()
    assert not site.page.locator("p.on-paper:visible:has(+ figure.live)").count()
    site.page.emulate_media(media="null")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_bar_names_the_part(site: Site, language: str, size: dict[str, int]):
    """A reader far down in a lesson could not tell where, or would have to scroll up to go to another part."""
    site.look(size)
    site.open(f"{language}/02_metrics.html")
    button, dialog = site.page.locator(".part-here"), "document.querySelector('#pst-secondary-sidebar-modal')"
    assert not button.is_visible()
    third = site.page.locator("section:has(> p.part) > h2").nth(2)
    third.evaluate("head => head.scrollIntoView({behavior: 'instant'})")
    button.wait_for()
    assert button.inner_text().split("\n") == ["3 / 16", {"en": "Capped recall", "zh": "封顶召回率"}[language]]
    assert button.bounding_box()["height"] >= 44
    assert not site.page.locator(".site-name").is_visible()
    button.press("Enter")
    site.until(f"{dialog}.open && {dialog}.querySelector('[aria-current]')")
    site.page.keyboard.press("Escape")
    site.until(f"!{dialog}.open && document.activeElement.matches('.part-here')")
    assert site.wrong == []


def test_the_bar_and_the_contents_name_one_part_at_the_end(site: Site):
    """At the end of a lesson the bar would say Summary and the contents Exercises."""
    site.look({"width": 1440, "height": 2000})
    site.open("en/01_evaluation.html")
    site.until("document.readyState === 'complete'")
    site.page.evaluate("scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})")
    site.until("document.querySelector('.part-here span').textContent === '10 / 10'")


@pytest.mark.parametrize("path", ["en/01_evaluation", "zh/02_metrics", "zh/glossary", "en/benchmarks"])
def test_print_takes_the_width_of_the_paper(site: Site, path: str):
    """On paper there would be a margin as wide as a column, a box that is cut off, large code."""
    site.look(WIDE)
    site.open(f"{path}.html")
    site.page.emulate_media(media="print")
    site.page.set_viewport_size({"width": round(A4_INSIDE), "height": 1000})
    try:
        wide = site.page.evaluate("Math.max(...[...document.querySelectorAll('article p')].map(p => p.offsetWidth))")
        assert wide > 0.9 * A4_INSIDE
        assert site.page.evaluate("document.documentElement.scrollWidth") <= A4_INSIDE
        style = "selector => [...document.querySelectorAll(selector)].map(e => getComputedStyle(e)).map(s => {})"
        prose = min(
            site.page.evaluate(style.replace("{}", "parseFloat(s.fontSize)"), "article section > p:not([class])")
        )
        code = site.page.evaluate(style.replace("{}", "parseFloat(s.fontSize)"), "article :not(.texts) > div > pre")
        assert max(code, default=0) < prose
        whole = site.page.evaluate(style.replace("{}", "[s.breakInside, s.overflowX]"), "article :is(pre, table)")
        assert {tuple(each) for each in whole} <= {("auto", "visible"), ("avoid", "visible")}
        short = site.page.locator("article table:visible").evaluate_all(
            "all => all.map(t => [t.tBodies[0].rows.length < 8, getComputedStyle(t).breakInside === 'avoid'])"
        )
        assert all(few == kept for few, kept in short), "a short table would be parted, a long one leave half a sheet"
        rows = site.page.evaluate(style.replace("{}", "s.breakInside"), "article tr")
        assert set(rows) <= {"avoid"}
        assert not site.page.locator("details.fold:not(.setup)").first.is_visible()
    finally:
        site.page.emulate_media(media="null")


@pytest.mark.parametrize("name", ["02_metrics", "03_model_comparison", "own_model"])
def test_chinese_titles_break_between_words(site: Site, name: str):
    """A title would break inside a word, and be read wrongly."""
    site.open(f"zh/{name}.html")
    terms = [
        word for term in glossary(ROOT) for word in (term.zh, *term.accepted) if len(word) > 1 and not word.isascii()
    ]
    for width in (390, 360, 700, 1280):
        site.look({"width": width, "height": 844})
        assert site.page.evaluate(BROKEN, terms) == []
        assert site.page.evaluate("document.documentElement.scrollWidth") <= width
    assert site.page.locator("article h2 wbr").count() > 3 or name == "own_model"


def test_dots_of_emphasis_are_under_chinese_alone(site: Site):
    """Latin letters would carry dots, which only Chinese does."""
    site.look(WIDE)
    style = "b => getComputedStyle(b).textEmphasisStyle"
    for name in (*LESSONS, "libraries", "trust", "own_model"):
        site.open(f"zh/{name}.html")
        for emphasis in site.page.locator("article em").all():
            bare = emphasis.evaluate("e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join('')")
            assert not re.search("[A-Za-z]", bare), bare
        assert all(span.evaluate(style) == "none" for span in site.page.locator("article em .latin").all())
    mixed = "p => p.innerHTML = '<em>召回<span class=latin>recall</span></em>'"  # the pages may have none just now
    site.page.locator("article p").first.evaluate(mixed)
    assert site.page.locator("article em").first.evaluate(style) != "none"
    assert site.page.locator("article em .latin").first.evaluate(style) == "none"


def test_the_theme_speaks_chinese(site: Site):
    """Labels of buttons would be read out in English on a Chinese page."""
    site.look(WIDE)
    site.open("zh/02_metrics.html")
    labels = site.page.evaluate(
        "[...document.querySelectorAll('[aria-label], button[title], a[title], nav[title]')]"
        ".filter(e => !e.closest('.try, [lang=en]'))"
        ".map(e => e.getAttribute('aria-label') || e.title)"
    )
    english = {label for label in labels if label and not re.search("[\u4e00-\u9fff]", label)}
    assert english <= {"helpers", "API"}, english
    assert "Copyright" not in site.page.locator("footer").last.inner_text()
    assert "©" not in site.page.locator(".bd-footer-content").inner_text()


def test_the_glossary_can_be_narrowed_down(site: Site):
    """A reader on a phone would scroll through thirty screens for one term."""
    site.look(PHONE)
    site.open("zh/glossary.html")
    rows = site.page.locator("#glossary tbody tr")
    every = rows.count()
    assert re.match("[\u4e00-\u9fff]", rows.first.inner_text()), "names in Latin letters before those that sound"
    same = rows.filter(has_text=re.compile("BEIR")).filter(has=site.page.locator(".same")).first
    assert same.inner_text().count("BEIR") == 1, "a name that is the same in both languages, twice"
    assert same.bounding_box()["height"] < 120, "an empty line between a name and what it means"
    site.page.fill("#term-filter", "NDCG")
    assert 0 < len([row for row in rows.all() if row.is_visible()]) < 5 < every
    site.page.fill("#term-filter", "")
    assert all(row.is_visible() for row in rows.all()[:20])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_mistake_can_be_reported(site: Site, language: str):
    """Whoever finds a mistake would have to look for the place to say so."""
    site.look(WIDE)
    site.open(f"{language}/02_metrics.html")
    edit, report = (site.page.locator(f".where a.{kind}").get_attribute("href") for kind in ("edit", "report"))
    assert edit.endswith(f"/edit/main/notebooks/{language}/02_metrics.ipynb")
    assert "/issues/new?title=" in report
    assert f"{language}%2F02_metrics.html" in report or f"{language}/02_metrics.html" in report
    assert site.page.locator(".where a.edit").inner_text() == site_words(language)["edit"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_terms_are_explained_where_they_stand(site: Site, language: str):
    """A reader would have to leave the page to learn what a word means; or the words would cover the text for good."""
    site.look(WIDE)
    site.open(f"{language}/01_evaluation.html")
    means = {term.means[language] for term in glossary(ROOT)}
    terms = site.page.locator("article a.term:not(figure a, .setup a)")
    texts = terms.all_inner_texts()
    assert len(texts) == len({text.lower() for text in texts}) > 10
    box = site.page.locator("#means")
    for number in (0, 5):
        terms.nth(number).hover()
        assert box.is_visible()
        name, link = terms.nth(number).inner_text(), box.locator("a")
        assert link.inner_text() == name
        assert box.inner_text().removeprefix(f"{name} ") in means
        assert link.get_attribute("href") == terms.nth(number).evaluate("a => a.href")
        link.hover()
        assert box.is_visible(), "its link cannot be reached"
        assert box.evaluate("b => getComputedStyle(b).boxShadow") != "none", "no edge between it and the text"
        site.page.mouse.move(1, 1)
        assert not box.is_visible()
    terms.first.focus()
    assert box.is_visible()
    site.page.keyboard.press("Escape")
    assert not box.is_visible()
    terms.first.click()
    site.until("location.pathname.endsWith('glossary.html') && location.hash.startsWith('#term-')")
    site.until("document.getElementById(location.hash.slice(1)) !== null")  # the page is still loading here


def test_a_tapped_term_is_explained_at_the_foot_of_the_screen(site: Site):
    """The words would cover the sentence that they explain, or stay when a reader taps elsewhere."""
    site.look(PHONE)
    touch = site.page.context.new_cdp_session(site.page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def tap(x: float, y: float) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    try:
        site.open("en/pitfalls.html")
        place, box = site.page.locator("article a.term").first.bounding_box(), site.page.locator("#means")
        tap(place["x"] + 5, place["y"] + 5)
        box.wait_for(state="visible")
        assert site.page.url.endswith("pitfalls.html")
        shown = box.bounding_box()
        assert shown["y"] > place["y"] + 100
        assert 0 < PHONE["height"] - shown["y"] - shown["height"] < 20
        tap(PHONE["width"] - 5, 200)
        box.wait_for(state="hidden")
    finally:
        touch.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        touch.detach()


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_answer_at_once(site: Site, language: str):
    """A choice would do nothing, say right to a wrong answer, or put what it says elsewhere on the page."""
    site.look(WIDE)
    site.open(f"{language}/02_metrics.html")
    quizzes = site.page.locator("fieldset.quiz")
    inside = """said => {
      const [{left, right, top, bottom}, box] = [said, said.closest('.quiz')].map(one => one.getBoundingClientRect());
      return left >= box.left && right <= box.right && top >= box.top && bottom <= box.bottom;
    }"""
    assert quizzes.count() == 14
    for quiz in quizzes.all():
        assert quiz.locator("p:visible").count() == 0
        for choice in quiz.locator("input").all():
            choice.check()
            said = quiz.locator("p:visible")
            assert said.count() == 1
            kind = "right" if "right" in said.get_attribute("class") else "wrong"
            assert said.inner_text().startswith(site_words(language)[kind].strip())
            assert said.evaluate(inside), "over another part of the page"
        assert quiz.locator("p.right").count() == 1
    site.look(PHONE)
    site.show("h1")  # no choice is half behind the bar at the top, which axe takes for small
    lines = [label.bounding_box()["height"] for label in site.page.locator(".quiz.short label").all()]
    assert len(lines) >= 18
    assert max(lines) < 35, "answers beside each other have one line each"
    assert site.violations() == []


@pytest.mark.parametrize("path", ["zh/02_metrics.html", "zh/03_model_comparison.html"])
def test_tables_have_chinese_labels(site: Site, path: str):
    """A Chinese reader would meet English labels in the tables; or could not tell which label the notebook prints."""
    site.look(WIDE)
    site.open(path)
    heads = site.page.locator("table.dataframe:visible th:has(small)")
    texts = heads.all_inner_texts()
    assert len(texts) > 10
    assert all(re.search("[\u4e00-\u9fff]", text.split("\n")[0]) for text in texts)
    assert any("\n" not in text for text in texts)
    site.page.locator("#names-in-code").check()
    assert all(text.split("\n")[1].strip() for text in heads.all_inner_texts())
    site.page.locator("#names-in-code").uncheck()  # which is kept


def test_a_reader_of_chinese_chooses_the_data(site: Site):
    """The switch would change nothing, lose the place on the page, or be forgotten in the next lesson."""
    site.look(PHONE)
    site.open("zh/03_model_comparison.html")
    english, chinese = site.page.locator("#cell-pocket + .cell .cell_output").all()
    assert [english.is_visible(), chinese.is_visible()] == [True, False]
    button = site.page.locator("#cell-pocket + .cell .other-data")
    button.scroll_into_view_if_needed()
    before = button.bounding_box()
    button.click()
    assert abs(button.bounding_box()["y"] - before["y"]) < 2
    assert [english.is_visible(), chinese.is_visible()] == [False, True]
    site.open("zh/08_chunks.html")
    assert site.page.locator(".companion").first.is_visible()
    site.page.locator("label:has(#data-en)").click()
    assert not site.page.locator(".companion:visible").count()
    assert site.violations() == []
