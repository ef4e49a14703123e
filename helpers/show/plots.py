"""Figures for the lessons. Each draws a table that the same cell prints, so that no number lives in a picture alone.

A notebook keeps each as PNG and as SVG (:mod:`helpers.show.vector`).
"""

from collections.abc import Mapping, Sequence
from itertools import cycle

from helpers._optional import from_extra

with from_extra("report"):
    import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from matplotlib.transforms import Bbox

from helpers.show import palette
from helpers.show.vector import keep_as_svg

COLOURS = tuple(palette.COLOURS.values())
CLEAR = {"facecolor": palette.GREYS["ground"], "edgecolor": "none", "pad": 0.5}  # no line runs through a value
PARTS = (palette.GREYS["quiet"], COLOURS[1], COLOURS[4], COLOURS[5], COLOURS[0])  # of a bar: the last is the best
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Places for the name of a point: an offset to the right and up, in points, and the side of the name that is there.
PLACES = (
    (0, 6, "center", "bottom"),
    (0, -6, "center", "top"),
    (8, 0, "left", "center"),
    (-8, 0, "right", "center"),
    (6, 6, "left", "bottom"),
    (-6, 6, "right", "bottom"),
    (6, -6, "left", "top"),
    (-6, -6, "right", "top"),
    (0, 17, "center", "bottom"),
    (0, -17, "center", "top"),
)
BINS = 80
SIZE = (5.6, 3.4)  # inches: the words can still be read where a telephone shows the figure as wide as its window


def plot_intervals(intervals: pd.DataFrame) -> Axes:
    """Draw each metric's mean on its confidence interval, from :func:`helpers.show.tables.interval_table`."""
    axes = _axes()
    places = range(len(intervals))[::-1]
    for place, colour, (_, row) in zip(places, cycle(COLOURS), intervals.iterrows(), strict=False):
        axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=2, solid_capstyle="round")
        axes.plot(row["mean"], place, "o", color=colour, markersize=8)
        axes.annotate(
            f"{row['mean']:.3f}", (row["mean"], place), (0, 7), textcoords="offset points", ha="center", bbox=CLEAR
        )
    axes.set_yticks(places, map(_literal, intervals.index))
    axes.set_ylim(-0.5, len(intervals) - 0.3)
    axes.set_xlabel("score, with 95 % interval over the queries")
    return axes


def plot_growth(scores: pd.DataFrame, *, log: bool = False) -> Axes:
    """Draw how scores change with the size of the corpus: a line a column, named at its end, over the index.

    The scores are between 0 and 1, and so is their axis. With ``log`` equal steps on the other axis are equal factors,
    for sizes that differ by orders of magnitude.
    """
    axes = _axes()
    colours = dict(zip(scores, cycle(COLOURS), strict=False))
    for (name, colour), marker in zip(colours.items(), cycle(MARKERS), strict=False):
        axes.plot(scores.index, scores[name], color=colour, marker=marker, markersize=5)
    ends = scores.iloc[-1].sort_values(kind="stable")
    for (name, end), height in zip(ends.items(), _apart(ends.to_numpy(), 0.085), strict=True):
        axes.annotate(
            _literal(name),
            (scores.index[-1], end),
            (1.02, height),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            arrowprops={"arrowstyle": "-", "color": colours[name], "relpos": (0, 0.5), "shrinkB": 0},
        )
    if log:
        _log_scale(axes)
    axes.set_xlabel(scores.index.name)
    axes.set_ylabel("score")
    axes.set_ylim(0, 1.02)
    return axes


def plot_bars(intervals: pd.DataFrame, label: str) -> Axes:
    """Draw a bar a system, top down, with its value beside it and its confidence interval as a line.

    The intervals are those of :func:`helpers.show.tables.system_table`, and the label is the name of the values.
    """
    axes = _axes(height=0.9 + 0.32 * len(intervals))
    places = range(len(intervals))[::-1]
    axes.barh(places, intervals["mean"], height=0.7, color=COLOURS[5], edgecolor=COLOURS[0])
    axes.hlines(places, intervals["low"], intervals["high"], color=COLOURS[6], linewidth=1.5)
    for place, mean, high in zip(places, intervals["mean"], intervals["high"], strict=True):
        axes.annotate(f"{mean:.3f}", (max(mean, high), place), (6, 0), textcoords="offset points", va="center")
    axes.set_yticks(places, map(_literal, intervals.index))
    axes.set_xlim(0, 1.02)
    axes.set_xlabel(f"{_literal(label)}, with 95 % interval over the queries")
    axes.grid(visible=False, axis="y")
    return axes


def plot_shares(table: pd.DataFrame, label: str) -> Axes:
    """Draw each row of shares that add up to 1 as one bar in parts, from the left in the order of the columns.

    The label is the name of a whole bar; of at most five parts the best is last.
    """
    axes = _axes(height=1.3 + 0.36 * len(table))
    places, left = range(len(table))[::-1], np.zeros(len(table))
    for name, colour in zip(table, PARTS, strict=False):
        axes.barh(places, table[name], left=left, height=0.7, color=colour, label=_literal(name))
        left += table[name].to_numpy()
    axes.set_yticks(places, map(_literal, table.index))
    axes.set_xlim(0, 1)
    axes.set_xlabel(_literal(label))
    axes.grid(visible=False, axis="y")
    _legend(axes, 3)
    return axes


