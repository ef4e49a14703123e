"""Fixtures that several test modules of this folder share."""

from pathlib import Path

import pytest


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the vectors of an earlier run, of other code, out of the comparison."""
    monkeypatch.setenv("EVAL_CACHE_DIR", str(tmp_path / "cache"))
