"""Check that the Chinese edition is a current translation of the English one, and help to keep it so.

English is the source. A Chinese markdown cell carries `{"translation": {"of": HASH}}` in its metadata, a Chinese page
`<!-- translation of PATH: HASH -->` on top, where HASH belongs to one English cell or page in one wording
(`cell_hash`). Only `accept` writes it, for one cell or page at a time, as the word of a person who has read both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml
from markdown_it import MarkdownIt

from .markdown import GAP, HAN, has_han, links, paragraphs, prose, without_blocks
from .notebooks import (
    ROOT,
    Node,
    NotebookError,
    Problem,
    alt_text,
    by_id,
    cell_hash,
    dumps,
    lesson_path,
    read,
    relative,
    write_files,
)

_FRONT = re.compile(r"\A(?:---\n.*?\n---\n)?", re.S)
MARK = re.compile(r"\s*<!-- translation of (?P<path>\S+): (?P<hash>[0-9a-f]{16}) -->[ \t]*\n")
_WIDE = re.compile(rf'(?<=[{HAN}])[,;:!?()"]|[,;:!?("](?=[{HAN}])|\)(?=[{HAN}])|(?<=[{HAN}])\.(?=\s|$)', re.M)
_SPACED = re.compile(rf"[{HAN}] +[A-Za-z0-9]|[A-Za-z0-9] +[{HAN}]")
_SOFT = re.compile(rf"[{HAN}，。；：！？、）”》][*_]*\n[ \t]*(?![-*+>|#:]|\d+[.)]|\s|$|<)[*_]*\S")
_NAMES = re.compile(r"[\w.+/@-]*[A-Z\d/@][\w.+/@-]*|\b\w\b")
_SWITCH = re.compile(r"english|chinese|英文|英语|中文|汉语|^(?:en|zh)\b", re.I)


@dataclass(frozen=True)
class Term:
    """An entry of the glossary: the English term, its Chinese, what else is accepted and what must not be used.

    also are other English spellings, accepted other Chinese words, avoid barred ones; check False leaves the English
    word alone, which then also has an everyday sense.
    """

    en: str
    zh: str
    also: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    check: bool = True

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that finds the English term as a word, singular or plural."""
        return _term_pattern((self.en, *self.also))


