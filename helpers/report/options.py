"""The options of the report's command: one row each, and the checks that come before anything is loaded."""

import argparse
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helpers.data import OFFLINE_DEFAULT as DATA_DEFAULT
from helpers.data import RetrievalDataset, load_dataset
from helpers.data.formats import READERS
from helpers.models import OFFLINE_DEFAULT as MODEL_DEFAULT
from helpers.report.check import check_specs, is_hub_id, nearest
from helpers.report.comparison import canonical_metrics, check_metrics, default_metrics
from helpers.report.files import earlier_files
from helpers.report.gates import Floor, Gate, NotWorse, read_floor
from helpers.report.page import LANGUAGES
from helpers.report.slices import bundled_types, read_types
from helpers.report.spec import Spec, from_text, from_toml, with_labels

SYSTEMS: dict[str, dict[str, Any]] = {
    "--model": {"metavar": "SYSTEM", "help": f"the first system, by default {MODEL_DEFAULT}"},
    "--against": {"metavar": "SYSTEM", "help": "a second one"},
    "--system": {"metavar": "SYSTEM", "action": "append", "default": [],
                 "help": "any number more; options behind it: 'models/mine?pooling=cls&max_length=256'"},
    "--systems": {"metavar": "FILE", "help": "a TOML file that names systems, fusions and rerankers"},
}  # fmt: skip
MODELS: dict[str, dict[str, Any]] = {  # for every model that does not name its own; also options of a spec
    "--device": {"help": "of models that name none: cpu, cuda:0 …"},
    "--half": {"action": "store_true", "default": None, "help": "16-bit floats on a GPU"},
    "--index": {"help": "a FAISS index_factory string, by default Flat"},
    "--batch-size": {"type": int, "help": "texts a forward pass"},
}
DATA: dict[str, dict[str, Any]] = {  # also parameters of load_dataset
    "--queries": {"help": "file of ids and texts, in the folder DATA or a path of its own"},
    "--corpus": {"help": "file of ids and texts, in the folder DATA or a path of its own"},
    "--qrels": {"help": "file of judgements by id, in the folder DATA or a path of its own"},
    "--columns": {"help": 'the names of your columns: "query=question, positive=answer"'},
    "--config": {"help": "which configuration or language, where the data set has several: zh"},
    "--split": {"help": "which split holds the queries"},
    "--relevance-level": {"type": int, "help": "the lowest grade that counts as relevant"},
    "--max-queries": {"type": int, "help": "evaluate the first so many queries"},
    "--corpus-queries": {"type": int, "help": "search only what is relevant to the first so many queries"},
    "--on-blank": {"choices": ("raise", "skip"), "help": "blank documents"},
    "--on-missing": {"choices": ("raise", "skip", "keep"),
                     "help": "relevant documents without a text: skip changes R and the ideal ranking"},
    "--unanswered": {"choices": ("zero", "skip"), "help": "queries without a relevant passage"},
    "--equal": {"choices": ("merge", "keep"), "help": "passages with equal texts: by default one"},
}  # fmt: skip
OUTPUT: dict[str, dict[str, Any]] = {
    "--slices": {"metavar": "FILE", "help": "query id and type, tab-separated: scores by type"},
    "--cutoffs": {"help": "1,10 unless the corpus is smaller"},
    "--metrics": {"help": "comma-separated, the one that decides last: recall@100,ndcg@10"},
    "--no-growth": {"action": "store_true", "help": "leave out the scores of smaller corpora"},
    "--language": {"choices": LANGUAGES, "default": "en", "help": "of the page"},
    "--out": {"type": Path, "default": Path("build/report"),
              "help": "folder of the page and the results; those of an earlier report go"},
    "--quiet": {"action": "store_true", "help": "no progress bars"},
    "--fail-under": {"action": "append", "default": [], "metavar": "METRIC=VALUE",
                     "help": "exit with 3 if the first system stays below"},
    "--fail-if-worse-than": {"action": "append", "default": [], "metavar": "SYSTEM",
                             "help": "exit with 3 if the first system is significantly worse"},
    "--level": {"type": float, "default": 0.05, "help": "significance level of that gate, 0.05"},
}  # fmt: skip
GROUPS = {
    "systems: a hub id, a model folder, a folder of embeddings, a TREC run, bm25, tfidf": SYSTEMS | MODELS,
    "data": {"--data": {"help": f"bundled name, hub id, folder or table file; default {DATA_DEFAULT}"}} | DATA,
    "what is computed and written": OUTPUT,
}
ELSEWHERE = {"p": "precision", "r": "recall", "ap": "map", "rr": "mrr", "hit": "success"}  # names of other tools


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="retrieval-report", description="Compare any retrieval systems on any data, and write one page."
    )
    for title, options in GROUPS.items():
        group = top.add_argument_group(title)
        for flag, settings in options.items():
            group.add_argument(flag, **settings)
    return top


