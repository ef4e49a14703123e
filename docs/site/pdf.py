"""Lessons and cheat sheet as PDF beside the other downloads: `python -m docs.site --pdf`, where Chromium is installed.

Chromium prints each page of the built site, in the light theme and with every solution (site.js). A PDF
says when it was made, so that a build with them does not give the same bytes twice; without them it does. Publishing
asks for them (.github/workflows/pages.yml).
"""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from docs.site.project import DocsError
from notebooks.kit.notebooks import LANGUAGES

CHEAT_SHEET = "cheatsheet"
SECONDS = 60


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write a line for each request."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path, handler: type[Quiet] = Quiet) -> Iterator[str]:
    """Serve a folder on a free port of this machine alone; gives the address, with a slash at the end."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def print_page(chromium: str, address: str, target: Path) -> None:
    """Print one page to a file. Raises DocsError if Chromium writes none."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--virtual-time-budget=15000"]
    command = [chromium, *options, f"--print-to-pdf={target}", address]
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if not target.exists():
        raise DocsError(f"{address} was not printed: {result.stderr.strip()[-300:]}")


def add_pdfs(html: Path, lessons: list[str]) -> None:
    """Print lessons and cheat sheet of both languages into their downloads, and link them. Raises DocsError."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise DocsError("--pdf needs Chromium, which is not installed: apt install chromium, or build without --pdf")
    with served(html) as address:
        for language in LANGUAGES:
            for name in (*lessons, CHEAT_SHEET):
                target = html / language / "downloads" / f"{name}.pdf"
                print_page(chromium, f"{address}{language}/{name}.html", target)
    for language in LANGUAGES:
        for name in (*lessons, CHEAT_SHEET):
            page = html / language / f"{name}.html"
            page.write_text(_linked(page.read_text(encoding="utf-8"), name), encoding="utf-8")


def _linked(page: str, name: str) -> str:
    """Return a page with a link to its PDF: in the bar of a lesson, under the title of the cheat sheet."""
    link = f'<a class="save" href="downloads/{name}.pdf" download>.pdf</a>'
    last = f'<a class="save" href="downloads/{name}.html" download>.html</a>'
    if last in page:
        return page.replace(last, f"{last} {link}", 1)
    return page.replace("</h1>", f'</h1>\n<p class="d-print-none">{link}</p>', 1)
