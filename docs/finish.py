"""Make a built site need nothing but its own files, and follow its links.

Sphinx and its theme write scripts and styles into the pages, load a large icon library and ship what no page uses.
Here inline code moves to files, icons become small pictures in the page, and every page gets a content security
policy that permits its own server alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import urllib.error
import urllib.request
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

POLICY = "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"
MATHJAX = (
    "startup.js", "core.js", "input/tex-base.js", "input/tex/extensions/ams.js", "output/chtml.js",
    "output/chtml/fonts/tex.js", "a11y/assistive-mml.js",
)  # fmt: skip
UNUSED = (
    ".buildinfo", "_sources", "_static/scripts/fontawesome.js*", "_static/vendor", "_static/**/*.map",
    "_static/locales", "_static/images", "_static/*.png", "_static/*.html",
)  # fmt: skip

_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.S)
_STYLE = re.compile(r"<style[^>]*>(?P<css>.*?)</style>", re.S)
_STYLED = re.compile(
    r"<(?P<tag>[a-zA-Z][\w-]*)(?P<attributes>(?:\s[^<>]*?)?)\sstyle=\"(?P<css>[^\"]*)\"(?P<rest>[^<>]*)>"
)
_ICON = re.compile(r"<(?P<tag>i|span) class=\"(?P<names>[^\"]*\bfa-[^\"]*)\"(?P<rest>[^>]*)></(?P=tag)>")
_HANDLER = re.compile(r"<[a-zA-Z][^<>]*\son[a-z]+=\"")
# What a screen reader would stumble over: a label that hides the text, a heading cell without text, no landmark.
ACCESSIBLE = (
    (re.compile(r'(<button[^>]*search-button-field[^>]*?) aria-label="[^"]*"'), r"\1"),
    (re.compile(r"<th(?P<a>[^>]*)>\s*(?:<p>\s*</p>)?\s*</th>"), r"<td\g<a>></td>"),
    (re.compile(r'(<div id="pst-primary-sidebar")'), r'\1 role="complementary"'),
)
_STYLES = ("fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw", "fa-sm")


def finish(html: Path) -> None:
    """Tighten every page below html, add MathJax and drop what no page uses."""
    for folder in (html / "en", html / "zh"):
        icons = icon_shapes((folder / "_static" / "scripts" / "fontawesome.js").read_text(encoding="utf-8"))
        for page in sorted(folder.rglob("*.html")):
            if not {"_static", "downloads"} & set(page.parts):
                text = page.read_text(encoding="utf-8")
                page.write_text(tightened(text, page, folder, icons), encoding="utf-8")
        for pattern in UNUSED:
            for path in sorted(folder.glob(pattern)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for css in (folder / "_static" / "styles").glob("*.css"):
            css.write_text(_without_font_awesome(css.read_text(encoding="utf-8")), encoding="utf-8")
        _no_eval(folder / "_static" / "doctools.js", folder / "_static" / "translations.js")
        _mathjax(folder / "_static" / "mathjax")


def tightened(text: str, page: Path, folder: Path, icons: dict[str, tuple[str, str]]) -> str:
    """Return a page without inline code and with a policy; page lies below folder, the root of its language."""
    up = "../" * (len(page.relative_to(folder).parts) - 1)
    text = re.sub(r"\s*<script[^>]*fontawesome\.js[^>]*></script>", "", text)
    text = re.sub(r"\s*<link rel=\"preload\" as=\"script\"[^>]*>", "", text)
    if page.stem != "search":
        text = re.sub(r"\s*<script[^>]*(?:searchtools|language_data|searchindex|/search)\.js[^>]*></script>", "", text)
    for pattern, better in ACCESSIBLE:
        text = pattern.sub(better, text)
    text = re.sub(r'<span class="pre">([^<]*)</span>', r"\1", text)  # of no use here, and a third of the API page
    text = _SCRIPT.sub(lambda m: _outside_script(m, folder, up), text)
    text = _STYLE.sub(lambda m: f'<link rel="stylesheet" href="{up}{_kept(m["css"], folder, "css")}">', text)
    while _STYLED.search(text):
        text = _STYLED.sub(lambda m: _classed(m, folder), text)
    if "inline-style-" in text:
        text = text.replace("</head>", f'<link rel="stylesheet" href="{up}_static/inline/styles.css">\n</head>', 1)
    text = _ICON.sub(lambda m: _icon(m, icons), text)
    if found := _HANDLER.search(text):
        raise ValueError(f"{page.name}: code inside a tag: {found[0][:80]}")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return re.sub(r"(<head[^>]*>\s*(?:<meta charset=[^>]*>)?)", rf"\1\n{policy}", text, count=1)


def _outside_script(match: re.Match[str], folder: Path, up: str) -> str:
    """Return a script tag that loads what the inline script said; data and the unused page name go or stay."""
    code = match["code"].strip()
    if "src=" in match["attributes"] or "json" in match["attributes"] or not code:
        return match[0] if "src=" in match["attributes"] or "json" in match["attributes"] else ""
    if code.startswith("DOCUMENTATION_OPTIONS.pagename"):
        return ""
    return f'<script src="{up}{_kept(code, folder, "js")}"></script>'


def _kept(code: str, folder: Path, kind: str) -> str:
    """Write code to a file named by its content and return its path below folder."""
    path = folder / "_static" / "inline" / f"{hashlib.sha256(code.encode()).hexdigest()[:12]}.{kind}"
    path.parent.mkdir(exist_ok=True)
    path.write_text(code.strip() + "\n", encoding="utf-8")
    return path.relative_to(folder).as_posix()


def _classed(match: re.Match[str], folder: Path) -> str:
    """Return a tag whose style attribute has become a class, the rule written to inline/styles.css."""
    name = "inline-style-" + hashlib.sha256(match["css"].encode()).hexdigest()[:8]
    path = folder / "_static" / "inline" / "styles.css"
    path.parent.mkdir(exist_ok=True)
    known = set(path.read_text(encoding="utf-8").splitlines()) if path.exists() else set()
    rules = sorted(known | {f".{name} {{{unescape(match['css'])}}}"})
    path.write_text("\n".join(rules) + "\n", encoding="utf-8")
    attributes = match["attributes"] + match["rest"]
    if ' class="' in attributes:
        attributes = attributes.replace(' class="', f' class="{name} ', 1)
    else:
        attributes += f' class="{name}"'
    return f"<{match['tag']}{attributes}>"


def icon_shapes(code: str) -> dict[str, tuple[str, str]]:
    """Return width × height and outline of every icon in the icon library's code, by name."""
    shapes = {}
    pattern = r'"?([a-z0-9-]+)"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]'
    for name, width, height, outline in re.findall(pattern, code):
        shapes.setdefault(name, (f"0 0 {width} {height}", outline))
    return shapes


