"""Make a built site need nothing but its own files.

Sphinx and its theme write scripts and styles into the pages, load a large icon library and ship what no page uses.
Here inline code moves to files, icons become small pictures in the page, and every page gets a content security
policy that permits its own server alone.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from sphinx.application import Sphinx

from docs.site.chinese import polished
from docs.site.project import Edition, site_words
from docs.site.styles import custom_properties, names, needed
from notebooks.kit.translation import glossary

POLICY = "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"
UNUSED = (
    ".buildinfo", "_sources", "_static/scripts/fontawesome.js*", "_static/vendor", "_static/**/*.map",
    "_static/locales", "_static/images", "_static/*.png", "_static/*.html", "_static/searchtools.js",
    "_static/language_data.js", "_static/doctools.js", "_static/sphinx_highlight.js", "_static/translations.js",
    "_static/scripts/bootstrap.js",
)  # fmt: skip

_VIEWPORT = '<meta name="viewport"'
_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.S)
_STYLE = re.compile(r"<style[^>]*>(?P<css>.*?)</style>", re.S)
_STYLED = re.compile(r"<(?P<start>[a-zA-Z][\w-]*(?:\s[^<>]*?)?)\sstyle=\"(?P<css>[^\"]*)\"(?P<rest>[^<>]*)>")
_ICON = re.compile(r"<(?P<tag>i|span) class=\"(?P<names>[^\"]*\bfa-[^\"]*)\"(?P<rest>[^>]*)></(?P=tag)>")
_HANDLER = re.compile(r"<[a-zA-Z][^<>]*\son[a-z]+=\"")
_FONTS = re.compile(r"@font-face\s*\{[^}]*(?:fa-|Font ?Awesome)[^}]*\}")
_THEME = (
    'localStorage.getItem("mode")?.match(/^(light|dark)$/)?.[0]'
    ' || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")'
)
_NOT_OURS = "fontawesome|searchtools|language_data|searchindex|doctools|sphinx_highlight|translations|bootstrap"
BETTER = (
    (re.compile(r'(<html[^>]*) data-theme="auto"'), r'\1 data-theme="light"'),  # which a script changes at once
    # The theme's own script would decide between light and dark once all is shown, and the browser style it all again.
    (re.compile(r'(dataset\.theme = )localStorage\.getItem\("theme"\) \|\| "auto"'), rf"\1{_THEME}"),
    (re.compile(r"\s*<link rel=\"preload\" as=\"script\"[^>]*>"), ""),
    (re.compile(rf"\s*<script[^>]*(?:{_NOT_OURS})\.js[^>]*></script>"), ""),
    (re.compile(r'\s*<meta name="docsearch:[^>]*>'), ""),
    (re.compile(r'<span class="pre">([^<]*)</span>'), r"\1"),  # of no use here, and a third of an API page
    (re.compile(r'<span class="[npw]">([^<]*)</span>'), r"\1"),  # names and signs of code, which have its own colour
    (re.compile(r'<code class="docutils literal notranslate(?=">[!-~ ]{1,24}</code>)'), r"\g<0> short"),  # whole
    (re.compile(r"(?<=[、，；])(?=<code )"), "<wbr>"),  # where no line would end before a hyphen
    # What a screen reader would stumble over: a label that hides the text, a heading cell without text, no landmark.
    (re.compile(r'(<button[^>]*search-button-field[^>]*?) aria-label="[^"]*"'), r"\1"),
    (re.compile(r'<dl>\s*(?=<dd><em class="sig-param")'), "<ul>"),  # parameters, a line each: Sphinx's list lacks terms
    (re.compile(r'<dd>(<em class="sig-param".*?</em>,)</dd>\s*'), r"<li>\1</li>"),
    (re.compile(r"(?<=</em>,</li>)</dl>"), "</ul>"),
    (re.compile(r"<th(?P<a>[^>]*)>\s*(?:<p>\s*</p>)?\s*</th>"), r"<td\g<a>></td>"),
    (re.compile(r'(?<=\w\.)(?=\w[\w.]*<a class="headerlink")'), "<wbr>"),  # the name of a module
    (re.compile(r"(?<=<td>)-(?=\d)"), "\u2212"),  # a minus is as wide as a plus
    (re.compile(r'(<div id="pst-primary-sidebar")'), r'\1 role="complementary"'),
    (
        re.compile(r'(<a class="reference internal" href="[^"]*">([^<]*)</a>\s*<details[^>]*><summary)>'),
        r'\1 aria-label="\2">',
    ),
    (re.compile(r"(?<=>See) (?=lesson \d</)|(?<=[Ll]esson) (?=\d(?:</span>)?</a>)"), "\u00a0"),  # links that stay whole
)
_SHELL = re.compile(r'(?<=<div class="highlight-)(?:sh|bash) .*?</pre>', re.S)
_DASHED = re.compile(r"(?<![^\s>])[^\s<>]*-[^\s<>]+(?![^<]*>)")  # a line would end after any of its hyphens
_WORDS = re.compile(r'(?<=<code class="docutils literal notranslate">)[^<]+ --?\w[^<]*(?=</code>)')
_OPTION = re.compile(r"(?<= )--?\w[\w-]*")
_LONG = re.compile(r'(?<=docutils literal notranslate">)[^<\s]{25,}(?=</code>)')
_CODE = re.compile(  # code of a lesson or page, commands, or an example of the API, and what is before it
    r'(highlight-(?:python|default|sh|bash) notranslate"><div class="highlight"><pre><span></span>)(.*?)(?=</pre>)',
    re.S,
)
_BEGUN = re.compile(  # long code, of which the button below it says how many lines are shown
    r'(?<=<pre><span></span>)((?:(?!</pre>).)*)(?=</pre></div>\s*</div>\s*<button[^>]* data-first="(\d+)")', re.S
)
_NOTED = re.compile(r'(\S.*?)(\s+<span class="c1">[^\n]*</span>)')
_PROSE = re.compile(r'\s*<span class="(?:sd|c1)">[^<]*</span>')  # and no code beside it
FITS = 42  # characters of a line of code that need not wrap; a Chinese one counts two
DEEPEST = 24  # the deepest indent that site.css knows
_SCROLLED = re.compile(r'(?<=document\.querySelector\()"div\.bd-sidebar"')  # the contents scroll, what is above stays
# The theme scrolls them to where they were on another page, or the page's entry up; here only one that is out of sight.
_IN_SIGHT = {
    'sessionStorage.getItem("sidebar-scroll-top")': "NaN", ".5*window.innerHeight": ".95*window.innerHeight",
    "let t=.25": "let t=.85",
}  # fmt: skip
# The theme marks a section in the contents when its heading comes into the window: none after a jump (site.js does it).
_MARKED = re.compile(r'e\(function\(\)\{const e=document\.querySelector\("#pst-page-toc-nav"\);.*?,c\(\)\}\),')
_FOCUS = re.compile(r"\w\.tabIndex=\w\.scrollWidth[^}]*")  # a layout for each box; site.js does it with one for all
_BLUR = re.compile(r"\bt\.blur\(\)(?=\}\),!0\))")  # of what opens a dialog: the focus could not return to it
_STYLES = ("fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw", "fa-sm")
Icons = dict[str, tuple[str, str]]


def finish(app: Sphinx, failure: Exception | None) -> None:
    """Tighten every page that Sphinx has written for one language, and drop what no page uses."""
    if failure is not None:
        return
    folder, edition = Path(app.outdir), Edition.of(app)
    theme = site_words(edition.language)["theme"]
    words: list[str] = []  # of the glossary, which no title is broken inside
    if edition.language == "zh":
        words = sorted({w for term in glossary(edition.root) for w in (term.zh, *term.accepted) if not w.isascii()})
    static = folder / "_static"
    pages = Pages(folder, icon_shapes((static / "scripts" / "fontawesome.js").read_text(encoding="utf-8")))
    for path in sorted(folder.glob("*.html")):
        text = pages.tightened(path.read_text(encoding="utf-8"), path.name)
        path.write_text(polished(text, words, theme) if words else text, encoding="utf-8")
    rules = "".join(f".{name} {{{css}}}\n" for name, css in sorted(pages.rules.items()))
    (static / "inline" / "styles.css").write_text(rules, encoding="utf-8")
    for pattern in UNUSED:
        for path in sorted(folder.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for script in sorted((static / "scripts").glob("*.js")):
        code = _BLUR.sub("", _MARKED.sub("", _FOCUS.sub("", script.read_text(encoding="utf-8"))))
        for theirs, ours in _IN_SIGHT.items():
            code = code.replace(theirs, ours)
        script.write_text(_SCROLLED.sub("'.sidebar-primary-item:has(.bd-docs-nav)'", code), encoding="utf-8")
    used = names(folder)
    for _ in range(2):  # what rules asked for that have gone, nobody asks for any more
        properties = custom_properties(folder)
        for path in sorted([*static.glob("*.css"), *(static / "styles").glob("*.css")]):
            text = _FONTS.sub("", path.read_text(encoding="utf-8"))  # the font files are not shipped
            path.write_text(needed(text, used, properties), encoding="utf-8")


@dataclass
class Pages:
    """The pages of one language: where they lie, the icons they may show, the styles found inside them by class."""

    folder: Path
    icons: Icons
    rules: dict[str, str] = field(default_factory=dict)

    def tightened(self, text: str, name: str) -> str:
        """Return a page, of the file of that name, without inline code and with a policy. Raises ValueError."""
        for pattern, better in BETTER:
            text = pattern.sub(better, text)
        text = broken_in_right_places(text)
        before, sign, after = text.partition(_VIEWPORT)  # Sphinx and its theme each write one
        text = before + sign + re.sub(rf"\s*{_VIEWPORT}[^>]*>", "", after)
        text = _SCRIPT.sub(self._script, text)
        text = _STYLE.sub(lambda match: f'<link rel="stylesheet" href="{self._moved(match["css"], "css")}">', text)
        while _STYLED.search(text):
            text = _STYLED.sub(self._classed, text)
        if "inline-style-" in text:
            text = text.replace("</head>", '<link rel="stylesheet" href="_static/inline/styles.css">\n</head>', 1)
        text = _ICON.sub(self._icon, text)
        if handler := _HANDLER.search(text):
            raise ValueError(f"{name}: code inside a tag: {handler[0][:80]}")
        policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        return re.sub(r"(<head[^>]*>\s*(?:<meta charset=[^>]*>)?)", rf"\1\n{policy}", text, count=1)

    def _script(self, match: re.Match[str]) -> str:
        """Return a script tag that loads what the inline script said; the name of the page, which is unused, goes."""
        if "src=" in match["attributes"] or "json" in match["attributes"]:
            return match[0]
        code = match["code"].strip()
        if not code or code.startswith("DOCUMENTATION_OPTIONS.pagename"):
            return ""
        return f'<script src="{self._moved(code, "js")}"></script>'

    def _moved(self, code: str, kind: str) -> str:
        """Write code to a file named by its content and return its path."""
        path = self.folder / "_static" / "inline" / f"{hashlib.sha256(code.encode()).hexdigest()[:12]}.{kind}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(code.strip() + "\n", encoding="utf-8")
        return path.relative_to(self.folder).as_posix()

    def _classed(self, match: re.Match[str]) -> str:
        """Return a tag whose style attribute has become a class, the rule noted."""
        name = "inline-style-" + hashlib.sha256(match["css"].encode()).hexdigest()[:8]
        self.rules[name] = unescape(match["css"])
        tag = match["start"] + match["rest"]
        if ' class="' not in tag:
            return f'<{tag} class="{name}">'
        return "<" + tag.replace(' class="', f' class="{name} ', 1) + ">"

    def _icon(self, match: re.Match[str]) -> str:
        """Return the picture of an icon; the names stay as classes, since the theme looks for them."""
        names = [n[3:] for n in match["names"].split() if n.startswith("fa-") and n not in _STYLES]
        box, outline = self.icons[names[0]]
        return (
            f'<svg class="svg-inline--fa {match["names"]}"{match["rest"]} aria-hidden="true" viewBox="{box}">'
            f'<path fill="currentColor" d="{outline}"></path></svg>'
        )


def broken_in_right_places(text: str) -> str:
    """Return a page where no line ends inside an option of a shell; long names in code end after `/`, `.` or `_`."""
    whole = r'<span class="together">\g<0></span>'
    text = _SHELL.sub(lambda code: _DASHED.sub(whole, code[0]), text)
    text = _CODE.sub(lambda code: code[1] + "\n".join(map(_wrapping, code[2].split("\n"))), text)
    text = _BEGUN.sub(_parted, text)
    text = _WORDS.sub(lambda code: _OPTION.sub(whole, code[0]), text)
    return _LONG.sub(lambda name: re.sub(r"(?<=[/._])(?=\w)", "<wbr>", name[0]), text)


def _parted(code: re.Match[str]) -> str:
    """Return code whose lines after the first are one element, which site.css hides."""
    lines, first = code[1].split("\n"), int(code[2])
    return "\n".join([*lines[:first], '<span class="rest">' + "\n".join(lines[first:])]) + "</span>"


def _wrapping(line: str) -> str:
    """Return a line of code whose parts site.css can place: a comment after code, the rest of a line that wraps."""
    if noted := _NOTED.fullmatch(line):
        line = f'<span class="noted"><span>{noted[1]}</span>{noted[2]}</span>'
    plain = unescape(re.sub(r"<[^>]+>", "", line))
    indent = min(DEEPEST, (len(plain) - len(plain.lstrip())) // 4 * 4)
    prose = " prose" if _PROSE.fullmatch(line) else ""  # needs no sign where it wraps
    return f'<span class="wraps in-{indent}{prose}">{line}</span>' if len(plain.encode("gb18030")) > FITS else line


def icon_shapes(code: str) -> Icons:
    """Return width × height and outline of every icon in the icon library's code, by name."""
    shapes: Icons = {}
    pattern = r'"?([a-z0-9-]+)"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]'
    for name, width, height, outline in re.findall(pattern, code):
        shapes.setdefault(name, (f"0 0 {width} {height}", outline))
    return shapes
