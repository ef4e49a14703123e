"""The pages of modules: the names they list, examples, where sources are read, what modules are for in Chinese."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from docs.site.project import Edition, addresses, read_yaml

ROOT = Path(__file__).parents[2]


def first_named_here(module: str, names: Sequence[str]) -> list[str]:
    """Leave out, in a file of a package, what the package itself hands on: what stands twice cannot be referred to."""
    package = sys.modules.get(module.rpartition(".")[0])
    return [name for name in names if name not in getattr(package, "__all__", ())]


def add_example(app: Sphinx, kind: str, name: str, obj: Any, _options: object, lines: list[str]) -> None:
    """Add its example to the docstring of a function of helpers."""
    if kind != "function" or not obj.__module__.startswith(name.rpartition(".")[0]):  # Sphinx asks of imports too
        return
    examples = read_yaml(Edition.of(app).root / "docs" / "site" / "api.yml")
    if example := examples.get(name.rpartition(".")[2]):
        lines += ["", "Example:", *(f"    {line}" for line in example.split("\n")), ""]


def describe_modules(app: Sphinx, doctree: nodes.document) -> None:
    """Say what each module is for where the site is not English, and that the rest of its page is."""
    words, page = Edition.of(app).words, app.env.docname
    about = words.get("modules", {})
    for row in doctree.findall(nodes.row) if about and page == "api" else ():
        name, summary = row.children
        summary.children = [nodes.paragraph("", about[name.astext()])]
    if page in about:
        text = next(doctree.findall(nodes.paragraph))  # which the note says too
        text.replace_self(nodes.paragraph("", about[page] + words["in english"], classes=["where"]))


def linkcode_resolve(_domain: str, info: dict[str, str]) -> str | None:
    """Return the address of the lines of a function or class, as sphinx.ext.linkcode asks; None for a constant."""
    item: object = sys.modules.get(info["module"])
    for part in info["fullname"].split("."):
        item = getattr(item, part, None)
    item = getattr(item, "fget", item)  # of a property, its function
    try:
        unwrapped = inspect.unwrap(item)  # type: ignore[arg-type]
        file = Path(inspect.getsourcefile(unwrapped) or "")
        lines, first = inspect.getsourcelines(unwrapped)
    except (TypeError, OSError):
        return None
    if not file.is_relative_to(ROOT):
        return None
    return addresses(ROOT).file(f"{file.relative_to(ROOT).as_posix()}#L{first}-L{first + len(lines) - 1}")