@lru_cache(maxsize=512)
def _term_pattern(spellings: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of several spellings, each as a word of its own, singular or plural."""
    forms = []
    for term in spellings:
        words = re.escape(term).replace(r"\ ", r"[\s-]+").replace(r"\-", "[ -]")
        forms.append(words[:-1] + "(?:y|ies)" if term.endswith("y") else words + "(?:s|es)?")
    return re.compile(rf"(?<![\w@-])(?:{'|'.join(forms)})(?![\w@-])", re.I)


@lru_cache(maxsize=8)
def glossary(root: Path = ROOT) -> tuple[Term, ...]:
    """Return the terms of docs/glossary.yml, the longest first; none without the file. Raises NotebookError."""
    path = root / "docs" / "glossary.yml"
    if not path.exists():
        return ()
    entries = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["terms"]
    terms = []
    for entry in entries:
        if not entry.get("en") or not entry.get("zh"):
            raise NotebookError(f"docs/glossary.yml: an entry needs 'en' and 'zh', got {entry}")
        lists = {key: tuple(entry.get(key) or ()) for key in ("also", "accepted", "avoid")}
        terms.append(Term(entry["en"], entry["zh"], **lists, check=entry.get("check", True)))
    return tuple(sorted(terms, key=lambda term: -len(term.en)))


def _words(text: str) -> list[str]:
    """Return the lower-case English words of a text that are neither names nor code."""
    return re.findall(r"\b[a-z]{2,}\b", _NAMES.sub(" ", prose(text)))


def untranslated(english: str, chinese: str) -> list[str]:
    """Return the paragraphs of a Chinese text that stand there in English: words beyond code, names and formulas."""
    theirs = set(paragraphs(without_blocks(english)))
    return [
        block
        for block in paragraphs(without_blocks(chinese))
        if block in theirs and not has_han(prose(block)) and _words(block)
    ]


def _term_gaps(english: str, chinese: str, terms: tuple[Term, ...]) -> Iterator[tuple[str, str]]:
    """Yield rule and message for each glossary term that the Chinese does not use, or uses under a barred name."""
    small = english.lower()
    left, mine = re.sub(r"[*_]", "", prose(english)), re.sub(r"[*_\s]", "", prose(chinese))
    for term in terms:
        for word in term.avoid:
            if word in mine:
                yield "glossary", f"'{word}' must not be used for '{term.en}', it is '{term.zh}'"
        if not any(re.split("[ -]", word)[0][:-1].lower() in small for word in (term.en, *term.also)):
            continue  # spares most of the search
        found = term.pattern().search(left)
        left = term.pattern().sub(GAP, left) if found else left
        if found and term.check and not any(word in mine for word in (term.zh, *term.accepted)):
            allowed = "' or '".join((term.zh, *term.accepted))
            yield "glossary", f"English has '{found[0]}', Chinese has no '{allowed}'"


@lru_cache(maxsize=1)
def _commonmark() -> MarkdownIt:
    """Return a parser of Markdown as the site and GitHub read it."""
    return MarkdownIt("commonmark").enable("table")


def bold_traps(text: str) -> list[str]:
    """Return the places where CommonMark shows the stars of `**` instead of bold type."""
    if "**" not in text:
        return []
    shown: list[str] = []
    quiet = re.sub(r"\$[^$\n]*\$", "$M$", text)
    for token in _commonmark().parse(quiet):
        for child in token.children or ():
            if child.type == "text" and "**" in child.content:
                at = child.content.index("**")
                shown.append(child.content[max(at - 12, 0) : at + 14])
    return shown


def _around(text: str, match: re.Match[str]) -> str:
    return text[max(match.start() - 8, 0) : match.end() + 8].replace("\n", "⏎").replace(GAP, "…")


def chinese_gaps(text: str) -> Iterator[tuple[str, str]]:
    """Yield rule and message for what Chinese typography and Markdown make of a Chinese text."""
    bare = re.sub(r"[*_]", "", prose(text))
    bare = re.sub(r"(?m)^(\s*#+) *[\d.]+ ", r"\1 ", bare)
    for match in _WIDE.finditer(bare):
        yield "half-width", f"'{match[0]}' beside Chinese in '{_around(bare, match)}': use the full-width sign"
    for match in _SPACED.finditer(bare):
        yield "spacing", f"no space between Chinese and Latin letters or digits: '{_around(bare, match)}'"
    for match in _SOFT.finditer(prose(text)):
        yield "soft-break", f"a line break inside a paragraph shows as a space: '{_around(prose(text), match)}'"


def _foreign(target: str, language: str) -> bool:
    """Tell whether a link target lies in the edition that is not language."""
    if language == "zh":
        return bool(re.search(r"(?:^|/)en/|^(?:\.\.?/)*README\.md", target))  # the project's own, not a data card
    return bool(re.search(r"(?:^|/)zh/|(?:^|/)README_zh\.md", target))


def link_gaps(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield rule and message for each link into the other language, language switches excepted."""
    for words, target in links(text):
        if _foreign(target, language) and not _SWITCH.search(words):
            yield "link", f"'{target}' leads into the other language: link the page of this one"


def text_problems(english: str, chinese: str, root: Path) -> Iterator[tuple[str, str]]:
    """Yield rule and message for everything that is wrong with one translated text, staleness apart."""
    left = untranslated(english, chinese)
    if left:
        yield "untranslated", f"still in English: '{left[0][:60]}'"
    else:
        yield from _term_gaps(english, chinese, glossary(root))
    yield from chinese_gaps(chinese)
    yield from link_gaps(chinese, "zh")
    for place in bold_traps(chinese):
        yield "bold", f"'{place}' is not bold in CommonMark: put the punctuation outside the stars"


def state(english: Node, chinese: Node, others: dict[str, str]) -> tuple[str, str]:
    """Return the rule and message of a cell's mark, two empty strings if it is current.

    others are the hashes of all English cells with their id, to recognise a hash that belongs to another cell.
    """
    mark = chinese.metadata.get("translation", {}).get("of", "")
    if mark == cell_hash(english.id, english.source):
        return "", ""
    command = "translate it, then `python -m tests.tools accept NOTEBOOK " + english.id + "`"
    if not mark:
        return "unmarked", f"no translation mark: {command}"
    if mark in others:
        return "foreign-mark", f"its mark {mark} belongs to cell '{others[mark]}': {command}"
    return "stale", f"the English cell has changed since it was translated: {command}"


def _code_problems(english: Node, chinese: Node) -> Iterator[tuple[str, str]]:
    """Yield rule and message for what differs between two code cells that should be equal."""
    sync = "run `python -m tests.tools sync`"
    if english.source != chinese.source:
        yield "code", f"the code differs from English: edit the English notebook, then {sync}"
    if english.outputs != chinese.outputs or english.execution_count != chinese.execution_count:
        yield "outputs", f"the outputs differ from English: {sync}"
    mine, theirs = ({k: v for k, v in c.metadata.items() if k != "mystnb"} for c in (chinese, english))
    if mine != theirs or bool(alt_text(english)) != bool(alt_text(chinese)):
        yield "metadata", f"tags or other metadata differ from English: {sync}"
    if alt_text(chinese) and not has_han(alt_text(chinese)):
        yield "untranslated", f"the alternative text is not Chinese: '{alt_text(chinese)[:60]}'"


def _structure(english: Node, chinese: Node, file: str) -> Iterator[Problem]:
    """Yield what differs in the list of cells."""
    left, right = by_id(english), by_id(chinese)
    for cell_id in left:
        if cell_id not in right:
            yield Problem(file, cell_id, "missing", "no such cell in Chinese: run `python -m tests.tools sync`")
        elif left[cell_id].cell_type != right[cell_id].cell_type:
            yield Problem(file, cell_id, "structure", f"is a {right[cell_id].cell_type} cell, not as in English")
    for cell_id in right:
        if cell_id not in left:
            yield Problem(file, cell_id, "extra", "no such cell in English: delete it, or move its text")
    common = [[i for i in one if i in two] for one, two in ((left, right), (right, left))]
    if common[0] != common[1]:
        moved = next(i for i, j in zip(*common, strict=True) if i != j)
        yield Problem(file, moved, "structure", "the cells are in another order than in English: run `sync`")
    if english.metadata != chinese.metadata or english.nbformat_minor != chinese.nbformat_minor:
        yield Problem(file, "", "metadata", "the notebook's metadata differs from English: run `sync`")


def _markdown_problems(english: Node, chinese: Node, hashes: dict[str, str], root: Path) -> Iterator[tuple[str, str]]:
    """Yield rule and message for what is wrong with one translated markdown cell."""
    rule, message = state(english, chinese, hashes)
    if rule:
        yield rule, message
    if {k: v for k, v in chinese.metadata.items() if k != "translation"} != english.metadata:
        yield "metadata", "tags or other metadata differ from English: run `python -m tests.tools sync`"
    yield from text_problems(english.source, chinese.source, root)


def notebook_problems(english: Node, chinese: Node, name: str, root: Path = ROOT) -> Iterator[Problem]:
    """Yield every way in which the Chinese notebook is not a current translation of the English one."""
    file = relative(root, lesson_path(root, "zh", name))
    yield from _structure(english, chinese, file)
    right = by_id(chinese)
    hashes = {cell_hash(c.id, c.source): c.id for c in english.cells}
    for cell in english.cells:
        mine = right.get(cell.id)
        if mine is None or mine.cell_type != cell.cell_type:
            continue
        code = cell.cell_type == "code"
        found = _code_problems(cell, mine) if code else _markdown_problems(cell, mine, hashes, root)
        yield from (Problem(file, cell.id, rule, message) for rule, message in found)


def page_pairs(root: Path = ROOT) -> list[tuple[Path, Path]]:
    """Return (English, Chinese) of both README files and of every page below docs/en or docs/zh."""
    pairs = [(root / "README.md", root / "README_zh.md")]
    below = {p.relative_to(root / "docs" / lang) for lang in ("en", "zh") for p in (root / "docs" / lang).rglob("*.md")}
    pairs += [(root / "docs" / "en" / page, root / "docs" / "zh" / page) for page in sorted(below)]
    return [pair for pair in pairs if pair[0].exists() or pair[1].exists()]


def page_problems(english: Path, chinese: Path, root: Path = ROOT) -> Iterator[Problem]:
    """Yield every way in which a Chinese page is not a current translation of its English one."""
    source, file = relative(root, english), relative(root, chinese)
    if not (english.exists() and chinese.exists()):
        gone = source if not english.exists() else file
        yield Problem(gone, "", "missing", "does not exist, its twin does: a page has two languages")
        return
    left, right = (p.read_text(encoding="utf-8") for p in (english, chinese))
    mark, wanted = MARK.match(right, _FRONT.match(right).end()), cell_hash(source, left)
    if not mark or mark["path"] != source:
        message = f"does not begin with <!-- translation of {source}: ... -->: translate, then `accept {file}`"
        yield Problem(file, "", "unmarked", message)
    elif mark["hash"] != wanted:
        yield Problem(file, "", "stale", f"{source} has changed since: translate, then `accept {file}`")
    yield from (Problem(file, "", rule, message) for rule, message in text_problems(left, right, root))
    yield from (Problem(source, "", rule, message) for rule, message in link_gaps(left, "en"))


def accept_cell(root: Path, name: str, cell_id: str) -> str:
    """Mark one Chinese cell as the translation of its English cell as it stands, and return the hash.

    Raises NotebookError if there is no such pair of markdown cells or the Chinese one is still in English.
    """
    paths = [lesson_path(root, language, name) for language in ("en", "zh")]
    english, chinese = (read(path, root) for path in paths)
    pair = [by_id(notebook).get(cell_id) for notebook in (english, chinese)]
    if any(cell is None or cell.cell_type != "markdown" for cell in pair):
        raise NotebookError(f"{name}: no markdown cell '{cell_id}' in both languages (code needs no acceptance)")
    if untranslated(pair[0].source, pair[1].source):
        raise NotebookError(f"{name} [{cell_id}] is still in English: translate it first")
    mark = cell_hash(cell_id, pair[0].source)
    pair[1].metadata["translation"] = {"of": mark}
    write_files({paths[1]: dumps(chinese)})
    return mark


def accept_page(root: Path, chinese: Path) -> str:
    """Mark one Chinese page as the translation of its English one as it stands, and return the hash."""
    pair = next((p for p in page_pairs(root) if p[1].resolve() == chinese.resolve()), None)
    if pair is None or not all(path.exists() for path in pair):
        raise NotebookError(f"{relative(root, chinese)} is no Chinese page with an English one")
    left, right = (path.read_text(encoding="utf-8") for path in pair)
    if untranslated(left, right):
        raise NotebookError(f"{relative(root, pair[1])} is still in English: '{untranslated(left, right)[0][:60]}'")
    mark = cell_hash(relative(root, pair[0]), left)
    line = f"<!-- translation of {relative(root, pair[0])}: {mark} -->\n"
    head = _FRONT.match(right)[0]
    body = re.sub(r"\A\s*<!-- translation of [^>]*-->[ \t]*\n", "", right[len(head) :])
    write_files({pair[1]: head + line + (body if body.startswith("\n") else "\n" + body)})
    return mark
