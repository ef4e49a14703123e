"""The built site in a real browser, for the tests of this folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from notebooks.kit.notebooks import ROOT
from tests.site.browser import AXE, FLAGS, WIDE, Site

STATIC = ROOT / "docs" / "site" / "_static"


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


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function that runs a script in node beside the modules of the pages, with a value as JSON: its `scored`."""
    program = shutil.which("node")
    if program is None:
        (pytest.fail if os.environ.get("EVAL_BROWSER") == "required" else pytest.skip)("not installed: node")
    folder = tmp_path_factory.mktemp("node")
    for path in (*STATIC.glob("try/*.js"), *STATIC.glob("ask/*.js"), STATIC / "score" / "trec.js"):
        shutil.copy(path, folder)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")

    def run(script: str, value: object) -> Any:
        (folder / "value.json").write_text(json.dumps(value), encoding="utf-8")
        start = 'import { readFileSync } from "node:fs";\nconst text = readFileSync("value.json", "utf8");\n'
        (folder / "script.js").write_text(f"{start}{script}\nconsole.log(JSON.stringify(scored));", encoding="utf-8")
        result = subprocess.run([program, "script.js"], cwd=folder, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run
