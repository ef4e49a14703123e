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
from itertools import pairwise
from pathlib import Path
from typing import Any

import tinycss2
from sphinx.application import Sphinx

from docs.site.project import Edition, site_words

POLICY = "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"
UNUSED = (
    ".buildinfo", "_sources", "_static/scripts/fontawesome.js*", "_static/vendor", "_static/**/*.map",
    "_static/locales", "_static/images", "_static/*.png", "_static/*.html", "_static/searchtools.js",
    "_static/language_data.js", "_static/doctools.js", "_static/sphinx_highlight.js", "_static/translations.js",
    "_static/scripts/bootstrap.js",
)  # fmt: skip

_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.S)
_STYLE = re.compile(r"<style[^>]*>(?P<css>.*?)</style>", re.S)
_STYLED = re.compile(r"<(?P<start>[a-zA-Z][\w-]*(?:\s[^<>]*?)?)\sstyle=\"(?P<css>[^\"]*)\"(?P<rest>[^<>]*)>")
_ICON = re.compile(r"<(?P<tag>i|span) class=\"(?P<names>[^\"]*\bfa-[^\"]*)\"(?P<rest>[^>]*)></(?P=tag)>")
_FONTS = re.compile(r"@font-face\s*\{[^}]*(?:fa-|Font ?Awesome)[^}]*\}")
_COMMENT = re.compile(r"/\*(?!!).*?\*/\s*", re.S)
_NAME = re.compile(r"[A-Za-z_][\w-]*")
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
    (re.compile(r'<span class="(?:pre|[npw])">([^<]*)</span>'), r"\1"),  # a third of an API page; .pre cannot break
    # What a screen reader would stumble over: a label that hides the text, a heading cell without text, no landmark.
    (re.compile(r'(<button[^>]*search-button-field[^>]*?) aria-label="[^"]*"'), r"\1"),
    (re.compile(r"<th(?P<a>[^>]*)>\s*(?:<p>\s*</p>)?\s*</th>"), r"<td\g<a>></td>"),
    (re.compile(r'(<div id="pst-primary-sidebar")'), r'\1 role="complementary"'),
    (
        re.compile(r'(<a class="reference internal" href="[^"]*">([^<]*)</a>\s*<details[^>]*><summary)>'),
        r'\1 aria-label="\2">',
    ),
)
_STYLES = ("fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw", "fa-sm")
Icons = dict[str, tuple[str, str]]


def finish(app: Sphinx, failure: Exception | None) -> None:
    """Tighten every page that Sphinx has written for one language, and drop what no page uses."""
    if failure is not None:
        return
    folder, static = Path(app.outdir), Path(app.outdir) / "_static"
    theirs = site_words(Edition.of(app).language)["theme"]
    pages = Pages(folder, icon_shapes((static / "scripts" / "fontawesome.js").read_text(encoding="utf-8")))
    for path in sorted(folder.glob("*.html")):
        text = pages.tightened(path.read_text(encoding="utf-8"))
        for english, ours in theirs.items():
            text = text.replace(english, ours)
        path.write_text(text, encoding="utf-8")
    rules = "".join(f".{name} {{{css}}}\n" for name, css in sorted(pages.rules.items()))
    (static / "inline" / "styles.css").write_text(rules, encoding="utf-8")
    for pattern in UNUSED:
        for path in sorted(folder.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    paths = [path for kind in ("html", "js") for path in folder.rglob(f"*.{kind}")]
    used = {name for path in paths for name in _NAME.findall(path.read_text(encoding="utf-8"))}
    for path in sorted([*(static / "styles").glob("*.css"), *static.glob("mystnb*.css")]):  # without their fonts
        text = _FONTS.sub("", path.read_text(encoding="utf-8"))
        path.write_text(needed(tinycss2.parse_stylesheet(text, True, True), used), encoding="utf-8")
    for path in sorted(static.rglob("*.css")):
        path.write_text(_COMMENT.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")


def needed(rules: list[Any], used: set[str]) -> str:
    """Return the rules of a style sheet that ask for no class but those used: the theme has five times as many.

    Classes inside :not(), :is() and the like do not count.
    """
    kept = []
    for rule in rules:
        if rule.type == "at-rule" and rule.content and rule.lower_at_keyword in ("media", "supports"):
            if inside := needed(tinycss2.parse_rule_list(rule.content, True, True), used):
                kept.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inside}}}")
        elif rule.type == "qualified-rule":
            parts: list[list[Any]] = [[]]
            for token in rule.prelude:
                parts.append([]) if token == "," else parts[-1].append(token)
            asked = [
                {name.value for dot, name in pairwise(part) if dot == "." and name.type == "ident"} for part in parts
            ]
            selectors = [tinycss2.serialize(p).strip() for p, names in zip(parts, asked, strict=True) if names <= used]
            if selectors:
                kept.append(f"{','.join(selectors)}{{{tinycss2.serialize(rule.content)}}}")
        else:
            kept.append(rule.serialize())
    return "".join(kept)


@dataclass
class Pages:
    """The pages of one language: where they lie, the icons they may show, the styles found inside them by class."""

    folder: Path
    icons: Icons
    rules: dict[str, str] = field(default_factory=dict)

    def tightened(self, text: str) -> str:
        """Return a page without inline code and with a policy."""
        for pattern, better in BETTER:
            text = pattern.sub(better, text)
        text = _SCRIPT.sub(self._script, text)
        text = _STYLE.sub(lambda match: f'<link rel="stylesheet" href="{self._moved(match["css"], "css")}">', text)
        while _STYLED.search(text):
            text = _STYLED.sub(self._classed, text)
        if "inline-style-" in text:
            text = text.replace("</head>", '<link rel="stylesheet" href="_static/inline/styles.css">\n</head>', 1)
        text = _ICON.sub(self._icon, text)
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


def icon_shapes(code: str) -> Icons:
    """Return width × height and outline of every icon in the icon library's code, by name."""
    shapes: Icons = {}
    pattern = r'"?([a-z0-9-]+)"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]'
    for name, width, height, outline in re.findall(pattern, code):
        shapes.setdefault(name, (f"0 0 {width} {height}", outline))
    return shapes
