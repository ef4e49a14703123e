"""A lesson on its own, as in Colab: one file in an empty folder, in an environment that never saw this repository.

`make test-slow`. It downloads some hundred megabytes and takes minutes, so `make test` leaves it out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from notebooks.kit.compare import compare
from notebooks.kit.execute import OFFLINE
from notebooks.kit.notebooks import ROOT, lesson_path, read

pytestmark = pytest.mark.slow
PREINSTALLED = ("numpy", "scikit-learn", "torch")  # what Colab has, and what a lesson must not replace
JUPYTER = ("ipykernel", "papermill")
PACKAGE = "retrieval-evaluation-tutorial"
ANY_OWNER = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


def run(*command: object, **environment: str) -> str:
    """Run a command outside of the checkout and return what it prints; its errors become the test's."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env |= ANY_OWNER | {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    cwd = environment.pop("cwd", str(Path(sys.prefix).anchor))
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def installed(python: Path) -> dict[str, str]:
    """Every package of an environment, with its version."""
    return {entry["name"]: entry["version"] for entry in json.loads(run(python, "-m", "pip", "list", "--format=json"))}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """An environment with Jupyter and what Colab brings, and its packages."""
    folder = tmp_path_factory.mktemp("bare") / "环境 with a space"
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    torch = next(line for line in (ROOT / "constraints.txt").read_text().split() if line.startswith("torch=="))
    run(python, "-m", "pip", "install", "--quiet", torch)  # by name first
    run(python, "-m", "pip", "install", "--quiet", *PREINSTALLED, *JUPYTER)
    found = installed(python)
    assert "faiss-cpu" not in found
    return python, found


TEXTS_OF_LIBRARIES = "06_scaling_up"  # has other texts, so other numbers, with other versions than the locked ones
ALONE = ("01_evaluation", "05_languages", TEXTS_OF_LIBRARIES)  # one with no extra, and each that installs an extra
PARAMETERS = {TEXTS_OF_LIBRARIES: {"MAX_PASSAGES": 2048}}  # which takes minutes less


def execute(python: Path, name: str, folder: Path, **environment: str) -> list:
    """Copy one lesson into an empty folder, execute it there, and return how it differs from what is recorded."""
    folder.mkdir()
    original = lesson_path(ROOT, "en", name)
    shutil.copy(original, folder / "lesson.ipynb")
    settings = OFFLINE | {"EVAL_CACHE_DIR": str(python.parents[2] / "cache"), "cwd": str(folder)}
    how = "kernel_name='python3', progress_bar=False, coalesce_streams=True"  # a long print may come in two parts
    parameters = PARAMETERS.get(name, {})
    papermill = f"import papermill; papermill.execute_notebook('lesson.ipynb', 'done.ipynb', {parameters}, {how})"
    run(python, "-c", papermill, **settings, **environment)
    if parameters:  # papermill adds their cell, and the numbers are others: that the lesson runs is the test
        return []
    return compare(read(original, ROOT), read(folder / "done.ipynb", folder), versions=False)


@pytest.mark.parametrize("name", ALONE)
def test_a_lesson_alone_installs_what_it_needs(bare, name: str, tmp_path: Path):
    """A reader who opens one file in Colab would get an error, other numbers, or a broken numpy."""
    python, before = bare
    run("git", "clone", "--quiet", ROOT, tmp_path / "clone")
    gaps = execute(python, name, tmp_path / "空 folder", EVAL_SOURCE=(tmp_path / "clone").as_uri())
    assert {gap.cell for gap in gaps} <= {"setup"}, "\n".join(map(str, gaps))  # where pip may warn
    after = installed(python)
    assert {name: after[name] for name in before} == before
    assert PACKAGE in after
    run(python, "-m", "pip", "uninstall", "--quiet", "--yes", PACKAGE)  # so that the next lesson installs it too
