"""The report's command: its options, one row each; read and check, load, compare, write, judge.

Exit status: 0 well, 1 an error or a system that failed, 2 a command line that cannot be read, 3 a gate
(`--fail-under`, `--fail-if-drop`) that was not passed, 130 stopped by Ctrl-C.
"""

import argparse
import glob
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from helpers._io import default_language, plain_name
from helpers._optional import say
from helpers.data import OFFLINE_DATA, RetrievalDataset, from_ids, load_dataset
from helpers.data.runs import read_run_table
from helpers.data.trec import as_qrels, read_judgements, read_run
from helpers.metrics import explain
from helpers.metrics.inputs import checked_cutoff
from helpers.models import OFFLINE_DEFAULT
from helpers.report.comparison import canonical_metrics, check_metrics, compare, default_metrics
from helpers.report.gates import MARGIN, Outcome, at_least, headline, no_drop, read_baseline
from helpers.report.page import LANGUAGES, catalogue, changes, render
from helpers.report.results import Comparison, cutoff_of
from helpers.report.spec import Record, Spec, check_specs, from_text, from_toml, one_line, with_labels

Group: TypeAlias = dict[str, Record]  # the keyword arguments of add_argument, by option

SYSTEMS: Group = {
    "--model": {"metavar": "SYSTEM", "help": f"the first system; {OFFLINE_DEFAULT} if none is named"},
    "--system": {"metavar": "SYSTEM", "action": "extend", "nargs": "+", "default": [],
                 "help": "any number more, runs/*.trec among them; options: 'models/mine?pooling=cls&max_length=256'"},
    "--systems": {"metavar": "FILE",
                  "help": "a TOML file that names systems, fusions and rerankers"},
}  # fmt: skip
DATA: Group = {  # also parameters of load_dataset
    "--queries": {"help": "file of ids and texts, in the folder DATA or a path of its own"},
    "--corpus": {"help": "file of ids and texts, in the folder DATA or a path of its own"},
    "--qrels": {"help": "file of judgements by id, in the folder DATA or a path of its own; alone, for runs"},
    "--columns": {"help": 'the names of your columns: "query=question, positive=answer"'},
    "--config": {"help": "which configuration or language, if the data set has several: zh"},
    "--split": {"help": "which split holds the queries"},
    "--relevance-level": {"type": int, "help": "the lowest grade that counts as relevant"},
    "--max-queries": {"type": int, "metavar": "N",
                      "help": "evaluate only the first N queries; all data are read all the same"},
    "--on-missing": {"choices": ("raise", "skip", "keep"),
                     "help": "queries and relevant documents without a text: stop, leave them out (this changes R and "
                     "the ideal ranking), or keep the judgements of documents"},
    "--equal": {"choices": ("merge", "keep"),
                "help": "merge equal passages into one, as by default, or leave each under its id, as trec_eval does"},
    "--encoding": {"help": "encoding of CSV, TSV and JSON files that are not UTF-8, such as gb18030"},
}  # fmt: skip
KEYWORDS = [flag.removeprefix("--").replace("-", "_") for flag in DATA]  # on_missing for --on-missing
OUTPUT: Group = {
    "--metrics": {"help": "comma-separated, the one that decides last: recall@100,ndcg@10, or P@10,nDCG@10"},
    "--cutoffs": {"help": "of the metrics by default: 1,10 unless the corpus is smaller"},
    "--unanswered": {"choices": ("zero", "skip"), "default": "zero",
                     "help": "queries without a relevant passage: score 0, or leave them out"},
    "--margin": {"type": float, "help": "the smallest difference that matters: by default that of --fail-if-drop, or "
                 f"{MARGIN}"},
    "--language": {"choices": LANGUAGES, "help": "that of EVAL_LANGUAGE or of the locale, unless it is named here"},
    "--out": {"type": Path, "default": Path("build/report"),
              "help": "folder for the page and the results, in place of an earlier report's"},
    "--quiet": {"action": "store_true", "help": "no progress bars"},
    "--fail-under": {"action": "append", "default": [], "metavar": "METRIC=VALUE",
                     "help": "exit with 3 if the first system is below"},
    "--baseline": {"type": Path, "metavar": "FOLDER",
                   "help": "an earlier report on the same data; exit with 1 if it is of other data or lacks the "
                   "metric"},
    "--fail-if-drop": {"action": "append", "default": [], "metavar": "METRIC[=MARGIN]",
                       "help": "exit with 3 if the first system has fallen since the baseline, and a loss of the "
                       "margin cannot be excluded; by default the metric that decides, and no margin"},
    "--explain": {"metavar": "METRIC=FIGURE,…",
                  "help": "write no report but say which convention gives these figures on the first system, a run: "
                  "ndcg@10=0.596,mrr@10=0.83"},
}  # fmt: skip
GROUPS = {
    "systems: a hub id, a model folder, a folder of embeddings, a TREC run, bm25, tfidf": SYSTEMS,
    "data": {"--data": {"help": f"bundled name, hub id, folder or table file; default {OFFLINE_DATA}"}} | DATA,
    "what is computed and written": OUTPUT,
}
LEVEL = 0.05  # of significance, shared by all --fail-if-drop


