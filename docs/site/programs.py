"""What programs read: every page and lesson as Markdown beside its HTML, and the list of them, llms.txt."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

from docs.site.inserts import filled
from docs.site.project import MARKS, Edition
from notebooks.kit.cells import alt_text
from notebooks.kit.notebooks import LANGUAGES

_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.S)
_LEFT_OUT = re.compile(  # figures and tools of a page, tags inside a line, names for a style
    r"^<.*>$\n?|</?(?:span|a|p|b|br|summary|details|table|tr|td|small)\b[^>]*>|(?<=\])\{[.#][\w-]+\}", re.M
)


def as_markdown(edition: Edition, name: str) -> str:
    """A page or a lesson as Markdown: what its source says, tables of data filled in, code with what it printed."""
    if edition.source(name).suffix == ".md":
        text = _FRONT.sub("", filled(MARKS.sub("", "".join(edition.texts(name))), edition))
    else:
        text = "\n\n".join(_cells(edition, name))
    pieces, last = [], 0
    for fence in [*_FENCE.finditer(text), None]:
        prose = re.sub(r"\{py:\w+\}`~?([^`]+)`", r"`\1`", text[last : fence.start() if fence else len(text)])
        pieces.append(_LINK.sub(lambda link: _moved(edition, link[1], name), _LEFT_OUT.sub("", prose)))
        if fence:  # directives of Sphinx are no code
            pieces, last = [*pieces, "" if fence[0].startswith("```{") else fence[0]], fence.end()
    return re.sub(r"\n{3,}", "\n\n", "".join(pieces)).strip() + "\n"


def _cells(edition: Edition, name: str) -> list[str]:
    """The cells of a lesson: texts, code and the text of its outputs; a figure is what its description says."""
    parts = []
    for cell in edition.lesson(name).cells:
        if cell.cell_type == "markdown":
            parts.append(MARKS.sub("", cell.source))
            continue
        parts.append(f"```python\n{cell.source}\n```")
        shown = [out.get("text") or out.get("data", {}).get("text/plain", "") for out in cell.outputs]
        if described := MARKS.sub("", alt_text(cell)):
            parts.append(f"Figure: {described}")
            shown = [text for text in shown if not text.startswith("<Figure")]
        parts += [f"```text\n{text.rstrip()}\n```" for text in shown if text.strip()]
    return parts


def _moved(edition: Edition, target: str, page: str) -> str:
    """Where a link leads from a page in Markdown: to pages in Markdown, and to files in the repository."""
    address = edition.address_of(target, page) or target
    return address if ":" in address else re.sub(r"\.(?:html|ipynb)(?=#|$)", ".md", address)


def write_markdown(app: Sphinx, failure: Exception | None) -> None:
    """Write every page of one language as Markdown into the folder of its HTML."""
    if failure is not None:
        return
    edition = Edition.of(app)
    for name in sorted(app.env.found_docs):
        if edition.source(name).exists():  # not a page of the API, which is docstrings
            (Path(app.outdir) / f"{name}.md").write_text(as_markdown(edition, name), encoding="utf-8")


def listed(target: Path) -> dict[str, list[tuple[str, str, str]]]:
    """The pages in Markdown below target, by language: path, title, and the first sentence."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for language in LANGUAGES:
        for path in sorted((target / language).glob("*.md")):
            title, *rest = path.read_text(encoding="utf-8").strip().split("\n\n")
            about = next((part for part in rest if re.match(r"(?:\*\*)?[^\W\d]", part)), "")
            sentence = re.split(r"(?<=[.?!])\s|(?<=[。？！])", " ".join(about.split()))[0]
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|\*+", r"\1", sentence)
            entry = (f"{language}/{path.name}", title.lstrip("# "), plain)
            found.setdefault(language, []).append(entry)
    return found
