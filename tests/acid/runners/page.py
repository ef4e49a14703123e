"""The counts of this site's page "Try the metrics", in Node.js."""

import json
import math
import subprocess
from pathlib import Path

from tests.acid.runners import not_offered, one_by_one, parsed

PACKAGE = "docs/site/_static/try/metrics.js"
LANGUAGE = "JavaScript"
SCRIPT = Path(__file__).with_name("page.mjs")


def evaluate(run, qrels, metric):
    """The mean of one metric over the queries."""
    name, k = parsed(metric)
    queries = []
    for ranking, grades in one_by_one(run, qrels):
        if not isinstance(ranking, dict) and len(set(ranking)) < len(ranking):
            not_offered("a repeated document is refused where the page reads it")
        if isinstance(ranking, dict) and any(map(math.isnan, ranking.values())):
            not_offered("a score that is not a number is refused where the page reads it")
        docs = list(ranking)
        scores = [str(score) for score in ranking.values()] if isinstance(ranking, dict) else None
        queries.append([docs, scores, list(grades.items())])
    asked = json.dumps([queries, {"success": "success"}.get(name, name), k])
    done = subprocess.run(["node", SCRIPT, asked], capture_output=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)