def main(argv: Sequence[str] | None = None) -> int:
    """Write a report and return the exit status; an error is printed in one line."""
    args = parser().parse_args(argv)
    try:
        return _run(args)
    except KeyboardInterrupt:
        print("\nstopped: nothing was written; the same command goes on from the embeddings so far", file=sys.stderr)
        return 130
    except (ValueError, RuntimeError, OSError, ImportError, MemoryError) as error:
        print(f"error: {one_line(with_options(str(error))) or type(error).__name__}", file=sys.stderr)
        return 1


def _run(args: argparse.Namespace) -> int:
    args.language = args.language or default_language()
    specs = _specs(args)
    if args.explain:
        return _explain(args, specs)
    first = specs[0].name
    metrics = canonical_metrics(args.metrics.split(",")) if args.metrics else []
    if metrics:
        check_metrics(metrics, 10)
    floors = [read_gate("--fail-under", text) for text in args.fail_under]
    drops = [read_gate("--fail-if-drop", text, 0.0) for text in args.fail_if_drop]
    margin = args.margin or next((value for _, value in drops if value), MARGIN)
    _check(args)
    data = _load(args, specs)
    last = 10 if data.judged_alone else min(10, len(data.corpus))
    asked = map(checked_cutoff, (args.cutoffs or f"1,{last}").split(","))
    cutoffs = sorted({*asked, *filter(None, map(cutoff_of, metrics))})
    chosen = metrics or default_metrics(cutoffs)
    drops = drops or ([(check_metrics(chosen, 10)[-2], 0.0)] if args.baseline else [])  # the one before judged@10
    chosen = [*dict.fromkeys(name for name, _ in floors + drops if name not in chosen), *chosen]
    earlier = read_baseline(args.baseline, data, first, [name for name, _ in drops]) if args.baseline else None
    comparison = compare(specs, data, cutoffs[-1], metrics=chosen, progress=not args.quiet)
    say("statistics …", show=not args.quiet)
    outcomes = [at_least(comparison, first, *floor, args.language) for floor in floors]
    if earlier:  # Bonferroni: over all metrics at most one level of false alarms
        alpha = LEVEL / len(drops)
        outcomes += [no_drop(comparison, first, earlier, *drop, alpha, args.language) for drop in drops]
    line = headline(comparison, first, earlier, margin, args.language)
    page = render(comparison, language=args.language, verdicts=outcomes, headline=line, baseline=bool(earlier))
    files = comparison.save(args.out, {"report.html": page})
    print(line, end="\n" if line else "")
    _print_results(comparison, files, outcomes, args.language)
    if any(outcome.name == "not_passed" for outcome in outcomes):
        return 3
    return 1 if comparison.failed else 0


def _explain(args: argparse.Namespace, specs: Sequence[Spec]) -> int:
    figures = {}
    for text in args.explain.split(","):
        name, given, figure = text.rpartition("=")
        if not given:
            raise ValueError(f"--explain {text!r}: expected METRIC=FIGURE, such as ndcg@10=0.596.")
        figures[name.strip()] = figure.strip()
    if specs[0].kind != "run":
        raise ValueError(f"--explain is about a run, and {specs[0].name!r} is none: give a run file, --model my.trec.")
    data = _load(args, specs)
    qrels = as_qrels(data.qrels, data.query_ids, data.doc_ids)
    found = explain(read_run(specs[0].where), qrels, figures, relevance_level=data.relevance_level)
    print(found.text(args.language))
    return 0


def _check(args: argparse.Namespace) -> None:
    """Raise unless options go together, files can be written, and a baseline is there and not replaced."""
    if args.data is None and (args.queries or args.corpus):
        raise ValueError(
            "--queries, --corpus and --qrels belong to a collection: name its folder, --data ., and give all three."
        )
    if args.fail_if_drop and not args.baseline:
        raise ValueError("--fail-if-drop compares with an earlier report: give its folder, --baseline.")
    if args.baseline and not args.baseline.exists():
        raise FileNotFoundError(f"No folder {str(args.baseline)!r}; --baseline takes the folder of an earlier report.")
    if args.margin is not None and not 0 < args.margin <= 1:
        raise ValueError(f"--margin {args.margin:g}: expected a difference above 0 and at most 1, such as {MARGIN}.")
    folder: Path = args.out
    judged = [Path(args.qrels).expanduser(), Path(args.data or "", args.qrels)] if args.qrels else []
    if folder.resolve() / "qrels.trec" in [path.resolve() for path in judged]:
        raise ValueError(f"--qrels {args.qrels!r} is a file that the report would write over: choose another --out.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(
            f"Cannot write into the folder {str(folder)!r} ({error.strerror or error}); choose another, --out."
        ) from None
    if args.baseline and folder.resolve() == args.baseline.resolve():
        raise ValueError(
            f"--baseline {str(args.baseline)!r} is the report that this one replaces: choose another --out."
        )


