"""Any systems on one collection: scores with intervals, paired tests, costs, and what failed where."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers._notes import Note
from helpers.data import RetrievalDataset
from helpers.data.dataset import require_answers
from helpers.metrics import evaluate
from helpers.models import Precomputed
from helpers.report.check import check_specs
from helpers.report.files import save
from helpers.report.growth import grown
from helpers.report.make import dense, make_system, metadata, open_system
from helpers.report.results import Result, Results
from helpers.report.spec import WORDS, Spec, from_text, one_line, with_labels
from helpers.systems.combine import Run
from helpers.systems.cost import Cost, measured, stage
from helpers.systems.pipeline import Ranking, System

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

    Rankable = str | Path | Spec | System | TransformerModel | Precomputed

EXPORTED = 100  # passages a query that a run holds at least
DEEP = 1000  # passages a query from which the growth of the corpus is computed
OUT_OF_MEMORY = ("out of memory", "can't allocate memory")  # in messages of torch and FAISS, whose types say less


class Comparison(Results):
    """The results of :func:`compare`, which can be saved."""

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``results.json``, ``per_query.csv``, ``qrels.trec`` and a run of each system into a folder.

        Raises:
            OSError: the folder cannot be written; the message names file and folder.
        """
        return save(self, Path(folder))


def default_metrics(cutoffs: Sequence[int]) -> list[str]:
    """Return what is computed unless otherwise asked: recall at each cutoff, the others at the last."""
    last = max(cutoffs)
    return [*(f"recall@{k}" for k in sorted(set(cutoffs))), f"mrr@{last}", f"map@{last}", f"ndcg@{last}"]


def compare(
    systems: "Sequence[Rankable] | Mapping[str, Rankable]",
    data: RetrievalDataset,
    k: int = 10,
    *,
    metrics: Sequence[str] | None = None,
    growth: bool = False,
    progress: bool = False,
) -> Comparison:
    """Rank a collection by any systems and score them side by side.

    Args:
        systems: text (see :mod:`helpers.report.spec`), specs, models or :class:`~helpers.systems.System` objects; in a
            mapping, by the names for the tables.
        data: what :func:`helpers.data.load_dataset` returned.
        k: the cutoff of the metrics, no more than there are passages.
        metrics: names as :func:`helpers.metrics.evaluate` takes them, the main one last; ``judged`` is added at its
            cutoff. Rankings are as deep as the deepest of their cutoffs. By default recall@1, and recall, MRR, MAP
            and nDCG at k.
        growth: compute too how scores fall as the corpus grows, of systems that search the whole corpus.
        progress: draw bars.

    Returns:
        A :class:`Comparison`. A system that failed while it ranked is in it with its error.

    Raises:
        ValueError: k out of range, an unknown metric, no relevant passage at all, a spec that is wrong, a run or
            embeddings that are damaged.
        FileNotFoundError, ConnectionError: a model or run that does not exist.
    """
    chosen = check_metrics(metrics or default_metrics(sorted({1, k})), k)
    check_data(data, k)
    specs, ready = _prepare(systems, progress)
    relevant = max(len(data.relevant(row)) for row in range(len(data.queries)))  # rprec looks as deep
    k = min(max(k, *(int(name.partition("@")[2] or relevant) for name in chosen)), len(data.corpus))
    results: dict[str, Result] = {}
    for name, spec in _with_baselines(specs).items():
        make = partial(_make, spec, specs, ready, results, progress)
        users = [max(k, EXPORTED, s.options.get("depth", 0)) for s in specs.values() if name in s.parts]
        results[name] = _rank(spec, make, data, k, max(users, default=0), growth, chosen[-2])
    scored = {name: _score(results[name], data, chosen, k) for name in specs}
    return Comparison(data, scored, chosen, chosen[-2])


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


def failure_of(error: Exception) -> str:
    """Return the kind of an error.

    ``memory``: there was too little. ``connection``: a server did not answer. ``package``: one is not installed.
    ``file``: a missing one. ``disk``: reading or writing failed. ``input``: the model, the data or a setting does not
    fit. ``other``: an error inside a library or a model.
    """
    if isinstance(error, MemoryError) or any(words in str(error).lower() for words in OUT_OF_MEMORY):
        return "memory"
    kinds = {
        ConnectionError: "connection", TimeoutError: "connection", ModuleNotFoundError: "package",
        FileNotFoundError: "file", OSError: "disk", ValueError: "input",
    }  # fmt: skip
    return next((kind for type_, kind in kinds.items() if isinstance(error, type_)), "other")


