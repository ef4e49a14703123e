"""The documentation site without a browser: what stops a build, what the built pages hold, the addresses."""

from __future__ import annotations

import doctest
import re
import shutil
import xml.etree.ElementTree as ElementTree
from html import unescape
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")


from docs.site.build import build, problems
from docs.site.cells import table
from docs.site.finish import POLICY
from docs.site.formulas import mathml
from docs.site.inserts import card, filled
from docs.site.links import check_links
from docs.site.project import DocsError, Edition, addresses, read_yaml, site_words, slugs
from docs.site.pyodide import FOLDER
from notebooks.kit.cells import code_cells
from notebooks.kit.check import check
from notebooks.kit.markdown import headings
from notebooks.kit.notebooks import LANGUAGES, ROOT, dumps, lesson_names, lesson_path, read
from tests.built_site import built
from tests.sample import sample

NAMES = lesson_names(ROOT)
LINKED = {"own_model": "## The data", "test_set": "", "glossary": "<!-- insert: glossary -->",
          "chinese": "## Lessons in a notebook service in China"}  # fmt: skip
LIMITS = {"site": 30_000_000, "ask": 35_000_000}


@pytest.fixture(scope="module")
def site() -> Path:
    """The built site."""
    return built()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A checkout with one short lesson and two short pages, which a test may break."""
    for name in ("site", "images"):
        shutil.copytree(ROOT / "docs" / name, tmp_path / "docs" / name)
    for name in ("glossary.yml", "labels.yml", "lessons.yml"):
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs" / name)
    for name in ("pyproject.toml", "README.md", "README_zh.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    pocket = Path("helpers", "data", "bundled", "pocket")
    shutil.copytree(ROOT / pocket, tmp_path / pocket)
    titles = {"en": ("A page", "Words about recall."), "zh": ("一页", "关于召回率的话。")}
    for language, (title, words) in titles.items():
        folder = tmp_path / "docs" / language
        folder.mkdir()
        toc = "```{toctree}\npage\n```\n"
        (folder / "index.md").write_text(f"# {title}\n\n{words}\n\n<!-- insert: lessons -->\n\n{toc}", encoding="utf-8")
        (folder / "page.md").write_text(f"# {title}\n\n{words}\n\n## {title} 2\n\n{words}\n", encoding="utf-8")
        path = lesson_path(tmp_path, language, "00_sample")
        path.parent.mkdir(parents=True)
        book = sample(language)
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book.metadata["language_info"] = {"name": "python"}
        path.write_text(
            dumps(book).replace(f"../{language}/next.md", f"../../docs/{language}/page.md"), encoding="utf-8"
        )
    return tmp_path


def pages(site: Path) -> list[Path]:
    """The pages of both languages that Sphinx wrote."""
    return [p for code in LANGUAGES for p in sorted((site / code).glob("*.html"))]


def test_every_page_has_its_twin_with_the_same_anchors(site: Path):
    """The language switch would lead nowhere, or to the top instead of the same heading."""
    for page in pages(site)[: len(pages(site)) // 2]:
        twin = site / "zh" / page.relative_to(site / "en")
        assert twin.exists(), twin
        anchors = [re.findall(r'<section[^>]* id="([^"]+)"', p.read_text(encoding="utf-8")) for p in (page, twin)]
        assert anchors[0] == anchors[1], page.name


def test_pages_say_what_they_are(site: Path):
    """Search engines and shared links would show the wrong language, a wrong address, no picture or nothing."""
    where = addresses(ROOT)
    for page in pages(site):
        text, language = page.read_text(encoding="utf-8"), page.parent.name
        assert f'lang="{ {"en": "en", "zh": "zh-CN"}[language] }"' in text.split("<head>")[0], page
        assert f'content="{POLICY}"' in text, page
        for code, label in (("en", "en"), ("zh", "zh-CN")):
            assert f'hreflang="{label}" href="{where.site}{code}/{page.name}"' in text, page
        assert f'property="og:url" content="{where.site}{language}/{page.name}"' in text, page
        assert 'name="twitter:card" content="summary_large_image"' in text, page
        assert f'property="og:image" content="{where.site}card-{language}.png"' in text, page
        for once in ('rel="canonical"', "<title>", 'property="og:title"'):
            assert text.count(once) == 1, f"{page}: {once}"
        title = unescape(re.search(r"<title>(.*)</title>", text)[1])
        assert title.count({"en": "Retrieval evaluation", "zh": "检索评估教程"}[language]) == 1, f"{page}: {title}"
        twin = {"en": "zh", "zh": "en"}[language]
        assert f'<a class="language-switch" href="./../{twin}/{page.name}"' in text, page
    for language in LANGUAGES:
        assert (site / f"card-{language}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_no_page_has_code_or_style_inside(site: Path):
    """The content security policy would switch off a script or a style, and part of the page would not work."""
    for page in pages(site):
        text = page.read_text(encoding="utf-8")
        inside = re.findall(r"<script(?![^>]*(?:src=|json))[^>]*>|<style|\sstyle=\"|\son[a-z]+=\"", text)
        assert inside == [], page
        assert "fa-" not in re.sub(r"<svg.*?</svg>", "", text, flags=re.S), f"{page}: an icon without a picture"


def test_lessons_offer_launch_and_download(site: Path):
    """A launch button would open the wrong notebook, or a download would not be the recorded one."""
    where = addresses(ROOT)
    assert NAMES, "no lesson to test"
    for language in LANGUAGES:
        for name in NAMES:
            text = (site / language / f"{name}.html").read_text(encoding="utf-8")
            path = f"notebooks/{language}/{name}.ipynb"
            owner = where.repository.removeprefix("https://github.com/")
            assert f'href="https://colab.research.google.com/github/{owner}/blob/{where.tag}/{path}"' in text
            assert f'href="https://mybinder.org/v2/gh/{owner}/{where.tag}?urlpath=lab/tree/{path}"' in text
            elsewhere = 'href="chinese.html#lessons-in-a-notebook-service-in-china">'
            assert (elsewhere in text) == (language == "zh")
            saved = site / language / "downloads"
            assert (saved / f"{name}.ipynb").read_bytes() == (ROOT / path).read_bytes()


def test_every_page_is_markdown_too_and_listed(site: Path):
    """A program would have to read a page of tags, or follow a link that leads nowhere."""
    where, listed = addresses(ROOT), (site / "llms.txt").read_text(encoding="utf-8")
    known = set(re.findall(rf"\({re.escape(where.site)}([^)]+)\)", listed))
    assert {path for path in known if not (site / path).is_file()} == set()
    for language in LANGUAGES:
        beside = {path.stem for path in (site / language).glob("*.md")}
        read_here = {path.stem for path in (site / language).glob("*.html") if not path.name.startswith("helpers.")}
        read_here -= {"search", "genindex"}
        assert beside == read_here
        assert {f"{language}/{name}.md" for name in beside} <= known
        for name in beside:
            text = (site / language / f"{name}.md").read_text(encoding="utf-8")
            assert text.startswith("# "), name
            assert f'type="text/markdown" href="{name}.md"' in (site / language / f"{name}.html").read_text("utf-8")
            prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
            assert not re.search(r"^<|<!--|%(?:site|tag|repository)%|^```\{", prose, re.M), name
            for target in re.findall(r"\]\(([^)\s:]+)\)", prose):
                assert (site / language / target.partition("#")[0]).exists(), f"{name}: {target}"
    for name in NAMES:  # what a lesson printed is there
        assert "```text\n" in (site / "en" / f"{name}.md").read_text(encoding="utf-8")


def test_pages_show_the_recorded_outputs(site: Path):
    """The site would show something else than what the tests verified."""
    for language in LANGUAGES:
        for name in NAMES:
            text = (site / language / f"{name}.html").read_text(encoding="utf-8")
            figures = [
                o for c in read(lesson_path(ROOT, language, name)).cells for o in c.get("outputs", ())
                if "image/png" in o.get("data", {})
            ]  # fmt: skip
            shown = re.findall(r'<svg class="drawn" role="img" aria-label="([^"]+)"', text)
            assert len(shown) == len(figures), name
            assert "_images/" not in text, name
            for cell in read(lesson_path(ROOT, language, name)).cells:
                assert f'id="cell-{cell.id}"' in text, f"{language}/{name} [{cell.id}]"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_reader_is_to_predict_is_folded(site: Path, language: str):
    """An exercise that says "Predict, then run the cell" would show its result, or the text would tell it, at once."""
    text = "".join((site / language / f"{name}.html").read_text(encoding="utf-8") for name in NAMES)
    title = f"<summary>{site_words(language)['output']}</summary>"
    folded = re.findall(rf'{title}\s*<div class="cell_output', text)
    told = BeautifulSoup(text, "html.parser").select("details.behind:has(> .cell_output) > p")
    assert 0 < len(told) <= len(folded)


def test_marks_of_the_checks_are_not_published(site: Path):
    """Readers of the source would stumble over marks, or a page would show an insert that was not filled in."""
    assert len(pages(site)) > 50
    for page in pages(site):
        marks = r"<!-- ?(?:fig|calc|holds|nofig|twin|insert|translation of)\b|%(?:site|version)%"
        assert not re.search(marks, page.read_text("utf-8")), page.name


def test_the_examples_of_api_pages_give_what_they_show():
    """A reader would copy an example and get another result than the page shows."""
    for name, text in read_yaml(ROOT / "docs" / "site" / "api.yml").items():
        example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
        assert doctest.DocTestRunner().run(example) == (0, len(example.examples)), name


def test_sizes(site: Path):
    """Pages would be slow on a weak connection."""
    sizes = {path: path.stat().st_size for path in site.rglob("*") if path.is_file()}
    asked = {path for path in sizes if site / FOLDER in path.parents or path.parent.name == "ask"}  # loads on a button
    assert sum(size for path, size in sizes.items() if path not in asked) < LIMITS["site"]
    assert sum(size for path, size in sizes.items() if path.parent == site / "en" / "_static" / "ask") < LIMITS["ask"]


def test_what_is_no_formula_is_named():
    """A page would be published with a hole where a formula should be."""
    with pytest.raises(DocsError, match=r"the formula '\\\\fract\{1\}\{2\}' cannot be shown: .*fract"):
        mathml(r"\fract{1}{2}")


def test_sitemap_and_robots(site: Path):
    """Search engines would miss pages or be sent to addresses that do not exist."""
    where = addresses(ROOT)
    tree = ElementTree.parse(site / "sitemap.xml")
    spots = [node.text or "" for node in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert len(spots) == len(set(spots)) >= 2 * (len(NAMES) + 12)
    assert all((site / spot.removeprefix(where.site)).is_file() for spot in spots)
    assert f"Sitemap: {where.site}sitemap.xml" in (site / "robots.txt").read_text(encoding="utf-8")


# --- what stops a build --------------------------------------------------------------------------------------


@pytest.mark.browser  # builds a small site
def test_a_lesson_is_two_notebooks_and_an_entry(small: Path, tmp_path: Path):
    """Whoever adds a lesson would find out by failing builds and tests what else it needs."""
    for language in LANGUAGES:
        shutil.copy(lesson_path(small, language, "00_sample"), lesson_path(small, language, "09_more"))
    path = small / "docs" / "lessons.yml"
    entry = "\n  09_more:\n    short: {en: One more, zh: 又一课}\n    about: {en: What it is about., zh: 讲什么。}\n"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("\nlessons:", "\nlessons:" + entry.rstrip(), 1), encoding="utf-8")
    for name, text in LINKED.items():  # pages of the real site that lessons link
        for language in LANGUAGES:
            page = small / "docs" / language / f"{name}.md"
            title = {"en": "Page", "zh": "页面"}[language]
            said = text if language == "en" else re.sub("[A-Z][A-Za-z ]+", "标题", text)
            page.write_text(f"---\norphan: true\n---\n# {title}\n\n{said}\n", encoding="utf-8")
    assert problems(small) == []
    build(small, tmp_path / "out")
    for language, short in (("en", "One more"), ("zh", "又一课")):
        page = (tmp_path / "out" / language / "09_more.html").read_text(encoding="utf-8")
        assert 'id="cell-' in page
        assert short in (tmp_path / "out" / language / "index.html").read_text(encoding="utf-8")


def test_check_names_all_that_stops_a_build(small: Path):
    """A contributor with a green check would fail in the build."""
    for path in (lesson_path(small, language, "00_sample") for language in LANGUAGES):
        book = read(path)
        code_cells(book)[0].source += "\n# words that have no Chinese"
        path.write_text(dumps(book), encoding="utf-8")
    stopped = problems(small)
    assert stopped
    said = "\n".join(map(str, check(small)))
    assert [line for line in stopped if line not in said] == []


@pytest.mark.browser  # builds a small site
def test_broken_reference_is_named_and_the_old_site_stays(small: Path, tmp_path: Path):
    """A page would be published with a link that leads nowhere, or a failed build would take the site away."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.txt").write_text("old", encoding="utf-8")
    assert problems(small) == []
    path = small / "docs" / "en" / "page.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nSee [it](00_nothing.md).\n", encoding="utf-8")
    with pytest.raises(DocsError) as caught:
        build(small, tmp_path / "out")
    said = str(caught.value).splitlines()
    assert len(said) == 2, "something else is wrong too"
    assert "docs/en/page.md" in said[1]
    assert "00_nothing" in said[1]
    assert (tmp_path / "out" / "old.txt").exists()


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ('<a href="missing.html">x</a>', "no such file"),
        ('<a href="#nowhere">x</a>', "no such anchor"),
        ('<a href="b.html#nowhere">x</a>', "no such anchor"),
        ('<script src="https://cdn.example.org/x.js"></script>', "from another server"),
        ('<a href="b.html">x</a>', ""),
        ('<a href="b.html#here">x</a>', ""),
        ('<a href="https://example.org/x-y_z/?y=1#z">x</a>', ""),
        ('<a id="x" href="?a=1&amp;b=2#x">x</a>', ""),
        ('<svg><use xlink:href="#gone" x="1"/></svg><!-- <a href="gone.html"> --><i data-src="gone"></i>', ""),
        ("<script>\"<a href='gone'>\"</script>", ""),
    ],
)
def test_links_are_followed(tmp_path: Path, html: str, message: str):
    """A dead link or anchor would be published, or what only looks like a link stop the build."""
    (tmp_path / "a.html").write_text(f'<p id="top">{html}</p>', encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="here">x</p>', encoding="utf-8")
    broken = check_links(tmp_path, "https://example.org/site/")
    assert (message in broken[0]) if message else (broken == []), broken


def test_unknown_insert_is_named():
    """A page would be published with a hole where a table should be."""
    with pytest.raises(DocsError, match="a page says <!-- insert: nothing -->; there are: acid, ask, card"):
        filled("# Title\n\n<!-- insert: nothing -->\n", Edition(ROOT, "en"))
    with pytest.raises(DocsError, match="no table under '## Nothing'"):
        card(Edition(ROOT, "en"), "Nothing")


def test_columns_of_text_are_marked():
    """Texts in tables would be set flush right as numbers are, or numbers flush left."""
    row = '<tr style="text-align: right;"><th>{}</th><td>{}</td><td>{}</td></tr>'
    html = f"<style scoped>td {{{{}}}}</style><table border='1' class='dataframe'>{row}{row}{row}</table>"
    shown = table(html.format("", "who", "score", 0, "Ann", "0.5", 1, "Bob", "NaN"), Edition(ROOT, "en"), set())
    assert re.findall(r'<t[dh] class="words(?: short)?">(\w+)<', shown) == ["who", "Ann", "Bob"]
    assert "style" not in shown
    assert "border" not in shown


def test_anchors_are_made_from_the_titles():
    """Links to headings would break from one build to the next."""
    text = "# Recall@k: how much?\n\n```sh\n# no heading\n```\n\n## Ties\n\n## Ties\n\n### 召回率\n\n### 3. An ideal\n"
    assert slugs(headings(text)) == ["recall-k-how-much", "ties", "ties-2", "section", "an-ideal"]
