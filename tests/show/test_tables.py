"""Tables and figures of the lessons: each number and mark against the values that it stands for."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from helpers.show.charts import HEIGHT, bars, lines
from helpers.show.view import View
from helpers.show.words import definition, words
from matplotlib.colors import to_hex

from helpers.data import RetrievalDataset
from helpers.metrics import evaluate
from helpers.show import cost_view
from helpers.show.plots import COLOURS, plot_growth, plot_intervals, plot_rankings, plot_tradeoff
from helpers.show.tables import (
    answer_table,
    collection_table,
    failure_table,
    first_relevant_ranks,
    interval_table,
    paired_table,
    reciprocal_rank_table,
    score_table,
    system_table,
)
from helpers.significance import bootstrap_interval, holm, interval, paired_test
from helpers.systems import compare
from helpers.systems.combine import Run
from tests.systems.samples import QRELS, QUERIES, collection

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
    failed = failure_table(DATA, IDS)
    assert (failed.index.tolist(), failed.index.name) == ([1, 0], "row")
    assert failed["first relevant at"].tolist() == ["beyond 3", "2"]
    assert failed["query"].tolist() == ["two", "one"]
    assert failed["ranked first instead"].tolist() == ["first line of a", "b"]
    assert failure_table(DATA, np.full((3, 2), -1))["ranked first instead"].tolist() == ["nothing"] * 3
    ranks = reciprocal_rank_table(DATA, IDS)
    assert ranks["rank"].tolist() == ["2", "none", "1"]
    assert ranks["1/rank"].tolist() == [0.5, 0, 1]
    assert ranks["relevant"].tolist() == ["0", "3", "2"]
    assert ranks["retrieved"].tolist() == ["1, 0, 3", "0, 1, 2", "2"]
    answers = answer_table(DATA, 0, np.array([[0.9, 0.8, 0.7]] * 3), IDS)
    assert (answers.index.tolist(), answers.index.name) == ([1, 2, 3], "rank")
    assert answers["grade"].tolist() == ["0", "2", "not judged"]
    assert answers["score"].tolist() == [0.9, 0.8, 0.7]
    assert answers["passage"].tolist() == ["b", "first line of a", "d" * 60 + " …"]
    cut = answer_table(DATA, 2, np.array([[0.9, 0, 0]] * 3), IDS)
    assert cut["score"].tolist() == [0.9]
    assert cut["passage"].tolist() == [("c " * 29).strip() + " …"]


def test_tables_of_scores_are_the_evaluation():
    """A mean beside the wrong name, an interval of another level, or the worst system first would be believed."""
    first = evaluate(IDS, DATA.qrels, ["mrr@3", "recall@1"])
    second = evaluate(IDS[:, ::-1][:, 2:], DATA.qrels, ["mrr@1", "recall@1"])
    found = interval_table(first, ["mrr@3", "recall@1"])
    for metric, row in found.iterrows():
        own = interval(first.per_query[metric], 0.95)
        assert row.tolist() == [own.mean, own.low, own.high]
    assert list(found.columns) == ["mean", "low", "high"]
    table = score_table({"a": first})
    assert table.loc["a"].to_dict() == first.mean
    better = replace(second, per_query={"recall@1": np.ones(3)})
    assert list(system_table({"worse": first, "better": better}, "recall@1").index) == ["better", "worse"]
    sizes = collection_table({"four": DATA}).loc["four"]
    assert sizes.tolist() == [3, 4, 4 / 3, 1]


def test_a_paired_table_has_what_the_tests_of_significance_give():
    """A difference with the wrong sign, or an interval and a p that nobody gets from the same values, would show."""
    values = np.random.default_rng(7).random((3, 40))  # so many differ that the swaps are drawn, not counted out
    results = {name: SimpleNamespace(per_query={"mrr@10": row}) for name, row in zip("abc", values, strict=True)}
    found = paired_table(results, "b", "mrr@10")
    assert list(found.index) == ["a", "c"]
    tests = [paired_test(values[1], values[row]).p_value for row in (0, 2)]
    for name, row, p in zip("ac", (0, 2), tests, strict=True):
        between = bootstrap_interval(values[1] - values[row])
        better = int((values[1] > values[row]).sum())
        assert found.loc[name].tolist()[:6] == [between.mean, between.low, between.high, better, 40 - better, p]
    assert found["adjusted p"].tolist() == holm(tests).tolist()


def test_intervals_are_drawn_on_their_metric():
    """A line beside its point, or under another name, would be the interval of another metric."""
    frame = pd.DataFrame({"mean": [0.8, 0.25], "low": [0.7, 0.1], "high": [0.9, 0.5]}, index=["a", "b$"])
    axes = plot_intervals(frame)
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
    axes = plot_growth(pd.DataFrame({"a": [0.9, 0.5], "b": [0.8, 0.7]}, index=sizes))
    assert [line.get_ydata().tolist() for line in axes.lines] == [[0.9, 0.5], [0.8, 0.7]]
    assert [line.get_xdata().tolist() for line in axes.lines] == [[10, 100]] * 2
    assert len({(line.get_color(), line.get_marker()) for line in axes.lines}) == 2
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_ylim()[1]) == ("passages", "score", 1.02)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_a_trade_off_is_drawn_with_every_row_named():
    """A point without its name, at another row's place, or in the colour of another group would recommend it."""
    table = pd.DataFrame({"ms": [1.0, 10.0, 3.0], "share": [0.5, 1.0, 0.9], "kind": ["x", "y", "x"]}, index=[*"abc"])
    axes = plot_tradeoff(table, "ms", "share", "kind")
    drawn = [(line.get_label(), line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines]
    assert drawn == [("x", [1.0, 3.0], [0.5, 0.9]), ("y", [10.0], [1.0])]
    assert {text.get_text(): text.xy for text in axes.texts} == {"a": (1.0, 0.5), "b": (10.0, 1.0), "c": (3.0, 0.9)}
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()) == ("ms", "share", "log")
    assert len({(line.get_color(), line.get_marker()) for line in axes.lines}) == 2


