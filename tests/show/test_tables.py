"""Tables and figures of the lessons: each number and mark against the values that it stands for."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from helpers.data import RetrievalDataset
from helpers.metrics import evaluate
from helpers.show import plots, tables
from helpers.show.ranks import first_relevant_ranks
from helpers.significance import bootstrap_interval, holm, interval, paired_test

TEXTS = ["first line of a\nsecond", "b", "c " * 50, "d" * 80]
DATA = RetrievalDataset(
    "four", ["one", "two", "three"], TEXTS, [{0: 2, 1: 0}, {3: 1}, {2: 1}], list("xyz"), list("abcd")
)
IDS = np.array([[1, 0, 3], [0, 1, 2], [2, -1, -1]])


@pytest.fixture(autouse=True)
def closed():
    """Close the figures of a test."""
    yield
    plt.close("all")


def test_tables_of_queries_show_what_was_retrieved():
    """A rank off by one, a hit called a miss, or padding shown as the last passage would teach the wrong thing."""
    assert first_relevant_ranks(DATA, IDS) == [2, None, 1]
    failed = tables.failure_table(DATA, IDS)
    assert (failed.index.tolist(), failed.index.name) == ([1, 0], "row")
    assert failed["first relevant at"].tolist() == ["beyond 3", "2"]
    assert failed["query"].tolist() == ["two", "one"]
    assert failed["ranked first instead"].tolist() == ["first line of a", "b"]
    assert tables.failure_table(DATA, np.full((3, 2), -1))["ranked first instead"].tolist() == ["nothing"] * 3
    answers = tables.answer_table(DATA, 0, np.array([[0.9, 0.8, 0.7]] * 3), IDS)
    assert (answers.index.tolist(), answers.index.name) == ([1, 2, 3], "rank")
    assert answers["grade"].tolist() == ["0", "2", "not judged"]
    assert answers["score"].tolist() == [0.9, 0.8, 0.7]
    assert answers["passage"].tolist() == ["b", "first line of a", "d" * 60 + " …"]
    cut = tables.answer_table(DATA, 2, np.array([[0.9, 0, 0]] * 3), IDS)
    assert cut["score"].tolist() == [0.9]
    assert cut["passage"].tolist() == [("c " * 29).strip() + " …"]


def test_tables_of_scores_are_the_evaluation():
    """A mean beside the wrong name, an interval of another level, or the worst system first would be believed."""
    first = evaluate(IDS, DATA.qrels, ["mrr@3", "recall@1"])
    second = evaluate(IDS[:, ::-1][:, 2:], DATA.qrels, ["mrr@1", "recall@1"])
    found = tables.interval_table(first, ["mrr@3", "recall@1"])
    for metric, row in found.iterrows():
        own = interval(first.per_query[metric], 0.95)
        assert row.tolist() == [own.mean, own.low, own.high]
    assert list(found.columns) == ["mean", "low", "high"]
    table = tables.score_table({"a": first})
    assert table.loc["a"].to_dict() == first.mean
    better = replace(second, per_query={"recall@1": np.ones(3)})
    assert list(tables.system_table({"worse": first, "better": better}, "recall@1").index) == ["better", "worse"]


def test_a_paired_table_has_what_the_tests_of_significance_give():
    """A difference with the wrong sign, or an interval and a p that nobody gets from the same values, would show."""
    values = np.random.default_rng(7).random((3, 40))  # so many differ that the swaps are drawn, not counted out
    results = {name: SimpleNamespace(per_query={"mrr@10": row}) for name, row in zip("abc", values, strict=True)}
    found = tables.paired_table(results, "b", "mrr@10")
    assert list(found.index) == ["a", "c"]
    tests = [paired_test(values[1], values[row]).p_value for row in (0, 2)]
    for name, row, p in zip("ac", (0, 2), tests, strict=True):
        between = bootstrap_interval(values[1] - values[row])
        better = int((values[1] > values[row]).sum())
        assert found.loc[name].tolist()[:6] == [between.mean, between.low, between.high, better, 40 - better, p]
    assert found["adjusted p"].tolist() == holm(tests).tolist()
    assert tables.paired_table({"a": results["a"]}, "a", "mrr@10").empty


def test_intervals_are_drawn_on_their_metric():
    """A line beside its point, or under another name, would be the interval of another metric."""
    frame = pd.DataFrame({"mean": [0.8, 0.25], "low": [0.7, 0.1], "high": [0.9, 0.5]}, index=["a", "b$"])
    axes = plots.plot_intervals(frame)
    drawn = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]
    assert drawn == [([0.7, 0.9], [1, 1]), ([0.8], [1]), ([0.1, 0.5], [0, 0]), ([0.25], [0])]
    assert [text.get_text() for text in axes.texts] == ["0.800", "0.250"]
    labels = dict(zip(axes.get_yticks(), [label.get_text() for label in axes.get_yticklabels()], strict=True))
    assert labels == {1: "a", 0: r"b\$"}
    assert axes.get_ylim() == (-0.5, 1.7)
    assert "95 %" in axes.get_xlabel()


def test_growth_is_drawn_by_size():
    """Curves that look alike, or without names, could not be told apart."""
    sizes = pd.Index([10, 100], name="passages")
    axes = plots.plot_growth(pd.DataFrame({"a": [0.9, 0.5], "b": [0.8, 0.7]}, index=sizes))
    assert [line.get_ydata().tolist() for line in axes.lines] == [[0.9, 0.5], [0.8, 0.7]]
    assert [line.get_xdata().tolist() for line in axes.lines] == [[10, 100]] * 2
    assert len({(line.get_color(), line.get_marker()) for line in axes.lines}) == 2
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_ylim()) == ("passages", "score", (0, 1.02))
    assert {text.get_text(): text.xy for text in axes.texts} == {"a": (100, 0.5), "b": (100, 0.7)}


def test_the_names_of_lines_that_end_together_are_apart():
    """Names written over one another could not be read, and in another order they would name the wrong lines."""
    ends = {"a": 0.5, "b": 0.5, "c": 0.52, "d": 0.9}
    axes = plots.plot_growth(pd.DataFrame(ends, index=pd.Index([10], name="passages")))
    heights = {text.get_text(): text.xyann[1] for text in axes.texts}
    assert list(heights) == list(ends)
    assert np.diff(list(heights.values())).min() > 0.08
    assert heights["d"] == pytest.approx(0.9)


def test_a_trade_off_is_drawn_with_every_row_named():
    """A point without its name, at another row's place, or in the colour of another group would recommend it."""
    table = pd.DataFrame({"ms": [1.0, 10.0, 3.0], "share": [0.5, 1.0, 0.9], "kind": ["x", "y", "x"]}, index=[*"abc"])
    axes = plots.plot_tradeoff(table, "ms", "share", "kind")
    drawn = [(line.get_label(), line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]
    assert drawn == [("x", [1.0, 3.0], [0.5, 0.9]), ("y", [10.0], [1.0])]
    assert {text.get_text(): text.xy for text in axes.texts} == {"a": (1.0, 0.5), "b": (10.0, 1.0), "c": (3.0, 0.9)}
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()) == ("ms", "share", "log")
    assert len({(line.get_color(), line.get_marker()) for line in axes.lines}) == 2


