"""The two editions of a lesson: one program, and a record of each where the Chinese one runs on Chinese data."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import NotebookNode

from notebooks.kit import record as recorder
from notebooks.kit.cells import by_id
from notebooks.kit.check import check
from notebooks.kit.notebooks import lesson_path, read
from notebooks.kit.program import program
from notebooks.kit.record import record, sync
from tests.sample import code, edit, markdown, notebook, put, replaced

NAME = "05_tiny"
GIVEN = 'kind = "en"  # which data\nsize = len(kind)'
SHOWN = 'def shown():\n    """Print it."""\n    print(f"size = {size + 1}")\n\n\nshown()'
CLAIM = "It is small<!--holds: 'shown/size' < 5-->."


def book(text: str, given: str, shown: str, english: str = "") -> NotebookNode:
    """Return a lesson of one text, its parameters and one cell that prints a number."""
    origin = code("origin", 'print(\'{"date": "2026-01-01", "packages": {"none": "1"}}\')', ["volatile", "provenance"])
    return notebook(markdown("text", text, english), code("given", given, ["parameters"]), code("shown", shown), origin)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout whose lesson runs on Chinese data in Chinese; nothing of it is recorded yet."""
    monkeypatch.setattr(recorder, "RECORDING", ())
    given, shown = (
        'kind = "中文的"  # 用哪种数据\nsize = len(kind)',
        SHOWN.replace("Print it.", "打印").replace("size = {", "大小 = {"),
    )
    chinese = book("大小是<!--fig:shown/大小-->4。", given, shown, CLAIM)
    put(tmp_path, book(CLAIM, GIVEN, SHOWN), chinese, NAME)
    (tmp_path / "docs" / "lessons.yml").write_text(f"chinese: [{NAME}]\n", encoding="utf-8")
    return tmp_path


def faults(root: Path, language: str = "zh") -> list[tuple[str, str]]:
    """Return cell and rule of each problem of the lesson in one language."""
    return [(p.cell, p.rule) for p in check(root, [NAME]) if p.file.startswith(f"notebooks/{language}/")]


def test_each_edition_has_its_record_and_its_claims(root: Path) -> None:
    """The Chinese text would be checked on English outputs, or be overwritten by them."""
    assert {rule for _, rule in faults(root)} >= {"not-recorded"}
    assert record(root, NAME) != []
    assert record(root, NAME, "zh") != []
    assert faults(root) == faults(root, "en") == []
    assert [by_id(read(lesson_path(root, language, NAME)))["shown"].outputs[0].text for language in ("en", "zh")] == [
        "size = 3\n",
        "大小 = 4\n",
    ]
    assert sync(root, NAME) == []
    edit(root, replaced("text", "-->4。", "-->5。"), "zh", name=NAME)
    assert faults(root) == [("text", "figure-value")]


def test_another_program_is_noticed(root: Path) -> None:
    """The Chinese edition would teach another program than the English one, and nobody would know."""
    record(root, NAME)
    record(root, NAME, "zh")
    edit(root, replaced("shown", "size + 1", "size + 2"), "zh", name=NAME)
    assert ("shown", "source") in faults(root)
    assert sync(root, NAME) == [f"notebooks/zh/{NAME}.ipynb"]
    assert by_id(read(lesson_path(root, "zh", NAME)))["shown"].source == SHOWN


def test_outputs_are_shared_unless_a_lesson_says_otherwise(root: Path) -> None:
    """A Chinese notebook with English outputs could have another setting or string, which they do not show."""
    (root / "docs" / "lessons.yml").write_text("chinese: []\n", encoding="utf-8")
    assert {("given", "source"), ("shown", "source")} <= set(faults(root))
    edit(root, replaced("given", "中文的", "en"), "zh", name=NAME)
    edit(root, replaced("shown", "大小 = {", "size = {"), "zh", name=NAME)
    assert not {("given", "source"), ("shown", "source")} & set(faults(root))


def test_a_comment_left_in_english_is_noticed(root: Path) -> None:
    """A reader of Chinese would meet English words that nobody has translated."""
    edit(root, replaced("given", "用哪种数据", "which data"), "zh", name=NAME)
    assert ("given", "untranslated") in faults(root)


def test_what_a_translator_may_write_is_no_part_of_the_program() -> None:
    """A Chinese comment, docstring or printed word would count as another program, or another number would not."""
    assert program(SHOWN) == program(SHOWN.replace("Print it.", "打印"))
    assert program("x = 1  # one") == program("x = 1  # 一") != program("x = 2")
    assert program("x = 'a'") != program("x = 'b'")
    assert program("x = 'a'", strings=False) == program("x = 'b'", strings=False) != program("x = 1", strings=False)
    assert program("x = f'{y} is'", strings=False) == program("x = f'是{y}'", strings=False)
    assert program("x = f'{y} is'", strings=False) != program("x = f'{z} is'", strings=False)
    assert program("x = 1", values=False) == program("x = 2", values=False) != program("y = 1", values=False)
    assert program("%matplotlib") == "%matplotlib"
