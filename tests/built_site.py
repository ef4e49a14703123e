"""The documentation site for the tests, built once, and a server for it."""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock

from docs.site.build import build
from docs.site.project import addresses
from notebooks.kit.notebooks import ROOT


@cache
def built() -> Path:
    """Build the site of this checkout into a temporary folder and return it; once for all processes that test.

    Where EVAL_SITE names the folder of a site that has just been built, the tests look at that one.
    """
    if ready := os.environ.get("EVAL_SITE"):
        return Path(ready)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    folder = Path(tempfile.gettempdir()) / f"site-{run}" if run else Path(tempfile.mkdtemp(prefix="site-"))
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "html").exists():  # a build that fails leaves none
            build(ROOT, folder / "html")
    return folder / "html"


class _Published(http.server.SimpleHTTPRequestHandler):
    """A file server that says nothing, and knows the site under its published path too."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def translate_path(self, path: str) -> str:
        """Return the file for a path, with or without the folder that the published address has."""
        return super().translate_path(path.removeprefix("/" + addresses(ROOT).site.split("/", 3)[3].rstrip("/")))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port of this machine alone; gives the address, with a slash at the end."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Published, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def node_in(folder: Path) -> Callable[[str, object], Any]:
    """Copy the modules of the pages into a folder; gives a function that runs a script there, with a value as JSON.

    The function returns what the script calls `scored`.
    """
    shutil.copytree(ROOT / "docs" / "site" / "_static", folder, dirs_exist_ok=True)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")

    def run(script: str, value: object) -> Any:
        (folder / "value.json").write_text(json.dumps(value), encoding="utf-8")
        start = 'import { readFileSync } from "node:fs";\nconst text = readFileSync("value.json", "utf8");\n'
        (folder / "script.js").write_text(f"{start}{script}\nconsole.log(JSON.stringify(scored));", encoding="utf-8")
        result = subprocess.run(["node", "script.js"], cwd=folder, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run
