"""Charts of what was measured, drawn from docs/benchmarks/*.json: `python -m tests.bench.charts` measures nothing.

Each is a file beside the report, NAME-CASE.svg, which the page on speed shows above the tables of NAME.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from helpers.show.palette import GREYS
from helpers.show.plots import CLEAR, COLOURS, MARKERS
from helpers.show.vector import as_svg
from tests.bench.reports import FOLDER

BLUE, VERMILION, GREEN = COLOURS[:3]
GREY = GREYS["quiet"]
GRID = {"color": GREYS["grid"], "linewidth": 0.6}
Charts = Iterator[tuple[str, Figure]]


def metrics(report: dict[str, Any]) -> Charts:
    """Draw the times of a library in a row, one for each size; a chart for each kind of judgements, on one axis."""
    ours = "helpers.metrics"
    cases = {case: {name: row["ms"] for name, row in rows.items()} for case, rows in report["results"].items()}
    table = pd.DataFrame(cases)
    table = table[~table.index.str.contains("columns|dicts")]
    for kind in ("binary", "graded"):
        times = table.filter(like=kind)
        times = times.sort_values(times.columns[-1])
        _, axes = plt.subplots(figsize=(4.8, 4.8), layout="constrained")
        colours = [BLUE if name == ours else GREY for name in times.index]
        axes.hlines(range(len(times)), times.min(axis=1), times.max(axis=1), colors=colours, linewidth=1)
        for case, marker in zip(times, MARKERS, strict=False):
            size = " × ".join(f"{int(number):,}" for number in case.split()[0].split("x"))
            axes.scatter(times[case], range(len(times)), marker=marker, c=colours, zorder=3)
            axes.plot([], linestyle="none", marker=marker, color=GREY, label=size)
        _name_rows(axes, times.index, ours)
        axes.set(xscale="log", xlabel="milliseconds (log scale)", xlim=(table.min(axis=None) / 2, 3e6))
        axes.xaxis.set_major_locator(LogLocator(numticks=4))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
        title = f"{kind} judgements, queries × passages in each ranking"
        axes.legend(frameon=False, title=title, alignment="left", ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
        yield kind, axes.figure


def encode(report: dict[str, Any]) -> Charts:
    """Draw the seconds of everyone who computes; reading from the cache takes too little to be seen beside them."""
    values = {name: seconds for name, seconds in report["seconds"].items() if "cached" not in name}
    axes = _bars(values, "helpers.embeddings", height=2.8)
    axes.set(xlabel="seconds", xlim=(0, max(values.values()) * 1.15))
    yield "seconds", axes.figure


def streaming(report: dict[str, Any]) -> Charts:
    """Draw the memory above that of the model, in blue, against the number of texts, beside the size of the vectors."""
    memory = report["tables"][0]
    counts = [int(label.removeprefix("texts ")) for label in memory]
    figure, axes = plt.subplots(figsize=(4.8, 3), layout="constrained")
    lines = {
        "MiB of the vectors": ("vectors", GREY, -10, 0),
        "MiB above the model, encoding": ("above the model", BLUE, 6, 10),
    }
    for name, (label, colour, x, y) in lines.items():
        values = [row[name] for row in memory.values()]
        axes.plot(counts, values, marker="o", color=colour)
        end = {"xytext": (x, y), "textcoords": "offset points", "ha": "right", "va": "center"}
        axes.annotate(f"{label}, {values[-1]:g}", (counts[-1], values[-1]), color=colour, **end)
    axes.set(xscale="log", xlabel="texts", ylabel="MiB", ylim=(0, None))
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.margins(x=0.12)
    axes.grid(**GRID)
    axes.spines[["top", "right"]].set_visible(False)
    yield "memory", figure


def million(report: dict[str, Any]) -> Charts:
    """Draw the time of a query, together and alone, beside the agreement: a row an index, the fastest alone on top."""
    table = pd.DataFrame.from_dict(report["tables"][0], orient="index").sort_values("ms per query, alone")
    figure, (times, agreement) = plt.subplots(
        1, 2, sharey=True, figsize=(4.8, 4.8), width_ratios=(2, 1), layout="constrained"
    )
    rows = range(len(table))
    both = {how: table[f"ms per query, {how}"] for how in ("together", "alone")}
    times.hlines(rows, *both.values(), color=GREY, linewidth=1)
    looks = ({"color": BLUE, "marker": "o"}, {"color": VERMILION, "marker": "s", "markerfacecolor": "none"})
    for (how, values), look in zip(both.items(), looks, strict=True):
        times.plot(values, rows, linestyle="none", label=how, **look)
    agreement.plot(table["agreement@10"], rows, "D", color=GREEN)
    for row, value in zip(rows, table["agreement@10"], strict=True):
        agreement.annotate(f"{value:.3f}", (value, row - 0.3), ha="center", va="center", bbox=CLEAR)
    _name_rows(times, table.index)
    times.set(xscale="log", xlabel="ms per query")
    times.xaxis.set_major_formatter("{x:g}")
    times.minorticks_off()
    agreement.set(xlabel="agreement@10", xticks=[0.7, 0.8, 0.9, 1])
    agreement.margins(x=0.25)
    agreement.spines[["left", "top", "right"]].set_visible(False)
    agreement.grid(axis="x", **GRID)
    agreement.set_axisbelow(True)
    times.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    yield "indexes", figure


CHARTS: dict[str, Callable[[dict[str, Any]], Charts]] = {
    "metrics": metrics,
    "encode": encode,
    "streaming": streaming,
    "million": million,
}


def _name_rows(axes: Axes, names: Iterable[str], ours: str = "") -> None:
    """Write the name of each row above it, that of this project bold, and leave only the axis below."""
    for row, name in enumerate(names):
        weight = "bold" if name == ours else "normal"
        axes.text(0, row - 0.33, name, transform=axes.get_yaxis_transform(), va="center", bbox=CLEAR, weight=weight)
    axes.set(yticks=[], ylim=(row + 0.4, -0.6))
    axes.spines[["left", "top", "right"]].set_visible(False)
    axes.grid(axis="x", **GRID)
    axes.set_axisbelow(True)


def _bars(values: dict[str, float], ours: str, height: float) -> Axes:
    """Draw a bar a name, top down, its value beside it; that of this project is blue, its name bold."""
    _, axes = plt.subplots(figsize=(4.4, height), layout="constrained")
    names = [*values][::-1]
    lengths = [values[name] for name in names]
    bars = axes.barh(names, lengths, color=[BLUE if name == ours else GREYS["box"] for name in names])
    axes.get_yticklabels()[names.index(ours)].set_weight("bold")
    axes.bar_label(bars, [f"{v:,.1f}" if v < 100 else f"{v:,.0f}" for v in lengths], padding=3)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def draw(name: str, folder: Path = FOLDER) -> None:
    """Write the charts of NAME.json of a folder beside it."""
    plt.switch_backend("Agg")
    report = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    for case, figure in CHARTS[name](report):
        (folder / f"{name}-{case}.svg").write_text(as_svg(figure), encoding="utf-8")
        plt.close(figure)


if __name__ == "__main__":
    for name in CHARTS:
        draw(name)
