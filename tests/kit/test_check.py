"""The static checks of notebooks and prose figures: each broken rule is found alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode, from_dict

from notebooks.kit import __main__ as cli
from notebooks.kit.cells import by_id
from notebooks.kit.check import check
from notebooks.kit.figures import agrees, cell_figures
from notebooks.kit.markdown import prose
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_path, read
from notebooks.kit.record import sync
from notebooks.kit.translation import accept_page
from tests.project.test_metrics_alone import imported
from tests.sample import NAME, code, replaced
from tests.sample import edit as edit_lesson

Edit = Callable[[dict[str, NotebookNode]], object]


def edit(root: Path, change: Edit) -> None:
    """Apply a change to the cells of the sample in both languages, so that only what it breaks is broken."""
    edit_lesson(root, lambda book: change(by_id(book)), recorded=True)


def found(root: Path, name: str = NAME) -> list[tuple[str, str, str]]:
    """Return (language, cell, rule) of every problem of a lesson."""
    return [(Path(p.file).parent.name, p.cell, p.rule) for p in check(root, [name])]


def _append(cell: str, text: str) -> Edit:
    """Print one more line in the recorded output of a cell."""
    return lambda cells: cells[cell].outputs[0].update(text=cells[cell].outputs[0].text + text)


def _output(cell: str, **output: object) -> Edit:
    """Add an output to a cell."""
    return lambda cells: cells[cell].outputs.append(from_dict(output))


def _svg(old: str, new: str) -> Edit:
    """Replace a part of the recorded SVG of the figure."""

    def change(cells: dict[str, NotebookNode]) -> None:
        data = cells["figure"].outputs[-1].data
        assert old in data["image/svg+xml"]
        data["image/svg+xml"] = data["image/svg+xml"].replace(old, new, 1)

    return change


HOME = "/".join(["", "home", "ann", "cache"])
BROKEN: dict[str, tuple[Edit, str, str]] = {
    "error": (_output("timing", output_type="error", ename="E", evalue="v", traceback=[]), "timing", "error"),
    "stderr": (_output("timing", output_type="stream", name="stderr", text="warned"), "timing", "stderr"),
    "widget": (
        _output("timing", output_type="display_data", metadata={}, data={"application/vnd.widget-view+json": {}}),
        "timing",
        "progress",
    ),
    "home": (_append("timing", "cached in " + HOME), "timing", "private"),
    "windows": (_append("timing", "C:\\Users\\ann"), "timing", "private"),
    "address": (_append("timing", "served at 192.168.0.7"), "timing", "private"),
    "metadata": (lambda cells: cells["timing"].metadata.update(collapsed=True), "timing", "metadata"),
    "alt": (lambda cells: cells["figure"].metadata.pop("mystnb"), "figure", "alt"),
    "svg: script": (_svg("</svg>", "<script>alert(1)</script></svg>"), "figure", "svg"),
    "svg: handler": (_svg("<g>", '<g onclick="alert(1)">'), "figure", "svg"),
    "svg: style": (_svg("<g>", '<g style="fill: red">'), "figure", "svg"),
    "svg: link": (_svg('href="#', 'href="https://example.org/#'), "figure", "svg"),
    "svg: address": (_svg('fill="none"', 'fill="url(https://example.org/a)"'), "figure", "svg"),
    "svg: entity": (_svg("<svg", "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg"), "figure", "svg"),
    "svg: broken": (_svg("</svg>", ""), "figure", "svg"),
    "svg: size": (_svg("<g>", "<g>" + "<g></g>" * 15_000), "figure", "svg"),
    "svg: path": (_svg("</text>", " " + HOME + "</text>"), "figure", "private"),
    "one format": (lambda cells: cells["figure"].outputs[-1].data.pop("image/svg+xml"), "figure", "formats"),
    "date": (lambda cells: cells["origin"].outputs[0].update(text='{"packages": {}}'), "origin", "provenance"),
    "json": (lambda cells: cells["origin"].outputs[0].update(text="pandas 3"), "origin", "provenance"),
}


@pytest.mark.parametrize(("change", "cell", "rule"), BROKEN.values(), ids=BROKEN)
def test_hygiene(project: Path, change: Edit, cell: str, rule: str) -> None:
    """A notebook could be committed with something no reader should meet."""
    edit(project, change)
    assert found(project) == [("en", cell, rule), ("zh", cell, rule)]


def test_one_switch_names_the_release_in_every_lesson(project: Path) -> None:
    """After a release, lessons would go on to install the branch, or all of them would have to be recorded again."""
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (project / "pyproject.toml").write_text(re.sub(r'(?<=\ntag = )".*?"', '"v9.8"', settings), encoding="utf-8")
    edit(project, lambda cells: cells["setup"].update(source='x = "git+https://example.org/y@main"'))
    sync(project, NAME)
    assert {rule for _, _, rule in found(project)} == {"not-recorded"}  # the sample had another cell there
    for language in LANGUAGES:
        assert "@v9.8" in by_id(read(lesson_path(project, language, NAME)))["setup"].source


def test_output_edited_after_recording(project: Path) -> None:
    """A recorded time, which no execution is compared with, could be made faster by hand."""
    edit_lesson(project, lambda book: by_id(book)["timing"].outputs[0].update(text="0.000001 s\n"))
    assert found(project) == [("en", "timing", "not-recorded")]


def test_code_edited_after_recording(project: Path) -> None:
    """An edited cell would stand above the output of the code before."""
    edit_lesson(project, replaced("printed", "120", "121"), recorded=True)
    assert found(project) == [("en", "printed", "not-recorded")]


FIGURES: dict[str, tuple[str, str, str]] = {
    "last digit": ("-->0.123", "-->0.124", "figure-value"),
    "other row": ("scores/system a/recall-->", "scores/system b/recall-->", "figure-value"),
    "row gone": ("scores/system a/recall", "scores/system c/recall", "figure-gone"),
    "more digits than recorded": ("-->66.7%", "-->66.674%", "figure-value"),
    "no number": ("-->0.123", "-->**0.123**", "figure-marker"),
    "nofig without a source": ("<!--nofig: an invented value-->", "<!--nofig-->", "figure-marker"),
    "unknown citation key": ("<!--nofig: an invented value-->", "<!--nofig: Nobody1999-->", "figure-source"),
}


@pytest.mark.parametrize(("old", "new", "rule"), FIGURES.values(), ids=FIGURES)
def test_prose_figures(project: Path, old: str, new: str, rule: str) -> None:
    """A number in the text could contradict the output below it."""
    edit_lesson(project, replaced("intro", old, new), recorded=True)
    rules = {(cell, kind) for _, cell, kind in found(project)}
    assert ("intro", rule) in rules
    assert {kind for _, kind in rules} <= {rule, "subject", "markers", "numbers", "stale"}


@pytest.mark.parametrize(
    ("shown", "recorded", "agree"),
    [
        ("0.12", "0.123457", True),
        ("0.124", "0.123457", False),
        ("12.3%", "0.123457", True),
        ("12%", "12.34", False),
        ("0.50", "0.5", True),
        ("0.1234", "0.123", False),
        ("\u22120.5", "-0.5", True),
        ("0.81", "0.8050000001", True),
        ("0.001", "< 0.001", True),
        ("0.0024", "< 0.0001", False),
    ],
)
def test_agreement_at_the_precision_shown(shown: str, recorded: str, agree: bool) -> None:
    """The text could be wrong in its last digit, or right and refused."""
    assert agrees(shown, recorded) is agree


def test_prose_drops_code_and_keeps_lines() -> None:
    """Code would be read as prose, or a sentence be looked for in another line than its translation."""
    text = "---\na: b\n---\n```python\ncode\n```\n> ~~~\n> more\n> ~~~\nend `x` [words](at)"
    assert prose(text).split("\n") == [*[""] * 9, "end \ufffc words"]


def test_printed_names() -> None:
    """A printed figure could not be quoted, or under another name than the reader sees."""
    text = "best = 0.5\none of four found: right = 0.39\nshare: 12.5%\nmean = 0.9 [0.8, 1.0]\nn: 1,234\nno number: x\n"
    cell = code("one", "")
    cell.outputs = [NotebookNode(output_type="stream", name="stdout", text=text)]
    expected = {"best": "0.5", "one of four found: right": "0.39", "share": "12.5%", "mean": "0.9", "n": "1,234"}
    assert cell_figures(cell) == expected


def test_table_names() -> None:
    """A cell of a table could not be quoted, or two cells would share a name."""
    head = "<tr><th></th><th>recall</th><th>mrr</th></tr><tr><th>system</th><th></th><th></th></tr>"
    rows = "<tr><th>A</th><td>1</td><td>2</td></tr><tr><th>B</th><td>3</td><td>4</td></tr>"
    cell = code("one", "")
    html = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
    cell.outputs = [NotebookNode(output_type="execute_result", data={"text/html": html})]
    assert cell_figures(cell) == {"A/recall": "1", "A/mrr": "2", "B/recall": "3", "B/mrr": "4"}
    cell.outputs.append(NotebookNode(output_type="stream", name="stdout", text="A/recall = 7"))
    assert cell_figures(cell)["A/recall"] == "(more than one value has this name)"


def test_pages_quote_lessons_and_benchmarks(project: Path) -> None:
    """README and docs could quote figures that no run gives."""
    for name in ("benchmarks", "en"):
        (project / "docs" / name).mkdir(exist_ok=True)
    measured, page = project / "docs" / "benchmarks" / "speed.json", project / "docs" / "en" / "index.md"
    measured.write_text('{"a/b": [{"ratio": 21.4}]}', encoding="utf-8")
    good = "<!--calc: '00_sample:printed/best' * 3-->2.0, `<!--fig:a/b-->0.5` is code, "
    good += "other <!--fig:00_sample:printed/best-->0.667, <!--fig:bench:speed/a/b/0/ratio-->21 times."

    def rules() -> list[str]:
        return [p.rule for p in check(project) if p.file == "docs/en/index.md"]

    page.write_text(good, encoding="utf-8")
    assert rules() == []
    page.write_text(good.replace("0.667", "0.668").replace("21 ", "22 "), encoding="utf-8")
    assert rules() == ["figure-value", "figure-value"]
    measured.write_text('{"a/b": [{"ratio": 22.4}]}', encoding="utf-8")
    assert rules() == ["figure-value"]


def test_a_chinese_page_quotes_the_chinese_record(project: Path) -> None:
    """A Chinese page would show the English numbers of a lesson that gives others in Chinese, or wrong ones."""
    (project / "docs" / "lessons.yml").write_text("chinese: [00_sample]\n", encoding="utf-8")

    def other_words(book: NotebookNode) -> None:
        [output] = by_id(book)["printed"].outputs
        output.text = output.text.replace("best = 0.6667", "最好 = 0.5000")

    edit_lesson(project, other_words, "zh", recorded=True)
    texts = {
        "en": "It fell from <!--fig:00_sample:printed/best-->0.667 to <!--fig:00_sample:scores/system a/recall-->0.123",
        "zh": "从<!--fig:00_sample:printed/最好-->0.500降到<!--fig:00_sample:scores/system a/recall-->0.123。",
    }
    for language, text in texts.items():
        (project / "docs" / language).mkdir(exist_ok=True)
        (project / "docs" / language / "page.md").write_text(text, encoding="utf-8")
    accept_page(project, page := project / "docs" / "zh" / "page.md")
    accepted = page.read_text(encoding="utf-8")
    for old, new, rules in (("", "", []), ("0.500", "0.667", ["figure-value"]), ("0.123", "", ["figure-marker"]),
                            ("<!--fig:00_sample:printed/最好-->", "", ["markers"])):  # fmt: skip
        page.write_text(accepted.replace(old, new), encoding="utf-8")
        assert [p.rule for p in check(project) if "page.md" in p.file] == rules


BAD_FILES: dict[str, tuple[Callable[[str], str], str]] = {
    "invalid JSON": (lambda text: text[:-20], "cannot be read"),
    "no notebook": (lambda text: "[]", "nbformat None"),
    "Colab's 4.0": (lambda text: text.replace('"nbformat_minor": 5', '"nbformat_minor": 0'), "nbformat 4.0"),
    "no id": (lambda text: text.replace('   "id": "printed",\n', ""), "'id' is a required property"),
    "an id twice": (lambda text: text.replace('"id": "printed"', '"id": "scores"'), "repeats the cell id scores"),
    "no outputs": (lambda text: text.replace('"outputs": [],', ""), "cells/1: 'outputs' is a required property"),
}


@pytest.mark.parametrize(("damage", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_unusable_notebook(project: Path, damage: Callable[[str], str], message: str) -> None:
    """A damaged file would end in a stack trace, or go unnoticed."""
    path = lesson_path(project, "en", NAME)
    text = path.read_text(encoding="utf-8")
    assert damage(text) != text
    path.write_text(damage(text), encoding="utf-8")
    problems = check(project, [NAME])
    assert [(p.rule, message in p.message) for p in problems] == [("unreadable", True)]


def test_layout_of_the_file(project: Path) -> None:
    """A notebook saved in another layout would drown the next recording in white space."""
    path = lesson_path(project, "en", NAME)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    assert found(project) == [("en", "", "format")]
    assert cli.main(["--root", str(project), "sync", NAME]) == 0
    assert found(project) == []


def test_check_starts_nothing_heavy() -> None:
    """The check would be too slow to run before each commit."""
    heavy = {"papermill", "torch", "numpy", "pandas", "matplotlib", "FlagEmbedding", "jupyter_client", "asyncio"}
    assert imported("notebooks.kit.check", "notebooks.kit.__main__") & heavy == set()
