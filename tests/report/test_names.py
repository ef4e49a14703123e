"""Names of metrics and runs: those of ir_measures, and what differs between the names of files."""

import ir_measures
import numpy as np
import pytest

from helpers.metrics import evaluate
from helpers.report import main
from helpers.report.results import shown

THEIRS = ["AP", "AP@5", "RR", "RR@3", "nDCG", "nDCG@5", "P@5", "R@5", "Success@3", "Rprec"]


def test_metrics_of_ir_measures_have_its_values():
    """A script that moves here would get other numbers under the same names."""
    rng = np.random.default_rng(3)
    qrels = {str(q): {f"d{d}": int(grade) for d, grade in enumerate(rng.integers(0, 4, 30))} for q in range(9)}
    run = {q: {f"d{d}": float(s) for d, s in enumerate(rng.random(60)) if s < 0.5} for q in qrels}
    measures = [ir_measures.parse_measure(name) for name in THEIRS]
    expected = {(one.query_id, str(one.measure)): one.value for one in ir_measures.iter_calc(measures, qrels, run)}
    for name, measure in zip(THEIRS, measures, strict=True):
        [values] = evaluate(run, qrels, name).per_query.values()
        for query, value in zip(qrels, values.tolist(), strict=True):
            assert value == pytest.approx(expected[query, str(measure)], abs=1e-12), name


def test_names_are_written_as_texts_do():
    """The page would write a metric as no paper does."""
    assert shown("ndcg(gain=exponential)@10") == "nDCG(gain=exponential)@10"
    assert (shown("map"), shown("recall@5")) == ("MAP", "recall@5")


def test_patterns_name_files_without_a_shell(tmp_path, monkeypatch, capsys):
    """On Windows and in TOML no shell expands runs/*.trec."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    for name in "ab":
        (tmp_path / f"{name}.trec").write_text("q1 Q0 d1 1 1.0 x\n", encoding="utf-8")
    assert main(["--qrels", "qrels", "--system", "*.trec", "--metrics", "nDCG(gain=exponential)@1", "--quiet"]) == 0
    assert "a.trec: ndcg(gain=exponential)@1 0.5000" in capsys.readouterr().out
    assert main(["--qrels", "qrels", "--system", "gone*.trec", "--quiet"]) == 1
    assert "No file or folder 'gone*.trec'" in capsys.readouterr().err
