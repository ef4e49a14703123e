"""How fast pages load: that the benchmark, which needs a browser, still runs."""

from __future__ import annotations

import pytest

from tests.bench.bench_site import measure
from tests.site.conftest import require

pytestmark = pytest.mark.browser


def test_the_benchmark_of_the_site_runs():
    """Nobody would see that a page has become slow on a phone, until a reader says so."""
    require()
    times = measure(["try"], rounds=1)
    assert times.keys() == {"usable after", "blocked on a phone", "key to painted frame"}
    assert times["usable after"].keys() == times["blocked on a phone"].keys() == {
        "404.html", "en/try.html", "zh/try.html",
    }  # fmt: skip
    assert min(value["median"] for value in times["usable after"].values()) > 0
    assert times["key to painted frame"]["move"]["median"] > 0
