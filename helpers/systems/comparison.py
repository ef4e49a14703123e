"""Any systems on one collection: scores with intervals, paired tests, costs, and what went wrong where."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers._printable import one_line
from helpers.data import RetrievalDataset
from helpers.data.dataset import require_answers
from helpers.metrics import Evaluation, evaluate
from helpers.systems.assemble import Modelled, assemble, described
from helpers.systems.check import check_system
from helpers.systems.combine import Once, Run
from helpers.systems.describe import Description, from_text, with_labels
from helpers.systems.failures import kind_of
from helpers.systems.growth import grown
from helpers.systems.pipeline import Ranking, Retrieval, System
from helpers.systems.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from helpers.significance import Interval, PairedTest

EXPORTED = 100  # passages a query that a run holds at least
DEEP = 1000  # passages a query from which the growth of the corpus is computed


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` gives: the results in the order of the systems, and views of them.

    Attributes:
        data: the collection.
        results: by the names of the systems.
        metrics: what was computed.
        main: the metric by which systems are ordered and tested.
        level: of the intervals, 0.95.
    """

    data: RetrievalDataset
    results: dict[str, Result]
    metrics: Sequence[str]
    main: str
    level: float = 0.95

    @property
    def scored(self) -> dict[str, Evaluation]:
        """The evaluations of the systems that did not fail, the best by the main metric first."""
        found = {name: r.evaluation for name, r in self.results.items() if r.evaluation is not None}
        return dict(sorted(found.items(), key=lambda item: -item[1].mean[self.main]))

    @property
    def failed(self) -> dict[str, str]:
        """Why the others failed."""
        return {name: result.error for name, result in self.results.items() if result.error is not None}

    @cached_property
    def intervals(self) -> dict[str, dict[str, "Interval | None"]]:
        """The interval of each mean, by system and metric; None where fewer than two queries were scored."""
        from helpers.significance import interval

        def of(values: np.ndarray) -> "Interval | None":
            return interval(values, self.level) if len(values) > 1 else None

        return {name: {m: of(e.per_query[m]) for m in self.metrics} for name, e in self.scored.items()}

    def table(self) -> "pd.DataFrame":
        """Every system by every metric, the best by the main one first, its interval beside it; failed ones last."""
        import pandas as pd

        rows: dict[str, dict[str, float]] = {}
        for name, evaluation in self.scored.items():
            rows[name] = {metric: evaluation.mean[metric] for metric in self.metrics}
            found = self.intervals[name][self.main]
            low, high = (found.low, found.high) if found else (np.nan, np.nan)
            rows[name] |= {f"{self.main} low": low, f"{self.main} high": high}
        rows |= {name: {} for name in self.failed}
        return pd.DataFrame.from_dict(rows, orient="index")

    def tests(self, reference: str | None = None, metric: str | None = None) -> "dict[str, PairedTest]":
        """Test the reference (the best system) against every other: difference of means, p-value and its floor.

        Raises:
            ValueError: no system of that name was scored, or the metric was not computed.
        """
        from helpers.significance import paired_test

        reference, metric = key = self._reference(reference, metric)
        if key not in self._tested:
            own = self.scored[reference].per_query[metric]
            others = {name: e for name, e in self.scored.items() if name != reference and len(own) > 1}
            self._tested[key] = {name: paired_test(own, e.per_query[metric]) for name, e in others.items()}
        return dict(self._tested[key])

    def paired(self, reference: str | None = None, metric: str | None = None) -> "pd.DataFrame":
        """Compare the reference (the best system) with every other on the same queries.

        Columns: ``difference`` of the means, reference minus other, with its interval ``low`` to ``high`` (bootstrap);
        on how many queries the reference is ``better`` and ``worse``; ``p`` of the paired randomisation test, exact
        where few queries differ; ``smallest p``, below which it cannot fall with so few; and, where there are several
        tests, ``adjusted p`` (Holm).
        """
        import pandas as pd

        from helpers.significance import holm, paired_row

        reference, metric = key = self._reference(reference, metric)
        if key in self._paired:
            return self._paired[key].copy()
        own, rows = self.scored[reference].per_query[metric], {}
        for name, test in self.tests(reference, metric).items():
            other = self.scored[name].per_query[metric]
            rows[name] = paired_row(own, other, test, self.level) | {"smallest p": test.smallest}
        columns = ["difference", "low", "high", "better", "worse", "p", "smallest p"]
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns).astype({"better": int, "worse": int})
        self._paired[key] = frame.assign(**{"adjusted p": holm(frame["p"])}) if len(frame) > 1 else frame
        return self._paired[key].copy()

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``results.json``, ``per_query.csv``, ``qrels.trec`` and a run of each system into a folder.

        Raises:
            OSError: the folder cannot be written; the message names file and folder.
        """
        from helpers.systems.saved import save

        return save(self, Path(folder))

    @cached_property
    def _tested(self) -> "dict[tuple[str, str], dict[str, PairedTest]]":
        """The tests that were asked for, by reference and metric: page, files and gates ask for the same."""
        return {}

    @cached_property
    def _paired(self) -> "dict[tuple[str, str], pd.DataFrame]":
        """The tables of them."""
        return {}

    def _reference(self, reference: str | None, metric: str | None) -> tuple[str, str]:
        """Return the system and the metric that are meant."""
        if not self.scored:
            raise ValueError(f"No system was scored: {'; '.join(self.failed.values()) or 'none was given'}.")
        reference, metric = reference or next(iter(self.scored)), metric or self.main
        if reference not in self.scored:
            raise ValueError(f"No system {reference!r} was scored; there are {', '.join(self.scored)}.")
        if metric not in self.metrics:
            raise ValueError(f"{metric!r} was not computed; there are {', '.join(self.metrics)}.")
        return reference, metric


def default_metrics(cutoffs: Sequence[int]) -> list[str]:
    """Return what is computed unless otherwise asked: recall at each cutoff, the others at the last."""
    last = max(cutoffs)
    return [*(f"recall@{k}" for k in sorted(set(cutoffs))), f"mrr@{last}", f"map@{last}", f"ndcg@{last}"]


def compare(
    systems: Sequence["str | Description | System | Any"] | Mapping[str, "System | Any"],
    data: RetrievalDataset,
    k: int = 10,
    *,
    metrics: Sequence[str] | None = None,
    growth: bool = False,
    progress: bool = False,
) -> Comparison:
    """Rank a collection by any systems and score them side by side.

    Args:
        systems: text (see :mod:`helpers.systems.describe`), descriptions, models or :class:`System` objects; in a
            mapping, by the names that tables shall show.
        data: what :func:`helpers.data.load_dataset` returned.
        k: the cutoff of the metrics, no more than there are passages.
        metrics: names as :func:`helpers.metrics.evaluate` takes them, the main one last; ``judged`` is added at its
            cutoff. Rankings are as deep as the deepest of their cutoffs asks. By default recall@1, and recall, MRR, MAP
            and nDCG at k.
        growth: compute too how scores fall as the corpus grows, of systems that search the whole corpus.
        progress: draw bars, and print an estimate of the time that encoding takes.

    Returns:
        A :class:`Comparison`. A system that failed while it ranked is in it with its error.

    Raises:
        ValueError: k out of range, an unknown metric, no relevant passage at all, a description that is wrong.
        FileNotFoundError, ConnectionError: a model or run that is not there.
    """
    descriptions = [_describe(name, system) for name, system in _named(systems)]
    chosen = check_metrics(metrics or default_metrics(sorted({1, k})), k)
    check_data(data, k)
    labelled = with_labels(descriptions)
    for described_system in labelled:
        if described_system.kind != "object":
            check_system(described_system)
    depth = min(max(k, *(int(name.partition("@")[2] or 0) for name in chosen)), len(data.corpus))
    made = _assemble(labelled, max(EXPORTED, depth), progress)
    for ranked in made.values():
        _set_depth(ranked, depth, growth)
    results = {s.name: _result(s, made[s.name], data, depth, chosen, growth) for s in labelled}
    return Comparison(data, results, chosen, chosen[-2])


def canonical_metrics(metrics: Sequence[str]) -> list[str]:
    """Return the names of metrics as :func:`helpers.metrics.evaluate` writes them. Raises ValueError as it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # one passage is fewer than a cutoff
        return list(evaluate(np.zeros((1, 1), np.int64), [{0: 1}], list(metrics)).mean)


