"""Every lesson, in both languages, executed with papermill and compared with what it has recorded.

The Python of its solutions runs after its cells, and the numbers that a solution is said to print must be among them.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from notebooks.kit.cells import by_id, output_texts
from notebooks.kit.companions import PARAMETERS, read_companion
from notebooks.kit.compare import NUMBER, compare
from notebooks.kit.conditions import Condition, differences, temporary_cache
from notebooks.kit.execute import Parameters, execute
from notebooks.kit.figures import agrees
from notebooks.kit.notebooks import LANGUAGES, ROOT, NotebookError, lesson_names, lesson_path, read, relative
from notebooks.kit.run import report
from tests.systems.samples import write_reranker

LESSONS = [(language, name) for name in lesson_names(ROOT) for language in LANGUAGES]
TWINS = {"01_evaluation", "02_metrics"}
LONG = {"05_languages", "06_scaling_up", "07_stages", "08_chunks"}  # take minutes; small runs of them are below
COMPANION = "01_evaluation"  # runs in `make test`; the others take a minute each
BUNDLED = ROOT / "helpers" / "data" / "bundled"
PRINTED = re.compile(r"<!--nofig: printed by the solution, which a test runs-->(?:\n((?:.+\n)+)|([\d.]*\d))")
ROWS = re.compile(r"(?<![\w.])\d+\.\d+")


def solutions(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Return the Python of each exercise or paragraph of a lesson's prose, and the text in which it stands."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts = re.split(r"(?m)^(?=\d+\. )", cell.source)
            found += [("\n".join(re.findall(r"```python\n(.*?)```", part, re.S)), part) for part in parts]
    return [(code, part) for code, part in found if code or PRINTED.search(part)]


def claimed(text: str) -> list[str]:
    """Return the numbers that a text says its solution prints: behind the marker, or all of the table below it."""
    return [number for rows, one in PRINTED.findall(text) for number in (ROWS.findall(rows) if rows else [one])]


def test_there_are_lessons_and_solutions() -> None:
    """The test below would pass because it found nothing to run."""
    assert LESSONS
    for language in LANGUAGES:
        found = [part for name in lesson_names(ROOT) for part in solutions(read(lesson_path(ROOT, language, name)))]
        assert len([code for code, _ in found if code]) >= 7
        assert len([number for _, text in found for number in claimed(text)]) >= 14


@pytest.mark.parametrize("name", lesson_names(ROOT))
def test_both_languages_show_the_same_solutions(name: str) -> None:
    """A solution could be changed in one language alone."""
    shown = [
        [re.sub(r"#.*", "", code) for code, _ in solutions(read(lesson_path(ROOT, language, name)))]
        for language in LANGUAGES
    ]
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("language", "name"),
    [
        pytest.param(
            language, name, id=f"{language}/{name}", marks=[pytest.mark.slow] * (language != "en" or name in LONG)
        )
        for language, name in LESSONS  # the twins have the same code and outputs, see `check`: two of them run as well
        if language == "en" or name in TWINS
    ],
)
def test_lesson(language: str, name: str) -> None:
    """A reader who runs the lesson, or a solution, would get something else than the page shows, or an error."""
    path = lesson_path(ROOT, language, name)
    recorded, exercises = read(path), solutions(read(path))
    extended = deepcopy(recorded)
    extended.cells += [new_code_cell(code, id=f"solution-{i}") for i, (code, _) in enumerate(exercises)]
    try:
        fresh = execute(extended, relative(ROOT, path), root=ROOT)
    except NotebookError as error:
        pytest.fail(str(error), pytrace=False)
    ran = fresh.cells[len(recorded.cells) :]
    fresh.cells = fresh.cells[: len(recorded.cells)]
    if gaps := compare(recorded, fresh):
        pytest.fail(report(ROOT, language, name, gaps), pytrace=False)
    for cell, (_, text) in zip(ran, exercises, strict=True):
        printed = NUMBER.findall(re.sub(r"[=(),]", " ", "\n".join(output_texts(cell))))
        assert [number for number in claimed(text) if not any(agrees(number, one) for one in printed)] == []


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != COMPANION)) for name in PARAMETERS]
)
def test_companion(name: str) -> None:
    """A reader who runs the lesson on the Chinese collection would get something else than the Chinese site shows."""
    recorded = read_companion(ROOT, name)
    gaps = compare(recorded, execute(recorded, f"companion of {name}", root=ROOT, parameters=PARAMETERS[name]))
    assert gaps == [], "\n".join(map(str, gaps))


@pytest.mark.slow
@pytest.mark.parametrize("name", lesson_names(ROOT))
def test_noise_changes_no_output(name: str) -> None:
    """Another processor, which rounds otherwise, would give other outputs than those recorded."""
    with temporary_cache(ROOT, seed=4) as cache:
        unlike = differences(read(lesson_path(ROOT, "en", name)), name, Condition(), cache, root=ROOT)
    assert unlike == [], "\n".join(map(str, unlike))


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_rows(path: Path, chosen: list[dict[str, Any]]) -> None:
    """Write a JSONL file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen), encoding="utf-8")


