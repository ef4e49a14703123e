"""Figures as SVG: the same text each time, nothing in it that viewers of notebooks strip or a page must not hold."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.figure import Figure

from helpers.show.plots import plot_bars, plot_growth, plot_intervals, plot_rankings
from helpers.show.vector import FONTS, as_svg, keep_as_svg
from notebooks.kit.drawings import GEOMETRY, read_svg, svg_fault

INTERVALS = pd.DataFrame({"mean": [0.5, 0.25], "low": [0.4, -0.1], "high": [0.6, 0.3]}, index=["a $ b", "c < d"])


@pytest.fixture(autouse=True)
def closed():
    """Close the figures of a test."""
    yield
    plt.close("all")


def drawn():
    """A figure of each kind that has a table."""
    growth = pd.DataFrame({"recall@1": {100: 0.5, 200: 0.3}}).rename_axis("passages")
    rankings = [[1, 2]], [[2]], ["A"]
    return plot_intervals(INTERVALS), plot_growth(growth), plot_bars(INTERVALS, "MRR"), plot_rankings(*rankings)


def test_drawing_again_gives_the_same_text():
    """Recording a lesson again with nothing changed would change the file."""
    first, second = ([as_svg(axes.figure) for axes in drawn()] for _ in range(2))
    assert first == second
    assert as_svg(drawn()[0].figure) == first[0]


def test_nothing_is_in_it_that_is_stripped_or_restyles_a_page():
    """GitHub and nbviewer strip styles, and all would be black; a style sheet would change the figures beside it."""
    for axes in drawn():
        svg = as_svg(axes.figure)
        assert svg_fault(svg) == ""
        assert not any(word in svg for word in ("style", "metadata", "<!", "<?", "http://www.w3.org/1999", "Date"))
        assert all("id" not in part.attrib or part.tag in ("clipPath", "path") for part in read_svg(svg).iter())


def test_words_stay_words():
    """Nobody could search or translate them; a dollar sign or a bracket would be lost."""
    words = [part.text for part in read_svg(as_svg(plot_intervals(INTERVALS).figure)).iter() if part.text]
    assert {"a $ b", "c < d", "0.500", "0.250"} <= set(words)
    assert f'font-family="{FONTS}"' in as_svg(plot_intervals(INTERVALS).figure)


def test_coordinates_are_those_of_matplotlib():
    """Rounding would shift or drop marks."""
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(0, 1), position=(0, 0, 1, 1))
    axes.plot([0.123456, 0.5], [0.25, 1 / 3], color="#0072b2")
    [line] = [part for part in read_svg(as_svg(figure)).iter() if part.get("stroke") == "#0072b2"]
    x0, y0, x1, y1 = (float(word) for word in line.attrib["d"].split() if word not in "ML")
    assert (x1 - x0, y0 - y1) == pytest.approx((144 * (0.5 - 0.123456), 72 / 12), abs=0.011)
    assert all(len(word.partition(".")[2]) <= 2 for name in GEOMETRY for word in line.get(name, "").split())


def test_a_notebook_keeps_figures_as_svg_too(monkeypatch):
    """A lesson would be recorded without its drawings; or a script, or a shell without a kernel, stop at a figure."""
    kept = {}
    formatter = SimpleNamespace(for_type=kept.__setitem__)
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"image/svg+xml": formatter}))
    for answer in (None, shell):
        monkeypatch.setattr("IPython.get_ipython", lambda answer=answer: answer)
        keep_as_svg()
        assert kept == {}
    shell.kernel = "a notebook's"
    keep_as_svg()
    assert kept == {Figure: as_svg}
