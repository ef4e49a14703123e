"""The lines with which a lesson on its own installs what it imports."""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tomllib

import pytest

from notebooks.kit.cells import code_cells
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_path, read

LESSONS = ("01_evaluation", "02_metrics", "03_model_comparison", "04_judgements", "05_languages", "06_scaling_up")
END = "importlib.invalidate_caches()\n"


def bootstrap(language: str, name: str) -> str:
    """Return the lines at the top of a lesson's first code cell."""
    source = code_cells(read(lesson_path(ROOT, language, name), ROOT))[0].source
    return source[: source.index(END) + len(END)]


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lesson_installs_the_release_that_pyproject_names(language, name):
    """A lesson in Colab would install another version than the one it was recorded with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f'"git+{project["urls"]["Repository"]}@v{project["version"]}"' in bootstrap(language, name)
    assert bootstrap(language, name) == bootstrap("en", LESSONS[0])


def run(setup: str, monkeypatch) -> list[list[str]]:
    """Run the lines and return the commands they gave, without giving them."""
    commands = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: commands.append(command))
    exec(setup, {})
    return commands


@pytest.mark.parametrize(("name", "extra"), [("05_languages", "zh"), ("06_scaling_up", "distributed")])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lesson_installs_what_its_extra_names(name, extra, language, monkeypatch):
    """In Colab it would stop at a missing package, or take another version of the model than was recorded."""
    source = code_cells(read(lesson_path(ROOT, language, name), ROOT))[0].source
    setup = source[: source.rindex(END) + len(END)]
    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: found(name) if name == "helpers" else None)
    (command,) = run(setup, monkeypatch)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = [line.partition(";")[0].strip() for line in extras[extra]]
    asked = [package for package in command if not package.startswith("-")][-len(named) :]
    assert [line.partition(">=")[0] for line in named] == asked


def test_nothing_is_installed_where_helpers_is_found(monkeypatch):
    """A learner's environment would be changed each time he opens a lesson."""
    assert run(bootstrap("en", LESSONS[0]), monkeypatch) == []


def test_what_is_preinstalled_is_kept_and_the_source_is_said(monkeypatch, capsys):
    """Pip would replace the numpy that Colab has loaded; and nobody would know whose code is about to be run."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("EVAL_SOURCE", "git+file:///somewhere")
    (command,) = run(bootstrap("en", LESSONS[0]), monkeypatch)
    assert "Installing it, and what it needs, from git+file:///somewhere" in capsys.readouterr().out
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    kept = {f"{name}=={importlib.metadata.version(name)}" for name in ("numpy", "scikit-learn", "torch")}
    assert set(command[-4:]) == {"git+file:///somewhere"} | kept


def test_a_bare_clone_is_where_the_lines_can_install_from(tmp_path, monkeypatch):
    """The tag would lack a file that the build needs; dependencies are not fetched here."""
    clone, target = tmp_path / "clone.git", tmp_path / "site"
    git = ["git", "-c", "safe.directory=*"]
    if subprocess.run([*git, "clone", "-q", "--bare", str(ROOT), str(clone)], check=False).returncode:
        pytest.skip("not a git checkout: there is nothing to clone")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    env = os.environ | {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    subprocess.run([*pip, "--target", str(target), f"git+file://{clone}"], check=True, env=env)
    probe = "import helpers; from helpers.data import load_dataset as load; print(helpers.__file__, len(load().corpus))"
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=tmp_path,
        env=env | {"PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(target / "helpers" / "__init__.py"), "900"], done.stderr
