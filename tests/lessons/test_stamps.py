"""A lesson may be left out only where nothing that it depends on has changed since it passed on this machine."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.lessons.stamps import FOLDERS, Stamp

FILES = [*(f"{folder}/part.py" for folder in FOLDERS), "notebooks/en/01_x.ipynb", "notebooks/zh/01_x.ipynb",
         "helpers/data/texts.jsonl", "constraints.txt"]  # fmt: skip


@pytest.fixture
def stamp(tmp_path: Path) -> Stamp:
    """Return a stamp that was just written, in a small project."""
    for name in [*FILES, "notebooks/en/02_y.ipynb"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    stamp = Stamp(tmp_path, "test", "01_x")
    assert not stamp.holds()
    stamp.write()
    return stamp


def test_another_lesson_changes_nothing(stamp: Stamp) -> None:
    """Every lesson would be executed for a sentence in one."""
    (stamp.root / "notebooks/en/02_y.ipynb").write_text("changed", encoding="utf-8")
    assert Stamp(stamp.root, "test", "01_x").holds()
    assert not Stamp(stamp.root, "other test", "01_x").holds()


@pytest.mark.parametrize("name", [*FILES, "helpers/new.py"])
def test_a_changed_file_executes_the_lesson(stamp: Stamp, name: str) -> None:
    """A lesson would be left out though its code, its record, the package, the data, the tools or the lock changed."""
    (stamp.root / name).write_text("changed", encoding="utf-8")
    assert not stamp.holds()


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (metadata, "distributions", lambda: [SimpleNamespace(name="numpy", version="99")]),
        (platform, "python_version", lambda: "3.99"),
        (platform, "platform", lambda: "another system"),
        ("os", "cpu_count", lambda: 99),
        (Path, "exists", lambda path: path.name != "cpuinfo"),
    ],
)
def test_a_changed_machine_executes_the_lesson(
    stamp: Stamp, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, value: Any
) -> None:
    """A lesson would be left out though libraries, Python, system or processor are others than those it passed with."""
    if isinstance(place, str):
        monkeypatch.setattr(f"{place}.{name}", value)
    else:
        monkeypatch.setattr(place, name, value)
    assert not stamp.holds()


def test_a_changed_setting_executes_the_lesson(stamp: Stamp, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lesson would be left out though another number of threads, which moves last digits, was asked for."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert not stamp.holds()