def with_options(message: str) -> str:
    """Write the keyword arguments in a message of the package as options of this command: --on-blank skip."""
    keywords = "|".join(_keyword(flag) for flag in (*DATA, "--cutoffs"))
    message = re.sub(rf'\b({keywords})=(?:"(\w+)"|\[([\d, ]+)\])', r"\1=\2\3", message)  # one word needs no quotes
    return re.sub(rf"\b({keywords})=", lambda match: f"--{match[1].replace('_', '-')} ", message)


@dataclass(frozen=True)
class Request:
    """A command line after its checks.

    Attributes:
        args: as it was parsed.
        specs: the systems.
        metrics: canonical names; None for the default.
        cutoffs: None for the default.
        floors: metric and value of each ``--fail-under``.
        rivals: the names of the systems that the first must not fall behind.
    """

    args: argparse.Namespace
    specs: Sequence[Spec]
    metrics: Sequence[str] | None
    cutoffs: Sequence[int] | None
    floors: Sequence[tuple[str, float]]
    rivals: Sequence[str]

    def load(self) -> RetrievalDataset:
        """Load the data."""
        return load_dataset(self.args.data or DATA_DEFAULT, **_chosen(self.args, DATA))

    def cutoffs_for(self, data: RetrievalDataset) -> list[int]:
        """Return the cutoffs of the command line, else 1 and 10 or, of a smaller corpus, its size.

        Raises:
            ValueError: one is larger than the corpus.
        """
        size = len(data.corpus)
        cutoffs = list(self.cutoffs or sorted({1, min(10, size)}))
        cutoffs += [int(k) for name in self.metrics or () if (k := name.partition("@")[2])]
        if max(cutoffs) > size and (self.cutoffs or self.metrics):
            raise ValueError(
                f"A cutoff of {max(cutoffs)} is larger than the corpus, {size} passages; give --cutoffs 1,{size}."
            )
        return sorted(set(cutoffs))

    def metrics_for(self, cutoffs: Sequence[int]) -> list[str]:
        """Return the metrics to compute, those of the gates among them; the last one decides."""
        chosen = list(self.metrics or default_metrics(cutoffs))
        return [*(name for name, _ in self.floors if name not in chosen), *chosen]

    def gates(self) -> list[Gate]:
        """Return the gates, which judge the first system."""
        first = self.specs[0].name
        floors: list[Gate] = [Floor(first, metric, value) for metric, value in self.floors]
        return floors + [NotWorse(first, rival, self.args.level) for rival in self.rivals]

    def slices(self, data: RetrievalDataset) -> dict[str, str]:
        """Return the type of each query by its id: of ``--slices``, else those of the bundled collection."""
        return read_types(Path(self.args.slices).expanduser(), data) if self.args.slices else bundled_types(data)


def read(args: argparse.Namespace) -> Request:
    """Check a command line: every name, path and number that can be checked in a moment.

    Raises:
        ValueError, FileNotFoundError, ConnectionError: the mistake, in one line.
    """
    _check_source(args)
    specs = _specs(args)
    floors = [read_floor(text) for text in args.fail_under]
    rivals = [_rival(name, specs) for name in args.fail_if_worse_than]
    if not 0 < args.level < 1:
        raise ValueError(f"--level {args.level}: expected a number between 0 and 1, such as 0.05.")
    metrics = [name.strip().lower() for name in args.metrics.split(",")] if args.metrics else None
    for name in [*(metrics or ()), *(metric for metric, _ in floors)]:
        base, at, cutoff = name.partition("@")
        if base in ELSEWHERE:
            raise ValueError(f"Unknown metric {name!r}: write it {ELSEWHERE[base]}{at}{cutoff}.")
    if metrics:
        check_metrics(metrics, 10)
    floors = [(canonical_metrics([name])[0], value) for name, value in floors]
    if args.slices and not Path(args.slices).expanduser().is_file():
        raise FileNotFoundError(f"No file {args.slices!r}; --slices takes lines of query id, tab, type.")
    _check_folder(args, specs)
    return Request(args, specs, metrics, _cutoffs(args.cutoffs), floors, rivals)