def test_rankings_are_drawn_with_their_hits_dark():
    """A hit drawn at another rank, or a miss drawn dark, would contradict the numbers beside it."""
    axes = plot_rankings([[7, 3], [4, 7, 9]], [[3], [7, 9]], ["a", "b"])
    axes.figure.canvas.draw()
    assert [(text.get_position(), text.get_text()) for text in axes.texts] == [
        ((1, 0), "7"), ((2, 0), "3"), ((1, 1), "4"), ((2, 1), "7"), ((3, 1), "9")
    ]  # fmt: skip
    dark = [to_hex(box.get_facecolor()) == COLOURS[0].lower() for box in axes.patches]
    assert dark == [False, True, False, True, True]
    assert [text.get_color() == "white" for text in axes.texts] == dark  # what stands on a dark box can be read
    assert axes.get_xlabel() == "rank"
    assert [box.get_xy() for box in axes.patches][:2] == [(0.55, -0.4), (1.55, -0.4)]
    assert {(box.get_width(), box.get_height()) for box in axes.patches} == {(0.9, 0.8)}
    assert axes.get_xticks().tolist() == [1, 2, 3]
    labels = dict(zip(axes.get_yticks(), [label.get_text() for label in axes.get_yticklabels()], strict=True))
    assert labels == {0: "a", 1: "b"}
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first query is at the top
    with pytest.raises(ValueError, match="shorter"):
        plot_rankings([[7, 3], [4, 7]], [[3]], ["a", "b"])


def test_the_axes_of_the_report_fit_their_values():
    """A tick beside its place makes every point read as another value."""
    curve = {10 * 2**step: 0.9 - 0.1 * step for step in range(6)}
    chart = lines({"a": curve})
    assert [label for label, _ in chart["x_ticks"]] == ["10", "40", "80", "320"]
    points = dict(chart["lines"][0]["points"])
    assert [x for _, x in chart["x_ticks"]] == [chart["lines"][0]["points"][row][0] for row in (0, 2, 3, 5)]
    assert [label for label, _ in chart["y_ticks"]] == ["0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0"]
    assert chart["y_ticks"][0][1] == pytest.approx(chart["bottom"]) == HEIGHT - 44
    assert chart["y_ticks"][-1][1] == 12
    assert max(points.values()) == pytest.approx(chart["bottom"])
    assert (chart["left"], chart["right"]) == (44, 408)
    high = lines({"a": {10: 1.0, 20: 1.0}})
    assert [label for label, _ in high["y_ticks"]] == ["0.9", "1.0"]
    wide = lines({"a": {10: 1.0, 20: 0.15}})
    assert [label for label, _ in wide["y_ticks"]] == ["0.1", "0.3", "0.5", "0.7", "0.9"]
    placed = bars([("a", 0.5, 0.25, 0.75), ("b", 0.25, 0.1, 0.3)])
    assert ([bar.y for bar in placed["bars"]], placed["height"], placed["width"]) == ([18, 62], 96, 420)


