"""Build the documentation site: `python -m docs.site` writes docs/_build/html/, a folder to copy to any server."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from docs.site.build import build
from docs.site.project import DocsError
from notebooks.kit.notebooks import ROOT


def main(arguments: list[str] | None = None) -> int:
    """Run the build and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to build (this one)")
    parser.add_argument("--output", type=Path, help="where to put the site (docs/_build/html)")
    browser = "folders, wheels or zip files that hold Pyodide (docs/site/pyodide.json): lesson 2 runs in its page"
    parser.add_argument("--browser", type=Path, nargs="+", default=[], metavar="PATH", help=browser)
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    output = options.output or root / "docs" / "_build" / "html"
    start = time.perf_counter()
    try:
        build(root, output, browser=options.browser)
    except DocsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    print(f"{output}: {size / 1e6:.1f} MB in {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
