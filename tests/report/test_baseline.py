"""A report against an earlier one: what can be compared, and how often the gate errs."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.report import compare, main
from helpers.report.gates import Baseline, headline, no_drop, read_baseline
from helpers.report.page import number
from helpers.report.results import data_digests
from helpers.significance import minimum_detectable_difference
from tests.systems.samples import collection, failing, numbered, shifted

METRICS = "recall@1,mrr@1,map@1,ndcg@1"


def run_text(good):
    """Give a run for twelve queries that is right on those in ``good`` and wrong on the others."""
    return "".join(f"q{n} Q0 d{n if n in good else n + 1} 1 1.0 x\n" for n in range(12))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with judgements of twelve queries, and three runs: right on all, on all but one, on half."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(12)), encoding="utf-8")
    for name, good in {"best": range(12), "near": range(1, 12), "half": range(6)}.items():
        Path(name).write_text(run_text(set(good)), encoding="utf-8")
    assert report("best", "--out", "old") == 0
    return tmp_path


def report(run, *options):
    """Run the command on a run."""
    return main(["--qrels", "qrels", "--system", f"{run}?name=mine", "--metrics", METRICS, "--quiet", *options])


def test_a_drop_sets_the_exit_status(place, capsys):
    """A pull request that loses half of the answers would be merged, or one that changes nothing be stopped."""
    assert report("best", "--baseline", "old", "--out", "new") == 0
    assert "no drop is shown (one-sided p 0.5000, level 0.05)" in capsys.readouterr().out
    assert report("half", "--baseline", "old", "--out", "new") == 3  # six of six differ the same way: p = 2 ** -6
    out = capsys.readouterr().out
    assert "gate: FAILED: nDCG@1 of mine fell from 1.000, in the report of" in out
    assert "(one-sided p 0.0156, level 0.05)" in out
    assert report("near", "--baseline", "old", "--out", "new") == 0
    drops = [part for metric in ("ndcg", "recall", "mrr", "map") for part in ("--fail-if-drop", f"{metric}@1")]
    assert report("half", "--baseline", "old", "--out", "new", *drops) == 0
    assert "level 0.0125" in capsys.readouterr().out


def test_a_loss_within_the_margin_passes():
    """A margin would be decoration: any loss that is shown would fail, however small."""
    rng = np.random.default_rng(0)
    now = compare({"mine": shifted(12, 0)}, numbered(12), 1)
    loss = 1.002 + rng.uniform(0, 0.001, 12)  # of about .0025
    even, uneven = np.tile([0.0, 1.9], 6), rng.random(12)
    sd = np.std(1 - uneven, ddof=1)  # of a sample
    for name, scores, margin, outcome, said in (
        ("mine", loss, 0.0, "not_passed", "fell from"),
        ("mine", loss, 0.001, "not_passed", "fell from"),
        ("mine", loss, 0.01, "passed", "a loss of 0.01 or more is excluded"),
        ("mine", even, 0.01, "undecided", "no drop is shown"),
        ("mine", even, 0.0, "passed", "no drop is shown"),
        ("mine", uneven, 0.0, "passed", f"a drop of {number(minimum_detectable_difference(sd, 12, 0.1))} four times"),
        ("gone", even, 0.01, "not_passed", "gone was not scored"),
    ):
        verdict = no_drop(now, name, Baseline("2026-01-01", {"ndcg@1": scores}), "ndcg@1", margin, 0.05)
        assert verdict.name == outcome
        assert said in verdict.why


@pytest.mark.parametrize(
    ("before", "margin", "english", "chinese"),
    [
        (np.tile([0.0, 0.4], 6), 0.01, ("mine is better.", "Next: ship mine."), ("mine更好。", "下一步：上线mine。")),
        (np.tile([1.3, 1.6], 6), 0.01, ("mine is worse.", "Next: keep the report of"), ("mine更差。", "下一步：保留")),
        (np.tile([0.9, 1.1], 6), 0.2, ("mine is equal within the margin.", "keep"), ("在界限内相等。", "保留")),
        (np.tile([0.9, 1.1], 6), 0.05, ("cannot tell: 32 more queries.", "Next: judge 32 more queries."),
         ("无法判断mine是否更好：还差32个查询。", "下一步：再标注32个查询。")),
    ],
)  # fmt: skip
def test_the_first_line_is_a_verdict_and_the_next_step(before, margin, english, chinese):
    """A report would begin with another verdict than that of the lesson, or leave open what to do about it."""
    now, old = compare({"mine": shifted(12, 0)}, numbered(12), 1), Baseline("2026-01-01", {"ndcg@1": before})
    for language, (word, action) in (("en", english), ("zh", chinese)):
        line = headline(now, "mine", old, margin, language)
        assert word in line.split(" Its ")[0].split("它的")[0]
        assert action in line
    assert headline(now, "mine", None, margin) == ""


def test_the_first_line_of_two_runs(place, capsys, monkeypatch):
    """Two systems would get no verdict, one that blames a system for unjudged passages, or one in another language."""
    both = ["--system", "best?name=other", "--out", "two"]
    assert report("half", *both) == 0
    printed = capsys.readouterr().out.splitlines()[0]
    assert printed.startswith("mine is worse. Its nDCG@1 less that of other is −0.500 (")
    assert printed.endswith("among the first passages 50.0 % of mine's and 100.0 % of other's are judged.")
    page = Path("two/report.html").read_text(encoding="utf-8")
    assert '<div class="summary">\n<p><strong>mine is worse. ' in page and "better than the next" not in page  # noqa: PT018
    assert report("half", *both, "--baseline", "old") == 3
    assert "significantly better than the next, mine" in Path("two/report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    judged = "".join(f"q{n} 0 d{m} 0\n" for n in range(12) for m in range(13) if m != n)
    Path("qrels").write_text(Path("qrels").read_text() + judged)
    assert report("half", *both) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("Next: keep other.")
    monkeypatch.setenv("EVAL_LANGUAGE", "zh")
    assert report("half", *both) == 0
    assert capsys.readouterr().out.startswith("mine更差")
    assert '<html lang="zh' in Path("two/report.html").read_text(encoding="utf-8")


def test_other_data_are_no_regression(place, capsys):
    """A changed judgement would be reported as a model that got worse."""
    text = Path("qrels").read_text(encoding="utf-8")
    Path("qrels").write_text(text + "q0 0 d5 1\n", encoding="utf-8")
    assert report("half", "--baseline", "old", "--out", "new") == 1
    assert "error: not comparable: the baseline evaluated other data ('qrels', qrels_sha256" in capsys.readouterr().err
    assert not Path("new/report.html").exists()
    Path("qrels").write_text(text, encoding="utf-8")
    assert report("half", "--baseline", "old", "--out", "new", "--relevance-level", "2") == 1
    assert "from grade 1 on, here from 2" in capsys.readouterr().err
    assert report("half", "--baseline", "old", "--out", "new", "--fail-if-drop", "ndcg@7") == 1
    assert "has no ndcg@7, only" in capsys.readouterr().err


def test_documents_that_a_run_alone_retrieves_do_not_count_as_other_data(place):
    """Next week's run retrieves other documents: of judgements alone no two reports could be compared."""
    Path("half").write_text(run_text(set(range(6))).replace("d7 ", "elsewhere "), encoding="utf-8")
    assert report("half", "--baseline", "old", "--out", "new") == 3
    data = collection()
    assert data_digests(data) == {"sha256": data.sha256}  # texts count where there are any


