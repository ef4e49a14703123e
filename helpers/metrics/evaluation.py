"""Many metrics at many cutoffs from one search for the hits."""

from __future__ import annotations

import re
import sys
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from helpers.metrics.hits import find_hits
from helpers.metrics.inputs import Retrieved, checked_cutoff, warn
from helpers.metrics.qrels import Judgements, Qrels
from helpers.metrics.registry import METRICS, Metric, Option, our_name

UNCUT = sys.maxsize  # the cutoff of a metric that looks at the whole ranking


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`. Metrics are named in lower case with their cutoff: `ndcg@10`."""

    mean: dict[str, float]  # over the queries
    per_query: dict[str, np.ndarray]  # (queries,) float64, in the order of query_ids
    query_ids: Sequence[Hashable]  # or the rows of the queries
    queries: int  # how many the means run over
    no_relevant: int  # judged queries without a relevant document: counted 0, or left out by `no_relevant="skip"`
    missing: int  # judged queries for which nothing was retrieved: counted 0
    unjudged: int  # queries of the run without judgements: ignored
    tied: int  # rankings in which two documents have the same score; 0 when no scores were given


def evaluate(
    retrieved: Retrieved,
    qrels: Qrels,
    metrics: str | Iterable[str],
    cutoffs: Iterable[int] | None = None,
    *,
    scores: np.ndarray | None = None,
    doc_ids: Sequence[Any] | None = None,
    relevance_level: int | None = None,
    judged_only: bool = False,
    no_relevant: str = "zero",
    **options: Option,
) -> Evaluation:
    """Score rankings against judgements: every metric at every cutoff, per query and on average.

    Args:
        retrieved: ids, best first: an integer array (q, k) in which -1 is padding, q lists of ids, or a run
            `{query: [doc, …]}` or `{query: {doc: score}}`.
        qrels: judgements of the same queries: `[{doc: grade}, …]`, `[[doc, …], …]`, `{query: {doc: grade}}`,
            `{query: [doc, …]}` or a `Judgements`. An array's documents are rows, a run's are names.
        metrics: names with cutoffs, such as `["recall@10", "nDCG@10", "rprec"]`, or bare names with `cutoffs`. An
            option of one metric is part of its name: `ndcg(gain=exponential)@10`. Names of trec_eval, ir_measures,
            ranx, BEIR and MTEB that mean the same are read too, and returned as ours: `P_10` as `precision@10`.
        cutoffs: each bare name that takes a cutoff is computed at each of these. Without them `map`, `mrr`, `ndcg` and
            `rbp` look at the whole ranking, as trec_eval's `map`, `recip_rank` and `ndcg` and ir_measures' `RBP` do.
        scores: floats (q, k) that belong to an array of ids. With scores, these or a run's, the order is
            trec_eval's as in pytrec_eval: score in single precision descending, then id as text descending.
            Without scores it is the given order.
        doc_ids: the id of each row of the corpus, by which ties between `scores` are broken; by default the row's
            number as text.
        relevance_level: the lowest grade that counts as relevant, for every metric but nDCG, ERR and judged; by
            default 1, or that of a `Judgements`.
        judged_only: take documents without a judgement out of the rankings first; trec_eval's `-J`. A negative grade
            is no judgement.
        no_relevant: a judged query with nothing relevant counts 0 ("zero") or is left out ("skip").
        options: of the metrics that take them: `gain` of ndcg ("linear" or "exponential"), `persistence` of rbp
            and rbp_residual, `max_grade` of err.

    Raises:
        TypeError: scores where ids belong, text ids against integer ids, an unknown option.
        ValueError: different numbers of queries, an id twice in one ranking, an unknown metric, a cutoff below 1.
    """
    named = _parse_names(metrics, cutoffs)
    known = {option for metric in METRICS.values() for option in metric.options}
    for option in options.keys() - known:
        raise TypeError(f"evaluate takes no argument {option!r}. Options of metrics: {', '.join(sorted(known))}.")
    if no_relevant not in ("zero", "skip"):
        raise ValueError(f'no_relevant must be "zero" or "skip", not {no_relevant!r}.')
    judgements = Judgements.of(qrels, relevance_level)
    cuts = [k or UNCUT for _, k, _ in named.values()]
    depth = None if judged_only or UNCUT in cuts else max(cuts)
    hits = find_hits(retrieved, judgements, depth, scores=scores, doc_ids=doc_ids)
    hits = hits.condensed() if judged_only else hits
    deepest = max((k for k in cuts if k < UNCUT), default=1)
    if depth is None and isinstance(retrieved, np.ndarray) and retrieved.ndim == 2 and 0 < retrieved.shape[1] < deepest:
        warn(f"The rankings hold {retrieved.shape[1]} places: a cutoff of {deepest} sees no more.")
    empty = judgements.n_relevant == 0
    keep = np.flatnonzero(~empty) if no_relevant == "skip" else np.arange(len(empty))
    if not len(keep):
        raise ValueError("No judged query has a relevant document, so none is left to score.")
    ids = [judgements.query_ids[row] for row in keep.tolist()]
    per_query = {
        name: metric.of(hits, k, **{o: options[o] for o in metric.options if o in options} | own)[keep]
        for name, (metric, k, own) in named.items()
    }
    return Evaluation(
        mean={name: float(values.sum() / len(ids)) for name, values in per_query.items()},
        per_query=per_query,
        query_ids=ids,
        queries=len(ids),
        no_relevant=int(np.count_nonzero(empty)),
        missing=int(np.count_nonzero(hits.retrieved == 0)),
        unjudged=hits.unjudged,
        tied=hits.tied,
    )


def _parse_names(
    metrics: str | Iterable[str], cutoffs: Iterable[int] | None
) -> dict[str, tuple[Metric, int | None, dict[str, Option]]]:
    """Canonical name -> metric, cutoff and options."""
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    ks = [] if cutoffs is None else [checked_cutoff(k) for k in cutoffs]
    named: dict[str, tuple[Metric, int | None, dict[str, Option]]] = {}
    for name in names:
        match = re.fullmatch(r"([a-z_]+)(?:\(([a-z_]+)=([a-z0-9.]+)\))?(?:@(\S*))?", our_name(str(name)))
        if match is None:
            raise ValueError(f"{name!r}: write a metric as ndcg@10, with an option as ndcg(gain=exponential)@10.")
        metric, option, value, cutoff = METRICS[match[1]], *match.groups()[1:]
        if option and option not in metric.options:
            known = f"it has {', '.join(metric.options)}" if metric.options else "it has none"
            raise ValueError(f"{name!r}: {metric.name} has no option {option!r}; {known}.")
        base, own = metric.name, {}
        if option:
            base = f"{base}({option}={value})"
            own = {option: float(value) if value[0].isdigit() or value[0] == "." else value}
        if not metric.takes_cutoff:
            named[base] = (metric, metric.cutoff(cutoff), own)
        elif cutoff is not None or ks:
            for k in ks if cutoff is None else [checked_cutoff(cutoff)]:
                named[f"{base}@{k}"] = (metric, k, own)
        elif metric.uncut:
            named[base] = (metric, UNCUT, own)
        else:
            raise ValueError(f"{name!r} needs a cutoff: write {metric.name}@10.")
    if not named:
        raise ValueError("No metric was asked for. Give at least one, such as recall@10.")
    return named
