"""Check that the Chinese edition is a current translation of the English one, and help to keep it so.

English is the source. A Chinese markdown cell carries `{"translation": {"of": HASH}}` in its metadata, a Chinese page
`<!-- translation of PATH: HASH -->` on top, where HASH belongs to one English cell or page in one wording
(`cell_hash`). Only `accept` writes it, for one cell or page at a time, as the word of a person who has read both.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from markdown_it import MarkdownIt
from nbformat import NotebookNode

from helpers._io import write_text

from .cells import alt_text, by_id, cell_hash, tags
from .listed import editions, read_yaml
from .markdown import FRONT, HAN, PLACEHOLDER, has_han, headings, line_pairs, links, paragraphs, prose, without_blocks
from .notebooks import HINT, LANGUAGES, ROOT, NotebookError, Problem, dumps, lesson_path, read, relative
from .program import comments, program
from .wording import hints, language_differences, marks

_STALE = "is not accepted as a translation of the English text as it is: translate it, then"
_WIDE = re.compile(rf'(?<=[{HAN}])[,;:!?()"]|[,;:!?("](?=[{HAN}])|\)(?=[{HAN}])|(?<=[{HAN}])\.(?=\s|$)', re.M)
_SPACED = re.compile(rf"[{HAN}] +[A-Za-z0-9]|[A-Za-z0-9] +[{HAN}]")
_SOFT = re.compile(rf"[{HAN}，。；：！？、）”》][*_]*\n[ \t]*(?![-*+>|#:]|\d+[.)]|\s|$|<)[*_]*\S")
_NAMES = re.compile(r"[\w.+/@-]*[A-Z\d/@][\w.+/@-]*|\b\w\b")
_COMMONMARK = MarkdownIt("commonmark").enable("table")  # as the site and GitHub read Markdown
_CHINESE = re.compile(r"(?:^|/)zh/|_zh\.md")
_ENGLISH = re.compile(r"(?:^|/)en/|^(?:\.\.?/)*(?:docs/)?(?:README|CONTRIBUTING|CHANGELOG)\.md")  # no data card

_FIGURE = re.compile(r"<!--\s*(?P<kind>fig|calc|holds):(?P<name>[^\n]*?)-->(?P<value>[-\u2212]?[\d.,]*\d)?")

_CARD = ("helpers/data/bundled/pocket/README.md", "docs/en/collection.md")  # the card is in English alone

_SYNC = "run `python -m notebooks.kit sync`"
_CARRIED = ("cell_type", "source", "outputs", "execution_count", "metadata")  # of a Chinese cell, from its English one


@dataclass(frozen=True)
class Term:
    """An entry of the glossary: the English term, its Chinese, other accepted words, and barred ones.

    also are other English spellings, accepted other Chinese words, avoid barred ones; check False leaves the English
    word alone, which then also has an everyday sense; means is a sentence in each language that defines the term.
    """

    en: str
    zh: str
    also: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    check: bool = True
    means: Mapping[str, str] = field(default_factory=dict, hash=False)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A pattern that finds a spelling of the English term as a word of its own, singular or plural."""
        forms = []
        for term in (self.en, *self.also):
            words = re.escape(term).replace(r"\ ", r"[\s-]+").replace(r"\-", "[ -]")
            forms.append(words[:-1] + "(?:y|ies)" if term.endswith("y") else words + "(?:s|es)?")
        return re.compile(rf"(?<![\w@-])(?:{'|'.join(forms)})(?![\w@-])", re.I)


@lru_cache(maxsize=8)
def glossary(root: Path = ROOT) -> tuple[Term, ...]:
    """Return the terms of docs/glossary.yml, the longest first; none without the file. Raises NotebookError."""
    path = root / "docs" / "glossary.yml"
    if not path.exists():
        return ()
    terms = []
    for entry in read_yaml(path)["terms"]:
        means = entry.get("means") or {}
        if not (entry.get("en") and entry.get("zh") and all(means.get(language) for language in LANGUAGES)):
            raise NotebookError(f"docs/glossary.yml: an entry needs 'en', 'zh' and 'means' in both, got {entry}")
        lists = {key: tuple(entry.get(key) or ()) for key in ("also", "accepted", "avoid")}
        terms.append(Term(entry["en"], entry["zh"], **lists, check=entry.get("check", True), means=means))
    return tuple(sorted(terms, key=lambda term: -len(term.en)))


