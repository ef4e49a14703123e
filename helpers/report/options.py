"""The command line of the report, read and checked before anything is loaded."""

import argparse
import ast
import contextlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers._printable import printable
from helpers.data import OFFLINE_DEFAULT as DATA_DEFAULT
from helpers.data import load_dataset
from helpers.data.formats import READERS
from helpers.models import OFFLINE_DEFAULT as MODEL_DEFAULT
from helpers.report.gates import Floor, Gate, NotWorse, read_floor

if TYPE_CHECKING:
    from helpers.data import RetrievalDataset
    from helpers.systems import Description

LANGUAGES = ("en", "zh")
DATA_OPTIONS = (
    "config", "split", "queries", "corpus", "qrels", "columns", "relevance_level", "max_queries", "corpus_queries",
    "on_blank", "on_missing", "unanswered", "equal",
)  # fmt: skip
MODEL_OPTIONS = ("device", "half", "index", "batch_size")
PARAMETERS = {  # of lesson 01, for -p NAME=VALUE: the option each of them is here
    "MODEL": "model", "DATASET": "data", "CUTOFFS": "cutoffs",
    **{name.upper(): name for name in (*DATA_OPTIONS, *MODEL_OPTIONS)},
}  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="retrieval-report", description="Compare any retrieval systems on any data, and write one page."
    )
    what = top.add_argument_group("systems: a hub id, a model folder, a folder of embeddings, a TREC run, bm25, tfidf")
    what.add_argument("--model", metavar="SYSTEM", help=f"the first system, by default {MODEL_DEFAULT}")
    what.add_argument("--against", metavar="SYSTEM", help="a second one")
    what.add_argument("--system", metavar="SYSTEM", action="append", default=[],
                      help="any number more; options behind it: 'models/mine?pooling=cls&max_length=256'")  # fmt: skip
    what.add_argument("--systems", metavar="FILE", help="a TOML file that names systems, fusions and rerankers")
    what.add_argument("--device", help="of models that name none: cpu, cuda:0 …")
    what.add_argument("--half", action="store_true", default=None, help="16-bit floats on a GPU")
    what.add_argument("--index", help="a FAISS index_factory string, by default Flat")
    what.add_argument("--batch-size", type=int, help="texts a forward pass")
    _add_data(top.add_argument_group("data"))
    _add_output(top.add_argument_group("what is computed and written"))
    return top


def _add_data(group: argparse._ArgumentGroup) -> None:
    """Add the options that say where the data are."""
    group.add_argument("--data", help=f"bundled name, hub id, folder (hub, BEIR) or table file; default {DATA_DEFAULT}")
    for name, what in (("queries", "ids and texts"), ("corpus", "ids and texts"), ("qrels", "judgements by id")):
        group.add_argument(f"--{name}", help=f"file of {what}, in the folder DATA or a path of its own")
    group.add_argument("--columns", help='what your columns are called: "query=question, positive=answer"')
    group.add_argument("--config", help="which configuration or language, where the data set has several: zh")
    group.add_argument("--split", help="which split holds the queries")
    group.add_argument("--relevance-level", type=int, help="the lowest grade that counts as relevant")
    group.add_argument("--max-queries", type=int, help="evaluate the first so many queries")
    group.add_argument("--on-blank", choices=("raise", "skip"), help="blank documents")
    group.add_argument("--on-missing", choices=("raise", "skip", "keep"),
                       help="relevant documents without a text: skip changes R and the ideal ranking")  # fmt: skip
    group.add_argument("--unanswered", choices=("zero", "skip"), help="queries without a relevant passage")
    group.add_argument("--equal", choices=("merge", "keep"), help="passages with equal texts: by default one")
    group.add_argument("--slices", metavar="FILE", help="query id and type, tab-separated: scores by type")
    group.add_argument("-p", dest="parameter", action="append", default=[], metavar="NAME=VALUE",
                       help="the same by the names of lesson 01's parameters")  # fmt: skip


