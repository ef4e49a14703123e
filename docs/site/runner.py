"""Runs the cells of a lesson in the page, as a notebook's kernel does: output, tables, figures, errors.

Pyodide loads this file from a zip that docs/site/pyodide.py writes. IPython would be a sixth of what a page loads, so
the two names that lessons and helpers take from it are defined here.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import linecache
import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

LIMIT = 200_000  # characters that a cell may print; more would stop the page, not the cell
PIECE = 8_000  # characters, and seconds, after which what was printed is sent to the page
PAUSE = 0.1
Send = Callable[[str], None]


class Outputs(io.TextIOBase):
    """Sends what a cell prints and shows to the page: outputs as a notebook stores them, as JSON."""

    def __init__(self, send: Send) -> None:
        """Send with a function that takes a text."""
        self.send, self.printed, self.total, self.sent = send, "", 0, time.monotonic()

    def write(self, text: str) -> int:
        """Take what is printed; what goes beyond LIMIT is dropped."""
        room = LIMIT - self.total
        self.total += len(text)
        self.printed += text[: max(room, 0)]
        if len(self.printed) > PIECE or time.monotonic() - self.sent > PAUSE:
            self.flush()
        if len(text) > room >= 0:
            self.flush()
            self.send(json.dumps({"output_type": "cut", "limit": LIMIT}))
            self.total = LIMIT + 1
        return len(text)

    def flush(self) -> None:
        """Send what was printed."""
        if self.printed:
            self.send(json.dumps({"output_type": "stream", "name": "stdout", "text": self.printed}))
        self.printed, self.sent = "", time.monotonic()

    def show(self, *objects: object, kind: str = "display_data") -> None:
        """Show objects: as HTML or SVG where they have it, and as text."""
        for each in objects:
            self.flush()
            self.send(json.dumps({"output_type": kind, "data": _data(each)}))

    def figures(self) -> None:
        """Show the figures that a cell has drawn, and close them."""
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            self.show(*map(pyplot.figure, pyplot.get_fignums()))
            pyplot.close("all")

    def failed(self, error: BaseException) -> None:
        """Show an error, with the lines of the lesson that led to it."""
        self.flush()
        steps = error.__traceback__
        while steps and not steps.tb_frame.f_code.co_filename.startswith("<"):  # those of this file, not of a cell
            steps = steps.tb_next
        lines = traceback.format_exception(type(error), error, steps)
        self.send(json.dumps({"output_type": "error", "ename": type(error).__name__, "traceback": "".join(lines)}))


def _data(shown: object) -> dict[str, str]:
    data = {"text/plain": repr(shown)}
    if html := getattr(shown, "_repr_html_", lambda: None)():
        data["text/html"] = html
    if type(shown).__name__ == "Figure":
        from helpers.show.vector import as_svg

        _crop_around_labels(shown)
        svg = as_svg(shown)  # type: ignore[arg-type]
        # matplotlib before 3.9 writes size and family of words as one; the family is that of the whole figure
        data["image/svg+xml"] = re.sub(r' font="([\d.]+)px [^"]*"', r' font-size="\1"', svg)
    return data


def _crop_around_labels(figure: Any) -> None:
    """Let a figure be cropped around the names of its axes too, which matplotlib 3.8 cuts where they are long."""
    from matplotlib.transforms import Bbox

    crop = figure.get_tightbbox

    def with_labels(renderer: object, **options: object) -> object:
        boxes = [axis.get_tightbbox(renderer) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
        inches = figure.dpi_scale_trans.inverted()
        return Bbox.union([crop(renderer, **options), *(box.transformed(inches) for box in boxes if box)])

    figure.get_tightbbox = with_labels


class Kernel:
    """One execution of a lesson: its variables, and the way to the page."""

    def __init__(self, send: Send) -> None:
        """Begin with no variables."""
        self.variables: dict[str, Any] = {"__name__": "__main__"}
        self.outputs = Outputs(send)
        os.environ["MPLBACKEND"] = "agg"
        logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it would announce that it reads fonts
        ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
        vars(ipython)["get_ipython"] = lambda: None
        vars(builtins)["get_ipython"] = lambda: SimpleNamespace(kernel=None)  # pandas then prints as in a notebook
        vars(display)["display"] = vars(builtins)["display"] = self.outputs.show
        sys.modules |= {"IPython": ipython, "IPython.display": display}

    def run(self, cell: str, source: str) -> bool:
        """Run a cell by its id; tell whether it ended without an error."""
        lines = f"{source}\n".splitlines(keepends=True)
        linecache.cache[f"<{cell}>"] = (len(source), None, lines, f"<{cell}>")
        self.outputs.total = 0
        try:
            with contextlib.redirect_stdout(self.outputs), contextlib.redirect_stderr(self.outputs):
                value = self._value(cell, source)
                if value is not None:
                    self.outputs.show(value, kind="execute_result")
                self.outputs.figures()
                self.outputs.flush()
        except BaseException as error:
            self.outputs.failed(error)
            return False
        return True

    def _value(self, cell: str, source: str) -> object:
        """Execute a cell and return the value of its last line, None if that is no expression."""
        tree = ast.parse(source, f"<{cell}>")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"<{cell}>", "exec"), self.variables)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), f"<{cell}>", "eval"), self.variables)