def check_metrics(metrics: Sequence[str], k: int) -> list[str]:
    """Return the canonical names of metrics, with ``judged`` at the cutoff of the last one behind them.

    Raises:
        ValueError: an unknown metric, or none beside ``judged``, which tells no ranking from a better one.
    """
    names = canonical_metrics(metrics)
    cutoff = names[-1].partition("@")[2] or str(k)
    scores = [name for name in names if name != f"judged@{cutoff}"]
    if not scores:
        raise ValueError(f"{names[-1]} alone says how much was judged, not how good a ranking is: name a metric too.")
    return [*scores, f"judged@{cutoff}"]


def check_data(data: RetrievalDataset, k: int) -> None:
    """Raise where nothing can be scored: a cutoff beyond the corpus, or no relevant passage at all."""
    if not 1 <= k <= len(data.corpus):
        raise ValueError(
            f"The cutoff {k} is larger than the corpus, {len(data.corpus)} passages; choose cutoffs up to that."
        )
    require_answers(data)


def _set_depth(ranked: Once, k: int, growth: bool) -> None:
    """Ask a system for a ranking deep enough for growth, and an approximate index for no more than is needed."""
    if _is_whole(ranked.system):
        ranked.depth = max(ranked.depth, DEEP if growth else 0)
    elif isinstance(ranked.system, Modelled):
        ranked.depth = k