def _keyword(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _chosen(args: argparse.Namespace, options: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the options of a group that the command line has, as keyword arguments."""
    values = {_keyword(flag): getattr(args, _keyword(flag)) for flag in options}
    return {name: value for name, value in values.items() if value is not None}


def _specs(args: argparse.Namespace) -> list[Spec]:
    """Read and check the systems: of --model, --against, --system, and of the file."""
    model = args.model or (MODEL_DEFAULT if args.against else None)
    specs = [from_text(text) for text in (model, args.against, *args.system) if text]
    specs += from_toml(args.systems) if args.systems else []
    common = _chosen(args, MODELS)
    specs = [
        replace(spec, options=common | dict(spec.options)) if spec.kind == "model" else spec
        for spec in specs or [from_text(MODEL_DEFAULT)]
    ]
    specs = with_labels(specs)
    check_specs(specs)
    return specs


def _check_source(args: argparse.Namespace) -> None:
    """Raise for a mistyped path that would be taken for a data set of the hub, and for a file of another kind."""
    if args.data is None:
        if set(_chosen(args, DATA)) & {"queries", "corpus", "qrels"}:
            raise ValueError(
                "--queries, --corpus and --qrels belong to a collection: name its folder, --data ., and give all three."
            )
        return
    path = Path(args.data).expanduser()
    if path.is_file():
        suffix = "".join(path.suffixes[-1:]).lower()
        suffix = "".join(path.suffixes[-2:-1]).lower() if suffix == ".gz" else suffix
        if suffix not in READERS:
            hint = (
                "save the sheet as CSV UTF-8" if suffix in (".xlsx", ".xls", ".ods") else f"give {', '.join(READERS)}"
            )
            raise ValueError(f"{path.name!r}: cannot read {path.suffix or 'a file without suffix'}; {hint}.")
    elif not path.exists() and "/" in args.data and not is_hub_id(args.data):
        raise FileNotFoundError(f"No file or folder {args.data!r}{nearest(path)}. Check the path (--data).")


def _cutoffs(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = re.split(r"[,\s]+", text.strip())
    numbers = [int(part) if re.fullmatch(r"[0-9]{1,9}", part) else 0 for part in parts]
    if min(numbers) < 1:
        raise ValueError(f"--cutoffs {text!r}: expected whole numbers of at least 1, such as 1,10.")
    return numbers


def _rival(name: str, specs: Sequence[Spec]) -> str:
    """Return the label of the system that a gate names by label or by place."""
    rivals = [s.name for s in specs[1:] if name in (s.name, s.where) or name.lower() == s.name.lower()]
    if not rivals:
        others = ", ".join(s.name for s in specs[1:]) or "none"
        raise ValueError(f"--fail-if-worse-than {name!r}: no such system beside the first; there are {others}.")
    return rivals[0]


def _check_folder(args: argparse.Namespace, specs: Sequence[Spec]) -> None:
    """Raise unless files can be written into the folder of the report, or if this call reads one that it replaces."""
    folder: Path = args.out
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(
            f"Cannot write into the folder {str(folder)!r} ({error.strerror or os.strerror(error.errno or 0)}); "
            "choose another, --out."
        ) from None
    inputs = [
        *(s.where for s in specs),
        *(v for v in (args.data, args.queries, args.corpus, args.qrels, args.slices) if v),
    ]
    replaced = {path.resolve(): path for path in earlier_files(folder)}
    for name in inputs:
        path = replaced.get(Path(name).expanduser().resolve()) or replaced.get(Path(args.data or "", name).resolve())
        if path is not None:
            raise ValueError(
                f"{str(path)!r} is of the report that this one replaces: copy it, or choose another --out."
            )
