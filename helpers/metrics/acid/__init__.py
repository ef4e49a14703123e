"""The acid test: small cases that a retrieval metric must get right, and the verdict on each answer of a function.

The cases are JSON files in `cases/`, for any language to read: judgements, a run, a metric, the exact value as a closed
form and as a double, the reason in English and Chinese, and the source. The conventions are trec_eval's. From Python::

    results = run_cases("my_module:evaluate", read_cases())

or `python -m helpers.metrics.acid my_module:evaluate`, which prints the families that fail. The function takes a run
`{query: {doc: score}}` or `{query: [doc, …]}`, judgements `{query: {doc: grade}}` and one metric such as `"ndcg@10"`,
and returns the mean over the queries. It runs in a process of its own: whatever it does is a verdict, never the end.
In a notebook, `print(summary(run_cases(evaluate, read_cases())))` calls the function itself.
"""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from numbers import Real
from pathlib import Path
from typing import Any

from helpers.metrics.evaluation import Evaluation

__all__ = ["TOLERANCE", "Case", "Result", "Verdict", "judge", "read_cases", "run_cases", "summary"]

TOLERANCE = 1e-5  # five places: libraries round to as many, papers print fewer
START_LIMIT = 300.0  # seconds for the import of the function's module


@dataclass(frozen=True)
class Case:
    """One question, and the right answer to it."""

    family: str
    scenario: str
    metric: str
    run: dict[str, dict[str, float] | list[str]]
    qrels: dict[str, dict[str, int]]
    answer: str  # "value", "error", or "either" where a value and an error are both right
    exact: str | None  # the value as a closed form, and the double nearest to it; None where an error is the answer
    double: float | None
    why: dict[str, str]  # the reason by language, en and zh

    @property
    def name(self) -> str:
        """Family, scenario and metric, such as `ties/grades-in-a-tie ndcg@1`."""
        return f"{self.family}/{self.scenario} {self.metric}"

    @property
    def size(self) -> int:
        """How many documents and judgements there are to look at."""
        return sum(map(len, self.run.values())) + sum(map(len, self.qrels.values()))


class Verdict(StrEnum):
    """The outcome of a case."""

    AGREES = "agrees"
    DIFFERS = "differs"
    REFUSES = "refuses"  # a TypeError or a ValueError where there is a value to return, or whatever it is given
    CRASHES = "crashes"  # any other error, no end in time, or the end of the process
    NOT_OFFERED = "not offered"  # a NotImplementedError: the function has no such metric, or takes no such input


@dataclass(frozen=True)
class Result:
    """A case, the verdict, and the value or error of the function as text."""

    case: Case
    verdict: Verdict
    answer: str


def read_json(name: str) -> Any:
    """A file of the suite as it is written: `suite` has version, SHA-256 and families, the others are the families."""
    return json.loads((Path(__file__).parent / "cases" / f"{name}.json").read_text(encoding="utf-8"))


def read_cases() -> list[Case]:
    """Every case of the suite, family by family."""
    cases = []
    for family in read_json("suite")["families"]:
        for scenario in read_json(family)["scenarios"]:
            run = {
                query: {doc: float(score) for doc, score in ranking.items()} if isinstance(ranking, dict) else ranking
                for query, ranking in scenario["run"].items()
            }
            shared = (run, scenario["qrels"], scenario["answer"])
            for metric, value in scenario["values"].items():
                exact, double = (value["exact"], value["double"]) if value else (None, None)
                cases.append(Case(family, scenario["id"], metric, *shared, exact, double, scenario["why"]))
    return cases


def judge(function: Callable[..., object], case: Case) -> tuple[Verdict, str]:
    """Call the function, and compare its value or error with the right answer.

    Returns:
        The verdict, and the value or error in one line.
    """
    try:
        value = _number(function(case.run, case.qrels, case.metric), case.metric)
    except NotImplementedError as error:
        return Verdict.NOT_OFFERED, one_line(error)
    except (TypeError, ValueError) as error:
        refuses = case.answer != "value" and _answers(function, case)
        return Verdict.AGREES if refuses else Verdict.REFUSES, one_line(error)
    except (Exception, SystemExit) as error:
        return Verdict.CRASHES, one_line(error)
    if isinstance(value, str):
        return Verdict.DIFFERS, value
    right = case.double is not None and math.isclose(value, case.double, rel_tol=0, abs_tol=TOLERANCE)
    return Verdict.AGREES if right else Verdict.DIFFERS, f"{value:.6g}"