def untranslated(english: str, chinese: str) -> list[str]:
    """Return the paragraphs of a Chinese text that stand there in English: words beyond code, names and formulas."""
    original = set(paragraphs(without_blocks(english)))
    same = [block for block in paragraphs(without_blocks(chinese)) if block in original and not has_han(prose(block))]
    return [block for block in same if re.search(r"\b[a-z]{2,}\b", _NAMES.sub(" ", prose(block)))]


def _wrong_terms(
    english: str, chinese: str, terms: tuple[Term, ...], recorded: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield rule and message for each glossary term that the Chinese does not use, or uses under a barred name.

    recorded: the Chinese text says what its own record gives, and may do without a term. A barred name after 又称
    ("also called") is mentioned, not used.
    """
    lower = english.lower()
    unread, translated = re.sub(r"[*_]", "", prose(english)), re.sub(r"[*_\s]", "", prose(chinese))
    for term in terms:
        for word in term.avoid:
            if re.search(f"(?<!又称){re.escape(word)}", translated):
                yield "glossary", f"'{word}' must not be used for '{term.en}', it is '{term.zh}'"
        if recorded or not any(re.split("[ -]", word)[0][:-1].lower() in lower for word in (term.en, *term.also)):
            continue  # spares most of the search
        match = term.pattern.search(unread)
        if not match:
            continue
        unread = term.pattern.sub(PLACEHOLDER, unread)
        if term.check and not any(word in translated for word in (term.zh, *term.accepted)):
            allowed = "' or '".join((term.zh, *term.accepted))
            yield "glossary", f"English has '{match[0]}', Chinese has no '{allowed}'"


def bold_traps(text: str) -> Iterator[tuple[str, str]]:
    """Yield rule and message for each spot where CommonMark shows the stars of `**` instead of bold type."""
    if "**" not in text:
        return
    for token in _COMMONMARK.parse(re.sub(r"\$[^$\n]*\$", "$M$", text)):
        for child in token.children or ():
            if child.type == "text" and "**" in child.content:
                stars = child.content.index("**")
                shown = child.content[max(stars - 12, 0) : stars + 14]
                yield "bold", f"'{shown}' is not bold in CommonMark: put the punctuation outside the stars"


def _around(text: str, match: re.Match[str]) -> str:
    return text[max(match.start() - 8, 0) : match.end() + 8].replace("\n", "⏎").replace(PLACEHOLDER, "…")


def typography(text: str) -> Iterator[tuple[str, str]]:
    """Yield rule and message for each fault in the typography of a Chinese text."""
    bare = re.sub(r"[*_]", "", prose(text))
    bare = re.sub(r"(?m)^(\s*#+) *[\d.]+ ", r"\1 ", bare)
    for match in _WIDE.finditer(bare):
        yield "half-width", f"'{match[0]}' beside Chinese in '{_around(bare, match)}': use the full-width sign"
    for match in _SPACED.finditer(bare):
        yield "spacing", f"no space between Chinese and Latin letters or digits: '{_around(bare, match)}'"
    for match in _SOFT.finditer(prose(text)):
        yield "soft-break", f"a line break inside a paragraph shows as a space: '{_around(prose(text), match)}'"


def _edition(target: str) -> str:
    return re.sub(r"(^|/)zh/", r"\1en/", target).replace("_zh.md", ".md").replace(".zh.md", ".md").replace(*_CARD)


def _missing_links(english: str, chinese: str) -> Iterator[tuple[str, str]]:
    """Yield rule and message for each place that the English links more often; links to the other language aside."""
    ours = Counter(_edition(target) for _, target in links(english) if not _CHINESE.search(target))
    theirs = Counter(_edition(target) for _, target in links(chinese) if not _ENGLISH.search(target))
    for target in ours - theirs:
        yield "link", f"English links '{target}', Chinese does not, less often, or in English: link the Chinese page"


def text_problems(english: str, chinese: str, root: Path, *, recorded: bool = False) -> Iterator[tuple[str, str]]:
    """Yield rule and message for everything that is wrong with one translated text, staleness apart.

    recorded: the Chinese text is about its own record, so its numbers, claims and names are its own too; it has markers
    where the English text has some.
    """
    remaining = untranslated(english, chinese)
    if remaining:
        yield "untranslated", f"still in English: '{remaining[0][:60]}'"
    else:
        rows = [lines for lines in line_pairs(english, chinese) if lines[0].startswith("|") and has_han(lines[1])]
        texts = [(english, chinese), *rows]
        faults = itertools.chain(*(_wrong_terms(*text, glossary(root), recorded) for text in texts))
        yield from dict.fromkeys(faults)
        yield from language_differences(english, chinese, recorded)
        if recorded and marks(english) and not marks(chinese):
            yield "markers", "English has numbers or claims from a run, Chinese has none: bind those of its own record"
        yield from _missing_links(english, chinese)
        yield from ((HINT, hint) for hint in hints(english, chinese))
    yield from typography(chinese)
    yield from bold_traps(chinese)
    count, wanted = len(headings(chinese)), len(headings(english))
    if count != wanted:
        yield "headings", f"has {count} headings, English has {wanted}: the language switch needs them alike"


def _carry_code(cell: NotebookNode, translated: NotebookNode, recorded: bool) -> None:
    """Give a cell of the English program what is its Chinese one's: comments, the text of a figure, or its record.

    With a record of its own, the strings and the values in the cell of parameters are its own too.
    """
    if alt_text(cell) and alt_text(translated):
        cell.metadata.mystnb.image.alt = alt_text(translated)
    values = not (recorded and "parameters" in tags(cell))
    left, right = (program(one.source, strings=not recorded, values=values) for one in (cell, translated))
    if left == right:
        cell.source = translated.source
    if recorded:
        cell.outputs, cell.execution_count = deepcopy(translated.outputs), translated.execution_count
        cell.metadata.pop("verify", None)
        if "verify" in translated.metadata:
            cell.metadata.verify = deepcopy(translated.metadata.verify)
        if "volatile" in tags(translated) and "volatile" not in tags(cell):
            cell.metadata.tags = [*tags(cell), "volatile"]


def carry(english: NotebookNode, chinese: NotebookNode | None, recorded: bool = False) -> NotebookNode:
    """Return the Chinese notebook with the cells, order and program of the English one.

    Its markdown, comments, docstrings and the alternative texts of its figures stay. recorded: it has its own record,
    so its strings, parameters and outputs stay too; else the outputs are the English ones. A cell not translated yet
    appears in English without a translation mark, and a Chinese markdown cell that English no longer has goes to the
    end, so that no text is lost; the check names both.
    """
    old = by_id(chinese) if chinese else {}
    result = deepcopy(english)
    if recorded and chinese:
        result.metadata = deepcopy(chinese.metadata)
    for cell in result.cells:
        translated = old.get(cell.id)
        if translated is None or translated.cell_type != cell.cell_type:
            continue
        if cell.cell_type == "code":
            _carry_code(cell, translated, recorded)
        else:
            cell.source = translated.source
            if "translation" in translated.metadata:
                cell.metadata.translation = deepcopy(translated.metadata.translation)
    ids = {cell.id for cell in result.cells}
    extra = [cell for cell in old.values() if cell.id not in ids and cell.cell_type == "markdown"]
    result.cells += deepcopy(extra)
    return result


def _structure(english: NotebookNode, chinese: NotebookNode, recorded: bool) -> Iterator[tuple[str, str, str]]:
    """Yield cell, rule and message for each part that `carry` would change, and for each cell that English has not."""
    carried, source, actual = carry(english, chinese, recorded), by_id(english), by_id(chinese)
    for cell in carried.cells:
        twin = actual.get(cell.id)
        if twin is None:
            yield cell.id, "missing", f"no such cell in Chinese: {_SYNC}"
        elif unlike := [key for key in _CARRIED if cell.get(key) != twin.get(key)]:
            yield cell.id, unlike[0], f"{unlike[0]}: differs from English in more than a translator may write: {_SYNC}"
    yield from ((i, "extra", "no such cell in English: delete it, or move its text") for i in actual if i not in source)
    if [cell_id for cell_id in source if cell_id in actual] != [cell_id for cell_id in actual if cell_id in source]:
        yield "", "structure", f"the cells are in another order than in English: {_SYNC}"
    if carried.metadata != chinese.metadata or english.nbformat_minor != chinese.nbformat_minor:
        yield "", "metadata", f"the notebook's metadata differs from English: {_SYNC}"


def notebook_problems(english: NotebookNode, chinese: NotebookNode, name: str, root: Path = ROOT) -> Iterator[Problem]:
    """Yield every way in which the Chinese notebook is not a current translation of the English one.

    Bold type of the English one is looked at too.
    """
    source, file = (relative(root, lesson_path(root, language, name)) for language in LANGUAGES)
    recorded = "zh" in editions(root, name)
    yield from (Problem(file, *problem) for problem in _structure(english, chinese, recorded))
    translated = by_id(chinese)
    for cell in english.cells:
        twin = translated.get(cell.id)
        if cell.cell_type == "markdown":
            yield from (Problem(source, cell.id, *fault) for fault in bold_traps(cell.source))
        if twin is None or twin.cell_type != cell.cell_type:
            continue
        if cell.cell_type == "markdown":
            faults = [*text_problems(cell.source, twin.source, root, recorded=recorded)]
            if twin.metadata.get("translation", {}).get("of") != cell_hash(cell.id, cell.source):
                faults.append(("stale", f"{_STALE} `python -m notebooks.kit accept {name} {cell.id}`"))
        else:
            shared = set(comments(cell.source)) & set(comments(twin.source))
            words = [text for text in (*shared, alt_text(twin)) if untranslated(text, text)]
            faults = [
                ("untranslated", f"a comment or description is still in English: '{text[:60]}'") for text in words
            ]
            if not recorded and not words:
                faults += language_differences(alt_text(cell), alt_text(twin))
        yield from (Problem(file, cell.id, *fault) for fault in faults)


def page_pairs(root: Path = ROOT) -> list[tuple[Path, Path]]:
    """Return (English, Chinese) of README, CONTRIBUTING and CHANGELOG, and of every page below docs/en or docs/zh."""
    english, chinese = (root / "docs" / language for language in LANGUAGES)
    pages = {path.relative_to(folder) for folder in (english, chinese) for path in folder.rglob("*.md")}
    pairs = [
        (root / f"{name}.md", root / f"{name}_zh.md") for name in ("README", "docs/CONTRIBUTING", "docs/CHANGELOG")
    ]
    pairs += [(english / page, chinese / page) for page in sorted(pages)]
    return [pair for pair in pairs if pair[0].exists() or pair[1].exists()]


def _shared(text: str, root: Path) -> str:
    """Return a page without the figures of lessons of which each language has a record of its own."""

    def without_own(match: re.Match[str]) -> str:
        own = any("zh" in editions(root, name) for name in re.findall(r"\b\d\d_\w+(?=:)", match["name"]))
        return f"<!--{match['kind']}: own-->{'0' if match['value'] else ''}" if own else match[0]

    return _FIGURE.sub(without_own, text)


def page_problems(english: Path, chinese: Path, root: Path = ROOT) -> Iterator[Problem]:
    """Yield every way in which a Chinese page is not a current translation of its English one."""
    source, file = relative(root, english), relative(root, chinese)
    if not (english.exists() and chinese.exists()):
        gone = source if not english.exists() else file
        yield Problem(gone, "", "missing", "does not exist, its twin does: a page has two languages")
        return
    left, right = (path.read_text(encoding="utf-8") for path in (english, chinese))
    if not FRONT.sub("", right).startswith(_mark(source, left)):
        yield Problem(file, "", "stale", f"{_STALE} `python -m notebooks.kit accept {file}`")
    left, right = _shared(left, root), _shared(right, root)
    yield from (Problem(file, "", *fault) for fault in text_problems(left, right, root))


def _mark(source: str, english: str) -> str:
    return f"<!-- translation of {source}: {cell_hash(source, english)} -->\n"


def accept_cell(root: Path, name: str, cell_id: str) -> None:
    """Mark one Chinese cell as the translation of its English cell as it stands.

    Raises NotebookError if there is no such pair of markdown cells.
    """
    path = lesson_path(root, "zh", name)
    english, chinese = read(lesson_path(root, "en", name), root), read(path, root)
    original, translated = by_id(english).get(cell_id), by_id(chinese).get(cell_id)
    if not original or not translated or {original.cell_type, translated.cell_type} != {"markdown"}:
        raise NotebookError(f"{name}: no markdown cell '{cell_id}' in both languages (code needs no acceptance)")
    translated.metadata["translation"] = {"of": cell_hash(cell_id, original.source)}
    write_text(path, dumps(chinese))


def accept_page(root: Path, chinese: Path) -> None:
    """Mark one Chinese page as the translation of its English one as it stands."""
    pair = next((p for p in page_pairs(root) if p[1].resolve() == chinese.resolve()), None)
    if pair is None or not all(path.exists() for path in pair):
        raise NotebookError(f"{relative(root, chinese)} is no Chinese page with an English one")
    left, right = (path.read_text(encoding="utf-8") for path in pair)
    body = FRONT.sub("", right)
    unmarked = re.sub(r"\A\s*<!-- translation of .*?-->", "", body).lstrip()
    write_text(pair[1], right.removesuffix(body) + _mark(relative(root, pair[0]), left) + "\n" + unmarked)