def test_a_damaged_baseline_is_no_baseline(tmp_path):
    """Scores would be compared with those of another system, or of nothing."""
    found = compare({"mine": shifted(12, 0)}, numbered(12), 1)
    found.save(tmp_path)
    whole = json.loads((tmp_path / "results.json").read_bytes())
    for changed, message in (({"made_with": {}}, "is no result of a report"), ({"schema": 9}, "has schema 9, this ")):
        (tmp_path / "results.json").write_text(json.dumps(whole | changed), encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            read_baseline(tmp_path, found.data, "mine", ["ndcg@1"])


def test_a_baseline_is_named_alike_or_alone(tmp_path):
    """The scores of another system of the earlier report would be taken for this one's."""
    data = numbered(12)
    compare({"=mine": shifted(12, 0), "other": shifted(12, 1)}, data, 1).save(tmp_path)
    assert read_baseline(tmp_path, data, "=mine", ["ndcg@1"]).scores["ndcg@1"].tolist() == [1.0] * 12
    assert read_baseline(tmp_path, data, "other", ["ndcg@1"]).scores["ndcg@1"].tolist() == [0.0] * 12
    with pytest.raises(ValueError, match="has no system 'mine' but '=mine, other: name this one alike"):
        read_baseline(tmp_path, data, "mine", ["ndcg@1"])
    compare({"mine": failing("no luck")}, data, 1).save(tmp_path)
    with pytest.raises(ValueError, match="has no system 'mine' nor another: all failed"):
        read_baseline(tmp_path, data, "mine", ["ndcg@1"])


def test_mistakes_are_refused_before_anything_is_read(place, capsys):
    """The run would end after an hour, or read the page that it replaces."""
    for options, message in (
        (["--fail-if-drop", "ndcg@1"], "give its folder, --baseline."),
        (["--baseline", "gone"], "No folder 'gone'"),
        (["--baseline", "."], "expected the folder of a report"),
        (["--baseline", "qrels"], "expected the folder of a report"),
        (["--baseline", "old", "--fail-if-drop", "ndcg@1=x"], "expected METRIC or METRIC=VALUE"),
    ):
        assert report("best", "--out", "new", *options) == 1
        assert message in capsys.readouterr().err
    assert report("best", "--out", "old", "--baseline", "old") == 1
    assert "is the report that this one replaces" in capsys.readouterr().err
    assert Path("old/results.json").exists()
    assert report("best", "--out", ".", "--baseline", "old") == 0


@pytest.mark.slow
def test_the_gate_errs_no_oftener_than_it_says():
    """Of 2,000 changes of nothing but chance more than 5 % would fail, and people stop to look."""
    rng, n, failed = np.random.default_rng(7), 50, 0
    found = compare({"mine": shifted(n, 0)}, numbered(n), 1)
    for _ in range(2000):  # few large changes of queries whose answers are more or less good
        chance = rng.normal(0, 0.6, (2, n)) * (rng.random((2, n)) < 0.1)
        before, now = np.clip(chance + rng.beta(0.6, 0.4, n), 0, 1)
        found.scored["mine"].per_query["ndcg@1"][:] = now
        gate = no_drop(found, "mine", Baseline("", {"ndcg@1": before}), "ndcg@1", 0.0, 0.05)
        failed += gate.name == "not_passed"
    assert 0 < failed / 2000 <= 0.05
