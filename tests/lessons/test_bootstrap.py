"""The lines with which a lesson on its own installs what it imports."""

import os
import subprocess
import sys
import tomllib

import pytest

from notebooks.kit.cells import code_cells
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_path, read

EXTRAS = {
    "01_evaluation": "lessons",
    "02_metrics": "lessons",
    "03_model_comparison": "lessons",
    "04_judgements": "lessons",
    "05_languages": "lessons,zh",
    "06_scaling_up": "lessons",
    "07_stages": "lessons",
    "08_chunks": "lessons",
    "09_training": "lessons",
}
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


@pytest.mark.parametrize("name", EXTRAS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lesson_installs_the_release_that_pyproject_names(language, name, monkeypatch):
    """A lesson in Colab would lack a package, or have another version than the one it was recorded with."""
    monkeypatch.delenv("EVAL_SOURCE", raising=False)
    release = f"git+{PROJECT['urls']['Repository']}@v{PROJECT['version']}"
    [command] = installs(language, name, monkeypatch, missing=True)
    assert command[:5] == [sys.executable, "-m", "pip", "install", "--quiet"]
    assert command[5:] == [f"{PROJECT['name']}[{EXTRAS[name]}] @ {release}"]
    assert set(EXTRAS[name].split(",")) <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("name", EXTRAS)
def test_nothing_is_installed_where_helpers_is_found(name, monkeypatch):
    """A learner's environment would be changed each time he opens a lesson."""
    assert installs("en", name, monkeypatch, missing=False) == []


def test_the_source_can_be_another(monkeypatch):
    """A reader who cannot reach GitHub could not run a lesson on its own."""
    monkeypatch.setenv("EVAL_SOURCE", "file:///somewhere")
    assert installs("en", "01_evaluation", monkeypatch, missing=True)[0][-1].endswith(" @ file:///somewhere")


def test_a_clone_is_where_the_lines_can_install_from(tmp_path, monkeypatch):
    """The tag would lack a file that the build needs; dependencies are not fetched here."""
    clone, target = tmp_path / "clone", tmp_path / "site"
    git = ["git", "-c", "safe.directory=*"]
    if subprocess.run([*git, "clone", "-q", str(ROOT), str(clone)], check=False).returncode:
        pytest.skip("not a git checkout: there is nothing to clone")
    monkeypatch.setenv("EVAL_SOURCE", clone.as_uri())
    with monkeypatch.context() as patched:
        [command] = installs("en", "01_evaluation", patched, missing=True)
    pip = [*command[:5], "--no-deps", "--no-build-isolation"]
    env = os.environ | {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    subprocess.run([*pip, "--target", str(target), *command[5:]], check=True, env=env)
    probe = "import helpers; from helpers.data import load_dataset as load; print(helpers.__file__, len(load().corpus))"
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=tmp_path,
        env=env | {"PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(target / "helpers" / "__init__.py"), "900"], done.stderr
