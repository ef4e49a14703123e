"""Prepare what Sphinx reads: pages and lessons of one language side by side, with links that hold on the site.

Pages are written for the repository, where docs/en/cheatsheet.md links ../../notebooks/en/02_metrics.ipynb#cell-ties.
On the site both lie in one folder, so links are rewritten here, the marks for checks are taken out, and what comes
from data (list of lessons, glossary, benchmark tables, addresses) is written where a page says `<!-- insert: NAME -->`.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import math
import re
import sys
import tomllib
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

import yaml

from tests.tools.markdown import prose, without_blocks
from tests.tools.notebooks import (
    LANGUAGES,
    TWIN,
    Node,
    NotebookError,
    alt_text,
    dumps,
    lesson_names,
    lesson_path,
    read,
    relative,
)
from tests.tools.translation import glossary, page_pairs, untranslated

# jsonschema would load this for a check of addresses that nothing here asks for, and it takes seconds to load.
sys.modules.setdefault("rfc3987_syntax", None)

_MARKS = re.compile(r"<!--\s*(?:fig:|nofig|translation of)[^>]*?-->[ \t]*")
_INSERT = re.compile(r"^<!-- insert: (?P<name>\w+)(?: (?P<what>\S+))? -->$", re.M)
_LINK = re.compile(r"(?P<open>(?<!!)\[(?P<words>(?:[^\[\]]|\[[^\]]*\])*)\]\()(?P<target>[^)\s]+)\)")
_NUMERIC = re.compile(r"[-−+]?[\d,.]*(?:e[-+]?\d+)? ?%?|NaN|None|True|False|inf|—|–|")
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t#]*$", re.M)
WORDS_A_MINUTE, LINES_A_MINUTE = 130, 12


class DocsError(Exception):
    """Something in pages or lessons that must not be published; the message names it and says what to do."""


@dataclass(frozen=True)
class Addresses:
    """Where the project lives: repository and site (with a slash at the end), and the tag of the release."""

    repository: str
    site: str
    version: str

    @property
    def tag(self) -> str:
        """The git tag that the launch buttons and source links use."""
        return f"v{self.version}"

    def file(self, path: str) -> str:
        """The address of a file of this release."""
        return f"{self.repository}/blob/{self.tag}/{path}"

    def colab(self, path: str) -> str:
        """The address that opens a notebook of this release in Colab."""
        owner = self.repository.removeprefix("https://github.com/")
        return f"https://colab.research.google.com/github/{owner}/blob/{self.tag}/{path}"

    def binder(self, path: str) -> str:
        """The address that opens a notebook of this release in Binder."""
        owner = self.repository.removeprefix("https://github.com/")
        return f"https://mybinder.org/v2/gh/{owner}/{self.tag}?urlpath=lab/tree/{path}"


@cache
def addresses(root: Path) -> Addresses:
    """Read the addresses from pyproject.toml, their one place. Raises DocsError if one is missing."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    urls = project.get("urls", {})
    missing = {"Repository", "Documentation"} - set(urls)
    if missing:
        raise DocsError(f"pyproject.toml, [project.urls]: no {' and no '.join(sorted(missing))}")
    return Addresses(urls["Repository"].rstrip("/"), urls["Documentation"].rstrip("/") + "/", project["version"])


# --- what must hold before anything is built -----------------------------------------------------------------


def problems(root: Path) -> list[str]:
    """Return what stops a build: twins missing or unlike, error outputs, text left in English, jieba not there."""
    found = []
    if importlib.util.find_spec("jieba") is None:
        found.append("jieba is not installed: Sphinx would index no Chinese and say nothing. pip install jieba")
    for name in lesson_names(root):
        found += _lesson_problems(root, name)
    for english, chinese in page_pairs(root)[1:]:
        gone = [relative(root, path) for path in (english, chinese) if not path.exists()]
        if gone:
            found.append(f"{gone[0]} does not exist, its twin does: a page has two languages")
            continue
        texts = [path.read_text(encoding="utf-8") for path in (english, chinese)]
        found += _pair_problems(*texts, relative(root, chinese))
    return found


