"""Compare any systems on one collection: scores with intervals, paired tests and failures."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from helpers._optional import Note, say
from helpers.data import RetrievalDataset
from helpers.data.dataset import require_answers
from helpers.data.runs import read_run_table
from helpers.embeddings import BATCH_SIZE, count_truncated
from helpers.metrics import METRICS
from helpers.models import Model, Pooling, Precomputed, load_model
from helpers.models.find import find_checkpoint, one_line_errors
from helpers.provenance import model_record
from helpers.report.causes import causes
from helpers.report.results import Comparison, Result, Stages, base_of, cutoff_of, evaluate_quietly
from helpers.report.spec import WORDS, Options, Record, Spec, check_specs, from_text, one_line, with_labels
from helpers.systems.combine import DEPTH, FlagScorer, Fusion, Rerank, Run
from helpers.systems.pipeline import Dense, Ranking, System, Words
from helpers.systems.stages import ideal_order, lost_by_stage, trace, union

Rankable: TypeAlias = "str | Path | Spec | System | Model"

EXPORTED = 100  # passages a query that a run holds at least
DEEPEST = 1_000_000  # cutoff of metrics of runs alone
DEEP = 1000  # passages a query for metrics without a cutoff
COUNTED_UP_TO = 50_000  # passages whose tokens are counted to know how many are truncated
LOADED = ("pooling", "query_instruction", "passage_instruction", "max_length", "device", "half", "dim", "backend")


def default_metrics(cutoffs: Sequence[int]) -> list[str]:
    """Return the default metrics: recall at each cutoff, the others at the last."""
    return [*(f"recall@{k}" for k in cutoffs), *(f"{name}@{cutoffs[-1]}" for name in ("mrr", "map", "ndcg"))]


def compare(
    systems: "Sequence[Rankable] | Mapping[str, Rankable]",
    data: RetrievalDataset,
    k: int = 10,
    *,
    metrics: Sequence[str] | None = None,
    progress: bool = False,
) -> Comparison:
    """Rank a collection by any systems and score them side by side.

    Args:
        systems: text (see :mod:`helpers.report.spec`), specs, models or :class:`~helpers.systems.System` objects; in a
            mapping, by the names for the tables.
        data: the collection, from :func:`helpers.data.load_dataset`.
        k: the cutoff of the metrics, no more than there are passages to search.
        metrics: names as :func:`helpers.metrics.evaluate` takes them, the main one last; ``judged`` is added at its
            cutoff. Rankings are as deep as the deepest of their cutoffs, 1,000 for those that need none, such as
            ``map``. By default recall@1, and recall, MRR, MAP and nDCG at k.
        progress: draw bars.

    Returns:
        A :class:`Comparison`. A system that failed while it ranked is in it with its error; a spec that is wrong, a
        damaged run or embeddings, and a model that does not exist are errors at once.
    """
    chosen = check_metrics(metrics or default_metrics(sorted({1, k})), k)
    most = DEEPEST if data.judged_alone else len(data.corpus)
    if not 1 <= k <= most:
        raise ValueError(
            f"The cutoff {k} is larger than the corpus, {len(data.corpus)} passages; choose cutoffs up to that."
        )
    require_answers(data)
    if len(data.queries) < 2:
        raise ValueError(f"{data.name}: one query shows nothing about others; give at least two, judged.")
    specs = _read_specs(systems, progress)
    ranked = _in_order(specs, chosen[-2])
    relevant = max(len(data.relevant(row)) for row in range(len(data.queries)))  # rprec looks as deep
    uncut = {name: DEEP if METRICS[base_of(name)].uncut else relevant for name in chosen}
    k = min(max(k, *(cutoff_of(name, uncut[name]) for name in chosen)), most)
    results: dict[str, Result] = {}
    parts = {part for spec in specs.values() for part in spec.parts}
    for name, spec in ranked.items():
        needed = [max(k, EXPORTED, user.options.get("depth", 0)) for user in specs.values() if name in user.parts]
        result = _rank(spec, results, data, max([k, *needed]), progress)
        if spec.parts and result.ranking is not None:
            result = replace(result, stages=_follow(spec, ranked, {**results, name: result}, data, chosen[-2], k))
        results[name] = result if name in parts else _score(result, data, chosen, k)  # of parts the whole is needed
    scored = {name: _score(results[name], data, chosen, k) if name in parts else results[name] for name in specs}
    found = Comparison(data, scored, chosen, chosen[-2])
    return replace(found, causes=causes(found))


def _in_order(specs: Mapping[str, Spec], main: str) -> dict[str, Spec]:
    """Return specs in the order of ranking: runs first, whose damage is found at once, and parts before their users."""
    ranked: dict[str, Spec] = {}
    for name, spec in sorted(specs.items(), key=lambda item: item[1].kind != "run"):
        ranked |= {part: Spec(part, "words", WORDS[part.lower()]) for part in spec.parts if part not in ranked}
        ranked[name] = spec
    cutoff = cutoff_of(main)
    for name, spec in ranked.items():
        if _depth(spec, cutoff) < cutoff:
            raise ValueError(
                f"{name!r} looks at {_depth(spec, cutoff)} passages of its part, {main} at {cutoff}: set depth to "
                f"{cutoff} or more."
            )
    return ranked


def canonical_metrics(metrics: Sequence[str]) -> list[str]:
    """Return names of metrics as ``evaluate`` writes them. Raises ValueError as it does, of values of options too."""
    return list(evaluate_quietly(np.zeros((1, 1), np.int64), [{0: 1}], list(metrics)).mean)


def check_metrics(metrics: Sequence[str], k: int) -> list[str]:
    """Return the canonical names of metrics, with ``judged`` at the cutoff of the last one behind them."""
    names = canonical_metrics(metrics)
    judged = f"judged@{cutoff_of(names[-1], k)}"
    scores = [name for name in names if name != judged]
    if not scores:
        raise ValueError(f"{names[-1]} alone says how much was judged, not how good a ranking is: name a metric too.")
    return [*scores, judged]


def _read_specs(systems: "Sequence[Rankable] | Mapping[str, Rankable]", progress: bool) -> dict[str, Spec]:
    """Return the specs by name, those of objects and embeddings with what ranks."""
    if isinstance(systems, str):
        raise ValueError(f"systems is one text, {systems!r}: put it into a list, [text].")
    specs = []
    for name, system in systems.items() if isinstance(systems, Mapping) else [(None, system) for system in systems]:
        kind = type(system).__name__
        if isinstance(system, Spec):
            spec = system
        elif isinstance(system, str | Path):
            spec = from_text(str(system))
        elif hasattr(system, "rank"):
            spec = Spec(kind, "object", kind, system=system)
        else:
            spec = Spec(system.info.name, "object", kind, system=dense(system, {}, progress))
        specs.append(replace(spec, name=name, named=True) if name else spec)
    specs = with_labels(specs)
    check_specs(specs)
    return {
        spec.name: replace(spec, system=load_system(spec, {}, progress)) if spec.kind == "embeddings" else spec
        for spec in specs
    }


def _depth(spec: Spec, depth: int) -> int:
    return int(spec.options.get("depth", DEPTH if spec.kind == "rerank" else depth))


def _follow(
    spec: Spec, specs: Mapping[str, Spec], results: Mapping[str, Result], data: RetrievalDataset, main: str, k: int
) -> Stages:
    """Follow the answers through a fusion or reranking, down to rank k."""
    ids = {name: result.ranking.ids for name, result in results.items() if result.ranking}
    chain = [spec]  # the stages from the last one back
    while chain[-1].kind == "rerank" and (before := specs[chain[-1].parts[0]]).parts:
        chain.append(before)
    first = chain[-1]
    depth = _depth(first, ids[first.name].shape[1])
    candidates = union(*(ids[part][:, :depth] for part in first.parts))
    rankings = {} if first.kind == "fuse" else {first.parts[0]: candidates}
    for place, user in reversed(list(enumerate(chain))):
        depth_of_next = _depth(chain[place - 1], 0) if place else None
        rankings[user.name] = ids[user.name][:, :depth_of_next]
    lost = lost_by_stage(trace(candidates, rankings, data, k))
    level, deepest = data.relevance_level, f"recall@{max(1, candidates.shape[1])}"
    recall = evaluate_quietly(candidates, data.qrels, [deepest], relevance_level=level).mean[deepest]
    best = evaluate_quietly(ideal_order(candidates, data), data.qrels, [main], relevance_level=level).mean[main]
    return Stages(float((candidates >= 0).sum(axis=1).mean()), recall, best, lost.to_dict())


def _rank(spec: Spec, results: Mapping[str, Result], data: RetrievalDataset, k: int, progress: bool) -> Result:
    """Rank by one system; an error becomes its result, so that the others still get their rows."""
    record = metadata(spec, None, data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        # A damaged run is an error of the whole comparison.
        run = load_system(spec, {}, progress) if spec.kind == "run" else None
        try:
            system = run or load_system(spec, results, progress)
            record = metadata(spec, system, data)
            if getattr(system, "exact", True):  # a deeper search by an approximate index would find other passages
                k = max(k, EXPORTED)
            k = max(system.table.longest, 1) if isinstance(system, Run) else min(k, len(data.corpus))
            ranking = system.rank(data, k)
        except Exception as error:  # a user's model, file or class may raise anything
            message = one_line(error) or type(error).__name__
            return Result(spec.name, record, error=message, notes=_notes(caught))
    ids = system.doc_ids(data) if isinstance(system, Run) else data.corpus_ids
    return Result(spec.name, record, ranking, ids, isinstance(system, Run), notes=_notes(caught))


def _score(result: Result, data: RetrievalDataset, metrics: Sequence[str], k: int) -> Result:
    """Evaluate in trec_eval's order of ties: a run whole, of other rankings as much as is exported."""
    if result.ranking is None:
        return result
    ranking = result.ranking if result.is_run else result.ranking.rank(data, max(k, EXPORTED))
    evaluation = evaluate_quietly(
        ranking.ids, data.qrels, list(metrics), scores=ranking.scores, doc_ids=result.doc_ids,
        relevance_level=data.relevance_level,
    )  # fmt: skip
    notes, judged = list(result.notes), sorted({passage for grades in data.qrels for passage in grades})
    retrieved, doc_ids = ranking.ids[ranking.ids >= 0], result.doc_ids
    if len(retrieved) and not np.isin(retrieved, judged).any():
        theirs, ours = result.doc_ids[int(retrieved[0])], data.doc_ids[judged[0]]
        text = "No passage that it retrieved was judged (for example {retrieved!r}; {judged!r} was): every score is 0."
        notes.append(Note(text, retrieved=theirs, judged=ours))
    if result.metadata["kind"] == "run":
        ranking = Ranking(*map(np.copy, ranking.rank(data, max(cutoff_of(metrics[-1]), EXPORTED))))
        doc_ids = {row: result.doc_ids[row] for row in ranking.ids[:, 0].tolist() if row >= 0}
    return replace(result, ranking=ranking, doc_ids=doc_ids, evaluation=evaluation, notes=notes)


