"""From a spec to a system. A model is loaded when it first computes, if an earlier report noted its facts.

Where all vectors are in the cache, most of a report's time would go into importing PyTorch and loading models that have
nothing to do. The facts of a model, and the names of its vectors in the cache, follow from its files, the options, the
libraries and the code that loads it; the notes are stored under a digest of all four.
"""

import contextlib
import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import cast

from helpers import models
from helpers._atomic import write_text
from helpers._files import open_text
from helpers._notes import Note
from helpers.data import RetrievalDataset
from helpers.data.trec import read_run
from helpers.embeddings import BATCH_SIZE, count_truncated, default_cache
from helpers.models import Model, ModelInfo, Pooling, Precomputed, load_model, tell_unused
from helpers.models.files import one_line_errors, sha256_of
from helpers.models.find import find_checkpoint
from helpers.provenance import model_record
from helpers.report.spec import Options, Record, Spec, word_settings
from helpers.systems.api import Api
from helpers.systems.combine import DEPTH, FlagScorer, Fusion, MaxSimScorer, Rerank, Run, Scorer
from helpers.systems.cost import stage
from helpers.systems.pipeline import Dense, Ranking, System, Words
from helpers.systems.sparse import Sparse, load_sparse

COUNTED_UP_TO = 50_000  # passages whose tokens are counted to know how many are truncated
LOADED = ("pooling", "query_instruction", "passage_instruction", "max_length", "device", "half", "dim", "backend")
LIBRARIES = ("torch", "transformers", "tokenizers")
CODE = Path(models.__file__).parent  # which reads lengths, poolings and prompts out of the files
GPU = Path("/dev/nvidiactl")  # whether there is one decides the device, and so the name of a vector


@dataclass
class DeferredModel:
    """A model with the facts that an earlier report noted; every other attribute loads it.

    Attributes:
        info, device, dtype, parameter_count: as of a loaded model.
        truncated: passages longer than it reads, by the digest of a data set.
        file: where the notes are.
        load: loads the model.
    """

    info: ModelInfo
    device: str
    dtype: str
    parameter_count: int
    truncated: dict[str, int]
    file: Path
    load: Callable[[], Model] = field(repr=False)

    @cached_property
    def loaded(self) -> Model:
        """The model itself; its time counts as loading, whichever stage needs it."""
        with stage("load"):
            return self.load()

    def __getattr__(self, name: str) -> object:
        """Return an attribute that was not noted from the model itself."""
        return getattr(self.loaded, name)

    def count_truncated(self, data: RetrievalDataset) -> int:
        """Count the passages that the model truncates, once for each data set."""
        if data.sha256 not in self.truncated:
            self.truncated[data.sha256] = count_truncated(self.loaded, data.corpus) or 0
            self.write_notes()
        return self.truncated[data.sha256]

    def write_notes(self) -> None:
        """Note the facts for later reports; a cache that cannot be written costs time, not the report."""
        facts = {name: getattr(self, name) for name in ("device", "dtype", "parameter_count", "truncated")}
        with contextlib.suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            write_text(self.file, json.dumps({"info": asdict(self.info), **facts}))


def load_deferred(name_or_path: str, options: Options) -> Model:
    """Return a model under the options of a spec; it is loaded when it computes, if an earlier report noted its facts.

    Raises:
        As :func:`helpers.models.load_model`.
    """
    chosen = {key: value for key, value in options.items() if key in LOADED}
    checkpoint = find_checkpoint(name_or_path)
    versions = [version(library) for library in LIBRARIES] + [sha256_of(file) for file in sorted(CODE.glob("*.py"))]
    device = [GPU.exists(), os.environ.get("CUDA_VISIBLE_DEVICES")]
    key = json.dumps([checkpoint.name, checkpoint.sha256, chosen, versions, device], sort_keys=True)
    file = default_cache() / "models" / "facts" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def load() -> Model:
        return load_model(name_or_path, **chosen)

    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):  # no notes, or none that can be read
        facts = json.loads(file.read_bytes())
        info = ModelInfo(**facts.pop("info"))
        tell_unused(info)
        return cast(Model, DeferredModel(info, **facts, file=file, load=load))
    model = load()
    deferred = DeferredModel(model.info, model.device, model.dtype, model.parameter_count or 0, {}, file, load)
    deferred.__dict__["loaded"] = model
    deferred.write_notes()
    return cast(Model, deferred)


