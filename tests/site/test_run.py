"""The lesson that runs in its page: what they show there is what was recorded, and what goes wrong is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode, from_dict

pytest.importorskip("sphinx", reason="the docs extra is not installed: pip install '.[docs]'")

from docs.site.project import DocsError, read_yaml
from docs.site.pyodide import add_pyodide
from docs.site.run import LESSON
from notebooks.kit import drawings
from notebooks.kit.cells import code_cells
from notebooks.kit.compare import compare_cell
from notebooks.kit.notebooks import ROOT, lesson_path, read
from tests.site.browser import PHONE, WIDE, Site

pytestmark = pytest.mark.browser
WORDS = read_yaml(ROOT / "docs" / "site" / "run.yml")
COLLECT = "window.ran = {}; document.addEventListener('lesson-cell', e => { ran[e.detail.id] = e.detail.outputs; })"
STATUS = "document.querySelector('.run [role=status]').textContent"


@pytest.fixture
def lesson(site: Site, python: None) -> Iterator[Site]:
    """The site, for a lesson that runs in the page."""
    yield site
    site.page.context.unroute_all()
    site.page.goto("about:blank")


def press(site: Site, words: str) -> None:
    """Press a button of the tool by its words, whatever it says of a download."""
    site.page.get_by_role("button", name=re.compile(rf"^{re.escape(words)}( · \d+ MB)?$")).click()


def code(site: Site, cell: str, source: str, language: str) -> None:
    """Change the code of a cell and run it."""
    words = WORDS[language]
    site.page.evaluate("document.querySelectorAll('details.fold').forEach(d => { d.open = true; })")
    if site.page.locator(f"#cell-{cell} ~ .cell").first.locator("textarea").is_hidden():
        press(site, words["edit cell"].format(cell=cell))
    site.page.locator(f"#cell-{cell} ~ .cell").first.locator("textarea").fill(source)
    press(site, words["run cell"].format(cell=cell))


def status(site: Site, key: str, seconds: float = 60, language: str = "en") -> None:
    """Wait until the tool says a sentence of run.yml, as far as it has no values."""
    site.until(f"{STATUS}.startsWith({WORDS[language][key].split('{')[0]!r})", seconds)


def notebook_outputs(outputs: list[dict[str, Any]]) -> list[NotebookNode]:
    """Return outputs of the page as a notebook stores them: all that a cell prints is one, where the first is."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        printed = next((other for other in joined if other["output_type"] == "stream"), None)
        if output["output_type"] == "stream" and printed:
            printed["text"] += output["text"]
        else:
            joined.append({"metadata": {}, **output} if "data" in output else dict(output))
    return [from_dict(output) for output in joined]


def in_order(attributes: re.Match[str]) -> str:
    """Return the attributes of an element by name: another matplotlib writes them in another order."""
    return "".join(sorted(re.findall(r' [\w:-]+="[^"]*"', attributes[0])))


