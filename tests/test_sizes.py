"""Reports and statistics at the sizes of public collections: that work grows no faster than the input, and ends."""

import pytest

from tests.bench.bench_sizes import SHAPES, measured, write


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_reports_of_public_collections_end(tmp_path, name):
    """A report of two runs of a common size, with both gates, would be killed on a laptop, or end in an error."""
    arguments = write(SHAPES[name], tmp_path)
    assert measured(["-m", "helpers.report", "--qrels", "qrels", "--system", "run00", "--out", "old"], tmp_path)
    arguments[arguments.index("run00")] = "run00?name=new"
    gates = ["--baseline", "old", "--fail-if-drop", "ndcg@10=0.9"]
    assert measured(["-m", "helpers.report", *arguments, *gates], tmp_path)["peak MB"] < 900