def _chosen(args: argparse.Namespace) -> Record:
    return {name: getattr(args, name) for name in KEYWORDS if getattr(args, name) is not None}


def _load(args: argparse.Namespace, specs: Sequence[Spec]) -> RetrievalDataset:
    """Load the collection, and print it to the error stream with how it differs from its source."""
    alone = args.data is None and args.qrels
    data = _judgements_alone(args, specs) if alone else load_dataset(args.data or OFFLINE_DATA, **_chosen(args))
    data = data.without_unanswered() if args.unanswered == "skip" else data
    print(f"{data!r}; {len(specs)} system(s)", file=sys.stderr)
    for label, value in changes(data, args.language):
        print(f"note: data: {label}: {value}", file=sys.stderr)
    return data


def _judgements_alone(args: argparse.Namespace, specs: Sequence[Spec]) -> RetrievalDataset:
    """Return a collection without texts, for runs: an id stands where a text would be."""
    if searching := [spec.name for spec in specs if spec.kind not in ("run", "fuse")]:
        raise ValueError(
            f"{searching[0]!r} searches texts, and --qrels alone has none: give --data, --queries, --corpus."
        )
    if given := _chosen(args).keys() - {"qrels", "relevance_level", "max_queries"}:
        raise ValueError(f"--{min(given).replace('_', '-')} is about texts, and --qrels alone has none: give --data.")
    path = Path(args.qrels).expanduser()
    qrels, unused = read_judgements(path, {})
    documents = {doc: doc for docs in qrels.values() for doc in docs}
    fused = {part for spec in specs for part in spec.parts}
    for spec in specs:
        if spec.kind == "run" and spec.name in fused:
            documents |= {doc: doc for doc in read_run_table(Path(spec.where).expanduser()).documents}
    data = from_ids(plain_name(path), {query: query for query in qrels}, documents, qrels)
    data = replace(data, unused={path.name: unused} if unused else {})
    return replace(data, relevance_level=args.relevance_level or 1).first(args.max_queries)


def _specs(args: argparse.Namespace) -> list[Spec]:
    specs = []
    for text in filter(None, [args.model, *args.system]):
        is_pattern = "*" in text and not Path(text).expanduser().exists()  # where no shell named the files
        files = sorted(glob.glob(str(Path(text).expanduser()))) if is_pattern else []
        specs += [from_text(file) for file in files or [text]]
    specs += from_toml(args.systems) if args.systems else []
    specs = with_labels(specs or [from_text(OFFLINE_DEFAULT)])
    check_specs(specs)
    return specs


def _print_results(comparison: Comparison, files: Sequence[Path], outcomes: Sequence[Outcome], language: str) -> None:
    """Print notes and failures to the error stream, and means, gates and files to the output."""
    words = catalogue(language)["page"]
    for name, result in comparison.results.items():
        for note in result.notes:
            print(f"note: {name}: {one_line(note.text)}", file=sys.stderr)
        if (own := result.evaluation) and own.missing:
            print(f"note: {name}: {own.missing} of {own.queries} queries have no result and score 0", file=sys.stderr)
    for name, evaluation in comparison.scored.items():
        print(f"{name}: " + ", ".join(f"{metric} {evaluation.mean[metric]:.4f}" for metric in comparison.metrics))
    for name, error in comparison.failed.items():
        print(f"error: {name}: {with_options(error)}", file=sys.stderr)
    for outcome in outcomes:
        print(f"gate: {words[outcome.name]}{words['colon']}{outcome.why}")
    print(f"report: {files[0]}, beside it {len(files) - 1} files of results")


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
    """Write the keyword arguments in a message of the package as options of this command: --on-missing skip."""
    names = "|".join(KEYWORDS)
    message = re.sub(rf'\b({names})="(\w+)"', r"\1=\2", message)  # one word needs no quotes
    return re.sub(rf"\b({names})=", lambda match: f"--{match[1].replace('_', '-')} ", message)


def read_gate(option: str, text: str, default: float | None = None) -> tuple[str, float]:
    """Read METRIC=VALUE, or METRIC alone where there is a default."""
    match = re.fullmatch(r"\s*(\w+(?:\([^()]*\))?(?:@\w+)?)\s*(?:=\s*([0-9]*\.?[0-9]+|[0-9]+\.)\s*)?", text)
    if match is None or (match[2] is None and default is None) or not 0 <= float(match[2] or 0) <= 1:
        form = "METRIC=VALUE" if default is None else "METRIC or METRIC=VALUE"
        raise ValueError(f"{option} {text!r}: expected {form} with a value from 0 to 1, such as ndcg@10=0.01.")
    return canonical_metrics([match[1]])[0], float(match[2]) if match[2] else default or 0.0
