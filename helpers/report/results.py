"""The results of systems on one collection: means with intervals, paired tests."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers._optional import Note
from helpers.data import RetrievalDataset
from helpers.metrics import Evaluation, evaluate
from helpers.report.spec import Record
from helpers.systems.pipeline import Ranking

if TYPE_CHECKING:
    import pandas as pd

    from helpers.significance import Interval

WRITTEN = {"ndcg": "nDCG", "mrr": "MRR", "map": "MAP", "err": "ERR", "rbp": "RBP"}  # others are words, in lower case


def base_of(metric: str) -> str:
    """Return the name of a metric without its options and cutoff."""
    return re.split(r"[(@]", metric, maxsplit=1)[0]


def cutoff_of(metric: str, default: int = 0) -> int:
    """Return the cutoff of a metric, the default where its name has none."""
    return int(metric.partition("@")[2] or default)


def shown(metric: str) -> str:
    """Write a metric as texts do: nDCG@10, MRR@10; those that are words stay in lower case."""
    base = base_of(metric)
    return WRITTEN.get(base, base) + metric[len(base) :]


def evaluate_quietly(*rankings: Any, **settings: Any) -> Evaluation:
    """Evaluate without warnings: the notes and causes of a report say the same, by id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return evaluate(*rankings, **settings)


@dataclass(frozen=True)
class Stages:
    """The candidates of a fusion or reranking, and the answers that it loses."""

    candidates: float  # passages a query, on average
    recall: float  # of the candidates, whatever their order
    ceiling: float  # the main metric of the candidates in the order of their grades, which no other order exceeds
    losses: dict[str, float]  # share of queries by outcome, see :func:`helpers.systems.lost_by_stage`


@dataclass(frozen=True)
class Result:
    """The result of one system; ``ranking`` and ``evaluation`` are None where it failed."""

    name: str  # in tables
    metadata: Record  # kind, place, options and the facts of its model
    ranking: Ranking | None = field(default=None, repr=False)
    # The id of each row of the ranking, beyond those of the corpus the documents of a run alone; of a run that a file
    # holds, those in the first place.
    doc_ids: Sequence[str] | Mapping[int, str] = field(default=(), repr=False)
    is_run: bool = False  # read from a run file, and scored to its end
    evaluation: Evaluation | None = field(default=None, repr=False)
    stages: Stages | None = None  # of a fusion or reranking, where it loses answers
    notes: Sequence[Note] = ()  # warnings, each once
    error: str | None = None  # why it failed


@dataclass(frozen=True)
class Results:
    """The results of several systems on one collection, and tables of them."""

    data: RetrievalDataset
    results: dict[str, Result]  # by the names of the systems, in their order
    metrics: Sequence[str]  # those computed, the main one before ``judged``
    main: str  # by which systems are ordered and tested
    # The tests by reference and metric: page, files and gates need the same ones.
    _tests: dict[tuple[str, str], dict[str, dict[str, float]]] = field(default_factory=dict, init=False, repr=False)

    @property
    def scored(self) -> dict[str, Evaluation]:
        """The evaluations of the systems that did not fail, the best by the main metric first."""
        scored = {name: r.evaluation for name, r in self.results.items() if r.evaluation is not None}
        return dict(sorted(scored.items(), key=lambda item: -item[1].mean[self.main]))

    @property
    def failed(self) -> dict[str, str]:
        """Why the others failed."""
        return {name: result.error for name, result in self.results.items() if result.error is not None}

    @cached_property
    def intervals(self) -> dict[str, dict[str, "Interval"]]:
        """The interval of each mean, by system and metric."""
        from helpers.significance import intervals

        values = [evaluation.per_query[metric] for evaluation in self.scored.values() for metric in self.metrics]
        spreads = iter(intervals(np.transpose(values)))
        return {name: {metric: next(spreads) for metric in self.metrics} for name in self.scored}

    def table(self) -> "pd.DataFrame":
        """Every system by every metric, the best by the main one first, its interval beside it; failed ones last."""
        import pandas as pd

        rows: dict[str, dict[str, float]] = {}
        for name, evaluation in self.scored.items():
            rows[name] = {metric: evaluation.mean[metric] for metric in self.metrics}
            spread = self.intervals[name][self.main]
            rows[name] |= {f"{self.main} low": spread.low, f"{self.main} high": spread.high}
        rows |= {name: {} for name in self.failed}
        return pd.DataFrame.from_dict(rows, orient="index")

    def paired(self, reference: str | None = None, metric: str | None = None) -> "pd.DataFrame":
        """Compare the reference (the best system) with every other: a row each, see :meth:`tests`."""
        import pandas as pd

        return pd.DataFrame.from_dict(self.tests(reference, metric), orient="index")

    def tests(self, reference: str | None = None, metric: str | None = None) -> dict[str, dict[str, float]]:
        """Compare the reference (the best system) with every other on the same queries, without pandas.

        Columns, by the name of the other system: ``difference`` of the means, reference minus other, with its interval
        ``low`` to ``high`` (bootstrap); on how many queries the reference is ``better`` and ``worse``; ``p`` of the
        paired randomisation test, exact where few queries differ; ``smallest p``, below which it cannot fall with so
        few; ``sd``, the standard deviation of the differences, and ``detectable``, the smallest difference that so many
        queries show with a power of 0.8 (0 where all differences are equal); and, where there are several tests,
        ``adjusted p`` of the randomised Tukey HSD test of all pairs, which allows for choosing the best system after
        the scores were seen, and is never below ``p``. Empty with fewer than two systems or queries.
        """
        if not self.scored:
            raise ValueError(f"No system was scored: {'; '.join(self.failed.values()) or 'there is none'}.")
        key = reference or next(iter(self.scored)), metric or self.main
        if key[0] not in self.scored:
            raise ValueError(f"No system {key[0]!r} was scored; there are {', '.join(self.scored)}.")
        if key[1] not in self.metrics:
            raise ValueError(f"{key[1]!r} was not computed; there are {', '.join(self.metrics)}.")
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def _test(self, reference: str, metric: str) -> dict[str, dict[str, float]]:
        from helpers.significance import minimum_detectable_difference, paired_rows, tukey_hsd

        scores = {name: evaluation.per_query[metric] for name, evaluation in self.scored.items()}
        several = len(scores) > 2
        pairs = tukey_hsd(np.array(list(scores.values())))[list(scores).index(reference)] if several else ()
        adjusted = dict(zip(scores, pairs, strict=False))
        values = scores.pop(reference)
        rows = paired_rows(values, scores)
        for name, row in rows.items():
            if several:
                row["adjusted p"] = max(float(adjusted[name]), row["p"])
            row["sd"] = sd = float(np.std(values - scores[name], ddof=1))
            row["detectable"] = sd and minimum_detectable_difference(sd, len(values))
        return rows