def test_names_of_points_close_together_are_apart():
    """Names written over one another, or over a point, could not be read."""
    table = pd.DataFrame({"ms": [1.0, 1.02, 5.0], "share": [0.5, 0.5, 0.9], "kind": "x"}, index=["one", "two", "far"])
    axes = plots.plot_tradeoff(table, "ms", "share", "kind")
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert not any(box.contains(*spot) for box in boxes for spot in axes.transData.transform(table[["ms", "share"]]))


def test_rankings_are_drawn_with_their_hits_dark():
    """A hit drawn at another rank, or a miss drawn dark, would contradict the numbers beside it."""
    axes = plots.plot_rankings([[7, 3], [4, 7, 9]], [[3], [7, 9]], ["a", "b"])
    axes.figure.canvas.draw()
    assert [(text.get_position(), text.get_text()) for text in axes.texts] == [
        ((1, 0), "7"), ((2, 0), "3"), ((1, 1), "4"), ((2, 1), "7"), ((3, 1), "9")
    ]  # fmt: skip
    dark = [to_hex(box.get_facecolor()) == plots.COLOURS[0].lower() for box in axes.patches]
    assert dark == [False, True, False, True, True]
    assert [text.get_color() == "white" for text in axes.texts] == dark  # what stands on a dark box can be read
    assert axes.get_xlabel() == "rank"
    assert [box.get_xy() for box in axes.patches][:2] == [(0.55, -0.4), (1.55, -0.4)]
    assert {(box.get_width(), box.get_height()) for box in axes.patches} == {(0.9, 0.8)}
    labels = dict(zip(axes.get_yticks(), [label.get_text() for label in axes.get_yticklabels()], strict=True))
    assert labels == {0: "a", 1: "b"}
    assert (axes.get_xlim(), axes.get_ylim()) == ((0.4, 3.6), (1.55, -0.55))  # the first on top, all boxes inside
    with pytest.raises(ValueError, match="shorter"):
        plots.plot_rankings([[7, 3], [4, 7]], [[3]], ["a", "b"])