def test_every_cell_gives_in_the_page_what_is_recorded(lesson: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader's own run would contradict the lesson, and nobody would have seen it."""
    lesson.look(WIDE)
    lesson.open(f"en/{LESSON}.html")
    lesson.page.evaluate(COLLECT)
    press(lesson, WORDS["en"]["start"])
    status(lesson, "finished", 240)
    ran = lesson.page.evaluate("ran")
    monkeypatch.setattr(drawings, "NEAR", 1)  # a point: Pyodide's matplotlib is older, and its words .6 points higher
    different = []
    cells = code_cells(read(lesson_path(ROOT, "en", LESSON), ROOT))
    for cell in cells:
        fresh = from_dict({**cell, "outputs": notebook_outputs(ran[cell.id])})
        for output in cell.outputs:
            output.get("data", {}).pop("image/png", None)  # the page draws SVG
        for output in [*cell.outputs, *fresh.outputs]:
            if svg := output.get("data", {}).get("image/svg+xml"):
                undated = svg.replace(svg.split('data-drawn-by="')[1].split('"')[0], "")
                output.data["image/svg+xml"] = re.sub(r'(?: [\w:-]+="[^"]*")+', in_order, undated)
        different += compare_cell(cell, fresh, versions=False)
    assert not different, "\n".join(map(str, different))
    assert lesson.violations() == []
    assert lesson.wrong == []
    assert len(ran) == len(cells)


def test_a_reader_changes_stops_and_restores_cells(lesson: Site) -> None:
    """An error, an endless loop or a flood of output would take the page with it, or the recorded lesson be lost."""
    lesson.look(PHONE)
    lesson.open("zh/02_metrics.html")
    output = "document.querySelector('#cell-cutoffs ~ .cell .run-output').textContent"
    lesson.page.evaluate("HTMLElement.prototype.scrollIntoView = () => {}")
    press(lesson, WORDS["zh"]["start"])
    status(lesson, "finished", 60, "zh")
    assert "相关文档的名次" in lesson.page.evaluate(
        "document.querySelector('#cell-picture ~ .cell .run-output').textContent"
    )
    opened = "all => all.map(box => box.open)"  # what the reader was to predict
    assert set(lesson.page.locator("details:has(> .run-output)").evaluate_all(opened)) == {True}
    printed = "document.querySelector('#cell-counts ~ .cell .run-output .stream').textContent"
    assert "queries in the mean = 3\n" in lesson.page.evaluate(printed)
    assert lesson.violations() == []
    assert lesson.faint() == []
    code(lesson, "cutoffs", "cutoffs = [1, 5, 10]\ncutoffs[3] / 0", "zh")
    status(lesson, "error", 60, "zh")
    assert lesson.page.evaluate(output).splitlines() == [
        "Traceback (most recent call last):",
        '  File "<cutoffs>", line 2, in <module>',
        "    cutoffs[3] / 0",
        "    ~~~~~~~^^^",
        "IndexError: list index out of range",
    ]
    code(lesson, "cutoffs", "for line in range(1_000_000):\n    print(line)\ncutoffs = [2]", "zh")
    status(lesson, "finished", 20, "zh")
    lines = lesson.page.evaluate(output)
    assert len(lines) < 201_000
    assert lines.endswith(WORDS["zh"]["cut"].format(limit="200,000"))
    code(lesson, "recall", "recall(retrieved, relevant, cutoffs[0]).mean()", "zh")
    status(lesson, "finished", 60, "zh")
    # 2 of 5, 1 of 3 (rank 1 and 2 hold documents 16 and 1, both relevant: 2 of 3) and 1 of 4
    shown = lesson.page.evaluate("document.querySelector('#cell-recall ~ .cell .run-output').textContent")
    assert float(shown.split("(")[-1].rstrip(")\n ")) == pytest.approx((2 / 5 + 2 / 3 + 1 / 4) / 3)
    exercise = "lambda retrieved, relevant, k: len(relevant & set(retrieved)) / len(relevant)"
    code(lesson, "recall", f"from helpers.exercises import check\ncheck('recall', {exercise})", "zh")
    status(lesson, "finished", 60, "zh")
    shown = lesson.page.evaluate("document.querySelector('#cell-recall ~ .cell .run-output').textContent")
    assert "recall：还不对。没有用截断位置" in shown
    code(lesson, "cutoffs", "while True:\n    pass", "zh")
    status(lesson, "running", 60, "zh")
    running = lesson.page.locator("#cell-cutoffs ~ .cell").first.locator(".run-bar button").first
    assert running.inner_text() == WORDS["zh"]["stop"], "it is far from the cell"
    running.click()
    status(lesson, "stopped", 1, "zh")
    for _ in range(100):  # Chromium gives a worker two seconds
        if lesson.page.workers:
            lesson.page.wait_for_timeout(100)
    assert lesson.page.workers == []  # the loop would go on
    press(lesson, WORDS["zh"]["reset"])
    status(lesson, "reset done", 1, "zh")
    assert lesson.page.locator(".run-output:visible, .run-source:visible").count() == 0
    assert lesson.page.locator(".cell_output:not(.run-output):visible").count() > 20


@pytest.mark.parametrize("key", ["changed", "lost", "nowasm"])
def test_what_hinders_python_is_said_and_the_page_lives_on(lesson: Site, key: str) -> None:
    """A reader would wait for ever, or a file that somebody changed on the way would run."""
    lesson.open("en/02_metrics.html")
    if key == "changed":
        lesson.page.context.route("**/python_stdlib.zip", lambda route: route.fulfill(body=b"something else"))
    elif key == "lost":
        lesson.page.context.route(re.compile("02_metrics.json"), lambda route: route.abort())
        press(lesson, WORDS["en"]["start"])
        lesson.until(f"{STATUS}.includes('02_metrics.json')")
        lesson.page.context.unroute_all()
        lesson.page.context.route("**/numpy-*.whl", lambda route: route.abort())
    else:
        lesson.page.evaluate("Object.defineProperty(window, 'WebAssembly', {value: undefined})")
    press(lesson, WORDS["en"]["start"])
    lesson.until(f"!{STATUS}.includes('02_metrics.json')")
    status(lesson, key)
    lesson.page.context.unroute_all()
    if key == "lost":  # and the next attempt succeeds
        press(lesson, WORDS["en"]["run cell"].format(cell="cutoffs"))
        status(lesson, "finished")
    assert lesson.page.locator("#cell-recall ~ .cell .cell_output").first.is_visible()


def test_a_build_refuses_files_that_are_not_those_of_the_release(tmp_path: Path) -> None:
    """The site would publish whatever a wheel of a stranger holds."""
    with pytest.raises(DocsError, match=r"pyodide\.asm\.js: no such file"):
        add_pyodide(ROOT, [tmp_path], tmp_path / "out")
    (tmp_path / "pyodide.asm.js").write_bytes(b"something else")
    with pytest.raises(DocsError, match=r"pyodide\.asm\.js: another digest"):
        add_pyodide(ROOT, [tmp_path], tmp_path / "other")