def _lesson_problems(root: Path, name: str) -> list[str]:
    """Return what is wrong with the two notebooks of a lesson."""
    books = {}
    for language in LANGUAGES:
        try:
            books[language] = read(lesson_path(root, language, name), root)
        except NotebookError as error:
            return [f"{error}: a lesson has two languages" if "not exist" in str(error) else str(error)]
    found = []
    for language, book in books.items():
        for cell in book.cells:
            if any(output.output_type == "error" for output in cell.get("outputs", ())):
                found.append(f"notebooks/{language}/{name}.ipynb [{cell.id}] holds an error output: record the lesson")
    if [c.id for c in books["en"].cells] != [c.id for c in books["zh"].cells]:
        found.append(f"{name}: the cells of both languages differ: run `python -m tests.tools sync {name}`")
    else:
        for one, two in zip(books["en"].cells, books["zh"].cells, strict=True):
            if one.cell_type == "markdown":
                found += _pair_problems(one.source, two.source, f"notebooks/zh/{name}.ipynb [{one.id}]")
    return found


def _pair_problems(english: str, chinese: str, label: str) -> list[str]:
    """Return how a Chinese text lags behind its English one."""
    found = []
    if left := untranslated(english, chinese):
        found.append(f"{label} is still in English: '{left[0][:50]}'")
    counts = [len(headings(text)) for text in (english, chinese)]
    if counts[0] != counts[1]:
        found.append(f"{label} has {counts[1]} headings, English has {counts[0]}: the language switch needs them alike")
    return found


def headings(text: str) -> list[str]:
    """Return the headings of a Markdown text, outside code."""
    return [match[2] for match in _HEADING.finditer(without_blocks(text))]


def slugs(titles: list[str]) -> list[str]:
    """Return an anchor for each title: letters and digits joined by `-`, no number first, repeated ones numbered."""
    found: list[str] = []
    for title in titles:
        slug = re.sub(r"[^a-z0-9]+", "-", _MARKS.sub("", title).lower()).strip("-")
        slug = re.sub(r"^\d+-", "", slug)
        slug = f"section-{slug}".rstrip("-") if not slug or slug[0].isdigit() else slug
        number = 1 + sum(re.fullmatch(rf"{re.escape(slug)}(?:-\d+)?", other) is not None for other in found)
        found.append(slug if slug not in found else f"{slug}-{number}")
    return found


# --- writing what Sphinx reads -------------------------------------------------------------------------------


def stage(root: Path, language: str, target: Path) -> None:
    """Write pages, lessons, anchors and the words of the Chinese search to the folder target."""
    target.mkdir(parents=True, exist_ok=True)
    anchors: dict[str, dict] = {"headings": {}, "cells": {}}
    for path in sorted((root / "docs" / language).glob("*.md")):
        english = (root / "docs" / "en" / path.name).read_text(encoding="utf-8")
        text = _inserted(path.read_text(encoding="utf-8"), root, language)
        (target / path.name).write_text(_rewritten(text, path.parent, root, language), encoding="utf-8")
        anchors["headings"][path.stem] = slugs(headings(_inserted(english, root, "en")))
    for name in lesson_names(root):
        english, mine = (read(lesson_path(root, code, name), root) for code in ("en", language))
        (target / f"{name}.ipynb").write_text(dumps(_lesson(mine, english, name, root, language)), encoding="utf-8")
        anchors["headings"][name] = slugs(
            [h for c in english.cells if c.cell_type == "markdown" for h in headings(c.source)]
        )
        anchors["cells"][name] = {str(i): f"cell-{cell.id}" for i, cell in enumerate(mine.cells)}
    (target / "anchors.json").write_text(json.dumps(anchors), encoding="utf-8")
    words = {word for term in glossary(root) for word in (term.zh, *term.accepted) if not word.isascii()}
    (target / "words.txt").write_text("".join(f"{word} 100000\n" for word in sorted(words)), encoding="utf-8")
    for picture in sorted((root / "docs" / "benchmarks").glob("*.svg")):
        (target / picture.name).write_bytes(picture.read_bytes())


