"""The report's command: read and check, load, compare, write, judge.

Exit status: 0 well, 1 an error or a system that failed, 2 a command line that cannot be read, 3 a gate
(`--fail-under`, `--fail-if-worse-than`, `--fail-if-drop`) that was not passed, 4 a baseline of other data, 130 stopped
by Ctrl-C.
"""

import argparse
import glob
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from helpers._atomic import whole_file
from helpers._files import open_text, plain_name
from helpers.chunks import as_collection, cut
from helpers.data import OFFLINE_DEFAULT as DATA_DEFAULT
from helpers.data import RetrievalDataset, bundled, from_ids, load_dataset
from helpers.data.spans import load_spans
from helpers.data.trec import read_qrels
from helpers.embeddings import default_cache
from helpers.models import OFFLINE_DEFAULT as MODEL_DEFAULT
from helpers.report.comparison import Comparison, canonical_metrics, check_metrics, compare, default_metrics
from helpers.report.files import earlier_files, remove_earlier, save
from helpers.report.gates import (
    NotComparableError,
    Verdict,
    at_least,
    junit,
    no_drop,
    not_worse,
    read_baseline,
    summary,
)
from helpers.report.loading import load_run
from helpers.report.mteb import mteb_files
from helpers.report.options import (
    DATA,
    MODELS,
    keywords,
    parser,
    read_chunker,
    read_cutoffs,
    read_gate,
    split_metrics,
    with_options,
)
from helpers.report.page import render, words
from helpers.report.spec import Record, Spec, check_specs, from_text, from_toml, one_line, with_labels

SPANS_DEFAULT = "pages-en"


def main(argv: Sequence[str] | None = None) -> int:
    """Write a report and return the exit status; an error is printed in one line."""
    args = parser().parse_args(argv)
    try:
        return _run(args)
    except KeyboardInterrupt:
        print(
            f"\nstopped: nothing was written to {args.out}; embeddings of finished batches are kept in "
            f"{default_cache()}, the same command goes on from there",
            file=sys.stderr,
        )
        return 130
    except NotComparableError as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 4
    except (ValueError, RuntimeError, OSError, ImportError) as error:
        print(f"error: {one_line(with_options(str(error)))}", file=sys.stderr)
        return 1
    except MemoryError:
        print("error: out of memory; fewer passages (--corpus), or --index with less memory, help", file=sys.stderr)
        return 1


