"""Kernels that are forks of one process, and lessons that are not executed again where nothing has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from notebooks.kit import kernels
from notebooks.kit.execute import OFFLINE
from notebooks.kit.notebooks import ROOT
from tests.lessons.stamps import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator

STAMP = pytest.StashKey[Stamp]()


@pytest.fixture
def executed(request: pytest.FixtureRequest) -> None:
    """Skip a test that passed here with all that it depends on as it is now; its last parameter names the lesson.

    Else start the process from which kernels are forked, if there is none.
    """
    node = request.node
    stamp = Stamp(ROOT, node.name, node.callspec.params["name"])
    if stamp.holds():
        pytest.skip(f"passed on this machine, and nothing it depends on has changed since: {stamp.path}")
    kernels.start(OFFLINE)
    node.stash[STAMP] = stamp


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Keep that a test passed."""
    report: pytest.TestReport = yield
    if report.when == "call" and report.passed and STAMP in item.stash:
        item.stash[STAMP].write()
    return report
