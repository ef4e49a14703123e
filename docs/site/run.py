"""Local Sphinx extension: lessons whose cells run in the page, if the build was given Pyodide (docs/site/pyodide.py).

The page's part is JavaScript without a framework (_static/run/), its words are in run.yml. The cells run in a worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from docs.site.cells import NUMBER, in_chinese
from docs.site.figures import COLOURS, SCALE, STROKES
from docs.site.project import Edition, as_json, read_yaml
from docs.site.pyodide import ARCHIVES, FOLDER, LOCK, files, release
from docs.site.search import write_data
from notebooks.kit.cells import alt_text, code_cells
from notebooks.kit.labels import chinese, labels, names_of, printed_labels, values_of


@dataclass(frozen=True)
class Lesson:
    """What a lesson loads before its first cell, packages and archives, and which cells need more than that."""

    packages: tuple[str, ...]
    archives: tuple[str, ...] = tuple(ARCHIVES)
    elsewhere: tuple[str, ...] = ()


LESSONS = {
    "02_metrics": Lesson(("matplotlib", "numpy", "pandas"), ("lesson.zip",)),
    "03_model_comparison": Lesson(("matplotlib", "numpy", "pandas", "scipy"), elsewhere=("padding",)),
    "04_judgements": Lesson(("matplotlib", "numpy", "pandas", "scikit-learn", "scipy")),
}
AT_ONCE = ("archives", "elsewhere", "lesson", "total", "words")  # what the offer needs; the rest is fetched on start
PLACE, NOTE = '<details class="behind launch">', "<!-- offer -->"


def packages(names: tuple[str, ...]) -> set[str]:
    """Return packages of Pyodide and whatever they need."""
    known, wanted, todo = release()["lock"]["packages"], set[str](), list(names)
    while todo:
        if (name := todo.pop()) not in wanted:
            wanted.add(name)
            todo += known[name]["depends"]
    return wanted


def settings(edition: Edition, lesson: str) -> dict[str, Any]:
    """Return what the page needs to know to run a lesson: cells, files by name, packages, colours, labels, words."""
    known, hashes, needs = release()["lock"]["packages"], files(edition.root), LESSONS[lesson]
    first = {LOCK, *needs.archives, *release()["core"]}
    first |= {known[name]["file_name"] for name in packages(needs.packages)}
    cells = code_cells(edition.lesson(lesson))
    comments = labels(edition.root)["comments"] if edition.language == "zh" else {}
    return {
        "lesson": lesson,
        "cells": [
            {"id": cell.id, "source": in_chinese(cell.source, comments), "alt": alt_text(cell)} for cell in cells
        ],
        "elsewhere": needs.elsewhere,
        "files": hashes,
        "imports": {each: name for name, package in known.items() for each in package["imports"]},
        "packages": needs.packages,
        "archives": needs.archives,
        "total": sum(hashes[name]["size"] for name in first),
        "colours": COLOURS,
        "strokes": STROKES,
        "scale": SCALE,
        "labels": _labels(edition, lesson) if edition.language == "zh" else {},
        "values": _values(edition, lesson) if edition.language == "zh" else {},
        "printed": _printed(edition, lesson) if edition.language == "zh" else {},
        "number": NUMBER.pattern,
        "words": read_yaml(edition.root / "docs" / "site" / "run.yml")[edition.language],
    }


def _labels(edition: Edition, lesson: str) -> dict[str, str]:
    """Return the Chinese of the labels that a lesson has recorded."""
    known = labels(edition.root)["labels"]
    return {label: known[label] for _, label in printed_labels(edition.root, [lesson]) if label in known}


def _values(edition: Edition, lesson: str) -> dict[str, str]:
    """Return the Chinese of the values that are words in the tables that a lesson has recorded."""
    known = labels(edition.root)["values"]
    return {value: chinese(value, known) for _, value in values_of(edition.lesson(lesson), known)}


def _printed(edition: Edition, lesson: str) -> dict[str, str]:
    """Return the Chinese of the names before the values that a lesson has printed."""
    known = labels(edition.root)["printed"]
    return {name: chinese(name, known) for _, name in names_of(edition.lesson(lesson)) if chinese(name, known)}


def offer(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Put the tool into the head of a lesson that runs in the page."""
    if FOLDER not in app.tags or page not in LESSONS:
        return
    edition = Edition.of(app)
    later = settings(edition, page)
    offered = {name: later.pop(name) for name in AT_ONCE}
    write_data(app, f"run/{page}.json", later)
    words, size = offered["words"], offered["total"] / 1e6
    said = words["offer"] + (words["recorded"] if len(offered["archives"]) > 1 else "")
    button = f'<p class="run-buttons"><button type="button">{words["start"]} · {size:.0f} MB</button></p>'
    data = as_json(offered)
    tool = f'<div class="run" data-files="../{FOLDER}/">{button}<p role="status"></p>{data}</div>'
    context["body"] = context["body"].replace(PLACE, tool + PLACE, 1).replace(NOTE, f"{said} ", 1)
    app.add_css_file("run/run.css")
    app.add_js_file("run/main.js", type="module")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register what is done to a lesson's page."""
    app.connect("html-page-context", offer)
    return {"parallel_read_safe": True}