def _run(args: argparse.Namespace) -> int:
    if args.data is None and (args.queries or args.corpus):
        raise ValueError(
            "--queries, --corpus and --qrels belong to a collection: name its folder, --data ., and give all three."
        )
    specs = _specs(args)
    first = specs[0].name
    metrics = split_metrics(args.metrics) if args.metrics else []
    if args.fail_if_drop and not args.baseline:
        raise ValueError("--fail-if-drop compares with an earlier report: give its folder, --baseline.")
    floors = [read_gate("--fail-under", text) for text in args.fail_under]
    drops = [read_gate("--fail-if-drop", text, 0.0) for text in args.fail_if_drop]
    if metrics:
        check_metrics(metrics, 10)
    floors, drops = ([(canonical_metrics([name])[0], value) for name, value in gates] for gates in (floors, drops))
    rivals = [find_rival(name, specs) for name in args.fail_if_worse_than]
    cutoffs = read_cutoffs(args.cutoffs) if args.cutoffs is not None else []
    if not 0 < args.level < 1:
        raise ValueError(f"--level {args.level}: expected a number between 0 and 1, such as 0.05.")
    for option, number, least in (("looks", args.looks, 1), ("latency", args.latency, 0), ("budget", args.budget, 1)):
        if number < least:
            raise ValueError(f"--{option} {number}: expected a whole number of at least {least}.")
    if args.chunks and (others := sorted(_chosen(args, DATA))):
        raise ValueError(f"--{others[0].replace('_', '-')} is about judged passages; with --chunks answers are spans.")
    chunker = read_chunker(args.chunks) if args.chunks else None
    if args.export and args.export.partition("=")[0] != "mteb":
        raise ValueError(f"--export {args.export}: expected mteb, or mteb=TASK.")
    if args.slices and not Path(args.slices).expanduser().is_file():
        raise FileNotFoundError(f"No file {args.slices!r}; --slices takes lines of query id, tab, type.")
    if args.baseline and not args.baseline.exists():
        raise FileNotFoundError(f"No folder {str(args.baseline)!r}; --baseline takes the folder of an earlier report.")
    _check_folder(args, specs)
    remove_earlier(args.out)  # if anything fails from here on, no older page is taken for this one
    documents = load_spans(args.data or SPANS_DEFAULT) if chunker else None
    if documents and chunker:
        data = as_collection(documents, cut(documents, chunker))
    elif args.data is None and args.qrels:
        data = _judgements_alone(args, specs)
    else:
        data = load_dataset(args.data or DATA_DEFAULT, **_chosen(args, DATA))
    size = len(data.corpus)
    cutoffs = sorted({*(cutoffs or (1, min(10, size))), *(int(k) for m in metrics if (k := m.partition("@")[2]))})
    if cutoffs[-1] > size:
        raise ValueError(
            f"A cutoff of {cutoffs[-1]} is larger than the corpus, {size} passages; give --cutoffs 1,{size}."
        )
    types = read_types(Path(args.slices).expanduser(), data) if args.slices else bundled_types(data)
    print(f"{data!r}; {len(specs)} system(s)", file=sys.stderr)
    _print_data(data)
    chosen = metrics or default_metrics(cutoffs)
    drops = drops or ([(canonical_metrics(chosen)[-1], 0.0)] if args.baseline else [])
    chosen = [*dict.fromkeys(name for name, _ in floors + drops if name not in chosen), *chosen]
    earlier = read_baseline(args.baseline, data, first, [name for name, _ in drops]) if args.baseline else None
    comparison = compare(
        specs, data, cutoffs[-1], metrics=chosen, growth=not args.no_growth, latency=args.latency,
        progress=not args.quiet,
    )  # fmt: skip
    if documents:
        comparison = comparison.with_evidence(documents, args.budget)
    verdicts = [at_least(comparison, first, *floor) for floor in floors]
    verdicts += [not_worse(comparison, first, rival, args.level) for rival in rivals]
    if earlier:  # Bonferroni: over all looks and metrics at most one level of false alarms
        alpha = args.level / (len(drops) * args.looks)
        verdicts += [no_drop(comparison, first, earlier, *drop, alpha) for drop in drops]
    reasons = [(verdict.passed, verdict.why(args.language)) for verdict in verdicts]
    texts = {"report.html": render(comparison, language=args.language, slices=types, verdicts=reasons)}
    if args.export:
        texts |= mteb_files(comparison, args.export.partition("=")[2])
    try:
        files = save(comparison, args.out, texts)
    except OSError as error:
        raise OSError(f"{error} The option is --out.") from None
    outcome = {args.junit: junit(comparison, verdicts), args.comment: summary(comparison, verdicts, first, earlier)}
    for path, text in outcome.items():
        if path:
            with whole_file(path) as part:
                part.write_text(text, encoding="utf-8")
    _print_results(comparison, files, verdicts)
    if any(not verdict.passed for verdict in verdicts):
        return 3
    return 1 if comparison.failed else 0


def read_types(path: Path, data: RetrievalDataset) -> dict[str, str]:
    """Read the types of queries: lines of query id, tab, type.

    Raises:
        ValueError: a line of another form, text that is not UTF-8, no id that the data have.
    """
    types: dict[str, str] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                query, _, kind = line.partition("\t")
                if not kind.strip():
                    raise ValueError(f"{path.name}:{number}: expected query id, tab, type.")
                types[query.strip()] = kind.split("\t")[0].strip()
    if types.keys().isdisjoint(data.query_ids):
        shown = f"{next(iter(types), 'nothing')!r} against {data.query_ids[0]!r}"
        raise ValueError(f"{path.name}: none of its query ids is one of the data ({shown}).")
    return types


