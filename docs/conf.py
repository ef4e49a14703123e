"""Sphinx configuration of both languages; `python -m docs.build` runs it once for each over the staged sources."""

import json
import os
import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search.zh import SearchChinese

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs.stage import addresses

LANGUAGE = os.environ["DOCS_LANGUAGE"]
SOURCE = Path(os.environ["DOCS_SOURCE"])
ADDRESS = addresses(ROOT)
README = (ROOT / ("README.md" if LANGUAGE == "en" else "README_zh.md")).read_text(encoding="utf-8")
PICTURE_ALT = re.search(r"!\[(.+)\]\(docs/images/growth\.png\)", README)[1]

project = {"en": "Retrieval evaluation", "zh": "检索评估教程"}[LANGUAGE]
author = ""
copyright = "MIT licence; bundled collection CC0" if LANGUAGE == "en" else "MIT许可证；自带数据集CC0"
version = release = ADDRESS.version
language = {"en": "en", "zh": "zh_CN"}[LANGUAGE]
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
]
default_role = "code"
nitpicky = False

# Lessons are shown as they were recorded.
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_inline", "deflist"]
myst_heading_anchors = 4
myst_update_mathjax = False
myst_links_external_new_tab = False

napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# The API page needs only the names of these; importing them would take much of the time of a build.
autodoc_mock_imports = ["faiss", "matplotlib", "safetensors", "scipy", "torch", "tqdm", "transformers"]
toc_object_entries = False
add_module_names = False
copybutton_exclude = ".linenos, .gp, .go"

templates_path = ["_templates"]
html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [
    ("site.js", {"defer": "defer"}),
    ("search.js", {"defer": "defer"}),
    ("mathjax-config.js", {"priority": 100}),
]
html_copy_source = False
html_show_sphinx = False
html_domain_indices = False
html_baseurl = ADDRESS.site + LANGUAGE + "/"
html_sidebars = {"**": ["navbar-logo.html", "search-button-field.html", "sbt-sidebar-nav.html"]}
html_theme_options = {
    "repository_url": ADDRESS.repository,
    "repository_branch": ADDRESS.tag,
    "use_repository_button": False,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navbar_persistent": [],
    "article_header_end": ["language.html", "article-header-buttons.html"],
    "footer_content_items": ["copyright.html", "where.html"],
    "show_navbar_depth": 1,
    "max_navbar_depth": 2,
    "show_toc_level": 2,
    "home_page_in_toc": True,
    "toc_title": {"en": "On this page", "zh": "本页内容"}[LANGUAGE],
    "search_bar_text": {"en": "Search", "zh": "搜索"}[LANGUAGE],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_search_options = {"dict": str(SOURCE / "words.txt")} if LANGUAGE == "zh" else {}

# Only the parts of MathJax that the pages need, started by mathjax-config.js.
mathjax_path = "mathjax/startup.js"
mathjax3_config = None


class SearchChineseWords(SearchChinese):
    """Sphinx's Chinese index with a stemmer that exists in the browser (Sphinx 9.0 names one that does not)."""

    language_name = "English"


def _list_returns(_app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Make a list of several named values under `Returns:`, which napoleon takes for one broken paragraph."""
    if "Returns:" not in lines:
        return
    start = lines.index("Returns:") + 1
    end = next((i for i in range(start, len(lines)) if not lines[i].strip()), len(lines))
    text = "\n".join(lines[start:end])
    items = re.findall(r"^ {4}(\w+): ((?:.*\n?)(?: {5,}.*\n?)*)", text, flags=re.M)
    if len(items) > 1:
        lines[start:end] = [f"    - **{name}** – {' '.join(words.split())}" for name, words in items]


def _skip_fields(_app: Sphinx, _what: str, _name: str, obj: object, _skip: bool, _options: object) -> bool | None:
    """Leave out the fields of named tuples: their class says what they are, Python only their number."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def _name_headings(app: Sphinx, doctree: nodes.document) -> None:
    """Give every heading the anchor made from its English text, and every lesson cell its own."""
    page = app.env.docname
    anchors = app.config.html_context["anchors"].get(page, [])
    sections = list(doctree.findall(nodes.section))
    slugs = app.env.metadata[page].get("myst_slugs", {})
    for section, anchor in zip(sections, anchors, strict=bool(anchors) and page != "api"):
        section["ids"] = [anchor, *(i for i in section["ids"] if i != anchor)]
        slugs[anchor] = (section.line, anchor, section.next_node(nodes.title).astext())
    cells = app.config.html_context["cells"].get(page, {})
    for node in doctree.findall(nodes.container):
        if "cell_index" in node and str(node["cell_index"]) in cells:
            node["ids"].append(cells[str(node["cell_index"])])
    for cell in cells.values():
        slugs[cell] = (0, cell, None)
    app.env.metadata[page]["myst_slugs"] = slugs


def _page_context(app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None) -> None:
    """Tell the templates what the page is about and where its twin in the other language is."""
    other = "zh" if LANGUAGE == "en" else "en"
    context["other_language"] = other
    context["twin"] = f"{context['content_root']}../{other}/{page}.html"
    context["address"] = ADDRESS
    context["page_url"] = {code: f"{ADDRESS.site}{code}/{page}.html" for code in ("en", "zh")}
    first = next(doctree.findall(nodes.paragraph), None) if doctree is not None else None
    words = " ".join(first.astext().split()) if first is not None else ""
    context["picture_alt"] = PICTURE_ALT
    context["description"] = words if len(words) <= 200 else words[:199] + "…"


def setup(app: Sphinx) -> dict:
    staged = json.loads((SOURCE / "anchors.json").read_text(encoding="utf-8"))
    html_context.update(anchors=staged["headings"], cells=staged["cells"])
    app.add_search_language(SearchChineseWords)
    app.connect("autodoc-process-docstring", _list_returns, priority=100)
    app.connect("autodoc-skip-member", _skip_fields)
    app.connect("doctree-read", _name_headings, priority=100)
    app.connect("html-page-context", _page_context)
    return {"parallel_read_safe": True}
