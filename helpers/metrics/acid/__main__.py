"""`python -m helpers.metrics.acid my_module:evaluate`: the families that a function fails, with the smallest case."""

from __future__ import annotations

import argparse
import json
import sys

from helpers.metrics.acid import Result, Verdict, read_cases, read_json, run_cases


def described(result: Result, language: str) -> str:
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


def main() -> int:
    """Run the suite. Returns 0 if every case that the function offers agrees, else 1; 2 if it cannot be imported."""
    parser = argparse.ArgumentParser(prog="python -m helpers.metrics.acid", description=__doc__)
    parser.add_argument("function", help="module:function; it takes (run, qrels, metric) and returns a number")
    parser.add_argument("--language", choices=("en", "zh"), default="en", help="of titles and reasons")
    options = parser.parse_args()
    try:
        results = run_cases(options.function, read_cases())
    except ImportError as error:
        print(error, file=sys.stderr)
        return 2
    suite, offered = read_json("suite"), [result for result in results if result.verdict is not Verdict.NOT_OFFERED]
    failed = [result for result in offered if result.verdict is not Verdict.AGREES]
    for family in suite["families"]:
        asked = sum(result.case.family == family for result in offered)
        failures = [result for result in failed if result.case.family == family]
        print(f"{read_json(family)['title'][options.language]}: {asked - len(failures)} of {asked} agree")
        if failures:
            print(described(min(failures, key=lambda result: result.case.size), options.language))
    print(f"{len(offered) - len(failed)} of {len(offered)} cases agree; {len(results) - len(offered)} not offered.")
    print(f"Suite {suite['version']}, SHA-256 {suite['sha256']}")
    return 0 if offered and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
