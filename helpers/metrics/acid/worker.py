"""The process in which a function answers the cases: a case's name in, verdict and answer out. See `run_cases`."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable

from helpers.metrics.acid import Verdict, judge, one_line, read_cases


def main(name: str) -> None:
    """Answer the cases named on standard input; the function itself can neither read it nor print."""
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
                reply = Verdict.CRASHES, one_line(error)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(sys.argv[1])