def _notes(caught: Sequence[warnings.WarningMessage]) -> list[Note]:
    notes = [w.message if isinstance(w.message, Note) else Note(one_line(w.message)) for w in caught
             if issubclass(w.category, UserWarning)]  # fmt: skip
    return list({note.text: note for note in notes}.values())


def load_system(spec: Spec, results: Mapping[str, Result], progress: bool) -> System:
    """Load or build the system of a spec, from the results of the systems that it takes."""
    where, options, parts = spec.where, spec.options, list[Ranking]()
    if spec.system is not None:
        return spec.system
    for part in spec.parts:
        if (ranking := results[part].ranking) is None:
            raise ValueError(f"Its part {part!r} failed: {results[part].error}")
        parts.append(ranking)
    if spec.kind == "run":
        say(f"reading {Path(where).name} …", show=progress)
        table = read_run_table(Path(where).expanduser())
        if rising := table.rising:
            text = (
                "In {rising} of {of} queries the scores rise from rank 1 to the last: the run was scored "
                "upside down, by its scores, as trec_eval does. If they are distances, write their negative."
            )
            warnings.warn(Note(text, rising=rising, of=len(table.queries)), stacklevel=2)
        return Run(table)
    if spec.kind == "words":
        return Words(where)
    if spec.kind == "fuse":
        return Fusion(parts, **options)
    if spec.kind == "rerank":
        return Rerank(parts[0], _load_scorer(options, progress), options.get("depth", DEPTH))
    chosen = {key: value for key, value in options.items() if key in LOADED}
    return dense(load_model(where, **chosen), options, progress)