def _named(systems: Any) -> list[tuple[str | None, Any]]:
    """Put the names given to systems beside them."""
    if isinstance(systems, str):
        raise ValueError(f"systems is one text, {systems!r}: put it into a list, [text].")
    return list(systems.items()) if isinstance(systems, Mapping) else [(None, system) for system in systems]


def _describe(name: str | None, system: Any) -> Description:
    """Describe a system in whichever form it was given; an object is kept among the options."""
    if isinstance(system, Description):
        return system
    if isinstance(system, str | Path):
        described_system = from_text(str(system))
        return replace(described_system, name=name, named=True) if name else described_system
    info = getattr(system, "info", None)
    label = name or (info.name if info is not None else type(system).__name__)
    return Description(label, "object", "", {"system": system}, named=name is not None)


def _assemble(labelled: Sequence[Description], depth: int, progress: bool) -> dict[str, Once]:
    """Make the systems; objects are systems already, or models under their own pooling."""
    made = assemble([s for s in labelled if s.kind != "object"], depth=depth, progress=progress)
    for s in labelled:
        if s.kind == "object":
            own = s.options["system"]
            made[s.name] = Once(own if hasattr(own, "rank") else Modelled("", {}, progress, own), depth)
    return made


def _result(
    system: Description, ranked: Once, data: RetrievalDataset, k: int, metrics: Sequence[str], growth: bool
) -> Result:
    """Rank by one system and score it; what it raises is kept, so that the others still get their rows."""
    try:
        full = ranked.rank(data, min(max(k, ranked.depth), len(data.corpus)))
    except Exception as error:  # of anybody's model, file or class
        message = one_line(error) or type(error).__name__
        what, kind = _what(system, ranked), kind_of(error)
        return Result(system.name, what, error=message, failure=kind, cost=ranked.cost, notes=ranked.notes)
    ids = ranked.system.doc_ids(data) if isinstance(ranked.system, Run) else data.corpus_ids
    exported = min(max(k, EXPORTED), full.ids.shape[1])
    ranking = Ranking(full.scores[:, :exported], full.ids[:, :exported])
    evaluation, notes = _score(ranking, data, metrics, ids)
    main = metrics[-2]
    looks_at = int(main.partition("@")[2] or k)
    curve = grown(full, data, main, looks_at) if growth and _is_whole(ranked.system) else {}
    notes = list(dict.fromkeys([*ranked.notes, *notes]))
    return Result(system.name, _what(system, ranked), ranking, ids, evaluation, curve, ranked.cost, notes)


def _score(
    ranking: Ranking, data: RetrievalDataset, metrics: Sequence[str], ids: Sequence[str]
) -> tuple[Evaluation, list[str]]:
    """Evaluate in trec_eval's order of ties, and collect the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        evaluation = evaluate(
            ranking.ids, data.qrels, list(metrics), scores=ranking.scores, doc_ids=ids,
            relevance_level=data.relevance_level,
        )  # fmt: skip
    return evaluation, [str(w.message) for w in caught]


def _what(system: Description, ranked: Once) -> dict[str, Any]:
    """Describe a system for the record."""
    if system.kind != "object":
        return described(system, ranked)
    facts = getattr(ranked.system, "facts", {})
    return {"kind": "object", "where": type(system.options["system"]).__name__, "options": {}, "parts": []} | facts


def _is_whole(system: Any) -> bool:
    """Tell whether a system searches the whole corpus exactly, so that deep rankings of it mean something."""
    if isinstance(system, Modelled):
        return bool(system.options.get("index", "Flat") == "Flat")
    return isinstance(system, Retrieval)
