"""Whatever a function does, the acid test has a verdict and goes on."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable

import pytest

from helpers.metrics.acid import Judged, Verdict, __main__, read_cases, run_cases, summary
from tests.acid import functions
from tests.acid.scoreboard import FOLDER, RUNNERS, documented

SIX = [case for case in read_cases() if case.name.startswith("grades/swapped") and case.metric.endswith("@2")]


def verdicts(function: str | Callable, limit: float = 10.0) -> list[Verdict]:
    """The verdicts on a function, or on the one of that name in a process of its own; map is the fourth case."""
    named = f"tests.acid.functions:{function}" if isinstance(function, str) else function
    return [result.verdict for result in run_cases(named, SIX, limit)]


@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        ("prints", Verdict.DIFFERS),
        ("asks", Verdict.CRASHES),
        (functions.right, Verdict.AGREES),
        (functions.text, Verdict.DIFFERS),
        (lambda *_: None, Verdict.DIFFERS),
        (lambda *_: math.nan, Verdict.DIFFERS),
        (functions.refuses, Verdict.REFUSES),
        (lambda *_: {}["q1"], Verdict.CRASHES),
    ],
)
def test_every_return_is_a_verdict(function, verdict):
    """A function that prints a verdict, reads, raises or returns no number would end the run, or pass."""
    assert verdicts(function) == [verdict] * 6


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("function", "said"),
    [(functions.refuses, "ValueError: no such run"), (lambda run, qrels: 1.0, "TypeError: <lambda>() takes 2 ")],
)
def test_a_function_that_refuses_everything_is_not_praised(function, said):
    """It "refused" each ranking with a repeat and each score that is no number: 60 of 60 agree."""
    faulty = [case for case in read_cases() if case.answer != "value"]
    for result in run_cases(function, faulty):
        assert result.verdict == Verdict.REFUSES
        assert result.answer.startswith(said)


@pytest.mark.parametrize("name", ["hangs", "exits"])
def test_the_next_case_is_asked_after_one_without_an_answer(name):
    """A function that never returns, or ends its process, would take the cases after it along."""
    agrees, crashes = Verdict.AGREES, Verdict.CRASHES
    assert verdicts(name, limit=1.5) == [agrees, agrees, agrees, crashes, agrees, agrees]


def test_a_metric_that_is_not_offered_is_not_a_failure():
    """A function with one metric would be blamed for the others."""
    offered = [Verdict.NOT_OFFERED] * 4 + [Verdict.AGREES] + [Verdict.NOT_OFFERED]
    assert verdicts(functions.only_ndcg) == offered


@pytest.mark.parametrize("name", ["tests.acid.functions:missing", "tests.acid.nowhere:right", "tests.acid.functions"])
def test_a_function_that_is_not_there_is_named(name):
    """A slip in the name would look like a failed suite."""
    with pytest.raises(ImportError, match=name.replace(".", r"\.")):
        run_cases(name, SIX[:1])


@pytest.mark.parametrize(
    ("name", "status", "said"), [("only_ndcg", 0, "123 of 123"), ("text", 1, "ties/case-of-letters recall@1: returned")]
)
def test_command_names_the_smallest_case(name, status, said, monkeypatch, capsys):
    """The command would report another status, or hide which case failed and why."""
    monkeypatch.setattr("sys.argv", ["acid", f"tests.acid.functions:{name}"])
    assert __main__.main() == status
    output = capsys.readouterr().out
    assert said in output
    assert ("expected" in output) == bool(status)


def test_ids_are_shown_as_they_are():
    """A reader would have to decode the ids of the case that failed."""
    case = next(case for case in read_cases() if case.name == "ids/unicode-forms recall@1")
    assert "é" in summary([Judged(case, Verdict.DIFFERS, "0")]).partition("run = ")[2]


def test_an_error_is_written_beside_the_results(monkeypatch, capsys):
    """A program that reads the results would find a sentence among them."""
    monkeypatch.setattr("sys.argv", ["acid", "tests.acid.functions:missing"])
    assert __main__.main() == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "missing" in output.err


def test_words_explain_the_values_or_the_errors_that_they_are_about():
    """The scoreboard would call a crash documented because the library documents another value, or the reverse."""
    values, errors = ({"runner": "ours", "on": ["grades"]} | more for more in ({}, {"error": "KeyError"}))
    differs = Judged(SIX[0], Verdict.DIFFERS, "0.5")
    crashes = Judged(SIX[0], Verdict.CRASHES, "KeyError: 'q1'")
    assert documented("ours", differs, [errors, values]) is values
    assert documented("ours", crashes, [values, errors]) is errors
    assert documented("ours", Judged(SIX[0], Verdict.CRASHES, "IndexError"), [values, errors]) is None
    assert documented("trec", differs, [values]) is None


def test_words_are_about_runners_and_scenarios_that_exist():
    """A slip in a name would leave a documented difference undocumented."""
    places = {name for case in read_cases() for name in (case.family, f"{case.family}/{case.scenario}")}
    for entry in tomllib.loads((FOLDER / "documented.toml").read_text(encoding="utf-8"))["words"]:
        assert entry["runner"] in RUNNERS
        assert set(entry["on"]) <= places
