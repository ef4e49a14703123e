"""Every lesson as a file to keep: the notebook, a script, a page of HTML that stands alone."""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import urljoin

from jinja2 import Template
from nbconvert import PythonExporter, TemplateExporter
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from docs.site.formulas import mathml
from docs.site.project import CODES, MARKS, Edition, addresses
from docs.site.report import source
from notebooks.kit.cells import alt_text, code_cells
from notebooks.kit.notebooks import LANGUAGES, lesson_names


class _Markdown(IPythonRenderer):
    """nbconvert's Markdown, formulas as MathML."""

    def block_math(self, body: str) -> str:
        """Return a formula on lines of its own."""
        return mathml(body, display=True)

    def inline_math(self, body: str) -> str:
        """Return a formula inside a line."""
        return mathml(body)


def _to_html() -> TemplateExporter:
    """nbconvert's HTML as a fragment for a page of ours, formulas as MathML.

    Its HTMLExporter would read each page again, and search our own outputs for harmful tags: both take seconds.
    """
    priority = {"display_data_priority": ["text/html", "image/png", "text/plain"]}
    config = Config({"NbConvertBase": priority, "Exporter": {"default_preprocessors": []}})
    exporter = TemplateExporter(template_name="basic", template_file="index.html.j2", config=config)
    filters = {"clean_html": lambda html: html, "markdown2html": _markdown, "highlight_code": _code}
    for name, each in filters.items():
        exporter.register_filter(name, each)
    return exporter


def _code(source: str, **_: object) -> str:
    """Return a code cell as HTML; both languages have the same."""
    return _coloured(source)


_coloured: Callable[[str], str] = cache(Highlight2HTML("python"))


def _markdown(source: str) -> str:
    """Return a Markdown cell as HTML."""
    return str(MarkdownWithMath(renderer=_Markdown(escape=False, exclude_anchor_links=True)).render(source))


def downloads(root: Path, target: Path) -> None:
    """Write every lesson as .ipynb, .py and .html, and the report, to en/downloads and zh/downloads below target."""
    page = Template((root / "docs" / "site" / "download.html").read_text(encoding="utf-8"), keep_trailing_newline=True)
    to_python, to_html = PythonExporter(), _to_html()
    colours = HtmlFormatter(style="a11y-high-contrast-light").get_style_defs(".highlight")
    for edition in (Edition(root, language) for language in LANGUAGES):
        folder = target / edition.language / "downloads"
        folder.mkdir(parents=True)
        if source(edition).exists():
            shutil.copyfile(source(edition), folder / "report.html")
        for name in lesson_names(root):
            shutil.copyfile(edition.source(name), folder / f"{name}.ipynb")
            book = described(edition.lesson(name))
            code, _ = to_python.from_notebook_node(book)
            body = standing_alone(to_html.from_notebook_node(book)[0], edition, name)
            text = page.render(language=CODES[edition.language], title=name, body=body, colours=colours)
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