def _number(returned: object, metric: str) -> float | str:
    """Return what a function returned as a number, or else a description of it."""
    if isinstance(returned, Evaluation):
        returned = returned.mean[metric]
    if not isinstance(returned, Real) or isinstance(returned, bool):
        return f"returned {str(returned)[:60]!r} ({type(returned).__name__}), not a number"
    return float(returned)


def _answers(function: Callable[..., object], case: Case) -> bool:
    """Whether a function gives a number for a case without its fault: each document once, each score finite."""
    run = {
        query: list(dict.fromkeys(docs)) if isinstance(docs, list) else {doc: -float(n) for n, doc in enumerate(docs)}
        for query, docs in case.run.items()
    }
    try:
        return isinstance(_number(function(run, case.qrels, case.metric), case.metric), float)
    except (Exception, SystemExit):
        return False


def one_line(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}".rstrip(": ")


def run_cases(function: str | Callable[..., object], cases: Iterable[Case], limit: float = 10.0) -> list[Result]:
    """Call a function on every case.

    Args:
        function: `module:name`, which runs in a process of its own, started again where it ends or takes too long; the
            module is looked for in the current folder first. Or the function itself, which is called in this process
            without a limit.
        cases: from `read_cases`.
        limit: the seconds that a case may take.

    Raises:
        ImportError: the module cannot be imported, or has no such function.
    """
    if not isinstance(function, str):
        with warnings.catch_warnings(action="ignore"):
            return [Result(case, *judge(function, case)) for case in cases]
    results: list[Result] = []
    process: subprocess.Popen[str] | None = None
    try:
        for case in cases:
            process = process or _start(function)
            verdict, answer = _request(process, case.name, limit)
            results.append(Result(case, Verdict(verdict), answer))
            process = process if process.poll() is None else None
    finally:
        if process:
            process.kill()
            process.communicate()
    return results


def _start(function: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "helpers.metrics.acid.worker", function]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    verdict, answer = _request(process, "", START_LIMIT)
    if verdict != Verdict.AGREES:
        process.kill()
        process.communicate()
        raise ImportError(f"{function!r} cannot be imported: {answer}. Name it as module:function.")
    return process


def _request(process: subprocess.Popen[str], case: str, limit: float) -> tuple[str, str]:
    """Send the name of a case to the process, and return its verdict and answer; no answer in time is a crash."""
    assert process.stdin is not None
    assert process.stdout is not None
    timer = threading.Timer(limit, process.kill)
    timer.start()
    begun = time.monotonic()
    with contextlib.suppress(OSError):  # it has ended, as the empty line will show
        process.stdin.write(case + "\n")
        process.stdin.flush()
    line = process.stdout.readline()
    in_time = time.monotonic() - begun < limit
    timer.cancel()
    if line.endswith("\n"):
        verdict, answer = json.loads(line)
        return verdict, answer
    process.kill()
    process.communicate()
    return Verdict.CRASHES, "the process ended" if in_time else f"no answer within {limit:g} s"


def summary(results: list[Result], language: str = "en") -> str:
    """A line for each family, under those that fail the smallest case, and the total, as text to print.

    Args:
        language: of the reasons, "en" or "zh".
    """
    suite, offered = read_json("suite"), [result for result in results if result.verdict is not Verdict.NOT_OFFERED]
    failed = [result for result in offered if result.verdict is not Verdict.AGREES]
    lines = []
    for family in suite["families"]:
        total = sum(result.case.family == family for result in offered)
        failures = [result for result in failed if result.case.family == family]
        lines.append(f"{read_json(family)['title'][language]}: {total - len(failures)} of {total} agree")
        if failures:
            lines.append(_describe(min(failures, key=lambda result: result.case.size), language))
    agree, not_offered = len(offered) - len(failed), len(results) - len(offered)
    lines.append(f"{agree} of {len(offered)} cases agree; {not_offered} not offered.")
    return "\n".join([*lines, f"Suite {suite['version']}, SHA-256 {suite['sha256']}"])


def _describe(result: Result, language: str) -> str:
    """A case that failed, in the lines that a reader needs to try it."""
    case = result.case
    expected = "an error" if case.exact is None else f"{case.exact} = {case.double:.6g}"
    lines = [
        f"{case.name}: {result.answer}",
        f"expected {expected}",
        case.why[language],
        f"run = {json.dumps(case.run, ensure_ascii=False)}",
        f"qrels = {json.dumps(case.qrels, ensure_ascii=False)}",
    ]
    return "\n".join(f"    {line}" for line in lines)