def _prepare(systems: Any, progress: bool) -> tuple[dict[str, Spec], dict[str, System]]:
    """Return the specs by name, and the systems that are there before any is loaded: objects, runs, embeddings."""
    if isinstance(systems, str):
        raise ValueError(f"systems is one text, {systems!r}: put it into a list, [text].")
    pairs = systems.items() if isinstance(systems, Mapping) else [(None, system) for system in systems]
    specs, objects = [], []
    for name, system in pairs:
        info = getattr(system, "info", None)
        if isinstance(system, str | Path):
            spec = from_text(str(system))
        elif isinstance(system, Spec):
            spec = system
        else:
            kind = type(system).__name__
            spec = Spec(info.name if info is not None else kind, "object", kind)
        specs.append(replace(spec, name=name, named=True) if name else spec)
        objects.append(system)
    specs = with_labels(specs)
    check_specs(specs)
    ready: dict[str, System] = {}
    for spec, system in zip(specs, objects, strict=True):
        opened = system if spec.kind == "object" else open_system(spec)
        if opened is not None:
            ready[spec.name] = opened if hasattr(opened, "rank") else dense(opened, spec.options, progress)
    return {spec.name: spec for spec in specs}, ready


def _with_baselines(specs: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return all systems to rank by, a baseline that only a fusion or a reranker names among them, before its user."""
    every: dict[str, Spec] = {}
    for name, spec in specs.items():
        every |= {part: Spec(part, "words", WORDS[part.lower()]) for part in spec.parts if part not in every}
        every[name] = spec
    return every


def _make(
    spec: Spec, specs: Mapping[str, Spec], ready: Mapping[str, System], results: Mapping[str, Result], progress: bool
) -> System:
    if spec.name in ready:
        return ready[spec.name]
    parts: dict[str, Ranking] = {}
    for name in spec.parts:
        part = results[name]
        if part.ranking is None:
            raise ValueError(f"Its part {name!r} failed: {part.error}")
        parts[name] = part.ranking
    return make_system(spec, parts, specs, progress)


def _rank(
    spec: Spec, make: Callable[[], System], data: RetrievalDataset, k: int, users: int, growth: bool, main: str
) -> Result:
    """Rank by one system; an error is kept, so that the others still get their rows.

    Args:
        spec: the system.
        make: loads it.
        data: the collection.
        k: the cutoff of the metrics.
        users: how many passages a query the systems above it need of its ranking; 0 without such.
        growth: compute scores of smaller corpora.
        main: by this metric.
    """
    record, cost = metadata(spec, None, data), Cost()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            with measured() as cost:
                with stage("load"):
                    system = make()
                record = metadata(spec, system, data)
                depth = min(_depth(system, k, users, growth), len(data.corpus))
                ranking = system.rank(data, max(depth, system.longest) if isinstance(system, Run) else depth)
        except Exception as error:  # of anybody's model, file or class
            message = one_line(error) or type(error).__name__
            return Result(spec.name, record, error=message, failure=failure_of(error), cost=cost, notes=_notes(caught))
    ids = system.doc_ids(data) if isinstance(system, Run) else data.corpus_ids
    at = int(main.partition("@")[2] or k)
    curve = grown(ranking, data, main, at) if growth and getattr(system, "exact", False) else {}
    is_run = isinstance(system, Run)
    return Result(spec.name, record, ranking, ids, is_run, growth=curve, cost=cost, notes=_notes(caught))


def _depth(system: System, k: int, users: int, growth: bool) -> int:
    """Return how many passages a query to ask for: of an approximate index no more than needed, as they change it."""
    exact = getattr(system, "exact", None)  # None: no search of the corpus
    if exact is False:
        return max(k, users)
    return max(k, users, DEEP if growth and exact else EXPORTED)


def _score(result: Result, data: RetrievalDataset, metrics: Sequence[str], k: int) -> Result:
    """Evaluate in trec_eval's order of ties: a run whole, of other rankings as much as is exported."""
    if result.ranking is None:
        return result
    ranking = result.ranking if result.is_run else result.ranking.rank(data, max(k, EXPORTED))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what they say is in the notes and causes, by id
        evaluation = evaluate(
            ranking.ids, data.qrels, list(metrics), scores=ranking.scores, doc_ids=result.doc_ids,
            relevance_level=data.relevance_level,
        )  # fmt: skip
    notes = [*result.notes, *_without_judged(ranking, result.doc_ids, data)]
    return replace(result, ranking=ranking, evaluation=evaluation, notes=notes)


def _without_judged(ranking: Ranking, doc_ids: Sequence[str], data: RetrievalDataset) -> Iterator[Note]:
    """Yield a note if no passage in the ranking was judged for any query."""
    judged = {passage for own in data.qrels for passage in own}
    retrieved = np.unique(ranking.ids[ranking.ids >= 0])
    if len(retrieved) and judged.isdisjoint(retrieved.tolist()):
        theirs, ours = doc_ids[retrieved[0]], data.doc_ids[min(judged)]
        text = f"No passage that it retrieved was judged (for example {theirs!r}; {ours!r} was): every score is 0."
        yield Note(text, "nothing_judged", retrieved=theirs, judged=ours)


def _notes(caught: Sequence[warnings.WarningMessage]) -> list[Note]:
    """Return the warnings of a user's concern, each once."""
    notes = [w.message if isinstance(w.message, Note) else Note(one_line(w.message)) for w in caught
             if issubclass(w.category, UserWarning)]  # fmt: skip
    return list({note.text: note for note in notes}.values())
