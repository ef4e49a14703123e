"""The program in which a Python function answers the cases, see `run_cases`: a file that imports nothing of ours."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from numbers import Real
from typing import Any


def answer_of(function: Callable[..., object], run: object, qrels: object, metric: str) -> dict[str, Any]:
    """Call a function; return its answer as a program writes it: ``value``, or the kind of ``error`` and ``said``."""
    try:
        returned = function(run, qrels, metric)
        if isinstance(means := getattr(returned, "mean", None), dict):  # as our own `evaluate` returns them
            returned = means[metric]
    except (Exception, SystemExit) as error:
        kinds = {NotImplementedError: "not offered", TypeError: "refuses", ValueError: "refuses"}
        return {"error": next((k for type_, k in kinds.items() if isinstance(error, type_)), "crashes"),
                "said": one_line(error)}  # fmt: skip
    if isinstance(returned, Real) and not isinstance(returned, bool):
        return {"value": float(returned)}
    return {"error": "differs", "said": f"returned {str(returned)[:60]!r} ({type(returned).__name__}), not a number"}


def one_line(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}".rstrip(": ")


def main(name: str) -> None:
    """Answer the cases on standard input; the function itself can neither read it nor print."""
    requests, replies = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")  # ASCII both ways
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    sys.path[0] = os.getcwd()  # not the folder of this file
    module, _, attribute = name.partition(":")
    for line in requests:
        try:
            function = getattr(importlib.import_module(module), attribute)
            answer = answer_of(function, *json.loads(line))
        except BaseException as error:
            answer = {"error": "import", "said": one_line(error)}
        replies.write(json.dumps(answer) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(sys.argv[1])
