"""Follow the links of a built site."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

_SKIPPED = re.compile(r'<span class="[^"]*">|<!--.*?-->|(?<=>)[^<]+(?=</script>)', re.S)
_TAG = re.compile(r"<([a-zA-Z][\w-]*)\s((?:[^<>\"]|\"[^\"]*\")*)>")
_ATTRIBUTE = re.compile(r'(?<![\w:-])(id|name|href|rel|src|poster|data)="([^"]*)"')


class Page:
    """The anchors and the addresses of a page that the build has written: attributes stand in double quotes."""

    def __init__(self, text: str) -> None:
        """Read the page; an HTML parser takes several times as long."""
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        for tag, attributes in _TAG.findall(_SKIPPED.sub("", text)):
            self._take(tag, {key: unescape(value) for key, value in _ATTRIBUTE.findall(attributes)})

    def _take(self, tag: str, attributes: dict[str, str]) -> None:
        """Collect ids, links and what the browser loads."""
        self.ids |= {attributes[key] for key in ("id", "name") if key in attributes and (key == "id" or tag == "a")}
        if "href" in attributes and attributes.get("rel") not in ("canonical", "alternate"):
            (self.links if tag == "a" else self.loads).append(attributes["href"])
        self.loads += [attributes[key] for key in ("src", "poster", "data") if key in attributes]


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
            elif message := _missing(target, path, html, site):
                broken.append(f"{label}: {target}: {message}")
    return sorted(external), broken


def _missing(target: str, page: Path, html: Path, site: str) -> str:
    """Return what is wrong with an internal link, an empty string if nothing is."""
    parts, base = urlsplit(target), urlsplit(site).path
    path = unquote(parts.path)
    file = html / path.removeprefix(base) if path.startswith(base) else (page.parent / path).resolve() if path else page
    file = file / "index.html" if file.is_dir() else file
    if not file.is_file():
        return "no such file on the site"
    anchors = {parts.fragment, unquote(parts.fragment)}
    if parts.fragment and file.suffix == ".html" and not anchors & read_page(file).ids:
        return "no such anchor there"
    return ""
