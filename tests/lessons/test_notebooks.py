"""Every lesson, in both languages, executed with papermill and compared with what it has recorded.

The Python of its solutions runs after its cells, and the numbers that a solution is said to print must be among them.
"""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from notebooks.kit.cells import by_id, output_texts
from notebooks.kit.compare import NUMBER, compare
from notebooks.kit.conditions import Condition, differences, temporary_cache
from notebooks.kit.execute import Parameters, execute
from notebooks.kit.figures import agrees
from notebooks.kit.listed import editions
from notebooks.kit.notebooks import LANGUAGES, ROOT, NotebookError, lesson_names, lesson_path, read, relative
from notebooks.kit.program import program
from notebooks.kit.run import report
from tests.systems.samples import write_reranker

TWIN = "02_metrics"  # the others that share the English outputs have the same program, see `check`
LESSONS = [
    (language, name)
    for name in lesson_names(ROOT)
    for language in (LANGUAGES if name == TWIN else editions(ROOT, name))
]
LONG = {"05_languages", "06_scaling_up", "07_stages"}  # `make run` and each night; small runs of two are below
CHEAP = "10_answers"  # the Chinese one runs in `make test` too: it needs no model
PRINTED = re.compile(r"<!--nofig: printed by the solution, which a test runs-->(?:\n((?:.+\n)+)|([\d.]*\d))")
FORGET = """# a reader may skip a solution, so the next one finds the names of the lesson alone
for name in globals().keys() - lesson.keys() - {"lesson"}:
    del globals()[name]
globals().update(lesson)"""
ROWS = re.compile(r"(?<![\w.])\d+\.\d+")


def solutions(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Return the Python of each exercise or paragraph of a lesson's prose, and the text around it."""
    pairs = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts = re.split(r"(?m)^(?=\d+\. )", cell.source)
            pairs += [("\n".join(re.findall(r"```python\n(.*?)```", part, re.S)), part) for part in parts]
    return [(code, part) for code, part in pairs if code or PRINTED.search(part)]


def claimed(text: str) -> list[str]:
    """Return the numbers that a text says its solution prints: behind the marker, or all of the table below it."""
    return [number for rows, one in PRINTED.findall(text) for number in (ROWS.findall(rows) if rows else [one])]


@pytest.mark.parametrize("name", lesson_names(ROOT))
def test_both_languages_show_the_same_solutions(name: str) -> None:
    """A solution could be changed in one language alone."""
    strings = "zh" not in editions(ROOT, name)
    shown = [
        [program(code, strings=strings) for code, _ in solutions(read(lesson_path(ROOT, language, name)))]
        for language in LANGUAGES
    ]
    assert shown[0] == shown[1]
    assert shown[0] or name == "02_metrics", "test_lesson would find none to run"


@pytest.mark.parametrize(
    ("language", "name"),
    [
        pytest.param(
            language,
            name,
            id=f"{language}/{name}",
            marks=[pytest.mark.slow] * (name in LONG or (language == "zh" and name != CHEAP)),
        )
        for language, name in LESSONS
    ],
)
@pytest.mark.usefixtures("executed")
def test_lesson(language: str, name: str) -> None:
    """A reader who runs the lesson, or a solution, would get something else than the page shows, or an error."""
    path = lesson_path(ROOT, language, name)
    recorded, exercises = read(path), solutions(read(path))
    extended = deepcopy(recorded)
    extended.cells.append(new_code_cell("lesson = dict(globals())"))
    for i, (code, _) in enumerate(exercises):
        extended.cells += [new_code_cell(code, id=f"solution-{i}"), new_code_cell(FORGET)]
    try:
        fresh = execute(extended, relative(ROOT, path), root=ROOT)
    except NotebookError as error:
        pytest.fail(str(error), pytrace=False)
    ran = [cell for cell in fresh.cells if cell.id.startswith("solution-")]
    fresh.cells = fresh.cells[: len(recorded.cells)]
    if gaps := compare(recorded, fresh):
        pytest.fail(report(ROOT, language, name, gaps), pytrace=False)
    for cell, (_, text) in zip(ran, exercises, strict=True):
        printed = NUMBER.findall(re.sub(r"[=(),]", " ", "\n".join(output_texts(cell))))
        assert [number for number in claimed(text) if not any(agrees(number, one) for one in printed)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("language", "name"), [one for one in LESSONS if one != ("zh", TWIN)])
@pytest.mark.usefixtures("executed")
def test_noise_changes_no_output(language: str, name: str) -> None:
    """Another processor, which rounds otherwise, would give other outputs than those recorded."""
    recorded = read(lesson_path(ROOT, language, name))
    with temporary_cache(ROOT, seed=4) as cache:
        unlike = differences(recorded, name, Condition("noise", {}, None), cache, root=ROOT)
    assert unlike == [], "\n".join(map(str, unlike))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["06_scaling_up", "07_stages"])
@pytest.mark.usefixtures("executed")
def test_a_small_run_of_a_long_lesson(name: str, tmp_path: Path) -> None:
    """A lesson would stop with an error, or give other outputs where the size of the corpus changes nothing."""
    recorded = read(lesson_path(ROOT, "en", name))
    parameters: Parameters = {"MAX_PASSAGES": 1024, "MAX_QUERIES": 50}
    if name == "07_stages":  # with a cross-encoder, which adds a row or column to some tables
        reranker = write_reranker(tmp_path / "reranker", positions=512)
        parameters = {"MAX_PASSAGES": 512, "MAX_QUERIES": 132, "RERANKER": str(reranker)}
    fresh = execute(recorded, name, root=ROOT, parameters=parameters)
    unlike = {gap.cell for gap in compare(recorded, fresh)}
    if name == "07_stages":
        assert unlike <= {"load", "losses", "union", "settings", "family", "ties"}
        assert "pocket-en, cross-encoder" in str(by_id(fresh)["family"].outputs)
    else:
        assert unlike & {"judged", "memory", "stream"} == set()
