"""Reports and statistics at the sizes of public collections: that work grows no faster than the input, and ends."""

import pytest

from helpers.report import main
from tests.bench.bench_sizes import SHAPES, Shape, measured, write
from tests.growth import work


@pytest.mark.slow
@pytest.mark.parametrize("what", ["queries", "judged"])
def test_a_report_takes_as_much_more_work_as_it_has_to_read(tmp_path, monkeypatch, what):
    """A report of Robust04 or MS MARCO dev would take hours, since something was done for each pair of things."""
    monkeypatch.chdir(tmp_path)
    for long in ("helpers.report.command.render", "importlib.metadata.version"):  # for any number of queries
        monkeypatch.setattr(long, lambda *_, **__: "")
    small, spent = Shape(queries=30, depth=20, documents=4000, judged=20), []
    main(write(small, tmp_path))  # fills caches
    for times in (1, 2, 4):
        arguments = write(small._replace(**{what: times * getattr(small, what)}), tmp_path)
        spent.append(work(lambda arguments=arguments: main([*arguments, "--metrics", "ndcg@10"])))
    for name, once, twice, four in zip(spent[0]._fields, *spent, strict=True):
        assert four - twice <= 2.3 * (twice - once) + 1000, name  # twice the input more, without what any report costs


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_reports_of_public_collections_end(tmp_path, name):
    """A report of two runs of a common size, with both gates, would be killed on a laptop, or end in an error."""
    arguments = write(SHAPES[name], tmp_path)
    assert measured(["-m", "helpers.report", "--qrels", "qrels", "--system", "run00", "--out", "old"], tmp_path)
    arguments[arguments.index("run00")] = "run00?name=new"
    gates = ["--baseline", "old", "--fail-if-drop", "ndcg@10=0.9"]
    assert measured(["-m", "helpers.report", *arguments, *gates], tmp_path)["peak MB"] < 900
