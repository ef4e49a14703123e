"""The acid test: small cases that a retrieval metric must get right, and what a function of yours says to each.

The cases are JSON files in `cases/`, for any language to read: judgements, a run, a metric, the exact value as a closed
form and as a double, the reason in English and Chinese, and the source. The conventions are trec_eval's. From Python::

    results = run_cases("my_module:evaluate", read_cases())

or `python -m helpers.metrics.acid my_module:evaluate`, which prints the families that fail. The function takes a run
`{query: {doc: score}}` or `{query: [doc, …]}`, judgements `{query: {doc: grade}}` and one metric such as `"ndcg@10"`,
and returns the mean over the queries. It runs in a process of its own: whatever it does is a verdict, never the end.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

__all__ = ["TOLERANCE", "Case", "Result", "Verdict", "read_cases", "run_cases"]

TOLERANCE = 1e-5  # five places, which is what libraries round to and more than papers print
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
    """What came of a case."""

    AGREES = "agrees"
    DIFFERS = "differs"
    REFUSES = "refuses"  # a TypeError or a ValueError where there is a value to return
    CRASHES = "crashes"  # any other error, no end in time, or the end of the process
    NOT_OFFERED = "not offered"  # a NotImplementedError: the function has no such metric, or takes no such input


@dataclass(frozen=True)
class Result:
    """A case, the verdict, and in words what the function returned or raised."""

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


def run_cases(function: str, cases: Iterable[Case], limit: float = 10.0) -> list[Result]:
    """Ask a function for every case, in a process that is started again where it ends or takes too long.

    Args:
        function: `module:name`; the module is looked for in the current folder first.
        cases: from `read_cases`.
        limit: the seconds that a case may take.

    Raises:
        ImportError: the module cannot be imported, or has no such function.
    """
    results: list[Result] = []
    process: subprocess.Popen[str] | None = None
    try:
        for case in cases:
            process = process or _started(function)
            verdict, answer = _ask(process, case.name, limit)
            results.append(Result(case, Verdict(verdict), answer))
            process = process if process.poll() is None else None
    finally:
        if process:
            process.kill()
            process.communicate()
    return results


def _started(function: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "helpers.metrics.acid.worker", function]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    verdict, answer = _ask(process, "", START_LIMIT)
    if verdict != Verdict.AGREES:
        process.kill()
        process.communicate()
        raise ImportError(f"{function!r} cannot be imported: {answer}. Name it as module:function.")
    return process


def _ask(process: subprocess.Popen[str], case: str, limit: float) -> tuple[str, str]:
    """Verdict and answer that the process writes for a case, by its name; what became of the process if it does not."""
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
