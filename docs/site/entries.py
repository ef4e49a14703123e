"""What the page of a function shows beside its docstring: its formula, example and lesson.

The formula of a metric is that of the cheat sheet.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

from docs.site.project import Edition, read_yaml, slugs
from helpers.metrics import METRICS

ROW = re.compile(r"^\| `(\w+)(?:@k)?` \|.*\| (.+) \|$", re.M)  # a metric of the cheat sheet, and its formula


def formula(edition: Edition, metric: str) -> str:
    """Return the formula of a metric as reStructuredText, "" if the cheat sheet has none."""
    found = dict(ROW.findall("".join(edition.texts("cheatsheet")))).get(metric, "")
    parts = re.split(r"\$(.+?)\$", found)
    return "\\ ".join(f":math:`\\displaystyle {part}`" if i % 2 else part for i, part in enumerate(parts))


def explained(edition: Edition, name: str, chinese: str) -> list[str]:
    """Return a line that leads to the section of a lesson on a function, none if api.yml names none."""
    lessons = read_yaml(edition.root / "docs" / "site" / "api.yml")["lessons"]
    for place in (place for place, names in lessons.items() if name in names.split()):
        lesson, _, anchor = place.partition("#")
        titles = dict(zip(slugs(Edition(edition.root, "en").headings(lesson)), edition.headings(lesson), strict=True))
        words = edition.words["explained"].format(int(lesson[:2]))
        return [f".. container:: where{chinese}", "", f"   `{words}{titles[anchor]} <{lesson}.html#{anchor}>`__", ""]
    return []


def complete_entry(app: Sphinx, kind: str, name: str, obj: Any, _options: object, lines: list[str]) -> None:
    """Add to the docstring of a function of helpers what its page shows; formulas in it are set."""
    edition = Edition.of(app)
    if kind != "function" or not obj.__module__.startswith(name.rpartition(".")[0]):  # Sphinx asks of imports too
        return
    notes = read_yaml(edition.root / "docs" / "site" / "api.yml")
    short, chinese = name.rpartition(".")[2], " language-zh-CN" * (edition.language == "zh")
    if found := [key for key, metric in METRICS.items() if metric.definition.__name__ == short]:
        shown = formula(edition, found[0])
        lines[1:1] = ["", f".. container:: formula{chinese}", "", f"   {shown}", ""]
    lines += ["", *explained(edition, short, chinese)]
    text = re.sub(r" Shape \(q,\)\.", "", "\n".join(lines))  # the result says so
    for written, latex in notes["formulas"].items():
        text = text.replace(written, f":math:`{latex}`")
    lines[:] = text.split("\n")
    if short in notes["examples"]:
        lines += ["Example:", *(f"    {line}" for line in notes["examples"][short].split("\n")), ""]
