"""The process in which a function answers the cases: a case's name in, verdict and answer out. See `run_cases`."""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
from collections.abc import Callable
from numbers import Real

from helpers.metrics.acid import TOLERANCE, Case, Verdict, read_cases
from helpers.metrics.evaluation import Evaluation


def judge(function: Callable[..., object], case: Case) -> tuple[Verdict, str]:
    """Call the function, and compare what it returns or raises with the right answer."""
    try:
        returned = function(case.run, case.qrels, case.metric)
        if isinstance(returned, Evaluation):
            returned = returned.mean[case.metric]
        if not isinstance(returned, Real) or isinstance(returned, bool):
            return Verdict.DIFFERS, f"returned {str(returned)[:60]!r} ({type(returned).__name__}), not a number"
        value = float(returned)
    except NotImplementedError as error:
        return Verdict.NOT_OFFERED, described(error)
    except (TypeError, ValueError) as error:
        return Verdict.REFUSES if case.answer == "value" else Verdict.AGREES, described(error)
    except BaseException as error:
        return Verdict.CRASHES, described(error)
    right = case.double is not None and math.isclose(value, case.double, rel_tol=0, abs_tol=TOLERANCE)
    return Verdict.AGREES if right else Verdict.DIFFERS, f"{value:.6g}"


def described(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}".rstrip(": ")


def main(name: str) -> None:
    """Answer the cases named on standard input; what the function itself reads and prints goes nowhere."""
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    cases = {case.name: case for case in read_cases()}
    function: Callable[..., object] | None = None
    for line in requests:
        if function:
            reply = judge(function, cases[line.rstrip("\n")])
        else:  # the first line asks for the import
            module, _, attribute = name.partition(":")
            try:
                function, reply = getattr(importlib.import_module(module), attribute), (Verdict.AGREES, "")
            except BaseException as error:
                reply = Verdict.CRASHES, described(error)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(sys.argv[1])
