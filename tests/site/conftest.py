"""The built site in a real browser, for the tests of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from docs.site.pyodide import FOLDER
from tests.built_site import node_in
from tests.site.browser import AXE, FLAGS, WIDE, Site

HERE = Path(__file__).parent
NEEDED = {  # where each is looked for, and how it is installed
    "chromium": (lambda: shutil.which("chromium"), "apt install chromium"),
    "node": (lambda: shutil.which("node"), "apt install nodejs npm"),
    "axe-core": (AXE.exists, "npm install --prefix build axe-core@4.14.1"),
    "playwright": (lambda: find_spec("playwright"), "pip install playwright"),
}


def lacking(*names: str) -> str:
    """Name what is not installed, of these or of all that the tests in a browser need, and how to install it."""
    gone = {name: how for name, (found, how) in NEEDED.items() if name in (names or NEEDED) and not found()}
    return "; ".join(f"{name} is not installed: {how}" for name, how in gone.items())


def pytest_configure(config: pytest.Config) -> None:
    """Stop at once where tests in a browser are wanted (`make test-site`) and cannot run."""
    if config.option.markexpr.startswith("browser") and (message := lacking()):
        raise pytest.UsageError(message)


@pytest.hookimpl(tryfirst=True)  # before those that do not run are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what looks at the built site, or runs its scripts, to `make test-site`."""
    for item in items:
        if item.path.parent == HERE and {"site", "node"} & {*getattr(item, "fixturenames", ())}:
            item.add_marker("browser")


def require(*names: str) -> None:
    """Skip a test where something is missing; where nothing may be skipped, let it fail."""
    if message := lacking(*names):
        (pytest.fail if os.environ.get("EVAL_BROWSER") == "required" else pytest.skip)(message)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site in a browser with a fresh profile."""
    require()
    from playwright.sync_api import sync_playwright

    from tests.built_site import built, served

    folder = built()
    with served(folder) as base, sync_playwright() as play:
        profile = str(tmp_path_factory.mktemp("profile"))
        context = play.chromium.launch_persistent_context(
            profile, executable_path=shutil.which("chromium"), args=list(FLAGS), headless=True, viewport=WIDE,
            locale="en-GB", reduced_motion="reduce",
        )  # fmt: skip
        opened = Site(context.new_page(), base, folder)
        opened.watch()
        yield opened
        context.close()


@pytest.fixture
def python(site: Site) -> None:
    """Python in the built site."""
    if not (site.folder / FOLDER).exists():
        absent = pytest.fail if os.environ.get("EVAL_BROWSER") == "required" else pytest.skip
        absent("the site was built without Pyodide: python -m docs.site --browser PATH")


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function that runs a script in node beside the modules of the pages, with a value as JSON: its `scored`."""
    require("node")
    return node_in(tmp_path_factory.mktemp("node"))