def _icon(match: re.Match[str], icons: dict[str, tuple[str, str]]) -> str:
    """Return the picture of an icon; the names stay as classes, since the theme looks for them."""
    names = [n[3:] for n in match["names"].split() if n.startswith("fa-") and n not in _STYLES]
    box, outline = icons[names[0]]
    return (
        f'<svg class="svg-inline--fa {match["names"]}"{match["rest"]} aria-hidden="true" viewBox="{box}">'
        f'<path fill="currentColor" d="{outline}"></path></svg>'
    )


def _without_font_awesome(css: str) -> str:
    """Return a style sheet without the @font-face rules whose font files are not shipped."""
    return re.sub(r"@font-face\s*\{[^}]*(?:fa-|Font ?Awesome)[^}]*\}", "", css)


def _no_eval(doctools: Path, translations: Path) -> None:
    """Write the plural rule of the page's language into Sphinx's script, which would make it from text."""
    said = translations.read_text(encoding="utf-8") if translations.exists() else ""
    rule = re.search(r'"plural_expr": "([^"]*)"', said)
    arrow = f"(n) => {rule[1] if rule else 'Number(n !== 1)'};"
    text = doctools.read_text(encoding="utf-8")
    doctools.write_text(re.sub(r'new Function\(\s*"n",.*?\);', lambda _: arrow, text, flags=re.S), encoding="utf-8")


