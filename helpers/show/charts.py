"""Where the marks of the report's two pictures stand; the template draws them as SVG, in the page's own font.

A picture drawn by the page needs no font of the machine that made it: Chinese labels show wherever Chinese text does.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

WIDTH, ROW = 420, 44
COLOURS = ("#0072B2", "#B34D00", "#00734F", "#A34578", "#7A5C00", "#256F9C", "#333333")  # dark enough on white
DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 5", "1 4", "12 4")
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 44
HEIGHT = 260


class Bar(NamedTuple):
    """A system's mean and interval, in pixels."""

    name: str
    text: str
    y: float
    x: float
    low: float
    high: float


def bars(rows: Sequence[tuple[str, float, float, float]]) -> dict[str, Any]:
    """Place a bar a system; rows are name, mean, low and high, from 0 to 1."""
    placed = [
        Bar(name, f"{mean:.3f}", ROW * row + 18, mean * WIDTH, low * WIDTH, high * WIDTH)
        for row, (name, mean, low, high) in enumerate(rows)
    ]
    return {"width": WIDTH, "height": ROW * len(rows) + 8, "bars": placed}


def lines(curves: Mapping[str, Mapping[int, float]]) -> dict[str, Any]:
    """Place a line a system: sizes on a logarithmic axis, scores from a round number below the lowest up to 1."""
    sizes = sorted({size for curve in curves.values() for size in curve})
    values = [value for curve in curves.values() for value in curve.values()]
    floor = math.floor(min(values) * 10) / 10 if min(values) < 1 else 0.9
    ceiling = min(1.0, math.ceil(max(values) * 10 + 1e-9) / 10) or 1.0
    ceiling = max(ceiling, floor + 0.1)

    def x(size: int) -> float:
        span = math.log(sizes[-1]) - math.log(sizes[0])
        return LEFT + (math.log(size) - math.log(sizes[0])) / span * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (ceiling - value) / (ceiling - floor) * (HEIGHT - TOP - BOTTOM)

    steps = round((ceiling - floor) * 10)
    ticks = [round(floor + step / 10, 1) for step in range(0, steps + 1, 2 if steps > 6 else 1)]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "y_ticks": [(f"{tick:.1f}", y(tick)) for tick in ticks],
        "x_ticks": [(f"{size:,}", x(size)) for size in _spread(sizes)],
        "lines": [
            {
                "name": name,
                "colour": COLOURS[row % len(COLOURS)],
                "dash": DASHES[row % len(DASHES)],
                "points": [(x(size), y(value)) for size, value in sorted(curve.items())],
            }
            for row, (name, curve) in enumerate(curves.items())
        ],
    }


def _spread(sizes: Sequence[int]) -> list[int]:
    """Take at most four sizes, the first and the last among them."""
    if len(sizes) <= 4:
        return list(sizes)
    return [sizes[round(i * (len(sizes) - 1) / 3)] for i in range(4)]
