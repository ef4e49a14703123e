"""Settings and fixtures that several test modules share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from notebooks.kit import kernels
from notebooks.kit.execute import OFFLINE, cache_folder
from notebooks.kit.notebooks import ROOT
from notebooks.kit.record import record
from tests.sample import put, sample

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
    """Return a checkout whose only lesson is the sample, recorded."""
    kernels.start(OFFLINE, LIGHT)  # the tests that follow execute some twenty small notebooks
    root = tmp_path_factory.mktemp("library")
    put(root, sample("en"), sample("zh"))
    with patch("notebooks.kit.record.RECORDING", ()):  # which takes a while
        record(root, "00_sample")
    return root


@pytest.fixture
def project(library: Path, tmp_path: Path) -> Path:
    """Return a copy of the library that a test may break."""
    return Path(shutil.copytree(library, tmp_path / "project", ignore=shutil.ignore_patterns("build")))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Give the folder of real data sets, or say that it is not there."""
    folder = os.environ.get("EVAL_DATA_DIR")
    if not folder:
        pytest.skip("EVAL_DATA_DIR is not set: no folder of real data sets in the hub's layout")
    return Path(folder)