def plot_distributions(samples: Mapping[str, np.ndarray], label: str) -> Axes:
    """Draw how often each value occurs, an outline a sample, over the same bins; each is scaled to its own peak."""
    axes = _axes()
    edges = np.histogram_bin_edges(np.concatenate(list(samples.values())), BINS)
    for (name, values), colour in zip(samples.items(), cycle(COLOURS), strict=False):
        counts, _ = np.histogram(values, edges)
        axes.stairs(counts / counts.max(), edges, fill=True, alpha=0.25, color=colour)
        axes.stairs(counts / counts.max(), edges, color=colour, label=_literal(name))
    axes.set_xlabel(_literal(label))
    axes.set_ylabel("how often, relative to the peak")
    _legend(axes, 2)
    return axes


def plot_tradeoff(table: pd.DataFrame, cost: str, quality: str, group: str) -> Axes:
    """Draw the cost of each row against its quality, up and to the left being better, a group joined by a line.

    The cost is on a logarithmic scale; each value of the column ``group`` gets a colour and a marker.
    """
    axes = _axes(height=4.4)
    for name, colour, marker in zip(dict.fromkeys(table[group]), cycle(COLOURS), cycle(MARKERS), strict=False):
        rows = table[table[group] == name]
        axes.plot(rows[cost], rows[quality], f"{marker}-", color=colour, label=_literal(name))
    _log_scale(axes)
    axes.margins(x=0.18, y=0.12)
    axes.set_xlabel(_literal(cost))
    axes.set_ylabel(_literal(quality))
    _legend(axes, 3)
    _label_points(axes, table.sort_values(cost), cost, quality)
    return axes


def plot_rankings(retrieved: Sequence[Sequence[int]], relevant: Sequence[Sequence[int]], names: Sequence[str]) -> Axes:
    """Draw rankings of ids, best first from the left, as rows of numbered boxes, relevant documents dark."""
    depth = max(map(len, retrieved))
    _, axes = plt.subplots(figsize=(SIZE[0], 0.45 + 0.55 * len(names)), layout="constrained")
    keep_as_svg()
    for row, (docs, judged) in enumerate(zip(retrieved, relevant, strict=True)):
        for place, doc in enumerate(docs, 1):
            hit = doc in judged
            colour = COLOURS[0] if hit else palette.GREYS["box"]
            axes.add_patch(Rectangle((place - 0.45, row - 0.4), 0.9, 0.8, color=colour, linewidth=0))
            axes.text(place, row, str(doc), ha="center", va="center", color="white" if hit else palette.GREYS["quiet"])
    axes.set(xlim=(0.4, depth + 0.6), ylim=(len(names) - 0.45, -0.55), xlabel="rank")
    axes.set_xticks(range(1, depth + 1))
    axes.set_yticks(range(len(names)), map(_literal, names))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes


def _label_points(axes: Axes, table: pd.DataFrame, cost: str, quality: str) -> None:
    """Write the name of each row beside its point, where it covers no other name and no point."""
    plt.gcf().draw_without_rendering()  # places on the page are known from here on
    spots = axes.transData.transform(table[[cost, quality]].to_numpy(float))
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in spots]
    for name, row in table.iterrows():
        label = axes.annotate(
            _literal(name), (row[cost], row[quality]), xytext=(0, 0), textcoords="offset points", fontsize="x-small"
        )
        for x, y, ha, va in PLACES:
            label.set(position=(x, y), ha=ha, va=va)
            box = label.get_window_extent().expanded(1.25, 1.15)  # another font on the site may be wider
            if not any(box.overlaps(other) for other in taken):
                break
        else:
            label.set(position=(0, 6), ha="center", va="bottom")
        taken.append(label.get_window_extent())


def _apart(values: np.ndarray, gap: float) -> np.ndarray:
    """Move ascending values up and down until each is ``gap`` from the next: places for the names of lines."""
    steps = gap * np.arange(len(values))
    pushed_up = np.maximum.accumulate(values - steps) + steps
    pushed_down = np.minimum.accumulate((values - steps)[::-1])[::-1] + steps
    places: np.ndarray = (pushed_up + pushed_down) / 2
    return places


def _log_scale(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(10, (1, 2, 5)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _legend(axes: Axes, columns: int) -> None:
    axes.legend(frameon=False, ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1))


def _literal(name: object) -> str:
    """Write a name so that matplotlib takes none of its characters for a formula."""
    return str(name).replace("$", r"\$")


def _axes(height: float = SIZE[1]) -> Axes:
    """Open a figure in the style of the lessons, no box, a faint grid; a notebook keeps it as SVG too."""
    _, axes = plt.subplots(figsize=(SIZE[0], height), layout="constrained")
    keep_as_svg()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=palette.GREYS["grid"], linewidth=0.6)
    axes.set_axisbelow(True)
    return axes