def _rewritten(text: str, folder: Path, root: Path, language: str, *, alone: bool = False) -> str:
    """Return text without the marks for checks, its links leading to where things are on the site.

    Links of a file that stands alone get the whole address.
    """
    code = re.split(
        r"(^[ \t]*(?:`{3,}|~{3,})[^\n]*\n.*?^[ \t]*(?:`{3,}|~{3,})[ \t]*$|`[^`\n]+`)", text, flags=re.S | re.M
    )
    kept = [
        part if i % 2 else _LINK.sub(lambda m: _link(m, folder, root, language, alone), _MARKS.sub("", part))
        for i, part in enumerate(code)
    ]
    return "".join(kept)


def _link(match: re.Match[str], folder: Path, root: Path, language: str, alone: bool) -> str:
    """Return one link as it has to be on the site."""
    path, _, anchor = match["target"].partition("#")
    tail = f"#{anchor}" if anchor else ""
    if not path or re.match(r"[a-z]+:", path):
        return match[0]
    found = (folder / path).resolve()
    inside = found.relative_to(root.resolve()).as_posix() if found.is_relative_to(root.resolve()) else ""
    other = TWIN[language]
    if alone and re.match(r"(?:docs|notebooks)/(?:en|zh)/", inside) and found.exists():
        return f"{match['open']}{addresses(root).site}{found.parent.name}/{found.stem}.html{tail})"
    if re.match(rf"(?:docs|notebooks)/{language}/", inside) and found.exists():
        return f"{match['open']}{found.name}{tail})"
    if re.match(rf"(?:docs|notebooks)/{other}/", inside) and found.exists():
        return f'<a href="../{other}/{found.stem}.html{tail}">{match["words"]}</a>'
    if inside and found.exists():
        return f"{match['open']}{addresses(root).file(inside)}{tail})"
    return match[0]


def _lesson(mine: Node, english: Node, name: str, root: Path, language: str) -> Node:
    """Return a lesson as the site shows it: anchors, a bar with minutes and buttons, tables without inline style."""
    book = deepcopy(mine)
    folder = lesson_path(root, language, name).parent
    first = True
    for cell in book.cells:
        if cell.cell_type == "markdown":
            text = _rewritten(cell.source, folder, root, language)
            if first and _HEADING.search(text):
                text = _HEADING.sub(lambda m: f"{m[0]}\n\n{_bar(name, english, root, language)}\n", text, count=1)
                first = False
            cell.source = f'<span id="cell-{cell.id}"></span>\n\n{text}'
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html")
            if html:
                html = re.sub(r"<style scoped>.*?</style>\s*", "", html, flags=re.S)
                html = re.sub(r' (?:style="text-align: right;"|border="1")', "", html)
                output.data["text/html"] = _words_to_the_left(html)
    return book


def _words_to_the_left(html: str) -> str:
    """Return a data frame's table with class `words` on the cells of every column that holds a text."""
    row = re.compile(r"<tr[^>]*>.*?</tr>", re.S)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", found, flags=re.S) for found in row.findall(html)]
    if len({len(found) for found in cells}) != 1 or "span=" in html:
        return html
    worded = {at for found in cells[1:] for at, cell in enumerate(found) if not _NUMERIC.fullmatch(cell.strip())}

    def marked(match: re.Match[str]) -> str:
        at = itertools.count()
        return re.sub(r"<t[dh](?=>)", lambda tag: tag[0] + ' class="words"' * (next(at) in worded), match[0])

    return row.sub(marked, html)


