"""How the work of a call grows with its input, counted in lines and bytes: seconds depend on the machine."""

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple


class Work(NamedTuple):
    """Lines of Python that were run, items that lists were searched through, and bytes that were allocated."""

    lines: int
    items: int
    bytes: int


def work(function: Callable[[], object]) -> Work:
    """Count the work of a call; what is allocated and freed within one line counts at its highest."""
    lines = items = total = held = 0

    def on_line(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        nonlocal lines, total, held
        lines += event == "line"
        now, peak = tracemalloc.get_traced_memory()
        total, held = total + peak - held, now
        tracemalloc.reset_peak()
        return on_line

    def on_call(frame: FrameType, event: str, called: Any) -> None:
        nonlocal items
        if event == "c_call" and isinstance(getattr(called, "__self__", None), list) and called.__name__ == "index":
            items += len(called.__self__)

    tracemalloc.start()
    sys.settrace(on_line)
    sys.setprofile(on_call)
    try:
        function()
    finally:
        sys.settrace(None)
        sys.setprofile(None)
        tracemalloc.stop()
    return Work(lines, items, total)


def assert_linear(make: Callable[[int], Callable[[], object]], size: int, most: float = 2.3) -> None:
    """Assert that twice the input is at most `most` times the work; `make` prepares the call for an input of a size."""
    make(size // 8)()  # imports and caches are filled
    once, twice = work(make(size)), work(make(2 * size))
    grown = {name: (one, two) for name, one, two in zip(Work._fields, once, twice, strict=True) if two > most * one}
    assert not grown, f"{size} and {2 * size}: {grown}"
