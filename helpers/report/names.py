"""Names of metrics: those of ir_measures as ours, and ours as texts write them."""

import re

ELSEWHERE = {"p": "precision", "r": "recall", "ap": "map", "rr": "mrr", "hit": "success"}  # of ir_measures
GAINS = {"log2": "linear", "exp-log2": "exponential"}  # its dcg
WRITTEN = {"ndcg": "nDCG", "mrr": "MRR", "map": "MAP", "err": "ERR", "rbp": "RBP"}  # others are words, in lower case


def split_metrics(text: str) -> list[str]:
    """Split a list of metrics at its commas, but those between parentheses."""
    return [our_name(name) for name in re.split(r",(?![^()]*\))", text)]


def our_name(text: str) -> str:
    """Return a metric under the name that :func:`helpers.metrics.evaluate` takes: ``AP@10`` is ``map@10``.

    The options of ir_measures that mean something here are ``dcg`` of nDCG, ``p`` of RBP and ``rel=1``.

    Raises:
        ValueError: another option: the lowest relevant grade, for instance, is one for all metrics.
    """
    name = re.sub(r"[\s'\"]", "", text).lower()
    match = re.fullmatch(r"([a-z_]+)(?:\((.*)\))?(@.*)?", name)
    if match is None:
        return name
    base, cutoff = ELSEWHERE.get(match[1], match[1]), match[3] or ""
    options = []
    for option in filter(None, (match[2] or "").split(",")):
        key, _, value = option.partition("=")
        if key == "dcg" and base == "ndcg" and value in GAINS:
            options.append(f"gain={GAINS[value]}")
        elif key == "p" and base == "rbp":
            options.append(f"persistence={value}")
        elif key == "rel":
            if value != "1":
                raise ValueError(f"{text.strip()!r}: give --relevance-level {value}, which holds for all metrics.")
        else:
            options.append(option)
    return base + "".join(f"({option})" for option in options if option != "gain=linear") + cutoff


def shown(metric: str) -> str:
    """Write a metric as texts do: nDCG@10, MRR@10; those that are words stay in lower case."""
    base = base_of(metric)
    return WRITTEN.get(base, base) + metric[len(base) :]


def base_of(metric: str) -> str:
    """Return the name of a metric without its options and cutoff."""
    return re.split(r"[(@]", metric, maxsplit=1)[0]
