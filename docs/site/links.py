"""Follow the links of a built site."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_SKIPPED = re.compile(r'<span class="[^"]*">|<!--.*?-->|(?<=>)[^<]+(?=</script>)', re.S)
_TAG = re.compile(r"<([a-zA-Z][\w-]*)\s((?:[^<>\"]|\"[^\"]*\")*)>")
_ATTRIBUTE = re.compile(r'(?<![\w:-])(id|name|href|rel|src|poster|data)="([^"]*)"')


class Page(NamedTuple):
    """The anchors and the addresses of a page that the build has written: links, and what the browser loads."""

    ids: set[str]
    links: list[str]
    loads: list[str]


@cache
def read_page(path: Path) -> Page:
    """Read the page at path, whose attributes stand in double quotes; an HTML parser takes several times as long."""
    page = Page(set(), [], [])
    for tag, text in _TAG.findall(_SKIPPED.sub("", path.read_text(encoding="utf-8"))):
        found = {key: unescape(value) for key, value in _ATTRIBUTE.findall(text)}
        page.ids.update(found[key] for key in ("id", "name") if key in found and (key == "id" or tag == "a"))
        if "href" in found and found.get("rel") not in ("canonical", "alternate"):
            (page.links if tag == "a" else page.loads).append(found["href"])
        page.loads.extend(found[key] for key in ("src", "poster", "data") if key in found)
    return page


def check_links(html: Path, site: str) -> list[str]:
    """Return a line for each internal link, file or anchor that is missing, and for what another server would give."""
    read_page.cache_clear()
    broken = []
    for path in sorted(html.rglob("*.html")):
        if "_static" in path.parts:
            continue
        page, label = read_page(path), path.relative_to(html).as_posix()
        for target in dict.fromkeys(page.links + page.loads):
            if urlsplit(target).scheme or target.startswith("//"):
                if target in page.loads and not target.startswith("data:"):
                    broken.append(f"{label}: loads {target} from another server")
            elif message := _missing(target, path, html, site):
                broken.append(f"{label}: {target}: {message}")
    return broken


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
