"""Figures for the lessons. Each draws a table that the same cell prints, so that no number lives in a picture alone."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart by readers with any colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SIZE = (6.4, 3.6)


def plot_intervals(intervals: pd.DataFrame) -> Axes:
    """Draw each metric's mean as a point on its confidence interval.

    Args:
        intervals: what :func:`helpers.tables.interval_table` returned: columns mean, low, high.
    """
    axes = _axes()
    places = range(len(intervals))[::-1]
    for place, colour, (_, row) in zip(places, _cycle(COLOURS, len(intervals)), intervals.iterrows(), strict=True):
        axes.plot(
            [row["low"], row["high"]], [place, place], color=colour, linewidth=3, solid_capstyle="round", alpha=0.5
        )
        axes.plot(row["mean"], place, "o", color=colour)
        axes.annotate(f"{row['mean']:.3f}", (row["mean"], place), (0, 7), textcoords="offset points", ha="center")
    axes.set_yticks(places, intervals.index)
    axes.set_ylim(-0.5, len(intervals) - 0.3)
    axes.set_xlabel("score, with 95 % interval over the queries")
    return axes


def plot_growth(scores: pd.DataFrame) -> Axes:
    """Draw how scores change with the size of the corpus: a line a column, the index on the horizontal axis."""
    axes = _axes()
    for name, colour, marker in zip(
        scores, _cycle(COLOURS, scores.shape[1]), _cycle(MARKERS, scores.shape[1]), strict=True
    ):
        axes.plot(scores.index, scores[name], color=colour, marker=marker, label=name)
    axes.set_xlabel(scores.index.name)
    axes.set_ylabel("score")
    axes.set_ylim(top=1.02)
    axes.legend(frameon=False)
    return axes


def _axes() -> Axes:
    """Open a figure in the style of the lessons: no box, a faint grid."""
    _, axes = plt.subplots(figsize=SIZE, layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return axes


def _cycle(values: tuple, n: int) -> list:
    """Repeat values until there are n."""
    return [values[i % len(values)] for i in range(n)]


def plot_rankings(retrieved: Sequence[Sequence[int]], relevant: Sequence[Sequence[int]], names: Sequence[str]) -> Axes:
    """Draw rankings as rows of numbered boxes, best first from the left, relevant documents dark.

    Args:
        retrieved: ids of each query, best first.
        relevant: the relevant ids of each query.
        names: what to call the queries.
    """
    depth = max(map(len, retrieved))
    _, axes = plt.subplots(figsize=(SIZE[0], 0.45 + 0.55 * len(names)), layout="constrained")
    for row, (docs, judged) in enumerate(zip(retrieved, relevant, strict=True)):
        for place, doc in enumerate(docs, 1):
            hit = doc in judged
            colour = COLOURS[0] if hit else "#e8e8e8"
            axes.add_patch(plt.Rectangle((place - 0.45, row - 0.4), 0.9, 0.8, color=colour, linewidth=0))
            axes.text(place, row, doc, ha="center", va="center", color="white" if hit else "#555555")
    axes.set(xlim=(0.4, depth + 0.6), ylim=(len(names) - 0.45, -0.55), xlabel="rank")
    axes.set_xticks(range(1, depth + 1))
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes
