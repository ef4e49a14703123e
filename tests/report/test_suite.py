"""Reports on several data sets in one page: means, ranks with intervals, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.data import from_ids
from helpers.report import compare
from helpers.report.suite import Suite, main, read_suite, render
from helpers.significance import suite_bootstrap, suite_hsd, tukey_hsd
from helpers.systems import Run


def report(folder, size, rights, prefix=""):
    """Save a report of systems that are right on their first so many queries."""
    queries = {f"{prefix}q{n}": f"text {n}" for n in range(size)}
    corpus = {f"d{n}": f"passage {n}" for n in range(size + 1)}
    data = from_ids(folder.name, queries, corpus, {f"{prefix}q{n}": {f"d{n}": 1} for n in range(size)})
    systems = {
        name: Run({q: {f"d{n if n < right else size}": 1.0} for n, q in enumerate(queries)})
        for name, right in rights.items()
    }
    compare(systems, data, 1).save(folder)
    return folder


@pytest.fixture
def folders(tmp_path):
    """Three reports of two systems, and a third system that the last one lacks."""
    return [
        report(tmp_path / "one", 20, {"a": 15, "b": 5, "c": 9}),
        report(tmp_path / "two", 40, {"a": 20, "b": 10, "c": 9}, "x"),
        report(tmp_path / "six", 10, {"b": 1, "a": 9}, "y"),
    ]


def test_every_set_counts_the_same(folders):
    """A set of many queries would outweigh the others, or a hole be filled."""
    suite = read_suite(folders)
    assert (suite.systems, suite.incomplete) == (["a", "b"], {"c": ["six"]})
    rows = suite.rows
    assert rows["a"]["mean"] == pytest.approx(np.mean([15 / 20, 20 / 40, 9 / 10]))
    assert rows["b"]["difference"] == pytest.approx(np.mean([10 / 20, 10 / 40, 8 / 10]))
    assert (rows["b"]["better"], rows["b"]["worse"]) == (3, 0)
    assert (rows["a"]["best_rank"], rows["a"]["worst_rank"], rows["b"]["best_rank"]) == (1, 1, 2)
    assert rows["b"]["p"] < 0.01
    assert rows["a"]["low"] < rows["a"]["mean"] < rows["a"]["high"] < rows["a"]["low"] + 0.3
    gaps = np.array([0.5, 0.25, 0.8])
    half = 4.302652729911275 * gaps.std(ddof=1) / np.sqrt(3)  # Student's t, 2 degrees of freedom
    assert rows["b"]["beyond_low"] == pytest.approx(gaps.mean() - half)
    assert rows["b"]["beyond_high"] == pytest.approx(gaps.mean() + half)
    assert read_suite(folders, "recall@1").metric == "recall@1"


def test_page_and_files_have_the_same_numbers(folders, tmp_path, capsys):
    """A reader of the page and a program would see different suites."""
    assert main([*map(str, folders), "--out", str(tmp_path / "all"), "--language", "zh"]) == 0
    out = capsys.readouterr().out
    assert "a: mean ndcg@1 0.7167" in out
    assert "c: no mean, no score on six" in out
    record = json.loads((tmp_path / "all" / "suite.json").read_text(encoding="utf-8"))
    assert record["systems"]["a"] == read_suite(folders).rows["a"]
    assert record["sets"]["two"]["b"] == {"mean": 0.25, "queries": 40}
    assert record["without_mean"] == {"c": ["six"]}
    assert main([*map(str, folders), "--out", str(tmp_path / "all"), "--language", "zh"]) == 0  # into the same folder
    page = (tmp_path / "all" / "suite.html").read_text(encoding="utf-8")
    assert "显著好于其他每个系统" in page
    assert '<td class="n">0.717' in page
    assert "significantly better than every other" in render(read_suite(folders))


def test_names_are_escaped():
    """Markup in the name of a set would run in the browser."""
    values = np.array([0.0, 1.0, 1.0])
    text = render(Suite("ndcg@1", {"<b>": {"<i>": values, "x": values}, "y": {"<i>": values, "x": values}}))
    assert "<b>" not in text
    assert "do not separate it from x" in text


def test_what_cannot_be_combined_is_refused(folders, tmp_path, capsys):
    """A mean would run over one set twice, or over scores of different metrics."""
    one, two, _ = folders
    other = report(tmp_path / "z", 5, {"elsewhere": 3}, "z")
    for given, message in (
        ([one], "at least two reports"),
        ([one, tmp_path], "expected the folder of a report"),
        ([one, one], "are of the same data"),
        ([one, other], "No system has a score in every report"),
    ):
        assert main([*map(str, given), "--out", str(tmp_path / "all")]) == 1
        assert message in capsys.readouterr().err
    assert main([str(one), str(two), "--metric", "map@7", "--out", str(tmp_path / "all")]) == 1
    assert "has no map@7, only recall@1" in capsys.readouterr().err
    (two / "per_query.csv").write_text("system,query,ndcg@1\na,q0,1\n", encoding="utf-8")
    assert main([str(one), str(two), "--out", str(tmp_path / "all")]) == 1
    assert "does not fit results.json (other systems or queries)" in capsys.readouterr().err
    (two / "results.json").write_text("{}", encoding="utf-8")
    assert main([str(one), str(two), "--out", str(tmp_path / "all")]) == 1
    assert "no result of a report" in capsys.readouterr().err
    assert not Path(tmp_path / "all" / "suite.json").exists()


def test_one_set_is_the_test_of_one_collection():
    """Several sets would be tested in another way than one."""
    table = np.random.default_rng(0).random((4, 30))
    assert np.array_equal(suite_hsd([table]), tukey_hsd(table))
    drawn = suite_bootstrap([table], 4000)
    assert np.allclose(drawn.mean(0), table.mean(1), atol=0.005)
    assert np.allclose(drawn.std(0), table.std(1) / np.sqrt(30), rtol=0.05)
    twice = suite_bootstrap([table, table], 4000)
    assert np.allclose(twice.mean(0), table.mean(1), atol=0.005)
    assert np.allclose(twice.std(0), table.std(1) / np.sqrt(60), rtol=0.05)
    for wrong in ([], [table, table[:3]], [table[:1]], [np.full((2, 3), np.nan)]):
        with pytest.raises(ValueError, match=r"at least one|two or more|not finite"):
            suite_hsd(wrong)
