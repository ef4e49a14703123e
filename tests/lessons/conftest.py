"""Kernels that are forks of one process, for the tests that execute lessons."""

import pytest

from notebooks.kit import kernels
from notebooks.kit.execute import OFFLINE


@pytest.fixture
def forked() -> None:
    """Start the process from which kernels are forked, if there is none."""
    kernels.start(OFFLINE)