def standing_alone(name: str, root: Path, language: str) -> Node:
    """Return a lesson to be saved as one file: no marks for checks, links with the whole address."""
    book = deepcopy(read(lesson_path(root, language, name), root))
    folder = lesson_path(root, language, name).parent
    for cell in book.cells:
        if cell.cell_type == "markdown":
            cell.source = _rewritten(cell.source, folder, root, language, alone=True)
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                output.setdefault("metadata", Node())["image/png"] = Node(alt=alt_text(cell))
    return book


def minutes(english: Node) -> int:
    """Return the minutes it takes to read a lesson and its code, rounded up to five; taken from the English one."""
    words = sum(len(prose(cell.source).split()) for cell in english.cells if cell.cell_type == "markdown")
    lines = sum(cell.source.count("\n") + 1 for cell in english.cells if cell.cell_type == "code")
    return 5 * math.ceil((words / WORDS_A_MINUTE + lines / LINES_A_MINUTE) / 5)


@cache
def _notes(root: Path) -> dict:
    """What docs/lessons.yml says about the lessons."""
    return yaml.safe_load((root / "docs" / "lessons.yml").read_text(encoding="utf-8"))


def _bar(name: str, english: Node, root: Path, language: str) -> str:
    """Return the lines under the title of a lesson: time, what to know before, launch buttons and downloads."""
    say = _notes(root)["words"][language]
    needs = _notes(root)["lessons"].get(name, {}).get("needs", {}).get(language, say["needs"])
    path = f"notebooks/{language}/{name}.ipynb"
    spots = addresses(root)
    launch = [("Colab", spots.colab(path)), ("Binder", spots.binder(path)), ("GitHub", spots.file(path))]
    buttons = [f'<a class="launch" href="{escape(url)}">{say["open"].format(where)}</a>' for where, url in launch]
    saves = [f'<a class="save" href="downloads/{name}.{kind}" download>.{kind}</a>' for kind in ("ipynb", "py", "html")]
    return (
        f'<div class="lesson-bar"><p>{say["read"].format(minutes(english))} · {say["before"]}{escape(needs)}</p>'
        f"<p>{' '.join(buttons)}</p><p><span>{say['download']}</span> {' '.join(saves)}</p></div>"
    )


# --- what pages take from data -------------------------------------------------------------------------------


def _inserted(text: str, root: Path, language: str) -> str:
    """Return text with every `<!-- insert: NAME -->` replaced by what it names. Raises DocsError if unknown."""

    def put(match: re.Match[str]) -> str:
        if match["name"] not in INSERTS:
            raise DocsError(f"a page says {match[0]}; there are: {', '.join(INSERTS)}")
        return INSERTS[match["name"]](root, language, match["what"])

    for key in ("repository", "site", "version", "tag"):
        text = text.replace(f"%{key}%", getattr(addresses(root), key))
    return _INSERT.sub(put, text)


