"""From descriptions to systems: each model loaded when it is needed, each ranking computed once."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.data import RetrievalDataset
from helpers.data.trec import read_run
from helpers.embeddings import BATCH_SIZE, count_truncated, encode
from helpers.models import Model, Pooling, Precomputed, load_model
from helpers.models.files import one_line_errors
from helpers.models.find import find_checkpoint
from helpers.provenance import model_record
from helpers.systems.combine import FlagScorer, Fusion, MaxSimScorer, Once, Rerank, Run, Scorer
from helpers.systems.cost import stage
from helpers.systems.describe import WORDS, Description
from helpers.systems.pipeline import Dense, Ranking, System, Words

if TYPE_CHECKING:
    from helpers.models.transformer import TransformerModel

ESTIMATED_FROM = 512  # texts: below it the encoding is over before an estimate would help
COUNTED_UP_TO = 50_000  # passages whose tokens are counted to tell how many are truncated
LOADED = ("pooling", "query_instruction", "passage_instruction", "max_length", "device", "half", "dim", "backend")


@dataclass
class Modelled:
    """A model that is loaded when it ranks, and let go afterwards; ``facts`` then says what it was."""

    where: str
    options: Mapping[str, Any] = field(default_factory=dict)
    progress: bool = False
    model: "Model | None" = None
    facts: dict[str, Any] = field(default_factory=dict)

    def rank(self, data: RetrievalDataset, k: int) -> Ranking:
        """Load, rank, and note what ranked."""
        with stage("load"):
            model: Any = self.model or load(self.where, self.options)
        self.facts |= {"model": model_record(model), "device": model.device, "parameters": model.parameter_count}
        self.facts |= {"dtype": model.dtype.removeprefix("torch.")}
        if self.progress:
            _estimate(model, data, self.options.get("batch_size", BATCH_SIZE))
        system = Dense(
            model,
            "maxsim" if model.info.pooling == Pooling.MAXSIM else None,
            factory=self.options.get("index", "Flat"),
            batch_size=self.options.get("batch_size", BATCH_SIZE),
            progress=self.progress,
            search_bar=self.progress,
        )
        self.facts |= {"index": "MaxSim" if system.pooling else system.factory}
        if len(data.corpus) <= COUNTED_UP_TO:
            self.facts["truncated"] = count_truncated(model, data.corpus)
        return system.rank(data, k)


def load(where: str, options: Mapping[str, Any]) -> "TransformerModel | Precomputed":
    """Load a model under the options of a description."""
    return load_model(where, **{key: value for key, value in options.items() if key in LOADED})


def assemble(systems: Sequence[Description], *, depth: int, progress: bool = False) -> dict[str, Once]:
    """Make a system of each description, those that take others' rankings behind these.

    Runs are read and embeddings opened here, so that a damaged file is found before anything is computed.

    Args:
        systems: descriptions whose parts come before them.
        depth: how many passages a query are wanted of each at least.
        progress: draw bars while models compute.

    Raises:
        ValueError: a run or embeddings that are damaged.
    """
    made: dict[str, Once] = {}
    for system in systems:
        for part in system.parts:
            if part not in made:  # a baseline that only this one uses
                made[part] = Once(Words(WORDS[part.lower()]), depth)
        made[system.name] = Once(_make(system, systems, made, progress), depth)
        for part in system.parts:
            made[part].depth = max(made[part].depth, system.options.get("depth", 100), depth)
    return made


def _make(system: Description, all_: Sequence[Description], made: Mapping[str, Once], progress: bool) -> System:
    """Make one system."""
    if system.kind == "words":
        return Words(system.where)
    if system.kind == "run":
        return Run(read_run(Path(system.where).expanduser()))
    if system.kind == "fuse":
        options = {key: value for key, value in system.options.items() if key in ("how", "weights", "depth")}
        return Fusion([made[part] for part in system.parts], **options)
    if system.kind == "rerank":
        return Rerank(made[system.parts[0]], _scorer(system, all_, progress), system.options.get("depth", 100))
    model = load_model(Path(system.where).expanduser()) if system.kind == "embeddings" else None
    return Modelled(system.where, system.options, progress, model)


@dataclass(frozen=True)
class _Late:
    """A scorer that is made when it is first needed."""

    make: Any

    def scores(self, data: RetrievalDataset, candidates: Any) -> Any:
        return self.make().scores(data, candidates)


def _scorer(system: Description, all_: Sequence[Description], progress: bool) -> Scorer:
    """Say by what a system reranks."""
    options = system.options
    if options["by"] != "maxsim":
        return _Late(lambda: _flag_scorer(options))
    where = options.get("model")
    own = next((s for s in all_ if s.name == system.parts[0]), None)
    if where is None and (own is None or own.kind != "model"):
        raise ValueError(f"{system.name}: {system.parts[0]!r} has no token vectors; name a model for MaxSim, model = …")
    chosen = {key: options[key] for key in ("device", "max_length") if key in options}
    inherited = {} if where or own is None else {key: v for key, v in own.options.items() if key in LOADED}
    place = where or (own.where if own is not None else "")
    late = {**inherited, **chosen, "pooling": "maxsim", "backend": "transformers"}
    return _Late(lambda: MaxSimScorer(load(place, late), progress))  # type: ignore[arg-type]


def _flag_scorer(options: Mapping[str, Any]) -> FlagScorer:
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


def _estimate(model: Any, data: RetrievalDataset, batch_size: int) -> None:
    """Print how long encoding the passages will take, from a first batch that is drawn evenly from them."""
    size = len(data.corpus)
    if isinstance(model, Precomputed) or size < ESTIMATED_FROM or _has_first_shard(model, data, batch_size):
        return
    import sys
    import tempfile

    batch = data.corpus[:: max(1, size // batch_size)][:batch_size]
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(ValueError):
        start = time.perf_counter()
        encode(model, batch, batch_size=batch_size, cache_dir=folder, progress=False)
        rate = len(batch) / (time.perf_counter() - start)
        print(
            f"{model.info.name}: {size:,} passages, about {duration(size / rate)} at {rate:,.0f} texts/s on "
            f"{model.device}, as the first batch of {len(batch)} went",
            file=sys.stderr,
        )


def _has_first_shard(model: Any, data: RetrievalDataset, batch_size: int) -> bool:
    """Tell whether an earlier run left the first passages in the cache."""
    from helpers.embeddings import is_cached

    pooling = Pooling(model.info.pooling) if model.info.pooling else Pooling.MEAN
    return is_cached(model, data.corpus, pooling, batch_size=batch_size)


def duration(seconds: float) -> str:
    """Write seconds as a person would say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def described(system: Description, ranked: Once) -> dict[str, Any]:
    """Say what a system is, for the record: without where it lies on this machine."""
    shown = replace(system, where=Path(system.where).name if Path(system.where).expanduser().exists() else system.where)
    options = {k: Path(v).name if k in ("by", "model") and Path(v).exists() else v for k, v in shown.options.items()}
    record: dict[str, Any] = {"kind": shown.kind, "where": shown.where, "options": options, "parts": list(shown.parts)}
    return record | (ranked.system.facts if isinstance(ranked.system, Modelled) else {})
