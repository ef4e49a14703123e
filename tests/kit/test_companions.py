"""Companions of lessons: what is recorded on Chinese data, when it is out of date, which claims it refutes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from notebooks.kit import record as recorder
from notebooks.kit.check import check
from notebooks.kit.companions import PARAMETERS, companion_path, read_companion
from notebooks.kit.conditions import Condition
from notebooks.kit.figures import broken_claims
from notebooks.kit.notebooks import LANGUAGES, NotebookError, dumps, lesson_path, read
from notebooks.kit.record import record, record_companion
from tests.sample import code, markdown, notebook, put

NAME = "05_tiny"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a checkout with a recorded lesson of one number, and its companion with another."""
    root = tmp_path_factory.mktemp("recorded")
    claims = "There is one<!--holds: 'answer/size' == 1-->. It is small<!--holds: 'answer/size' < 5-->."
    book = notebook(markdown("text", claims), code("given", "size = 1", ["parameters"]))
    book.cells += [code("answer", 'print("size =", size)'), code("place", "print('same')")]
    put(root, book, book, NAME)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recorder, "recording_conditions", lambda _: {})
        patched.setitem(PARAMETERS, NAME, {"size": 3})
        record(root, NAME)
        assert record_companion(root, NAME) == ["a new record"]
        yield root


@pytest.fixture
def root(recorded: Path, tmp_path: Path) -> Path:
    """Return a copy of it that a test may break."""
    return Path(shutil.copytree(recorded, tmp_path / "checkout"))


def faults(root: Path) -> list[str]:
    """Return the rule of each problem that `check` has with the companion."""
    return [problem.rule for problem in check(root, [NAME]) if problem.file.startswith("notebooks/companions/")]


def test_a_companion_is_the_lesson_run_with_other_parameters(root: Path) -> None:
    """A companion would repeat what the lesson gives, or change the lesson."""
    cells = {cell.id: cell for cell in read_companion(root, NAME).cells}
    assert cells["answer"].outputs[0].text == "size = 3\n"
    assert json.loads(companion_path(root, NAME).read_text(encoding="utf-8"))["parameters"] == {"size": 3}
    assert read(lesson_path(root, "en", NAME), root).cells[2].outputs[0].text == "size = 1\n"
    assert faults(root) == []
    assert record_companion(root, NAME) == []


def test_a_companion_of_other_code_is_out_of_date(root: Path) -> None:
    """The site would show outputs of code that the lesson no longer has."""
    for language in LANGUAGES:
        path = lesson_path(root, language, NAME)
        path.write_text(path.read_text(encoding="utf-8").replace("'same'", "'other'"), encoding="utf-8")
    assert faults(root) == ["stale"]


def test_other_parameters_make_a_companion_out_of_date(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The site would show outputs of a run with parameters that are no longer those of the companion."""
    monkeypatch.setitem(PARAMETERS, NAME, {"size": 4})
    assert faults(root) == ["stale"]


def test_an_edited_companion_is_noticed(root: Path) -> None:
    """A number could be put into a companion that no run gave."""
    path = companion_path(root, NAME)
    path.write_text(path.read_text(encoding="utf-8").replace("size = 3", "size = 2"), encoding="utf-8")
    assert faults(root) == ["edited"]


def test_a_companion_that_is_absent_or_no_json_is_noticed(root: Path) -> None:
    """A lesson would lose its companion without a word."""
    path = companion_path(root, NAME)
    path.write_text("{", encoding="utf-8")
    assert faults(root) == ["unreadable"]
    path.unlink()
    assert faults(root) == ["unreadable"]
    assert record_companion(root, NAME) == ["a new record"]


def test_an_output_that_another_machine_changes_is_not_recorded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A companion would hold on one machine only."""
    path = lesson_path(root, "en", NAME)
    book = read(path, root)
    book.cells[3].source = "import os\n\nprint(os.environ.get('MACHINE', 'one'))"
    path.write_text(dumps(book), encoding="utf-8")
    monkeypatch.setattr(recorder, "recording_conditions", lambda _: {"another": Condition({"MACHINE": "two"})})
    before = companion_path(root, NAME).read_bytes()
    with pytest.raises(NotebookError, match=r"another: \[place\]"):
        record_companion(root, NAME)
    assert companion_path(root, NAME).read_bytes() == before


def test_claims_that_other_data_refute_are_found(root: Path) -> None:
    """The text would say of Chinese data what is true of English data only, or be doubted where it is right."""
    lesson = read(lesson_path(root, "en", NAME), root)
    assert list(broken_claims(root, NAME, lesson, read_companion(root, NAME))) == [("answer", "There is one.")]


def test_claims_about_renamed_rows_are_put_to_the_test(root: Path) -> None:
    """A claim about a row that has another name there would be passed over, or decided by the wrong row."""
    lesson, other = read(lesson_path(root, "en", NAME), root), read_companion(root, NAME)
    text = deepcopy(lesson)
    for cell in text.cells:
        cell.source = cell.source.replace("answer/", "reply/")
    assert list(broken_claims(root, NAME, text, other)) == []
    broken = list(broken_claims(root, NAME, text, other, {"reply/": "answer/"}))
    assert broken == list(broken_claims(root, NAME, lesson, other)) != []