def _add_output(group: argparse._ArgumentGroup) -> None:
    """Add the options that say what to compute and where to write."""
    group.add_argument("--cutoffs", help="1,10 unless the corpus is smaller")
    group.add_argument("--metrics", help="comma-separated, the one that decides last: recall@100,ndcg@10")
    group.add_argument("--no-growth", action="store_true", help="leave out the scores of smaller corpora")
    group.add_argument("--language", choices=LANGUAGES, default="en", help="of the page")
    group.add_argument("--out", type=Path, default=Path("build/report"), help="folder of the page and the results")
    group.add_argument("--quiet", action="store_true", help="no progress bars")
    group.add_argument("--fail-under", action="append", default=[], metavar="METRIC=VALUE",
                       help="exit with 3 if the first system stays below")  # fmt: skip
    group.add_argument("--fail-if-worse-than", action="append", default=[], metavar="SYSTEM",
                       help="exit with 3 if the first system is significantly worse")  # fmt: skip
    group.add_argument("--level", type=float, default=0.05, help="significance level of that gate, 0.05")


@dataclass(frozen=True)
class Request:
    """A command line that was read and found possible."""

    systems: "Sequence[Description]"
    data: str
    data_options: Mapping[str, Any]
    out: Path
    cutoffs: Sequence[int] | None
    metrics: Sequence[str] | None
    language: str = "en"
    growth: bool = True
    progress: bool = True
    slice_file: Path | None = None
    floors: Sequence[tuple[str, float]] = ()
    rivals: Sequence[str] = ()
    level: float = 0.05

    def load(self) -> "RetrievalDataset":
        """Load the data."""
        return load_dataset(self.data, **self.data_options)

    def cutoffs_for(self, data: "RetrievalDataset") -> list[int]:
        """Return the cutoffs asked for, else 1 and 10 or, of a smaller corpus, its size.

        Raises:
            ValueError: one is larger than the corpus.
        """
        size = len(data.corpus)
        asked = list(self.cutoffs or sorted({1, min(10, size)}))
        asked += [int(k) for name in self.metrics or () for k in [name.partition("@")[2]] if k]
        if max(asked) > size and (self.cutoffs or self.metrics):
            raise ValueError(
                f"A cutoff of {max(asked)} is larger than the corpus, {size} passages; give --cutoffs 1,{size}."
            )
        return sorted(set(asked))

    def metrics_for(self, cutoffs: Sequence[int]) -> list[str]:
        """Return the metrics to compute, those of the gates among them; the last one decides."""
        from helpers.systems.comparison import default_metrics

        chosen = list(self.metrics or default_metrics(cutoffs))
        return [*(name for name, _ in self.floors if name not in chosen), *chosen]

    def gates(self) -> list[Gate]:
        """Return the gates, which judge the first system."""
        first = self.systems[0].name
        floors: list[Gate] = [Floor(first, metric, value) for metric, value in self.floors]
        return floors + [NotWorse(first, rival, self.level) for rival in self.rivals]

    def slices(self, data: "RetrievalDataset") -> dict[str, str]:
        """Return the type of each query by its id: of the file given, else those of the bundled collection."""
        from helpers.report.slices import bundled_types, read_types

        return read_types(self.slice_file, data) if self.slice_file else bundled_types(data)


def read(args: argparse.Namespace) -> Request:
    """Check a command line: every name, path and number that can be checked in a moment.

    Raises:
        ValueError, FileNotFoundError, ConnectionError: what is wrong, in one line.
    """
    settings = vars(args) | _parameters(args)
    data = str(settings["data"] or DATA_DEFAULT)
    _check_source(data)
    systems = _systems(args, settings)
    floors = [read_floor(text) for text in args.fail_under]
    rivals = [_rival(name, systems) for name in args.fail_if_worse_than]
    if not 0 < args.level < 1:
        raise ValueError(f"--level {args.level}: expected a number between 0 and 1, such as 0.05.")
    metrics = [name.strip().lower() for name in args.metrics.split(",")] if args.metrics else None
    _check_metrics(metrics)
    floors = [(_canonical(name), value) for name, value in floors]
    _check_folder(args.out)
    slice_file = Path(args.slices).expanduser() if args.slices else None
    if slice_file and not slice_file.is_file():
        raise FileNotFoundError(f"No file {args.slices!r}; --slices takes lines of query id, tab, type.")
    return Request(
        systems, data, _data_options(settings), args.out, _cutoffs(settings["cutoffs"]), metrics, args.language,
        not args.no_growth, not args.quiet, slice_file, floors, rivals, args.level,
    )  # fmt: skip


