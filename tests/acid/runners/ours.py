"""helpers.metrics."""

from helpers.metrics import evaluate as evaluate_all

PACKAGE = "helpers.metrics"


def evaluate(run, qrels, metric):
    """The mean that `evaluate` returns."""
    return evaluate_all(run, qrels, metric).mean[metric]