def bundled_types(data: RetrievalDataset) -> dict[str, str]:
    """Return the types of a bundled collection's queries; none for other data."""
    for card in bundled.cards():
        path = card.folder / "query_types.tsv"
        if data.name.split("-")[0] == card.name and path.is_file():
            named = {line.partition("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()}
            return read_types(path, data) if named.issuperset(data.query_ids) else {}
    return {}


def find_rival(name: str, specs: Sequence[Spec]) -> str:
    """Return the name of the system beside the first that --fail-if-worse-than names. Raises ValueError without one."""
    others = [s.name for s in specs[1:]]
    for spec in specs[1:]:
        if name in (spec.where, Path(spec.where).name) or name.lower() == spec.name.lower():
            return spec.name
    raise ValueError(
        f"--fail-if-worse-than {name!r}: no such system beside the first; there are {', '.join(others) or 'none'}."
    )


def _chosen(args: argparse.Namespace, flags: Iterable[str]) -> Record:
    return {name: getattr(args, name) for name in keywords(flags) if getattr(args, name) is not None}


def _judgements_alone(args: argparse.Namespace, specs: Sequence[Spec]) -> RetrievalDataset:
    """Return a collection without texts, for runs: an id stands where a text would be.

    Its documents are those that are judged or retrieved. Every query of the judgements counts (``trec_eval -c``).

    Raises:
        ValueError: a system that searches texts, an option of texts, judgements that cannot be read.
    """
    if searching := [spec.name for spec in specs if spec.kind not in ("run", "fuse")]:
        raise ValueError(
            f"{searching[0]!r} searches texts, and --qrels alone has none: give --data, --queries, --corpus."
        )
    if given := _chosen(args, DATA).keys() - {"qrels", "relevance_level", "max_queries"}:
        raise ValueError(f"--{min(given).replace('_', '-')} is about texts, and --qrels alone has none: give --data.")
    path = Path(args.qrels).expanduser()
    qrels = read_qrels(path)
    runs = [load_run(Path(spec.where).expanduser()) for spec in specs if spec.kind == "run"]
    every: list[Mapping[str, Iterable[str]]] = [qrels, *runs]
    documents = {doc: doc for docs_of in every for docs in docs_of.values() for doc in docs}
    data = from_ids(plain_name(path), {query: query for query in qrels}, documents, qrels)
    return replace(data, relevance_level=args.relevance_level or 1).first(args.max_queries)


def _specs(args: argparse.Namespace) -> list[Spec]:
    texts = [args.model or (MODEL_DEFAULT if args.against else None), args.against, *args.system]
    specs = []
    for text in filter(None, texts):
        is_pattern = "*" in text and not Path(text).expanduser().exists()  # where no shell named the files
        files = sorted(glob.glob(str(Path(text).expanduser()))) if is_pattern else []
        specs += [from_text(file) for file in files or [text]]
    specs += from_toml(args.systems) if args.systems else []
    common = _chosen(args, MODELS)
    specs = [
        replace(spec, options=common | dict(spec.options)) if spec.kind == "model" else spec
        for spec in specs or [from_text(MODEL_DEFAULT)]
    ]
    specs = with_labels(specs)
    check_specs(specs)
    return specs


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
    replaced = {path.resolve(): path for path in earlier_files(folder)}
    earlier = args.baseline and (args.baseline / "results.json" if args.baseline.is_dir() else args.baseline)
    inputs = [*(s.where for s in specs), args.data, args.queries, args.corpus, args.qrels, args.slices, earlier]
    for name in filter(None, inputs):
        for path in (Path(name).expanduser().resolve(), Path(args.data or "", name).resolve()):
            if path in replaced:
                raise ValueError(
                    f"{str(replaced[path])!r} is of the report that this one replaces: copy it, or choose another "
                    "--out."
                )


def _print_data(data: RetrievalDataset) -> None:
    """Print how the data differ from their source: this changes a number that others publish."""
    kinds = words("en")["skipped"]
    notes = [f"left out: {kinds.get(kind, kind)}: {count}" for kind, count in data.skipped.items()]
    if data.skipped.get("missing_passages"):
        notes.append("relevant passages were left out, so recall and ideal DCG are not the official ones; "
                     "--on-missing keep counts them")  # fmt: skip
    if data.ids_without_text:
        notes.append(f"judged documents without a text, which keep their judgements: {len(data.ids_without_text)}")
    if data.merged:
        notes.append(f"equal passages were merged into one: {data.merged}; --equal keep leaves each under its id")
    for note in notes:
        print(f"note: data: {note}", file=sys.stderr)


def _print_results(comparison: Comparison, files: Sequence[object], verdicts: Sequence[Verdict]) -> None:
    """Print notes and failures to the error stream, and means, gates and files to the output."""
    for name, result in comparison.results.items():
        for note in result.notes:
            print(f"note: {name}: {one_line(note.text)}", file=sys.stderr)
        if result.evaluation is not None and result.evaluation.missing:
            missing, queries = result.evaluation.missing, result.evaluation.queries
            print(f"note: {name}: {missing} of {queries} queries have no result and score 0", file=sys.stderr)
    for name, evaluation in comparison.scored.items():
        print(f"{name}: " + ", ".join(f"{metric} {evaluation.mean[metric]:.4f}" for metric in comparison.metrics))
    for name, error in comparison.failed.items():
        print(f"error: {name}: {with_options(error)}", file=sys.stderr)
    for verdict in verdicts:
        print(f"gate: {verdict}")
    print(f"report: {files[0]}" + (f", beside it {len(files) - 1} files of results" if len(files) > 1 else ""))
