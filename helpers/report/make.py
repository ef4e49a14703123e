"""From a spec to a system: runs and embeddings are read at once, models loaded only when it is their turn."""

import gzip
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers._notes import Note
from helpers.data import RetrievalDataset
from helpers.data.trec import read_run
from helpers.embeddings import BATCH_SIZE, count_truncated
from helpers.models import Pooling, Precomputed, load_model
from helpers.models.files import one_line_errors
from helpers.models.find import find_checkpoint
from helpers.provenance import model_record
from helpers.report.spec import Spec
from helpers.systems.combine import FlagScorer, Fusion, MaxSimScorer, Rerank, Run, Scorer
from helpers.systems.pipeline import FLAT, Dense, Ranking, System, Words

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

COUNTED_UP_TO = 50_000  # passages whose tokens are counted to know how many are truncated
LOADED = ("pooling", "query_instruction", "passage_instruction", "max_length", "device", "half", "dim", "backend")


@dataclass(frozen=True)
class RunFile(Run):
    """A run read from a file, whose lines name a rank beside each score.

    Attributes:
        rising: the queries whose scores rise from the first rank to the last.
    """

    rising: int = 0

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Rank by score, as trec_eval does; see :meth:`Run.rank`.

        Warns:
            Note: scores rise with the rank, as distances do.
        """
        if self.rising:
            text = (
                f"In {self.rising} of {len(self.run)} queries the scores rise from rank 1 to the last: the run was "
                "scored upside down, by its scores, as trec_eval does. If they are distances, write their negative."
            )
            warnings.warn(Note(text, "rising", count=self.rising, of=len(self.run)), stacklevel=2)
        return super().rank(data, k)


def open_system(spec: Spec) -> "Run | TransformerModel | Precomputed | None":
    """Read a run, or open a folder of embeddings; None for any other kind.

    Raises:
        ValueError: the file or folder is damaged.
    """
    path = Path(spec.where).expanduser()
    if spec.kind == "run":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an empty run, which cannot be ranked either
            return RunFile(read_run(path), rising_queries(path))
    return load_model(path) if spec.kind == "embeddings" else None


def rising_queries(path: Path) -> int:
    """Count the queries of a run whose scores never fall, and rise at least once, in the order of the rank column."""
    with gzip.open(path, "rt") if path.suffix.lower() == ".gz" else path.open(encoding="utf-8-sig") as lines:
        ranked: dict[str, list[tuple[float, float]]] = {}
        for fields in filter(None, map(str.split, lines)):
            try:
                ranked.setdefault(fields[0], []).append((float(fields[3]), float(fields[4])))
            except ValueError:
                return 0  # no ranks to go by
    scores = [[score for _, score in sorted(pairs)] for pairs in ranked.values()]
    return sum(values == sorted(values) and values[0] < values[-1] for values in scores)


def make_system(spec: Spec, parts: Mapping[str, Ranking], specs: Mapping[str, Spec], progress: bool) -> System:
    """Load or build the system of a spec.

    Args:
        spec: of any kind but a run, embeddings or an object.
        parts: the rankings of the systems above it.
        specs: the specs of all systems by name: MaxSim takes over the options of the model that it reranks.
        progress: draw bars while models compute.
    """
    if spec.kind == "words":
        return Words(spec.where)
    if spec.kind == "fuse":
        return Fusion([parts[part] for part in spec.parts], **spec.options)
    if spec.kind == "rerank":
        depth = spec.options.get("depth", 100)
        return Rerank(parts[spec.parts[0]], _scorer(spec, specs.get(spec.parts[0]), progress), depth)
    return dense(load(spec.where, spec.options), spec.options, progress)


def load(where: str, options: Mapping[str, Any]) -> "TransformerModel | Precomputed":
    """Load a model under the options of a spec."""
    return load_model(where, **{key: value for key, value in options.items() if key in LOADED})


def dense(model: "TransformerModel | Precomputed", options: Mapping[str, Any], progress: bool) -> Dense:
    """Return the system that compares a model's vectors, or by MaxSim its token vectors."""
    return Dense(
        model,
        "maxsim" if model.info.pooling == Pooling.MAXSIM else None,
        factory=options.get("index", FLAT),
        batch_size=options.get("batch_size", BATCH_SIZE),
        progress=progress,
        search_bar=progress,
    )


def metadata(spec: Spec, system: System | None, data: RetrievalDataset) -> dict[str, Any]:
    """Return the record of a system: its spec, of paths the last part alone, and the facts of its model."""
    options = {k: Path(v).name if k in ("by", "model") and Path(v).exists() else v for k, v in spec.options.items()}
    where = Path(spec.where).name if Path(spec.where).expanduser().exists() else spec.where
    record: dict[str, Any] = {"kind": spec.kind, "where": where, "options": options, "parts": list(spec.parts)}
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


def _scorer(spec: Spec, part: Spec | None, progress: bool) -> Scorer:
    options = spec.options
    if options["by"] != "maxsim":
        return _cross_encoder(options)
    chosen = {key: options[key] for key in ("device", "max_length") if key in options}
    where = options.get("model")
    if where is None and part is not None:  # the model of the part, read as the part reads it
        where, chosen = part.where, dict(part.options) | chosen
    late = chosen | {"pooling": "maxsim", "backend": "transformers"}
    return MaxSimScorer(load(where, late), progress)  # type: ignore[arg-type]


def _cross_encoder(options: Mapping[str, Any]) -> FlagScorer:
    """Load a cross-encoder through FlagEmbedding, its files checked as those of any model."""
    checkpoint = find_checkpoint(options["by"])
    from FlagEmbedding import FlagReranker

    with one_line_errors(f"{checkpoint.name} cannot be loaded as a reranker by FlagEmbedding"):
        reranker = FlagReranker(
            str(checkpoint.folder),
            use_fp16=False,
            devices=options.get("device"),
            max_length=options.get("max_length", 512),
            trust_remote_code=False,
        )
    labels = int(reranker.model.config.num_labels)
    if labels != 1:
        raise ValueError(f"{checkpoint.name} gives {labels} scores a pair; a reranker gives one.")
    return FlagScorer(reranker, options.get("batch_size", 32))