def test_costs_are_those_of_the_stages():
    """Milliseconds a query that leave out a stage, or bytes called megabytes, would choose another system."""
    seconds = {"load": 1.25, "passages": 2.0, "queries": 0.6, "search": 0.03, "fuse": 0.003, "rerank": 0.3}
    cost = SimpleNamespace(seconds=seconds, index_bytes=3_000_000)
    what = {"kind": "model", "model": {"max_length": 256}, "truncated": 1200}
    bare = SimpleNamespace(cost=SimpleNamespace(seconds={}, index_bytes=None), what={"kind": "run"})
    comparison = SimpleNamespace(
        data=collection(), results={"a": SimpleNamespace(cost=cost, what=what), "b": bare}
    )  # fmt: skip
    header, rows, _ = cost_view.cost_table(comparison, words("en"))
    assert len(header) == len(rows[0]) == 8
    assert rows[0][2:] == ["1.2", "2.0", f"{933 / 6:.2f}", f"{3_000_000 / cost_view.MEGA:,.1f}", "256", "1,200"]
    assert rows[1][2:] == ["–"] * 6
    nested = cost_view._facts({"a": {"b": 3, "none": None}, "list": ["x", 1], "empty": "", "zero": 0})
    assert nested == [("a.b", "3"), ("list", "x, 1"), ("zero", "0")]


def test_the_view_says_what_was_evaluated_in_either_language():
    """A reader could not tell which part of the collection, or which type of query, a number is about."""
    runs = {"a": Run({q: {"d4": 1.0} for q in QUERIES}), "b": Run({q: {"d9": 1.0} for q in QUERIES})}
    found = compare(runs, replace(collection(), split="dev", merged=2))
    kinds = {"q1": "question", "q2": "question", "q3": "keyword"}
    english, chinese = View(found, "en", kinds), View(found, "zh", kinds)
    assert (english.title(), chinese.title()) == (
        "a / b on tiny",
        words("zh")["title"].format(systems="a与b", data="tiny"),
    )
    facts = dict(english.evaluated())
    assert (facts[words("en")["split"]], facts[words("en")["merged"]]) == ("dev", "2")
    assert facts[words("en")["passages"]] == "12"
    assert words("en")["split"] not in dict(View(compare(runs, collection())).evaluated())
    assert [row[:2] for row in english.slices().rows] == [["(none)", "3"], ["keyword", "1"], ["question", "2"]]
    assert {tuple(row[:2]) for row in chinese.slices().rows} >= {("关键词", "1"), ("问句", "2")}
    first, second = (found.scored[name].per_query["ndcg@10"] for name in english.names)
    better = {"a": int((first > second).sum()), "b": int((first < second).sum())}
    for (caption, table), name in zip(english.wins(), english.names, strict=True):
        assert caption.startswith(f"{name} better on")
        gains = [float(row[2]) - float(row[3]) for row in table.rows]
        assert all(gain > 0 for gain in gains) if name == english.names[0] else all(gain < 0 for gain in gains)
    assert sum(better.values()) == sum(len(table.rows) for _, table in english.wins()) <= len(QRELS)


def test_words_are_those_of_the_language_asked_for():
    """A page would be written in the other language, or a definition be missing beside its metric."""
    assert words("en")["system"] != words("zh")["system"]
    assert definition("ndcg@10", "en").isascii()
    assert not definition("ndcg@10", "zh").isascii()
    assert definition("ndcg@10", "en") != definition("mrr@10", "en") != ""
    assert definition("unheard of", "en") == ""
    with pytest.raises(ValueError, match="expected one of en, zh"):
        words("fr")
