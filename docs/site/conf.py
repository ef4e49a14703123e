"""Sphinx configuration of both languages; `python -m docs.site` runs it once for each over the staged sources."""

import gc
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from docs.site.api import first_named_here
from docs.site.api import linkcode_resolve as linkcode_resolve
from docs.site.project import addresses

gc.disable()  # looking for trees to free takes a sixth of the time, and all of them are needed until the end

LANGUAGE = os.environ["DOCS_LANGUAGE"]
ADDRESS = addresses(ROOT)

project = {"en": "Retrieval evaluation", "zh": "检索评估教程"}[LANGUAGE]
author = ""
copyright = {"en": "MIT licence; bundled collection CC0", "zh": "MIT许可证；自带数据集CC0"}[LANGUAGE]
version = release = ADDRESS.version
language = {"en": "en", "zh": "zh_CN"}[LANGUAGE]
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.linkcode",
    "sphinx_copybutton",
    "docs.site.extension",
    "docs.site.run",
]
default_role = "code"
nitpicky = False

# Lessons are shown as they were recorded.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, str] = {}
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_inline", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

napoleon_use_rtype = False
napoleon_use_ivar = True  # the attributes of a class are one list; their types are in its signature
napoleon_attr_annotations = False
autosummary_ignore_module_all = False
autosummary_context = {"first_named_here": first_named_here}
suppress_warnings = ["config.cache"]  # of that function
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Qrels", "Represented", "Retrieved")}
autodoc_use_type_comments = False
# The API pages need only the names of these; importing them would take much of the time of a build.
autodoc_mock_imports = ["dask", "distributed", "faiss", "matplotlib", "pandas", "safetensors", "scipy", "torch"]
autodoc_mock_imports += ["tqdm", "transformers"]
toc_object_entries_show_parents = "hide"
add_module_names = False
copybutton_exclude = ".linenos, .gp, .go"

templates_path = [str(ROOT / "docs" / "site" / "_templates")]  # autosummary looks below the sources
html_theme = "sphinx_book_theme"
html_title = project
html_show_search_summary = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_domain_indices = False
html_baseurl = ADDRESS.site + LANGUAGE + "/"
html_sidebars = {"**": ["navbar-logo.html", "find.html", "contents.html"]}
html_theme_options = {
    "repository_url": ADDRESS.repository,
    "repository_branch": ADDRESS.tag,
    "use_repository_button": False,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navbar_persistent": [],
    "article_header_start": ["toggle-primary-sidebar.html", "site-name.html"],
    "article_header_end": ["language.html", "repository.html", "article-header-buttons.html"],
    "footer_content_items": ["copyright.html", "where.html"],
    "show_navbar_depth": 1,
    "max_navbar_depth": 2,
    "show_toc_level": 2,
    "toc_title": {"en": "On this page", "zh": "本页内容"}[LANGUAGE],
    "search_bar_text": {"en": "Search", "zh": "搜索"}[LANGUAGE],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto", "address": ADDRESS}
