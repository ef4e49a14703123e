"""What the page of a function shows beside its docstring: an example."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from docs.site.project import Edition, read_yaml


def complete_entry(app: Sphinx, kind: str, name: str, obj: Any, _options: object, lines: list[str]) -> None:
    """Add its example to the docstring of a function of helpers."""
    edition, short = Edition.of(app), name.rpartition(".")[2]
    if kind != "function" or not obj.__module__.startswith(name.rpartition(".")[0]):  # Sphinx asks of imports too
        return
    if example := read_yaml(edition.root / "docs" / "site" / "api.yml")["examples"].get(short):
        lines += ["", "Example:", *(f"    {line}" for line in example.split("\n")), ""]