def test_parts_of_a_bar_follow_each_other():
    """Parts that overlap, or in another order than the legend's, would show shares that nobody has."""
    table = pd.DataFrame({"lost": [0.25, 0.0], "cut": [0.25, 0.5], "found": [0.5, 0.5]}, index=["a", "b"])
    axes = plots.plot_shares(table, "share")
    bars = [[(bar.get_x(), bar.get_width()) for bar in part] for part in axes.containers]
    assert bars == [[(0, 0.25), (0, 0)], [(0.25, 0.25), (0, 0.5)], [(0.5, 0.5), (0.5, 0.5)]]
    assert axes.patches[0].get_y() > axes.patches[1].get_y()  # the first row is at the top
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["lost", "cut", "found"]
    assert len({to_hex(part[0].get_facecolor()) for part in axes.containers}) == 3
    assert (axes.get_xlim(), axes.get_xlabel()) == ((0, 1), "share")


def test_bars_carry_value_and_interval():
    """A bar without its value sends the reader to guess from the axis."""
    frame = pd.DataFrame({"mean": [0.8, 0.25], "low": [0.7, 0.1], "high": [0.9, 0.5]}, index=["a", "b"])
    axes = plots.plot_bars(frame, "MRR@2 of $x^{")
    axes.figure.canvas.draw()  # a name with dollars is no formula
    assert [text.get_text() for text in axes.texts] == ["0.800", "0.250"]
    assert [bar.get_width() for bar in axes.patches] == [0.8, 0.25]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()] == [[0.7, 0.9], [0.1, 0.5]]
    assert axes.patches[0].get_y() > axes.patches[1].get_y()
    assert axes.get_xlim() == (0, 1.02)  # a bar twice as long is a score twice as high


def test_distributions_share_bins():
    """Outlines over bins of their own could not be compared, nor a narrow one beside which all others look flat."""
    axes = plots.plot_distributions({"a": np.array([0.0, 0.01, 0.21]), "b": np.array([0.81, 1.0])}, "cosine")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert axes.get_xlabel() == "cosine"
    drawn = [patch.get_data() for patch in axes.patches]
    for data in drawn:
        np.testing.assert_allclose(data.edges, np.linspace(0, 1, 81))
    expected = {1: {0: 1, 16: 0.5}, 3: {64: 1, 79: 1}}  # bins of 0.0125: 0.21 is in the 17th, 0.81 in the 65th
    for outline, heights in expected.items():
        np.testing.assert_allclose(drawn[outline].values, [heights.get(place, 0) for place in range(80)])


def test_cited_figures_stay_in_their_own_column():
    """A published figure in the column of what was measured would claim a run that never was."""
    ours, theirs = (SimpleNamespace(mean={"mrr@2": value, "recall@2": value - 0.1}) for value in (1.0, 0.4))
    frame = tables.cited_table(
        {"MiniLM, mean": ours, "both": ours}, {"both": theirs, "xlnet": theirs}, ["mrr@2", "recall@2"]
    )
    assert frame.index.tolist() == ["MiniLM, mean", "both", "xlnet"]
    assert frame.loc["both"].tolist() == ["1.000", "0.400", "0.900", "0.300"]
    assert frame.columns.tolist() == ["mrr@2 measured", "mrr@2 published", "recall@2 measured", "recall@2 published"]
    assert frame.loc["MiniLM, mean"].tolist() == ["1.000", "–", "0.900", "–"]
    assert frame.loc["xlnet"].tolist() == ["–", "0.400", "–", "0.300"]
