"""The built site in a real browser, for the tests of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.site.browser import AXE, FLAGS, WIDE, Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site in a browser with a fresh profile."""
    chromium = shutil.which("chromium")
    lacking = [name for name, there in (("chromium", chromium), ("axe-core (npm)", AXE.exists())) if not there]
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        lacking.append("playwright (pip)")
    if lacking:
        absent = pytest.fail if os.environ.get("EVAL_BROWSER") == "required" else pytest.skip
        absent(f"not installed: {', '.join(lacking)}")
    from tests.built_site import built, served

    folder = built()
    with served(folder) as base, sync_playwright() as play:
        profile = str(tmp_path_factory.mktemp("profile"))
        context = play.chromium.launch_persistent_context(
            profile, executable_path=chromium, args=list(FLAGS), headless=True, viewport=WIDE, locale="en-GB",
            reduced_motion="reduce",
        )  # fmt: skip
        opened = Site(context.new_page(), base, folder)
        opened.watch()
        yield opened
        context.close()