def _lessons_list(root: Path, language: str, _: str | None) -> str:
    """Return the lessons as a list: title, minutes, what it is about; and the table of contents entry of each."""
    say = _notes(root)["words"][language]
    lines, names = [], lesson_names(root)
    for name in names:
        english, mine = (read(lesson_path(root, code, name), root) for code in ("en", language))
        title = next(h for c in mine.cells if c.cell_type == "markdown" for h in headings(c.source))
        about = _notes(root)["lessons"].get(name, {}).get("about", {}).get(language, "")
        lines.append(f"1. [{title}](../../notebooks/{language}/{name}.ipynb) · {say['time'].format(minutes(english))}")
        lines += ["", f"   {about}", ""] if about else [""]
    entries = "\n".join(names)
    return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n:caption: {say['lessons']}\n\n{entries}\n```\n"


def _glossary(root: Path, language: str, _: str | None) -> str:
    """Return the glossary as a table, in the order of the page's language."""
    terms = sorted(glossary(root), key=lambda term: term.en.lower() if language == "en" else _chinese_key(term.zh))
    say = _notes(root)["words"][language]["glossary"]
    order = ("en", "zh") if language == "en" else ("zh", "en")
    lines = ["| " + " | ".join(say) + " |", "|---|---|---|"]
    for term in terms:
        lines.append(f"| {getattr(term, order[0])} | {getattr(term, order[1])} | {'、'.join(term.accepted)} |")
    return "\n".join(lines)


def _chinese_key(word: str) -> bytes:
    """Return a key that sorts common Chinese words by their sound (GB 2312 is laid out so)."""
    return word.encode("gb18030")


def _benchmark(root: Path, language: str, what: str | None) -> str:
    """Return the tables of docs/benchmarks/WHAT.json, their labels in the language of the page."""
    path = root / "docs" / "benchmarks" / f"{what}.json"
    say = _notes(root)["words"][language]
    if not path.exists():
        return say["not measured"]
    report = json.loads(path.read_text(encoding="utf-8"))
    parts = [say["measured"].format(report["date"], _machine(report["machine"]), report["command"], report["rounds"])]
    if path.with_suffix(".svg").exists():
        parts.append(f"![{say['bench picture']}]({path.stem}.svg)")
    for case, peers in report.get("results", {}).items():
        parts += [f"**{case.replace('x', ' × ', 1)}**", _table(peers)]
    if "seconds" in report:
        ours, gap = report["seconds"]["helpers.embeddings"], "largest difference of a value"
        peers = {
            peer: {"seconds": taken, "times ours": float(f"{taken / ours:.3g}"), gap: report[gap][peer]}
            for peer, taken in report["seconds"].items()
        }
        parts.append(_table(peers))
        parts.append(_table({label: {"memory": value} for label, value in report["memory"].items()}))
    text = "\n\n".join(parts)
    for english, other in say["bench"].items():
        text = text.replace(english, other)
    return f"{text}\n\n{say['versions']}" + ", ".join(f"{name} {number}" for name, number in report["versions"].items())


def _machine(machine: str | dict) -> str:
    """Return processor and cores as a reader would say them."""
    return machine if isinstance(machine, str) else f"{machine['processor']}, {machine['cores']} cores"


def _table(rows: dict[str, dict]) -> str:
    """Return a table with a row for each label, numbers to the right."""
    columns = list(dict.fromkeys(key for values in rows.values() for key in values))
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for label, values in rows.items():
        shown = (_number(values[key]) if key in values else "" for key in columns)
        lines.append(f"| {label} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def _number(value: float) -> str:
    """Return a number with commas between thousands, a tiny one as a power of ten."""
    if 0 < abs(value) < 1e-4:
        digits, power = f"{value:.0e}".split("e")
        return f"{digits} × 10<sup>−{-int(power)}</sup>"
    return f"{value:,}"


def _card(root: Path, language: str, what: str | None) -> str:
    """Return the table of one section of the collection's data card, its labels in the language of the page."""
    card = (root / "helpers" / "collections" / "pocket" / "README.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {what}$(.*?)(?=^## |\Z)", card, flags=re.S | re.M)
    table = re.search(r"^\|.*?(?=\n\n|\Z)", section[1], flags=re.S | re.M) if section else None
    if table is None:
        raise DocsError(f"the data card of the pocket collection has no table under '## {what}'")
    words = _notes(root)["words"][language]["card"]
    return re.sub(r"^\| ([^|]+) \|", lambda m: f"| {words.get(m[1], m[1])} |", table[0], flags=re.M)


def _api(root: Path, _language: str, _what: str | None) -> str:
    """Return a section with the documentation of each public module of helpers."""
    names = [path.stem for path in sorted((root / "helpers").glob("*.py")) if not path.stem.startswith("_")]
    parts = [f"## helpers.{n}\n\n```{{eval-rst}}\n.. automodule:: helpers.{n}\n   :members:\n```" for n in names]
    return "\n\n".join(parts)


INSERTS = {"api": _api, "card": _card, "lessons": _lessons_list, "glossary": _glossary, "benchmark": _benchmark}
