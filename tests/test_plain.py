"""The one file to copy: it stands alone, passes the acid test, and equals the package to the last bit."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers import metrics, plain, significance
from helpers.metrics.acid import Verdict, read_cases, run_cases

FILE = Path(plain.__file__)
SHAPES = {"bootstrap": (0, 90), "shares": (1, 40), "few": (2, 12), "ties": (3, 500)}


def test_it_needs_numpy_alone_and_is_read_in_an_hour():
    """Whoever copies the file would have to copy another, or stop reading."""
    source = FILE.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {name for node in nodes for name in ([a.name for a in node.names] if isinstance(node, ast.Import)
                                                 else [node.module])}  # fmt: skip
    assert {name.partition(".")[0] for name in names} <= {"numpy", *sys.stdlib_module_names}


def test_a_copy_passes_the_acid_test_beside_another_helpers(tmp_path, monkeypatch):
    """The metrics that people carry into other projects would be wrong there."""
    (tmp_path / "helpers.py").touch()
    (tmp_path / "carried.py").write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    results = run_cases("carried:evaluate", read_cases())
    assert [f"{r.case.name}: {r.answer}" for r in results if r.verdict is not Verdict.AGREES] == []


def drawn(seed: int) -> tuple[dict, dict]:
    """A run with ties, a missing query and lists, and graded judgements with grades below 0."""
    rng, run, qrels = np.random.default_rng(seed), {}, {}
    for query in map(str, range(40)):
        docs = [f"d{n}" for n in rng.permutation(60)[: rng.integers(1, 50)].tolist()]
        qrels[query] = dict(zip(docs[::2], rng.integers(-1, 4, len(docs)).tolist(), strict=False))
        found = [f"d{n}" for n in rng.permutation(60)[: rng.integers(0, 50)].tolist()]
        run[query] = found if int(query) % 5 == 0 else {doc: float(rng.integers(0, 9)) / 7 for doc in found}
    del run["3"]
    return run, qrels


@pytest.mark.parametrize("seed", range(5))
def test_metrics_equal_those_of_the_package(seed):
    """A number from the copy and one from a report would differ, and nobody could say why."""
    run, qrels = drawn(seed)
    for metric in (f"{name}@{k}" for name in plain.METRICS for k in (1, 3, 10, 100)):
        whole = metrics.evaluate(run, qrels, metric)
        assert plain.per_query(run, qrels, metric).tolist() == whole.per_query[metric].tolist(), metric
        assert plain.evaluate(run, qrels, metric) == whole.mean[metric]


@pytest.mark.parametrize(("seed", "n"), SHAPES.values(), ids=SHAPES)
def test_statistics_equal_those_of_the_package(seed, n):
    """An interval or a p-value from the copy would differ from the report's."""
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, n))
    if seed in (1, 3):
        a, b = (a > 0.3).astype(float), np.round(b * 4) / 4
    assert plain.interval(a) == significance.interval(a)
    assert plain.interval(a - b, 0.9) == significance.interval(a - b, 0.9)
    assert plain.paired_test(a, b) == significance.paired_test(a, b)


def test_a_verdict_is_one_of_four():
    """Few queries would be taken for equality, or a gain that does not matter for a better system."""
    rng = np.random.default_rng(0)
    before, noise = rng.random(200), rng.standard_normal(200) / 10
    noise -= noise.mean()
    cases = {"better": 0.1 + noise, "worse": noise - 0.1, "equal within the margin": 0.005 + noise / 100,
             "cannot tell": 0.005 + noise}  # fmt: skip
    for word, shift in cases.items():
        said, low, high = plain.verdict(before, before + shift, margin=0.01)
        assert said == word
        exact = significance.noninferiority_test(before + shift, before, 0.01, alpha=0.025)
        assert low == pytest.approx(exact.low, abs=1e-6)  # by another series of Student's t
        assert low + high == pytest.approx(2 * exact.difference)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plain.evaluate({}, {"q": {"a": 1}}, "ndcg"), "no metric 'ndcg': write recall, .* such as ndcg@10"),
        (lambda: plain.evaluate({}, {}, "ndcg@10"), "qrels is empty"),
        (lambda: plain.ranked(["a", "b", "a"]), "a document stands twice"),
        (lambda: plain.ranked({"a": float("nan")}), "a score is not a number"),
        (lambda: plain.interval([0.5]), "values must be at least two per-query values"),
        (lambda: plain.paired_test([0, 1], [0, 1, 1]), "a has 2 values and b 3"),
    ],
)
def test_what_gives_a_wrong_number_is_refused(call, message):
    """A copy without its tests would return a number for what has none."""
    with pytest.raises(ValueError, match=message):
        call()
