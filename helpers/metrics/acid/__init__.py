"""The acid test: small cases that a retrieval metric must get right, and the verdict on each answer of a function.

The cases are JSON files in `cases/`, for any language to read: judgements, a run, a metric, the exact value as a closed
form and as a double, the reason in English and Chinese, and the source. The conventions are trec_eval's. From Python::

    results = run_cases("my_module:evaluate", read_cases())

or `retrieval-acid my_module:evaluate`, which prints the families that fail. The function takes a run
`{query: {doc: score}}` or `{query: [doc, …]}`, judgements `{query: {doc: grade}}` and one metric such as `"ndcg@10"`,
and returns the mean over the queries. It runs in a process of its own: whatever it does is a verdict, never the end.
A program in another language speaks the protocol of `run_cases`. In a notebook,
`print(summary(run_cases(evaluate, read_cases())))` calls the function itself.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import shlex
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from helpers.metrics.acid.worker import answer_of

__all__ = ["TOLERANCE", "Case", "Judged", "Verdict", "read_cases", "record", "run_cases", "summary"]

TOLERANCE = 1e-5  # five places: libraries round to as many, papers print fewer
SCHEMA = 1  # of what `record` returns; grows when a key changes its meaning or disappears
START_LIMIT = 300.0  # seconds for the first case, which imports the function's module
Run: TypeAlias = "dict[str, dict[str, float] | list[str]]"
Grades: TypeAlias = "dict[str, dict[str, int]]"


@dataclass(frozen=True)
class Case:
    """One question, and the right answer to it."""

    family: str
    scenario: str
    metric: str
    run: Run
    qrels: Grades
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
class Judged:
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


def judge(ask: Callable[[Run, Grades, str], dict[str, Any]], case: Case) -> Judged:
    """Ask for the answer to a case, and compare it with the right one.

    An error is right where one is due, unless the same ranking without its fault is refused too.
    """
    answer = ask(case.run, case.qrels, case.metric)
    if "value" in answer:
        value = float(answer["value"])
        right = case.double is not None and math.isclose(value, case.double, rel_tol=0, abs_tol=TOLERANCE)
        return Judged(case, Verdict.AGREES if right else Verdict.DIFFERS, f"{value:.6g}")
    verdict = Verdict(answer["error"])
    if verdict is Verdict.REFUSES and case.answer != "value":
        sound: Run = {
            query: list(dict.fromkeys(docs)) if isinstance(docs, list) else {d: -float(n) for n, d in enumerate(docs)}
            for query, docs in case.run.items()
        }
        verdict = Verdict.AGREES if "value" in ask(sound, case.qrels, case.metric) else verdict
    return Judged(case, verdict, str(answer["said"]))


def run_cases(function: str | Callable[..., object], cases: Iterable[Case], limit: float = 10.0) -> list[Judged]:
    """Ask a function, or a program in any language, every case.

    A program reads a case a line from standard input, ``[run, qrels, metric]`` in JSON, and writes a line for each:
    ``{"value": 0.5}``, or ``{"error": KIND, "said": TEXT}`` with the kind ``refuses`` or ``not offered``. It is started
    again where it ends or takes too long.

    Args:
        function: a command such as ``"Rscript mine.R"``; ``module:name``, from the current folder first, which a
            process calls that imports nothing of this package; or the function itself, called here without a limit.
        cases: from `read_cases`.
        limit: the seconds that a case may take.

    Raises:
        ImportError: the module cannot be imported, or has no such function.
    """
    if not isinstance(function, str):
        with warnings.catch_warnings(action="ignore"):
            return [judge(functools.partial(answer_of, function), case) for case in cases]
    own = [sys.executable, str(Path(__file__).with_name("worker.py")), function]
    with contextlib.closing(_Program(shlex.split(function) if " " in function else own, limit)) as program:
        return [judge(program.ask, case) for case in cases]


class _Program:
    """A program that answers cases, and is started when there is a case to ask."""

    def __init__(self, command: Sequence[str], limit: float) -> None:
        self.command, self.limit = command, limit
        self.process: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """End the program."""
        if self.process:
            self.process.kill()
            self.process.communicate()
        self.process = None

    def ask(self, run: Run, qrels: Grades, metric: str) -> dict[str, Any]:
        """Write a case and read its answer; no answer in time is a crash."""
        limit = self.limit
        if self.process is None:
            pipe, limit = subprocess.PIPE, max(limit, START_LIMIT)
            self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, encoding="utf-8")
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        timer = threading.Timer(limit, self.process.kill)
        timer.start()
        begun = time.monotonic()
        with contextlib.suppress(OSError):  # it has ended, as the empty line will show
            self.process.stdin.write(json.dumps([run, qrels, metric]) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        timer.cancel()
        if not line.endswith("\n"):
            self.close()
            in_time = time.monotonic() - begun < limit
            return {"error": "crashes", "said": "the process ended" if in_time else f"no answer within {limit:g} s"}
        answer: dict[str, Any] = json.loads(line)
        if answer.get("error") == "import":
            raise ImportError(f"{self.command[-1]!r} cannot be imported: {answer['said']}. Name it as module:function.")
        return answer


def record(results: list[Judged], language: str = "en") -> dict[str, Any]:
    """What `summary` says, for programs: counts, and for each family the smallest case that fails, or None.

    Args:
        language: of titles and reasons, "en" or "zh".
    """
    suite, families = read_json("suite"), []
    for family in suite["families"]:
        offered = [r for r in results if r.case.family == family and r.verdict is not Verdict.NOT_OFFERED]
        failed = [result for result in offered if result.verdict is not Verdict.AGREES]
        smallest = None
        if failed:
            found = min(failed, key=lambda result: result.case.size)
            case, said = found.case, {"verdict": str(found.verdict), "answer": found.answer}
            smallest = {"case": case.name, **said, "exact": case.exact, "value": case.double,
                        "why": case.why[language], "run": case.run, "qrels": case.qrels}  # fmt: skip
        families.append({
            "family": family, "title": read_json(family)["title"][language], "offered": len(offered),
            "agree": len(offered) - len(failed), "smallest": smallest,
        })  # fmt: skip
    counts = {key: sum(family[key] for family in families) for key in ("offered", "agree")}
    return {"schema": SCHEMA, "suite": suite["version"], "sha256": suite["sha256"], **counts,
            "not_offered": len(results) - counts["offered"], "families": families}  # fmt: skip


def summary(results: list[Judged], language: str = "en") -> str:
    """A line for each family, under those that fail the smallest case, and the total, as text to print.

    Args:
        language: of the reasons, "en" or "zh".
    """
    told, lines = record(results, language), []
    for family in told["families"]:
        lines.append(f"{family['title']}: {family['agree']} of {family['offered']} agree")
        if case := family["smallest"]:
            expected = "an error" if case["exact"] is None else f"{case['exact']} = {case['value']:.6g}"
            data = (f"{key} = {json.dumps(case[key], ensure_ascii=False)}" for key in ("run", "qrels"))
            shown = (f"{case['case']}: {case['answer']}", f"expected {expected}", case["why"], *data)
            lines += [f"    {line}" for line in shown]
    lines.append(f"{told['agree']} of {told['offered']} cases agree; {told['not_offered']} not offered.")
    return "\n".join([*lines, f"Suite {told['suite']}, SHA-256 {told['sha256']}"])
