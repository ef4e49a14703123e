"""Which convention gave a number: real figures, figures drawn, figures made up, words and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.metrics import Judgements, evaluate, explain
from helpers.metrics.explanation import WHOLE, Table, chance_of, conventions, read_figure, read_lists
from tests.metrics.plainly import DEFAULTS, case, sample
from tests.metrics.samples import RELEVANT, RETRIEVED

REAL = json.loads(Path(__file__).with_name("explain_cases.json").read_text(encoding="utf-8"))
PUBLISHED = {  # what the tutorial printed, and why, in words
    "recall": (["0.666667", "0.805556", "0.916667"], ["min(k, R)"], ["min(k, R)"]),
    "ndcg": (["0.0", "0.3298163165186628", "0.5955665344840209"],
             ["the document ids were taken for scores", "only the documents of the retrieved list"],
             ["文档id被当成了得分", "只用检索到的文档"]),
    "recall, labelled so": (["0.666667", "0.666667", "0.366667"], ["it is precision"], ["其实是精确率"]),
    "precision": (["0.666667", "0.666667", "0.366667"], ["1. trec_eval's convention"], ["1. trec_eval的约定"]),
    "mrr": (["0.666667", "0.833333", "0.833333"], ["1. trec_eval's convention"], ["1. trec_eval的约定"]),
    "map": (["0.666667", "0.862963", "0.807407"], ["divided by the hits found"], ["除以找到的相关文档数"]),
}  # fmt: skip


def as_text(seed: int) -> tuple[dict, dict]:
    """A sample run and its judgements with ids of text."""
    run, qrels = sample(np.random.default_rng(seed))
    return tuple({q: {str(doc): v for doc, v in docs.items()} for q, docs in each.items()} for each in (run, qrels))


def place(found: Any, cause: dict) -> int:
    """Where the candidate stands that a cause belongs to, from 1; 0 if none."""
    for number, candidate in enumerate(found.candidates, 1):
        for settings in (candidate.settings, *candidate.agreeing):
            wanted = {axis: cause.get(axis, DEFAULTS.get(axis, "given")) for axis in settings}
            if settings == {axis: {WHOLE: "whole", 1: "given"}.get(option, option) for axis, option in wanted.items()}:
                return number
    return 0


UNLIKE = list({(str(real["cause"]), "sample" in real): real for real in REAL}.values())


@pytest.mark.parametrize("cases", [UNLIKE, pytest.param(REAL, marks=pytest.mark.slow)], ids=["unlike", "all"])
def test_real_figures_are_explained(cases):
    """A figure that a library, a tutorial or a thread really gives would be explained by something else."""
    assert len(cases) >= 20
    places = []
    for real in cases:
        run, qrels = as_text(real["sample"]) if "sample" in real else (real["run"], real["qrels"])
        places.append(place(explain(run, qrels, real["figures"]), real["cause"]))
    assert sum(at == 1 for at in places) >= 0.95 * len(cases)
    assert all(1 <= at <= 3 for at in places)


@pytest.mark.slow
def test_drawn_figures_are_explained():
    """A convention that departs on one or two axes would not be found by what it gives."""
    places = []
    for seed in range(80):
        run, qrels, told, how = case(seed)
        places.append(place(explain(run, qrels, told), how))
    assert sum(at == 1 for at in places) >= 0.95 * len(places)
    assert all(1 <= at <= 3 for at in places)


def filled(names: list[str], seed: int) -> Table:
    """A table of all conventions on a sample run, before any figure is told."""
    run, qrels = sample(np.random.default_rng(seed))
    judgements = Judgements.of(qrels)
    table = Table([read_figure(name, "0.5") for name in names], judgements)
    table.depths -= {100, 1000}
    table.fill(read_lists(run, judgements, None, table.depths, {}), scored=True)
    table.blocks = [np.array(block) for block in table.blocks]
    return table


@pytest.mark.slow
def test_made_up_figures_are_rarely_explained_without_a_warning():
    """Whatever one is told would be explained, and nobody warned that so many conventions fit something."""
    rng, unwarned, total = np.random.default_rng(5), 0, 0
    for number, family in enumerate(conventions()["families"]):
        for names, digits in (([10], 3), ([10], 4), ([1, 5, 10], 3)):
            table = filled([f"{family}@{k}" for k in names], number)
            told, spans = table.figures, [np.quantile(block, (0.05, 0.95)) for block in table.blocks]
            for _ in range(56):
                drawn = [f"{rng.uniform(*span):.{digits}f}" for span in spans]
                pairs = zip(told, drawn, strict=True)
                table.figures = [f._replace(value=float(text), places=digits) for f, text in pairs]
                _, found, _ = table.search()
                unwarned += bool(found) and not found[0].coincidence
                total += 1
    assert total > 1000
    assert unwarned <= 0.05 * total


def test_one_value_far_from_the_others_does_not_make_a_match_rare():
    """A convention that gives 0 would thin out the others, and a likely coincidence go without a word."""
    values = np.array([[0.0, *np.linspace(0.8, 0.85, 20).round(3)]])  # 19 stay, in a room of a hundred figures
    told = read_figure("ndcg@10", "0.820")
    assert chance_of([(told, values)], {"ndcg": np.zeros_like(values)}, 1.0) == pytest.approx(0.19)


@pytest.mark.slow
def test_libraries_are_recognised_blind():
    """From three figures of three digits another behaviour than the library's would be named."""
    for real in REAL:
        if len(real["figures"]) == 3:
            run, qrels = as_text(real["sample"]) if "sample" in real else (real["run"], real["qrels"])
            told = {metric: f"{float(value):.3f}" for metric, value in real["figures"].items()}
            assert 1 <= place(explain(run, qrels, told), real["cause"]) <= 3, real["source"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_tutorials_figures_are_explained_in_words(name):
    """A reader of the tutorial would not learn why its figures are what they are, in one of the languages."""
    told, english, chinese = PUBLISHED[name]
    family = name.partition(",")[0]
    named = {f"{family}@{k}": value for k, value in zip((1, 5, 10), told, strict=True)}
    found = explain(RETRIEVED, RELEVANT, named)
    for language, words in (("en", english), ("zh", chinese)):
        first = found.text(language).partition("\n2. ")[0]
        assert all(word in first for word in words)
    assert not found.candidates[0].coincidence


def test_the_reference_is_what_evaluate_gives():
    """What is called trec_eval's convention would be another."""
    run, qrels = as_text(1)
    metrics = ["recall@5", "precision@5", "success@5", "map@5", "mrr@5", "ndcg@5"]
    found = explain(run, qrels, dict.fromkeys(metrics, "0.5"))
    assert found.reference == pytest.approx(evaluate(run, qrels, metrics).mean, rel=0, abs=1e-15)
    assert "no one convention that I know gives all of these" in found.text("en")
    assert "请一次只问一个指标" in found.text("zh")


def test_arrays_are_read_as_evaluate_reads_them():
    """Rows, their scores and padding would give another number than the same run as a dict."""
    ids, scores = np.array([[3, 1, -1], [2, 0, 1]]), np.array([[0.5, 0.5, -1.0], [0.9, 0.8, 0.8]])
    qrels = [{1: 1}, {1: 2, 0: 1}]
    found = explain(ids, qrels, {"ndcg@3": "0.9"}, scores=scores)
    ours = evaluate(ids, qrels, "ndcg@3", scores=scores).mean
    assert found.reference == pytest.approx(ours, rel=0, abs=1e-15)
    [first, *_] = explain(ids, qrels, {"precision@3": "0.5833"}, scores=scores).candidates
    assert first.settings["precision"] == "retrieved"  # a half and two thirds: padding is no document


def test_what_counts_as_a_document():
    """Repetitions, a query's own document, equal texts and groups of queries would not be thought of."""
    qrels = {"a": {"b": 1, "c": 1, "a": 0}, "b": {"a": 1, "b": 0}}
    for told, view, more in (
        (({"a": ["x", "b", "b"], "b": ["x", "a"]}, {"map@3": "0.5417"}), "twice", {}),
        (({"a": {"a": 3.0, "b": 2.0}, "b": {"b": 2.0, "a": 1.0}}, {"mrr@2": "1.0"}), "own", {}),
        (({"a": ["z", "c"], "b": ["a"]}, {"map@2": "1.0"}), "text", {"texts": {"c": "c"} | dict.fromkeys("abz", "s")}),
    ):
        first = explain(told[0], qrels, told[1], **more).candidates[0]
        assert first.settings["view"] == view
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": ["a"], "q2": ["a"], "q3": ["x", "a"]}
    first = explain(run, qrels, {"mrr@5": "0.75"}, groups={"q1": "g", "q2": "g", "q3": "h"}).candidates[0]
    assert first.settings["mean"] == "groups"


def test_nothing_and_cannot_tell_are_answers():
    """A guess would be given where there is nothing to say."""
    run, qrels = {"q": ["a", "b"]}, {"q": {"b": 1}}
    assert "nothing that I know gives this" in explain(run, qrels, {"recall@2": "0.123"}).text()
    found = explain([["a"]], [["a", "b"]], {"recall@1": "1.0"})
    assert "cannot tell" in str(found)
    assert "无法区分" in found.text("zh")


def test_equal_lists_are_computed_once(monkeypatch):
    """Without pruning a large run would take minutes: nine orders and two treatments give the same lists here."""
    calls = []
    one = {(name,): np.zeros(2) for name in conventions()["recall"]}
    monkeypatch.setattr("helpers.metrics.explanation.quotients", lambda *a: calls.append(a) or one)
    run = {q: {"c": 3.0, "b": 2.0, "a": 1.0} for q in ("q1", "q2")}
    explain(run, {q: {"a": 1, "b": 0, "c": 0} for q in run}, {"recall@3": "0.5"})
    assert len(calls) == 2  # best first, and the reverse


@pytest.mark.parametrize(
    ("told", "error", "message"),
    [
        ({"ndcg@10": "high"}, ValueError, "expected a figure from 0 to 1"),
        ({"ndcg@10": "59.6"}, ValueError, "expected a figure from 0 to 1"),
        ({"ndcg@10": "1.01"}, ValueError, "expected a figure from 0 to 1"),
        ({"ndcg@10": 0.5}, ValueError, "as text with all its digits"),
        ({"dncg@10": "0.5"}, ValueError, "Did you mean ndcg@10"),
        ({"bpref": "0.5"}, ValueError, "cannot be explained"),
        ({}, ValueError, "There is no figure to explain"),
    ],
)
def test_bad_figures_are_refused_in_one_line(told, error, message):
    """A slip would be explained as if it were a figure, or end in a trace from within."""
    with pytest.raises(error, match=message) as raised:
        explain(RETRIEVED, RELEVANT, told)
    assert "\n" not in str(raised.value)


def test_bad_runs_are_refused_and_missing_scores_told():
    """Rankings would be compared with the judgements of other queries, or ties be passed over in silence."""
    with pytest.raises(ValueError, match="key both by query, or neither"):
        explain({"q": ["a"]}, [["a"]], {"mrr@1": "1.0"})
    assert "the rankings have no scores" in str(explain([["a"]], [["a"]], {"mrr@1": "1.0"}))


def test_every_option_has_both_languages_and_a_source():
    """A convention would be named that nobody is known to follow, or not in Chinese."""
    for axis, options in conventions().items():
        for option in options.values() if axis not in ("words", "families") else ():
            assert option.keys() == ({"cost", "en", "zh", "who"} if option["cost"] else {"cost"})
    assert conventions()["words"]["en"].keys() == conventions()["words"]["zh"].keys()