def test_a_small_run_of_the_lesson_on_languages(tmp_path: Path) -> None:
    """Lesson 05 would stop with an error, or give other outputs where they do not depend on the collection."""
    pocket = BUNDLED / "pocket"
    judged = [line.split("\t") for line in (pocket / "qrels.tsv").read_text(encoding="utf-8").splitlines()]
    queries = sorted({query for query, *_ in judged})[::3]
    answers = {passage: 1 for query, _, passage, grade in judged if query in queries and grade == "2"}
    for language in LANGUAGES:
        texts = {kind: rows(pocket / f"{kind}.{language}.jsonl") for kind in ("queries", "corpus")}
        spare = [row["id"] for row in texts["corpus"] if row["id"] not in answers][:40]
        for kind, ids in (("queries", queries), ("corpus", [*answers, *spare])):
            chosen = [{"_id": row["id"], **row} for row in texts[kind] if row["id"] in ids]
            write_rows(tmp_path / language / f"{kind}.jsonl", chosen)
        lines = [f"{query}\t{passage}\t{grade}" for query, _, passage, grade in judged
                 if query in queries and passage in {*answers, *spare}]  # fmt: skip
        (tmp_path / language / "qrels").mkdir()
        table = "\n".join(["query-id\tcorpus-id\tscore", *lines])
        (tmp_path / language / "qrels" / "dev.tsv").write_text(table, encoding="utf-8")
    recorded = read(lesson_path(ROOT, "en", "05_languages"))
    parameters: Parameters = {"DATASET": str(tmp_path / "zh"), "PARALLEL": str(tmp_path / "en"), "RELEVANCE_LEVEL": 2}
    unlike = {
        gap.cell for gap in compare(recorded, execute(recorded, "05_languages", root=ROOT, parameters=parameters))
    }
    assert not unlike & {"segment", "convert"}


def test_a_small_run_of_the_lesson_on_chunks(tmp_path: Path) -> None:
    """Lesson 08 would stop with an error, or cut four documents otherwise than documents are cut."""
    pages = BUNDLED / "pages-en"
    documents = rows(pages / "documents.jsonl")[:4]
    known = {row["_id"] for row in documents}
    spans = [row for row in rows(pages / "spans.jsonl") if row["document"] in known]
    answered = {row["query"] for row in spans}
    queries = [row for row in rows(pages / "queries.jsonl") if row["_id"] in answered]
    for name, chosen in (("documents", documents), ("spans", spans), ("queries", queries)):
        write_rows(tmp_path / f"{name}.jsonl", chosen)
    recorded = read(lesson_path(ROOT, "en", "08_chunks"))
    fresh = by_id(execute(recorded, "08_chunks", root=ROOT, parameters={"DOCUMENTS": str(tmp_path), "ROW": 0}))
    lists = [pd.read_html(StringIO(cells["cut"].outputs[0].data["text/html"]), index_col=0)[0]["chunks"]
             for cells in (by_id(recorded), fresh)]  # fmt: skip
    assert (lists[0] > lists[1]).all()
    assert lists[1]["whole pages"] == 4


def test_a_small_run_of_the_longest_lesson() -> None:
    """Lesson 06 would stop with an error, or give other outputs where they do not depend on the size of the corpus."""
    recorded = read(lesson_path(ROOT, "en", "06_scaling_up"))
    small = {"MAX_PASSAGES": 1024, "MAX_QUERIES": 50, "WORKERS": 1}
    fresh = execute(recorded, "06_scaling_up", root=ROOT, parameters=small)
    cells = by_id(fresh)
    assert [cells[name].outputs for name in ("memory", "stream", "resume")] == [
        by_id(recorded)[name].outputs for name in ("memory", "stream", "resume")
    ]
    unlike = {gap.cell for gap in compare(recorded, fresh)}
    assert "judged" not in unlike
    assert "cluster" not in unlike


def test_a_small_run_of_the_lesson_on_stages(tmp_path: Path) -> None:
    """Lesson 07 would stop with an error, also with a cross-encoder, or give other outputs where nothing changed."""
    recorded = read(lesson_path(ROOT, "en", "07_stages"))
    reranker = write_reranker(tmp_path / "reranker", positions=512)
    parameters: Parameters = {"MAX_PASSAGES": 512, "MAX_QUERIES": 50, "RERANKER": str(reranker)}
    fresh = execute(recorded, "07_stages", root=ROOT, parameters=parameters)
    unlike = {gap.cell for gap in compare(recorded, fresh)}
    assert unlike <= {"load", "losses", "union", "settings", "family"}  # which have a row or a column of the other one
    family = next(cell for cell in fresh.cells if cell.id == "family")
    assert "pocket-en, cross-encoder" in str(family.outputs)