def load_run(path: Path) -> dict[str, dict[str, float]]:
    """Read a run, once for as long as its file does not change."""
    return _read_run(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=32)
def _read_run(path: Path, _changed: int) -> dict[str, dict[str, float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of an empty run, which cannot be ranked either
        return read_run(path)


def warn_of_rising(path: Path) -> None:
    """Warn of queries of a run whose scores never fall, and rise at least once, in the order of its rank column.

    Warns:
        Note: scores rise with the rank, as distances do.
    """
    ranked: dict[str, list[tuple[float, float]]] = {}
    with open_text(path) as lines, contextlib.suppress(ValueError):  # a rank that is no number
        for fields in filter(None, map(str.split, lines)):
            ranked.setdefault(fields[0], []).append((float(fields[3]), float(fields[4])))
        scores = [[score for _, score in sorted(pairs)] for pairs in ranked.values()]
        if rising := sum(values == sorted(values) and values[0] < values[-1] for values in scores):
            text = (
                f"In {rising} of {len(ranked)} queries the scores rise from rank 1 to the last: the run was scored "
                "upside down, by its scores, as trec_eval does. If they are distances, write their negative."
            )
            warnings.warn(Note(text, "rising", count=rising, of=len(ranked)), stacklevel=2)


def load_system(spec: Spec, parts: Mapping[str, Ranking], specs: Mapping[str, Spec], progress: bool) -> System:
    """Load or build the system of a spec.

    Args:
        spec: of any kind but an object.
        parts: the rankings of the systems that it takes.
        specs: the specs of all systems by name: MaxSim takes over the options of the model that it reranks.
        progress: draw bars while models compute.

    Raises:
        ValueError: a damaged file; as the loader of its kind.
    """
    where, options = spec.where, spec.options
    if spec.kind == "run":
        return Run(load_run(Path(where).expanduser()))
    if spec.kind == "words":
        settings = word_settings(options)
        return Words(f"{where}:{settings}" if settings else where)
    if spec.kind == "api":
        return Api(where, **{{"index": "factory"}.get(key, key): value for key, value in options.items()})
    if spec.kind == "sparse":
        return load_sparse(where, **options)
    if spec.kind == "fuse":
        return Fusion([parts[part] for part in spec.parts], **options)
    if spec.kind == "rerank":
        scorer = _load_scorer(options, specs.get(spec.parts[0]), progress)
        return Rerank(parts[spec.parts[0]], scorer, options.get("depth", DEPTH))
    model = load_model(Path(where).expanduser()) if spec.kind == "embeddings" else load_deferred(where, options)
    return dense(model, options, progress)


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


def _load_scorer(options: Options, part: Spec | None, progress: bool) -> Scorer:
    """Load a cross-encoder through FlagEmbedding, its files checked as those of any model; or the model of MaxSim."""
    if options["by"] == "maxsim":
        chosen = {key: options[key] for key in ("device", "max_length") if key in options}
        where = options.get("model")
        if where is None and part is not None:  # the model of the part, read as the part reads it
            where, chosen = part.where, dict(part.options) | chosen
        late = chosen | {"pooling": "maxsim", "backend": "transformers"}
        return MaxSimScorer(load_deferred(where, late), progress)  # type: ignore[arg-type]
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
    options = {k: Path(v).name if k in ("by", "model") and Path(v).exists() else v for k, v in spec.options.items()}
    path = Path(spec.where).expanduser()
    where = Path(spec.where).name if path.exists() else spec.where
    record: Record = {"kind": spec.kind, "where": where, "options": options, "parts": list(spec.parts)}
    if spec.kind == "run":
        record["sha256"] = sha256_of(path)
    if isinstance(system, Sparse):
        record["model"] = {"name": system.name, "sha256": system.sha256, "max_length": system.max_length}
    if isinstance(system, Dense):
        model = system.model
        record |= {
            "model": model_record(model), "device": model.device, "parameters": model.parameter_count,
            "dtype": model.dtype.removeprefix("torch."), "index": "MaxSim" if system.pooling else system.factory,
        }  # fmt: skip
        if isinstance(model, Precomputed):
            record["scaled"] = model.scaled
        if len(data.corpus) <= COUNTED_UP_TO:
            deferred: object = model
            known = deferred.count_truncated(data) if isinstance(deferred, DeferredModel) else None
            record["truncated"] = count_truncated(model, data.corpus) if known is None else known
    return record
