"""Every lesson as a file to keep: the notebook, a script, a page of HTML that stands alone."""

from __future__ import annotations

import copy
import re
import shutil
from pathlib import Path
from urllib.parse import urljoin

from jinja2 import Template, pass_context
from nbconvert import HTMLExporter, PythonExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from docs.site.formulas import mathml
from docs.site.project import CODES, MARKS, Edition, addresses
from notebooks.kit.cells import alt_text, code_cells
from notebooks.kit.notebooks import LANGUAGES, lesson_names


def _as_it_is(html: str) -> str:
    """Return an output unchanged."""
    return html


class _Markdown(IPythonRenderer):
    """nbconvert's Markdown, formulas as MathML."""

    def block_math(self, body: str) -> str:
        """Return a formula on lines of its own."""
        return mathml(body, display=True)

    def inline_math(self, body: str) -> str:
        """Return a formula inside a line."""
        return mathml(body)


class _Exporter(HTMLExporter):
    """nbconvert's HTML, formulas as MathML. Our own outputs are not searched for harmful tags, which takes seconds."""

    def __init__(self) -> None:
        """Take the template that is a fragment for a page of ours."""
        super().__init__(template_name="basic")  # type: ignore[no-untyped-call]
        self.register_filter("clean_html", _as_it_is)  # type: ignore[no-untyped-call]

    @pass_context
    def markdown2html(self, _context: object, source: str) -> str:
        """Return a Markdown cell as HTML."""
        return str(MarkdownWithMath(renderer=_Markdown(escape=False, exclude_anchor_links=True)).render(source))


def downloads(root: Path, target: Path) -> None:
    """Write every lesson as .ipynb, .py and .html to en/downloads and zh/downloads below target."""
    page = Template((root / "docs" / "site" / "download.html").read_text(encoding="utf-8"), keep_trailing_newline=True)
    to_python, to_html = PythonExporter(), _Exporter()
    for edition in (Edition(root, language) for language in LANGUAGES):
        folder = target / edition.language / "downloads"
        folder.mkdir(parents=True)
        for name in lesson_names(root):
            shutil.copyfile(edition.source(name), folder / f"{name}.ipynb")
            book = described(edition.lesson(name))
            code, _ = to_python.from_notebook_node(book)
            body = standing_alone(to_html.from_notebook_node(book)[0], edition, name)
            text = page.render(language=CODES[edition.language], title=name, body=body)
            (folder / f"{name}.py").write_text(code, encoding="utf-8", newline="\n")
            (folder / f"{name}.html").write_text(text, encoding="utf-8", newline="\n")


def described(book: NotebookNode) -> NotebookNode:
    """Return a copy of a lesson whose figures say in words what they show."""
    book = copy.deepcopy(book)
    for cell in code_cells(book):
        for output in cell.outputs:
            output.get("data", {}).pop("image/svg+xml", None)  # nbconvert shows it without an alternative text
            output.setdefault("metadata", {})["image/png"] = {"alt": MARKS.sub("", alt_text(cell))}
    return book


def standing_alone(html: str, edition: Edition, name: str) -> str:
    """Return a lesson's HTML, which is to be saved as one file: no marks for checks, links with the whole address."""

    def whole(match: re.Match[str]) -> str:
        address = edition.address_of(match[0], name)
        return urljoin(f"{addresses(edition.root).site}{edition.language}/", address) if address else match[0]

    return re.sub(r'(?<=<a href=")[^"]+', whole, MARKS.sub("", html))
