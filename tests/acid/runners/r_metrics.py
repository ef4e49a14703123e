"""The apk of R's package Metrics, through Rscript."""

import json
import subprocess

from tests.acid.runners import listed, not_offered, one_by_one, parsed, relevant

PACKAGE = "R Metrics"
LANGUAGE = "R"
SCRIPT = """
asked <- jsonlite::fromJSON(commandArgs(TRUE)[1], simplifyVector = FALSE)
value <- function(pair) Metrics::apk(asked$k, unlist(pair$actual), unlist(pair$predicted))
cat(jsonlite::toJSON(mean(sapply(asked$queries, value)), digits = NA, auto_unbox = TRUE))
"""


def evaluate(run, qrels, metric):
    """The mean of apk over the queries."""
    name, k = parsed(metric)
    if name != "map":
        not_offered("has average precision alone")
    queries = [{"actual": relevant(grades), "predicted": listed(ranking)} for ranking, grades in one_by_one(run, qrels)]
    done = subprocess.run(["Rscript", "-e", SCRIPT, json.dumps({"k": k, "queries": queries}, ensure_ascii=False)],
                          capture_output=True, encoding="utf-8")  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0])
    return float(json.loads(done.stdout))
