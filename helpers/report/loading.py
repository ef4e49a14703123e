"""From a spec to a system, and the record of it."""

import warnings
from collections.abc import Mapping
from pathlib import Path

from helpers._optional import Note, say
from helpers.data import RetrievalDataset
from helpers.data.runs import read_run_table
from helpers.embeddings import BATCH_SIZE, count_truncated
from helpers.models import Model, Pooling, Precomputed, load_model
from helpers.models.files import one_line_errors
from helpers.models.find import find_checkpoint
from helpers.provenance import model_record
from helpers.report.spec import Options, Record, Spec
from helpers.systems.combine import DEPTH, FlagScorer, Fusion, Rerank, Run
from helpers.systems.pipeline import Dense, Ranking, System, Words

COUNTED_UP_TO = 50_000  # passages whose tokens are counted to know how many are truncated
LOADED = ("pooling", "query_instruction", "passage_instruction", "max_length", "device", "half", "dim", "backend")


def load_run(path: Path) -> Run:
    """Read a run, and note if scores rise with the rank, as distances do."""
    table = read_run_table(path)
    if rising := table.rising:
        text = (
            "In {rising} of {of} queries the scores rise from rank 1 to the last: the run was scored "
            "upside down, by its scores, as trec_eval does. If they are distances, write their negative."
        )
        warnings.warn(Note(text, rising=rising, of=len(table.queries)), stacklevel=2)
    return Run(table)


def load_system(spec: Spec, parts: Mapping[str, Ranking], progress: bool) -> System:
    """Load or build the system of a spec of any kind but an object, from the rankings of the systems that it takes."""
    where, options = spec.where, spec.options
    if spec.kind == "run":
        say(f"reading {Path(where).name} …", show=progress)
        return load_run(Path(where).expanduser())
    if spec.kind == "words":
        return Words(where)
    if spec.kind == "fuse":
        return Fusion([parts[part] for part in spec.parts], **options)
    if spec.kind == "rerank":
        return Rerank(parts[spec.parts[0]], _load_scorer(options, progress), options.get("depth", DEPTH))
    chosen = {key: value for key, value in options.items() if key in LOADED}
    return dense(load_model(where, **chosen), options, progress)


def dense(model: Model, options: Options, progress: bool) -> Dense:
    """Return the system that compares a model's vectors, or by MaxSim its token vectors."""
    return Dense(
        model,
        "maxsim" if model.info.pooling == Pooling.MAXSIM else None,
        factory=options.get("index", Dense.factory),
        batch_size=options.get("batch_size", BATCH_SIZE),
        progress=progress,
        search_bar=progress,
    )


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