def dense(model: Model, options: Options, progress: bool) -> Dense:
    """Return the system that compares a model's vectors, or by MaxSim its token vectors."""
    pooling = "maxsim" if model.info.pooling == Pooling.MAXSIM else None
    factory, batch_size = options.get("index", Dense.factory), options.get("batch_size", BATCH_SIZE)
    return Dense(model, pooling, factory=factory, batch_size=batch_size, progress=progress)


def _load_scorer(options: Options, progress: bool) -> FlagScorer:
    """Load a cross-encoder through FlagEmbedding, its files checked as those of any model."""
    checkpoint = find_checkpoint(options["by"])
    from FlagEmbedding import FlagReranker

    from helpers.models.transformer import quiet, require_head

    require_head(checkpoint)
    with quiet(), one_line_errors(f"{checkpoint.name} cannot be loaded as a reranker by FlagEmbedding"):
        reranker = FlagReranker(
            str(checkpoint.folder), use_fp16=False, devices=options.get("device"),
            max_length=options.get("max_length", 512), trust_remote_code=False,
        )  # fmt: skip
    return FlagScorer(reranker, options.get("batch_size", 32), progress)


def metadata(spec: Spec, system: System | None, data: RetrievalDataset) -> Record:
    """Return the record of a system: its spec, of paths the last part alone, and the facts of its model."""
    options = {k: Path(v).name if k == "by" and Path(v).exists() else v for k, v in spec.options.items()}
    path = Path(spec.where).expanduser()
    where = Path(spec.where).name if path.exists() else spec.where
    record: Record = {"kind": spec.kind, "where": where, "options": options, "parts": list(spec.parts)}
    if isinstance(system, Run) and system.table.sha256:
        record["sha256"] = system.table.sha256
    if isinstance(system, Dense):
        model = system.model
        record |= {
            "model": model_record(model), "device": model.device, "parameters": model.parameter_count,
            "dtype": model.dtype.removeprefix("torch."), "index": "MaxSim" if system.pooling else system.factory,
        }  # fmt: skip
        if isinstance(model, Precomputed):
            record["scaled"] = model.scaled
        if len(data.corpus) <= COUNTED_UP_TO:
            record["truncated"] = count_truncated(model, data.corpus)
    return record
