"""Settings and fixtures that several test modules share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from notebooks.kit import kernels
from notebooks.kit.execute import OFFLINE, cache_folder
from notebooks.kit.notebooks import LANGUAGES, ROOT, lesson_names, lesson_path, read
from notebooks.kit.record import record
from tests.sample import put, sample

if TYPE_CHECKING:
    from nbformat import NotebookNode  # notebooks.kit makes it quick to import, so that comes first

LIGHT = ("ipykernel.kernelapp", "matplotlib.pyplot", "pandas")  # what small notebooks import
if "PYTEST_XDIST_WORKER" in os.environ:  # two processes that spin on both cores would each take several times as long
    os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["EVAL_LANGUAGE"] = "en"  # whatever the locale of who runs them
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("EVAL_CACHE_DIR", str(cache_folder(ROOT)))


@pytest.hookimpl(trylast=True)  # after those that do not run have been left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what executes notebooks: it takes longest, and one of two workers has all of it, and one server."""
    rooms = ("tests/lessons/", "tests/kit/")
    items.sort(key=lambda item: next((at for at, room in enumerate(rooms) if item.nodeid.startswith(room)), len(rooms)))


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample lesson, recorded, and a copy of every real lesson."""
    kernels.start(OFFLINE, LIGHT)  # the tests that follow execute some thirty small notebooks
    root = tmp_path_factory.mktemp("library")
    put(root, sample("en"), sample("zh"))
    with patch("notebooks.kit.record.recording_conditions", return_value={}):  # which take a while
        record(root, "00_sample")
    for name in lesson_names(ROOT):
        for language in LANGUAGES:
            if lesson_path(ROOT, language, name).exists():
                shutil.copy(lesson_path(ROOT, language, name), lesson_path(root, language, name))
    return root


@pytest.fixture(scope="session")
def lessons(library: Path) -> dict[str, NotebookNode]:
    """Return the English notebook of the sample and of every real lesson, by name; copy before breaking."""
    return {name: read(lesson_path(library, "en", name), library) for name in lesson_names(library)}


@pytest.fixture
def project(library: Path, tmp_path: Path) -> Path:
    """Return a copy of the library that a test may break."""
    return Path(shutil.copytree(library, tmp_path / "project", ignore=shutil.ignore_patterns("build")))


@pytest.fixture
def small_project(project: Path) -> Path:
    """Return such a copy with the sample lesson alone, whose check as a whole takes no time."""
    for name in lesson_names(ROOT):
        for language in LANGUAGES:
            lesson_path(project, language, name).unlink(missing_ok=True)
    return project


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Give the folder of real data sets, or say that it is not there."""
    folder = os.environ.get("EVAL_DATA_DIR")
    if not folder:
        pytest.skip("EVAL_DATA_DIR is not set: no folder of real data sets in the hub's layout")
    return Path(folder)
