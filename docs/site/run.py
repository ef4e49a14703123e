"""Local Sphinx extension: the lesson that runs in its page, if the build was given Pyodide (docs/site/pyodide.py).

The page's part is JavaScript without a framework (_static/run/), its words are in run.yml. The cells run in a worker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from docs.site.cells import NUMBER
from docs.site.figures import COLOURS, SCALE, STROKES
from docs.site.project import Edition, as_json, read_yaml
from docs.site.pyodide import ARCHIVE, FOLDER, LOCK, files, release
from docs.site.search import write_data
from notebooks.kit.cells import alt_text, code_cells
from notebooks.kit.labels import labels, printed_labels

LESSON = "02_metrics"  # the one that needs no network
PACKAGES = ("matplotlib", "numpy", "pandas")
AT_ONCE = ("lesson", "total", "words")  # what the offer needs; the rest is fetched on start
PLACE, NOTE = '<details class="behind launch">', "<!-- offer -->"


def packages(names: Iterable[str]) -> set[str]:
    """Return packages of Pyodide and whatever they need."""
    known = release()["lock"]["packages"]
    return set(names).union(*(packages(known[name]["depends"]) for name in names))


def settings(edition: Edition, lesson: str) -> dict[str, Any]:
    """Return what the page needs to know to run a lesson: cells, files by name, packages, colours, labels, words."""
    known, hashes = release()["lock"]["packages"], files(edition.root)
    first = {LOCK, ARCHIVE, *release()["core"], *(known[name]["file_name"] for name in packages(PACKAGES))}
    cells, chinese = code_cells(edition.lesson(lesson)), labels(edition.root)["labels"]
    printed = printed_labels(edition.root, [lesson]) if edition.language == "zh" else ()
    return {
        "lesson": lesson,
        "cells": [{"id": cell.id, "source": cell.source, "alt": alt_text(cell)} for cell in cells],
        "files": hashes,
        "imports": {each: name for name, package in known.items() for each in package["imports"]},
        "packages": PACKAGES,
        "archive": ARCHIVE,
        "total": sum(hashes[name]["size"] for name in first),
        "colours": COLOURS,
        "strokes": STROKES,
        "scale": SCALE,
        "labels": {label: chinese[label] for _, label in printed if label in chinese},
        "number": NUMBER.pattern,
        "words": read_yaml(edition.root / "docs" / "site" / "run.yml")[edition.language],
    }


def offer(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Put the tool into the head of a lesson that runs in the page."""
    if FOLDER not in app.tags or page != LESSON:
        return
    edition = Edition.of(app)
    later = settings(edition, page)
    offered = {name: later.pop(name) for name in AT_ONCE}
    write_data(app, f"run/{page}.json", later)
    words, size = offered["words"], offered["total"] / 1e6
    button = f'<p class="run-buttons"><button type="button">{words["start"]} · {size:.0f} MB</button></p>'
    data = as_json(offered)
    tool = f'<div class="run" data-files="../{FOLDER}/">{button}<p role="status"></p>{data}</div>'
    context["body"] = context["body"].replace(PLACE, tool + PLACE, 1).replace(NOTE, f"{words['offer']} ", 1)
    app.add_css_file("run/run.css")
    app.add_js_file("run/main.js", type="module")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register what is done to a lesson's page."""
    app.connect("html-page-context", offer)
    return {"parallel_read_safe": True}