def _parameters(args: argparse.Namespace) -> dict[str, Any]:
    """Read -p NAME=VALUE, lesson 01's parameters, as the options that they are here."""
    found: dict[str, Any] = {}
    for setting in args.parameter:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"-p {setting!r}: expected NAME=VALUE.")
        if name not in PARAMETERS:
            raise ValueError(f"There is no parameter {printable(name)}; -p takes {', '.join(PARAMETERS)}.")
        found[PARAMETERS[name]] = value
        with contextlib.suppress(ValueError, SyntaxError):
            found[PARAMETERS[name]] = ast.literal_eval(value)  # None, True, a number, a list of cutoffs
    return found


def _systems(args: argparse.Namespace, settings: Mapping[str, Any]) -> "list[Description]":
    """Describe and check the systems: MODEL, AGAINST, those of --system, those of the file."""
    from helpers.systems.check import check_system
    from helpers.systems.describe import from_text, from_toml, with_labels

    texts = [settings["model"], args.against, *args.system]
    found = [from_text(str(text)) for text in texts if text]
    found += from_toml(args.systems) if args.systems else []
    found = found or [from_text(MODEL_DEFAULT)]
    if args.against and not settings["model"]:
        found.insert(0, from_text(MODEL_DEFAULT))
    common = {name: settings[name] for name in MODEL_OPTIONS if settings.get(name) is not None}
    for row, system in enumerate(found):
        if system.kind == "model":
            found[row] = replace(system, options=common | dict(system.options))
    labelled = with_labels(found)
    for system in labelled:
        check_system(system)
    return labelled


def _check_source(source: str) -> None:
    """Raise for a mistyped path that would be taken for a data set of the hub, and for a file of another kind."""
    from helpers.systems.check import looks_like_a_path, nearest

    path = Path(source).expanduser()
    if path.is_file():
        suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
        if not set(suffixes[-1:] if suffixes[-1:] != [".gz"] else suffixes[:1]) & set(READERS):
            raise ValueError(f"{printable(path.name)}: cannot read {path.suffix or 'a file without suffix'}; give "
                             f"{', '.join(READERS)}.")  # fmt: skip
    elif not path.exists() and "/" in source and looks_like_a_path(source):
        raise FileNotFoundError(f"No file or folder {source!r}{nearest(path)}. Check the path (--data).")


def _data_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was said of the data, as load_dataset takes it."""
    return {name: settings[name] for name in DATA_OPTIONS if settings.get(name) is not None}


def _cutoffs(given: object) -> list[int] | None:
    """Read cutoffs: "1,10", or a list.

    Raises:
        ValueError: something else than whole numbers of at least 1.
    """
    if given is None:
        return None
    parts = list(given) if isinstance(given, list | tuple) else re.split(r"[,\s]+", str(given).strip())
    numbers = [int(part) if re.fullmatch(r"[0-9]{1,9}", str(part)) else 0 for part in parts]
    if not numbers or min(numbers) < 1:
        raise ValueError(f"--cutoffs {given!r}: expected whole numbers of at least 1, such as 1,10.")
    return numbers


def _check_metrics(names: Sequence[str] | None) -> None:
    """Raise for a metric that there is none of, or one without its cutoff."""
    if names:
        from helpers.systems.comparison import check_metrics

        check_metrics(names, 10)


def _canonical(metric: str) -> str:
    """Return the name by which results know a metric: ``ndcg@10`` for ``ndcg@010``; raise where there is none."""
    from helpers.systems.comparison import canonical_metrics

    return canonical_metrics([metric])[0]


def _rival(name: str, systems: "Sequence[Description]") -> str:
    """Return the label of the system that a gate names by label or by place."""
    found = [s.name for s in systems[1:] if name in (s.name, s.where) or name.lower() == s.name.lower()]
    if not found:
        others = ", ".join(s.name for s in systems[1:]) or "none"
        raise ValueError(f"--fail-if-worse-than {name!r}: no such system beside the first; there are {others}.")
    return found[0]


def _check_folder(folder: Path) -> None:
    """Raise unless files can be written into the folder of the report."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(
            f"Cannot write into the folder {str(folder)!r} ({error.strerror or os.strerror(error.errno or 0)}); "
            "choose another, --out."
        ) from None
