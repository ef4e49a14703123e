"""What helps along in the text: definitions of terms where they first occur, and questions."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from docs.site.project import DocsError, Edition, read_yaml, site_words, slugs
from notebooks.kit.figures import without_markers
from notebooks.kit.translation import Term, glossary

LINKS = (nodes.reference, addnodes.pending_xref, addnodes.download_reference)  # a link inside of one would empty it
BARE = (*LINKS, nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.raw, nodes.table)
SHORT = 24  # letters of all answers to a question that stand on one line; a Chinese character counts two
UNLIKE = {  # phrases in which a word of the glossary means something else
    "en": (
        "documents the", "double precision", "expected reciprocal rank", "half precision", "rank-biased precision",
        "single precision", "the normalised one", "that precision", "the precision that",
    ),
    "zh": (
        "代码本", "带着文档", "库的文档", "说明编码", "编码用", "哪种编码", "上述编码", "GBK编码", "GB18030编码",
        "UTF-8编码", "交叉编码器", "期望倒数排名", "按名次加权的精确率", "给它们排序",
    ),
}  # fmt: skip
WITHOUT = ("glossary", "references", "api", "scaling")


def anchor(term: Term) -> str:
    """Return the anchor of a term on the glossary page, the same in both languages."""
    return f"term-{slugs([term.en])[0]}"


@cache
def words(root: Path, language: str) -> dict[str, Term]:
    """The words of the glossary to explain in a language, each with its term; everyday words are left out."""
    terms = [term for term in glossary(root) if term.check]
    if language == "zh":
        return {term.zh.lower(): term for term in terms if not term.zh.isascii() and len(term.zh) > 1}
    return {word.lower(): term for term in terms for word in (term.en, *term.also)}


@cache
def pattern(root: Path, language: str) -> re.Pattern[str]:
    """What finds the words, and the phrases in which they mean something else, the longest first."""
    known = {*words(root, language), *UNLIKE[language]}
    every = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True))
    return re.compile(f"({every})" if language == "zh" else rf"(?<![\w-])({every})s?(?![\w-])", re.I)


def explain_terms(app: Sphinx, doctree: nodes.document) -> None:
    """Link the first occurrence of each term of the glossary on a page to its definition, which is also its title."""
    edition, page = Edition.of(app), app.env.docname
    if page in WITHOUT or page.startswith("helpers."):
        return
    seen: set[str] = set()
    for paragraph in doctree.findall(nodes.paragraph):
        if _within(paragraph, nodes.table) or (page == "index" and paragraph.parent.parent is doctree):  # its pitch
            continue
        for text in list(paragraph.findall(nodes.Text)):
            if not _within(text, BARE):
                explain(text, edition, seen)


def _within(node: nodes.Node, kinds: Any) -> bool:
    """Whether a node is inside one of these."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def explain(text: nodes.Text, edition: Edition, seen: set[str]) -> None:
    """Replace a text by itself with links on its terms that were not seen before."""
    parts: list[nodes.Node] = []
    rest = 0
    given = text.astext()
    for match in pattern(edition.root, edition.language).finditer(given):
        term = words(edition.root, edition.language).get(match[1].lower())
        if term is None or term.en in seen:
            continue
        seen.add(term.en)
        parts.append(nodes.Text(given[rest : match.start()]))
        title = term.means[edition.language]
        link = nodes.reference("", match[0], refuri=f"glossary.html#{anchor(term)}", internal=True, reftitle=title)
        link["classes"].append("term")
        parts.append(link)
        rest = match.end()
    if parts:
        text.parent.replace(text, [*parts, nodes.Text(given[rest:])])


def questions(root: Path) -> Any:
    """The questions of docs/site/questions.yml, by lesson and the anchor of the section that they end."""
    return read_yaml(root / "docs" / "site" / "questions.yml")


def question(entry: dict[str, Any], name: str, language: str) -> str:
    """Return a question with its answers as HTML that needs no script: an answer chosen shows what is said to it."""
    said, parts = site_words(language), []
    texts = [str(answer.get(language, answer.get("both"))) for answer in entry["answers"]]
    shape = "quiz short" if len("".join(texts).encode("gb18030")) <= SHORT else "quiz"
    for number, (text, answer) in enumerate(zip(texts, entry["answers"], strict=True)):
        kind = "right" if number == entry["right"] else "wrong"
        reply = said[kind] + (entry["because"] if kind == "right" else answer["but"])[language]
        place = f"{name}-{number}"
        parts.append(
            f'<div><input type="radio" name="{name}" id="{place}"><label for="{place}">{escape(text)}</label>'
            f'<p class="{kind}" role="status">{escape(without_markers(reply))}</p></div>'
        )
    legend = escape(said["quiz"] + without_markers(entry["question"][language]))
    return f'<fieldset class="{shape}"><legend>{legend}</legend>{"".join(parts)}</fieldset>'


def ask(app: Sphinx, doctree: nodes.document) -> None:
    """End the sections of a lesson with their questions."""
    edition, page = Edition.of(app), app.env.docname
    wanted = questions(edition.root).get(page, {})
    found = {i: section for section in doctree.findall(nodes.section) for i in section["ids"]}
    if lost := [i for i in wanted if i not in found]:
        raise DocsError(f"docs/site/questions.yml: {page} has no section #{lost[0]}; name one that it has")
    for number, (place, entry) in enumerate(wanted.items(), 1):
        html = question(entry, f"question-{number}", edition.language)
        found[place].append(nodes.raw("", html, format="html"))
