"""Lessons that run in the page: what they show there is what was recorded, and what goes wrong is said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from nbformat import NotebookNode, from_dict

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docs.site.project import read_yaml
from docs.site.pyodide import FOLDER
from notebooks.kit import drawings
from notebooks.kit.cells import code_cells
from notebooks.kit.compare import compare_cell
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_path, read
from tests.site.browser import PHONE, WIDE, Site

pytestmark = pytest.mark.browser
WORDS = read_yaml(ROOT / "docs" / "site" / "run.yml")
COLLECT = "window.ran = {}; document.addEventListener('lesson-cell', e => { ran[e.detail.id] = e.detail.outputs; })"
STATUS = "document.querySelector('.run [role=status]').textContent"


@pytest.fixture
def lesson(site: Site) -> Iterator[Site]:
    """A lesson that runs in the page, opened."""
    if not (site.folder / FOLDER).exists():
        absent = pytest.fail if os.environ.get("EVAL_BROWSER") == "required" else pytest.skip
        absent("the site was built without Pyodide: python -m docs.site --browser PATH")
    yield site
    site.page.unroute_all()
    site.page.goto("about:blank")


def press(site: Site, words: str) -> None:
    """Press a button of the tool by its words."""
    site.page.get_by_role("button", name=words, exact=True).click()


def code(site: Site, cell: str, source: str, language: str = "en") -> None:
    """Change the code of a cell and run it."""
    words = WORDS[language]
    site.page.evaluate("document.querySelectorAll('details.fold').forEach(d => { d.open = true; })")
    if site.page.locator(f"#cell-{cell} ~ .cell").first.locator("textarea").is_hidden():
        press(site, words["edit cell"].format(cell=cell))
    site.page.locator(f"#cell-{cell} ~ .cell").first.locator("textarea").fill(source)
    press(site, words["run cell"].format(cell=cell))


def notebook_outputs(outputs: list[dict[str, Any]]) -> list[NotebookNode]:
    """Return outputs of the page as a notebook stores them: texts printed after each other are one."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        if output["output_type"] == "stream" and joined and joined[-1]["output_type"] == "stream":
            joined[-1]["text"] += output["text"]
        else:
            joined.append({"metadata": {}, **output} if "data" in output else dict(output))
    return [from_dict(output) for output in joined]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_cell_gives_in_the_page_what_is_recorded(
    lesson: Site, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader's own run would contradict the lesson, and nobody would have seen it."""
    lesson.look(WIDE)
    lesson.open(f"{language}/02_metrics.html")
    lesson.page.evaluate(COLLECT)
    press(lesson, WORDS[language]["start"])
    done = WORDS[language]["finished"].split("{")[0]
    lesson.until(f"{STATUS}.startsWith({done!r}) || {STATUS}.includes('error')", 120)
    ran = lesson.page.evaluate("ran")
    monkeypatch.setattr(drawings, "NEAR", 1)  # a point: Pyodide's matplotlib is older, and its words .6 points higher
    different = []
    cells = code_cells(read(lesson_path(ROOT, language, "02_metrics"), ROOT))
    for cell in cells:
        fresh = from_dict({**cell, "outputs": notebook_outputs(ran[cell.id])})
        for output in cell.outputs:
            output.get("data", {}).pop("image/png", None)  # the page draws SVG
        for output in [*cell.outputs, *fresh.outputs]:
            if svg := output.get("data", {}).get("image/svg+xml"):
                output.data["image/svg+xml"] = svg.replace(svg.split('data-drawn-by="')[1].split('"')[0], "")
        different += compare_cell(cell, fresh, versions=False)
    assert not different, "\n".join(map(str, different))
    assert lesson.wrong == []
    assert len(ran) == len(cells)