def _mathjax(target: Path) -> None:
    """Copy the parts of MathJax that the pages load, with their fonts, from the package that carries them."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("sphinx-mathjax-offline is not installed: pip install '.[docs]'")
    source = Path(spec.origin).parent / "static" / "mathjax"
    fonts = [p.relative_to(source).as_posix() for p in (source / "output/chtml/fonts/woff-v2").glob("*.woff")]
    for name in (*MATHJAX, *fonts):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)


def replace_site(html: Path, output: Path) -> None:
    """Put the new site in the place of the old one, which stays until the new one is there."""
    output.parent.mkdir(parents=True, exist_ok=True)
    old, new = (output.with_name(output.name + end) for end in (".old", ".new"))
    for folder in (old, new):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(html, new)
    if output.exists():
        output.rename(old)
    new.rename(output)
    shutil.rmtree(old, ignore_errors=True)


# --- links ---------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The anchors and the addresses of a page."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect ids, links and what the browser loads."""
        found = {key: value or "" for key, value in attributes}
        self.ids |= {found[key] for key in ("id", "name") if key in found and (key == "id" or tag == "a")}
        if "href" in found and found.get("rel") not in ("canonical", "alternate"):
            (self.links if tag == "a" else self.loads).append(found["href"])
        self.loads += [found[key] for key in ("src", "poster", "data") if key in found]


@cache
def read_page(path: Path) -> Page:
    """Return the anchors and addresses of the page at path."""
    return Page(path.read_text(encoding="utf-8"))


def check_links(html: Path, site: str) -> tuple[list[str], list[str]]:
    """Return all external links, and a line for each internal link, file or anchor that is not there."""
    read_page.cache_clear()
    external, broken = set(), []
    for path in sorted(html.rglob("*.html")):
        if "_static" in path.parts:
            continue
        page, label = read_page(path), path.relative_to(html).as_posix()
        for target in dict.fromkeys(page.links + page.loads):
            parts = urlsplit(target)
            if parts.scheme or target.startswith("//"):
                if target in page.loads and not target.startswith("data:"):
                    broken.append(f"{label}: loads {target} from another server")
                elif target not in page.loads:
                    external.add(target)
                    broken += [f"{label}: {target}: {fault}" for fault in address_faults(target)]
            elif message := _missing(target, path, html, site):
                broken.append(f"{label}: {target}: {message}")
    return sorted(external), broken


def _missing(target: str, page: Path, html: Path, site: str) -> str:
    """Return what is wrong with an internal link, an empty string if nothing is."""
    parts = urlsplit(target)
    path = unquote(parts.path)
    base = "/" + site.split("/", 3)[3]
    if path.startswith(base) and path.startswith("/"):
        found = html / path.removeprefix(base)
    else:
        found = (page.parent / path).resolve() if path else page
    found = found / "index.html" if found.is_dir() else found
    if not found.is_file():
        return "no such file on the site"
    anchors = {parts.fragment, unquote(parts.fragment)}
    if parts.fragment and found.suffix == ".html" and not anchors & read_page(found).ids:
        return "no such anchor there"
    return ""


def address_faults(url: str) -> list[str]:
    """Return what is wrong with the writing of an external address."""
    parts = urlsplit(url)
    if parts.scheme == "mailto":
        return []
    faults = []
    if parts.scheme != "https":
        faults.append("not https")
    if not re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+", parts.netloc):
        faults.append("no host name")
    if re.search(r"[\s<>\"{}|\\^`]|[，。；：）】]", url):
        faults.append("a character that does not belong into an address")
    return faults


def unreachable(urls: list[str], seconds: float = 10) -> list[str]:
    """Return the external links that do not answer, each with the reason; asks the network."""
    gone = []
    for url in urls:
        request = urllib.request.Request(url.partition("#")[0], headers={"User-Agent": "Mozilla/5.0 link check"})
        try:
            urllib.request.urlopen(request, timeout=seconds).close()
        except (urllib.error.URLError, TimeoutError, ValueError) as error:
            gone.append(f"{url} ({error})")
    return gone
