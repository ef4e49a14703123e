"""What the page of a function shows beside its docstring: an example, and the section of a lesson that explains it."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from docs.site.project import Edition, read_yaml, slugs


def explained(edition: Edition, name: str) -> list[str]:
    """Return a line that leads to the section of a lesson on a function, none if api.yml names none."""
    lessons = read_yaml(edition.root / "docs" / "site" / "api.yml")["lessons"]
    for place in (place for place, names in lessons.items() if name in names.split()):
        lesson, _, anchor = place.partition("#")
        titles = dict(zip(slugs(Edition(edition.root, "en").headings(lesson)), edition.headings(lesson), strict=True))
        words = edition.words["explained"].format(int(lesson[:2]))
        return [".. container:: where", "", f"   `{words}{titles[anchor]} <{lesson}.html#{anchor}>`__", ""]
    return []


def complete_entry(app: Sphinx, kind: str, name: str, obj: Any, _options: object, lines: list[str]) -> None:
    """Add to the docstring of a function of helpers what its page shows."""
    edition, short = Edition.of(app), name.rpartition(".")[2]
    if kind != "function" or not obj.__module__.startswith(name.rpartition(".")[0]):  # Sphinx asks of imports too
        return
    lines += ["", *explained(edition, short)]
    if example := read_yaml(edition.root / "docs" / "site" / "api.yml")["examples"].get(short):
        lines += ["Example:", *(f"    {line}" for line in example.split("\n")), ""]
