"""Did training help? `change_of_runs` needs NumPy alone, the evaluator for trainers the extra [report]."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.data.trec import read_qrels, read_run
from helpers.metrics import evaluate
from helpers.significance import Change, change

if TYPE_CHECKING:
    from helpers.training.evaluator import Look, RetrievalEvaluator

__all__ = ["Look", "RetrievalEvaluator", "change_of_runs"]


def __getattr__(name: str) -> Any:
    """Import the evaluator, and with it sentence-transformers, when it is first asked for."""
    if name in ("Look", "RetrievalEvaluator"):
        from helpers.training import evaluator

        return getattr(evaluator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def change_of_runs(
    before: Any, after: Any, qrels: Any, margin: float, metric: str = "ndcg@10", *, looks: int = 1
) -> Change:
    """Return the `change` of two rankings of the same queries, run files or what `helpers.metrics.evaluate` takes.

    Args:
        before, after: paths of runs in TREC's format, `{query: {doc: score}}`, `{query: [doc, …]}` or lists of ids.
        qrels: a path, `{query: {doc: grade}}`, or a list if the rankings are lists.
        metric: which one decides, with its cutoff. Queries without a relevant document are left out.

    Raises:
        ValueError: other queries before and after, or a judged one in neither, a score that is no number, no query
            with a relevant document; and as there.
    """
    paths = (str, Path)
    runs = [read_run(run) if isinstance(run, paths) else run for run in (before, after)]
    judged = read_qrels(qrels) if isinstance(qrels, paths) else qrels
    if all(isinstance(run, Mapping) for run in [*runs, judged]):
        if other := sorted(runs[0].keys() ^ runs[1].keys(), key=str):
            where = "before" if other[0] in runs[0] else "after"
            raise ValueError(
                f"{len(other)} queries are in one run alone, {other[0]!r} in the one {where}: rank the same."
            )
        if missing := [query for query in judged if query not in runs[0]]:
            raise ValueError(
                f"{len(missing)} judged queries are not in the runs, the first is {missing[0]!r}: rank them too, or "
                "leave their judgements out."
            )
    values = [evaluate(run, judged, metric, no_relevant="skip").per_query for run in runs]
    (then,), (now,) = (tuple(each.values()) for each in values)
    return change(then, now, margin, looks=looks)
