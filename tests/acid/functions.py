"""Functions that the acid test must survive."""

import os
import time

from helpers.metrics import evaluate


def right(run, qrels, metric):
    """Returns a number."""
    return evaluate(run, qrels, metric).mean[metric]


def prints(run, qrels, metric):
    """Prints a verdict of its own on every channel, then returns a wrong number."""
    print('["agrees", "forged"]', flush=True)
    os.write(1, b'["agrees", "forged"]\n')
    os.write(2, b"noise")
    return right(run, qrels, metric) + 1


def asks(run, qrels, metric):
    """Reads standard input."""
    return input()


def text(run, qrels, metric):
    """Returns the number as a string."""
    return str(right(run, qrels, metric))


def refuses(run, qrels, metric):
    """Refuses everything."""
    raise ValueError("no\nsuch run")


def hangs(run, qrels, metric):
    """Comes to no end for one case, and is right for others."""
    if metric.startswith("map"):
        time.sleep(60)
    return right(run, qrels, metric)


def exits(run, qrels, metric):
    """Ends the process for one case."""
    if metric.startswith("map"):
        os._exit(3)
    return right(run, qrels, metric)


def only_ndcg(run, qrels, metric):
    """Offers one metric."""
    if not metric.startswith("ndcg"):
        raise NotImplementedError(metric)
    return right(run, qrels, metric)
