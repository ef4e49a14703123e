"""`retrieval-acid my_module:evaluate`: the families that a function fails, with the smallest case."""

from __future__ import annotations

import argparse
import json
import sys

from helpers.metrics.acid import Verdict, read_cases, record, run_cases, summary


def main() -> int:
    """Run the suite. Returns 0 if every case that the function offers agrees, else 1; 2 if it cannot be imported."""
    parser = argparse.ArgumentParser(prog="retrieval-acid", description=__doc__)
    parser.add_argument("function", help="module:function; it takes (run, qrels, metric) and returns a number")
    parser.add_argument("--language", choices=("en", "zh"), default="en", help="language of titles and reasons")
    parser.add_argument("--json", action="store_true", help="print a JSON object for programs")
    options = parser.parse_args()
    try:
        results = run_cases(options.function, read_cases())
    except ImportError as error:
        print(error, file=sys.stderr)
        return 2
    found = json.dumps(record(results, options.language), ensure_ascii=False, indent=1) if options.json else ""
    print(found or summary(results, options.language))
    verdicts = {result.verdict for result in results} - {Verdict.NOT_OFFERED}
    return 0 if verdicts == {Verdict.AGREES} else 1


if __name__ == "__main__":
    sys.exit(main())
