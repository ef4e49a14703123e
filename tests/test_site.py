"""The documentation site in a real browser: Debian's chromium, pages served on this machine alone.

Needs chromium (`apt install chromium`) and axe-core (`npm install --prefix build axe-core@4.14.1`). Where the
environment says CI, a missing one is a failure; elsewhere the tests are skipped and say so. Pictures for a look are
left in build/screenshots/.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .tools.notebooks import LANGUAGES, ROOT, lesson_names, lesson_path, read

AXE = ROOT / "build" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PICTURES = ROOT / "build" / "screenshots"
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
DRAWN = "document.querySelectorAll('mjx-container').length >= document.querySelectorAll('.math').length"
PAINTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
STILL = "document.getAnimations().length === 0"
# Words in the same colour on the same ground, large or not, have the same contrast, on whichever page: axe looks at
# three of each kind that it has not passed yet; the kinds that it passes now come back, and the words too faint.
CONTRAST = """async seen => {
  const grounds = new Map([[null, '']]), kinds = new Map();
  const seeable = {opacityProperty: true, visibilityProperty: true};
  for (const e of document.querySelectorAll('html, body, body *')) {
    const {color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight} = getComputedStyle(e);
    const below = grounds.get(e.parentElement), clear = backgroundColor === 'rgba(0, 0, 0, 0)';
    const covers = backgroundColor.startsWith('rgb('), plain = backgroundImage === 'none' && opacity === '1';
    const ground = plain && covers ? '' : below;
    grounds.set(e, plain && clear ? below : [ground, backgroundColor, backgroundImage, opacity].join());
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility(seeable)) continue;
    const large = parseFloat(fontSize) >= (fontWeight >= 700 ? 56 / 3 : 24);
    const kind = [color, large, grounds.get(e)].join();
    if (!seen.includes(kind)) kinds.set(kind, [...(kinds.get(kind) || []), e].slice(0, 3));
  }
  if (!kinds.size) return [[], []];
  const options = {runOnly: ['color-contrast'], preload: false, elementRef: true};
  const {passes, violations} = await axe.run({include: [...kinds.values()].flat()}, options);
  const clear = new Set(passes.flatMap(p => p.nodes.map(n => n.element)));
  return [
    [...kinds].filter(([, three]) => three.some(e => clear.has(e))).map(([kind]) => kind),
    violations.flatMap(v => v.nodes.map(n => n.html.slice(0, 120))),
  ];
}"""
RULES = """axe.run(document, {
  rules: {'color-contrast': {enabled: false}, 'target-size': {enabled: true}},
  preload: false, resultTypes: ['violations'],
}).then(found => found.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 120))))"""
QUERIES = {
    "en": {
        "cheat sheet": "cheatsheet",
        "which library says what": "libraries",
        "own model": "own_model",
        "glossary": "glossary",
        "bibtex": "citation",
        "translate a lesson": "contributing",
        "gallery of wrong numbers": "02_metrics",
        "the instruction on the wrong side": "pitfalls",
        "how far to trust a score": "01_evaluation",
        "peak memory": "benchmarks",
    },
    "zh": {
        "速查表": "cheatsheet",
        "各库的算法差异": "libraries",
        "自己的模型": "own_model",
        "术语表": "glossary",
        "引用": "citation",
        "翻译求意思准确": "contributing",
        "理想排序只看检索到的": "02_metrics",
        "常见错误": "pitfalls",
        "分数有多可信": "01_evaluation",
        "内存峰值": "benchmarks",
    },
}


# Pages of which pictures are kept, and what to show of each.
SHOWN = {
    "index": {"home": "body"},
    "libraries": {"table": "#why-they-differ"},
    "cheatsheet": {"cheatsheet": "body"},
    "benchmarks": {"benchmarks": "body"},
    "03_model_comparison": {"lesson": "body", "frame": "table.dataframe", "figure": "article img"},
}


@dataclass
class Site:
    """A browser page, the site's address and folder, what went wrong since `open`, kinds of words known to be clear."""

    page: object
    base: str
    folder: Path
    wrong: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Take down errors of the console and requests that leave this machine."""
        page = self.page
        page.on(
            "console", lambda m: self.wrong.append(f"console: {m.text}") if m.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.wrong.append(f"script: {error}"))
        page.on("request", lambda r: None if r.url.startswith(self.base) else self.wrong.append(f"request: {r.url}"))
        page.on("requestfailed", self._failed)
        page.on("response", lambda r: self.wrong.append(f"{r.status}: {r.url}") if r.status >= 400 else None)

    def _failed(self, request: object) -> None:
        """Take down a request without answer, unless the page was left before it came."""
        if request.failure != "net::ERR_ABORTED":
            self.wrong.append(f"failed: {request.url}")

    def open(self, path: str) -> None:
        """Load a page of the site, formulas drawn."""
        self.wrong.clear()
        self.page.goto(self.base + path)
        self.until(DRAWN)

    def until(self, condition: str, seconds: float = 20) -> None:
        """Wait until a JavaScript condition holds (playwright's own wait needs eval, which the policy forbids)."""
        for _ in range(int(seconds * 50)):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"{self.page.url}: after {seconds} s still not {condition}")

    def axe(self, script: str, *arguments: object) -> list:
        """Run a script that calls axe in the page, where axe is put first; what that logs or fetches does not count."""
        if not self.page.evaluate("typeof axe !== 'undefined'"):
            before = list(self.wrong)
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
            self.wrong[:] = before
        return self.page.evaluate(script, *arguments)

    def violations(self) -> list[str]:
        """Return what axe finds by all its rules but the one for contrast."""
        return self.axe(RULES)

    def faint(self) -> list[str]:
        """Return the words that axe finds too faint on their ground, of the kinds not passed before."""
        kinds, found = self.axe(CONTRAST, self.kinds)
        self.kinds += kinds
        return found

    def look(self, size: dict[str, int], scheme: str = "light") -> None:
        """Set the window's size and the reader's colours, and wait until the change is over."""
        self.page.set_viewport_size(size)
        self.page.emulate_media(color_scheme=scheme)
        self.page.evaluate(PAINTED)
        self.until(f"(document.documentElement.dataset.theme || '{scheme}') === '{scheme}' && {STILL}")

    def show(self, selector: str) -> None:
        """Scroll to the first thing that the selector finds."""
        self.page.evaluate(f"document.querySelector('{selector}').scrollIntoView({{behavior: 'instant'}})")

    def picture(self, name: str) -> None:
        """Leave a picture of what the window shows in build/screenshots/."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        assert len(self.page.screenshot(path=str(PICTURES / f"{name}.png"))) > 10_000, f"{name}: blank"

    def switch(self) -> None:
        """Press the language switch where it is; playwright's own click would scroll first."""
        box = self.page.locator("a.language-switch").bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site in a browser with a fresh profile."""
    chromium = shutil.which("chromium")
    lacking = [name for name, there in (("chromium", chromium), ("axe-core (npm)", AXE.exists())) if not there]
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        lacking.append("playwright (pip)")
    if lacking:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"not installed: {', '.join(lacking)}")
    from .site import built, served

    folder = built()
    with served(folder) as base, sync_playwright() as play:
        profile = str(tmp_path_factory.mktemp("profile"))
        context = play.chromium.launch_persistent_context(
            profile, executable_path=chromium, args=list(FLAGS), headless=True, viewport=WIDE, locale="en-GB",
            reduced_motion="reduce",
        )  # fmt: skip
        found = Site(context.new_page(), base, folder)
        found.watch()
        yield found
        context.close()


def names() -> list[str]:
    """The pages of one language, lessons among them, as the sources say."""
    made = [path.stem for path in sorted((ROOT / "docs" / "en").glob("*.md"))] + lesson_names(ROOT)
    return [*made, "genindex", "search", "_modules/helpers/index"]


def formulas(language: str, name: str) -> int:
    """Count the formulas in the source of a page or lesson."""
    page = ROOT / "docs" / language / f"{name}.md"
    notebook = lesson_path(ROOT, language, name)
    texts = [page.read_text(encoding="utf-8")] if page.exists() else []
    if notebook.exists():
        texts = [cell.source for cell in read(notebook).cells if cell.cell_type == "markdown"]
    count = 0
    for text in texts:
        bare = re.sub(r"^```.*?^```|`[^`\n]+`", "", text, flags=re.S | re.M)
        count += len(re.findall(r"\$\$.+?\$\$|(?<!\\)\$[^$\n]+?(?<!\\)\$", bare, flags=re.S))
    return count


def inspect(site: Site, language: str, name: str) -> None:
    """Look at the page that the browser shows: in light and dark, and on a phone; that first, where it is one."""
    assert site.page.locator("mjx-container").count() == formulas(language, name)
    assert site.page.locator("mjx-merror").count() == 0
    looks = [("light", WIDE, "light"), ("dark", WIDE, "dark"), ("phone", PHONE, "light")]
    for label, size, scheme in looks if site.page.viewport_size == WIDE else looks[::-1]:
        site.look(size, scheme)
        if size == PHONE:
            assert site.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], f"{language}, phone"
        else:
            assert site.faint() == [], f"{language}, {label}"
        if size == PHONE or (name, label) == ("index", "light"):  # the bars at the sides, hidden on a phone
            assert site.violations() == [], f"{language}, {label}"
        for spot, selector in SHOWN.get(name, {}).items():
            site.show(selector)
            site.picture(f"{language}-{spot}-{label}")
    for image in site.page.locator("article img").all():
        assert image.evaluate("async i => { await i.decode(); return i.naturalWidth; }") > 100
    assert site.wrong == []


def change_language(site: Site, name: str, language: str) -> None:
    """Press the switch on a page, in the middle of a lesson, and see that it leads to the same heading."""
    here = ""
    if name in lesson_names(ROOT):
        site.look(WIDE)
        sections = site.page.evaluate("[...document.querySelectorAll('article section section')].map(s => s.id)")
        here = "#" + sections[len(sections) // 2]
    site.show(here or "body")
    site.switch()
    site.page.wait_for_url(f"{site.base}{language}/{name}.html{here}")
    site.until(DRAWN)
    assert abs(site.page.evaluate(f"document.querySelector('{here or 'body'}').getBoundingClientRect().top")) < 300
    site.page.evaluate("location.hash = ''")  # unmarks the heading: axe can say nothing of its contrast


@pytest.mark.parametrize("name", names())
def test_page(site: Site, name: str):
    """In one of the languages the page would fail, call another server, bar some readers, or lose its other edition."""
    site.look(WIDE)
    site.open(f"en/{name}.html")
    inspect(site, "en", name)
    change_language(site, name, "zh")
    inspect(site, "zh", name)
    if name in lesson_names(ROOT):
        change_language(site, name, "en")


def test_pages_of_source_code(site: Site):
    """A page with the source of a module would fail, call another server or be too wide for a phone.

    The Chinese edition has the same pages; `test_page` looks at its list of them.
    """
    site.look(PHONE)
    for path in sorted(site.folder.glob("en/_modules/**/*.html")):
        site.open(path.relative_to(site.folder).as_posix())
        assert site.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        assert site.page.locator("div.highlight").count() > 0 or path.stem == "index"
        assert site.wrong == [], path
    site.look(WIDE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_finds_the_page_first(site: Site, language: str):
    """A reader who searches for a word or a phrase would not find the page that explains it."""
    site.page.set_viewport_size(WIDE)
    first = {}
    for query in QUERIES[language]:
        site.open(f"{language}/search.html?q={query}")
        site.page.wait_for_selector("#search-results .search-summary:not(:empty)")
        links = site.page.locator("#search-results ul.search li a")
        first[query] = (links.first.get_attribute("href") or "").split(".html")[0] if links.count() else "nothing"
        assert site.wrong == []
    assert first == QUERIES[language]


def test_search_from_any_page(site: Site):
    """The search field would do nothing."""
    site.page.set_viewport_size(WIDE)
    site.open("zh/pitfalls.html")
    site.page.click("button.search-button-field")
    site.page.fill("dialog input[name=q]", "召回率")
    site.page.keyboard.press("Enter")
    site.page.wait_for_selector("#search-results ul.search li a")
    assert "/zh/search.html" in site.page.url
    assert site.wrong == []


def test_copy_and_theme_buttons(site: Site):
    """A reader could not copy code, or not leave the dark."""
    site.page.set_viewport_size(WIDE)
    site.page.emulate_media(color_scheme="light")
    site.open("en/own_model.html")
    assert site.page.locator("button.copybtn").count() == site.page.locator("article div.highlight").count() > 0
    for mode in ("dark", "light", "auto"):
        site.page.click("button.theme-switch-button")
        site.page.click(f"button.theme-change-button[data-mode={mode}]")
        assert site.page.evaluate("document.documentElement.dataset.mode") == mode
    assert site.wrong == []


def test_start_page_picks_a_language(site: Site):
    """A reader would be sent to a language he does not read, or the choice would be forgotten."""
    for stored, expected in (("null", "en"), ("'zh'", "zh"), ("'en'", "en")):
        site.open("en/citation.html")
        store = (
            "localStorage.removeItem('language')" if stored == "null" else f"localStorage.setItem('language', {stored})"
        )
        site.page.evaluate(store)
        site.page.goto(site.base)
        site.page.wait_for_url(f"{site.base}{expected}/index.html")
    site.page.evaluate("localStorage.removeItem('language')")


def test_pages_outside_of_sphinx(site: Site):
    """The page for a wrong address, or a lesson saved as HTML, would bar some readers or fail."""
    for path in ("404.html", *(f"{code}/downloads/{name}.html" for code in LANGUAGES for name in lesson_names(ROOT))):
        site.open(path)
        if path == "404.html":
            assert site.violations() == []
            assert site.page.evaluate("getComputedStyle(document.querySelector('main')).textAlign") == "center"
        else:
            assert site.page.locator("mjx-container").count() >= formulas(path[:2], Path(path).stem)
        assert site.wrong == [], path


@pytest.mark.parametrize("language", LANGUAGES)
def test_cheat_sheet_prints_on_one_page(site: Site, language: str):
    """The cheat sheet would be no sheet."""
    site.page.set_viewport_size(WIDE)
    site.page.emulate_media(color_scheme="light")
    site.open(f"{language}/cheatsheet.html")
    assert len(re.findall(rb"/Type\s*/Page\b", site.page.pdf(format="A4"))) == 1
