"""The report's command: read and check, load, compare, write, judge.

Exit status: 0 well, 1 an error or a system that failed, 2 a command line that cannot be read, 3 a gate
(`--fail-under`, `--fail-if-worse-than`) that was not passed, 130 stopped by Ctrl-C.
"""

import sys
from collections.abc import Sequence

from helpers.data import RetrievalDataset
from helpers.embeddings import default_cache
from helpers.report.comparison import Comparison, compare
from helpers.report.files import remove_earlier, save
from helpers.report.gates import Verdict
from helpers.report.options import Request, parser, read, with_options
from helpers.report.page import render, words
from helpers.report.spec import one_line


def main(argv: Sequence[str] | None = None) -> int:
    """Write a report and return the exit status; an error is printed in one line."""
    args = parser().parse_args(argv)
    try:
        return _run(read(args))
    except KeyboardInterrupt:
        print(
            f"\nstopped: nothing was written to {args.out}; embeddings of finished batches are kept in "
            f"{default_cache()}, the same command goes on from there",
            file=sys.stderr,
        )
        return 130
    except (ValueError, RuntimeError, OSError, ImportError) as error:
        print(f"error: {one_line(with_options(str(error)))}", file=sys.stderr)
        return 1
    except MemoryError:
        print("error: out of memory; fewer passages (--corpus), or --index with less memory, help", file=sys.stderr)
        return 1


def _run(request: Request) -> int:
    args = request.args
    remove_earlier(args.out)  # if anything fails from here on, no older page is taken for this one
    data = request.load()
    cutoffs = request.cutoffs_for(data)
    slices = request.slices(data)
    print(f"{data!r}; {len(request.specs)} system(s)", file=sys.stderr)
    _print_data(data)
    comparison = compare(
        request.specs, data, max(cutoffs), metrics=request.metrics_for(cutoffs), growth=not args.no_growth,
        progress=not args.quiet,
    )  # fmt: skip
    verdicts = [gate.verdict(comparison) for gate in request.gates()]
    reasons = [(verdict.passed, verdict.why(args.language)) for verdict in verdicts]
    page = render(comparison, language=args.language, slices=slices, verdicts=reasons)
    try:
        files = save(comparison, args.out, {"report.html": page})
    except OSError as error:
        raise OSError(f"{error} The option is --out.") from None
    _print_results(comparison, files, verdicts)
    if any(not verdict.passed for verdict in verdicts):
        return 3
    return 1 if comparison.failed else 0


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
            print(f"note: {name}: {missing} of {queries} queries are missing and score 0", file=sys.stderr)
    for name, evaluation in comparison.scored.items():
        print(f"{name}: " + ", ".join(f"{metric} {evaluation.mean[metric]:.4f}" for metric in comparison.metrics))
    for name, error in comparison.failed.items():
        print(f"error: {name}: {with_options(error)}", file=sys.stderr)
    for verdict in verdicts:
        print(f"gate: {verdict}")
    print(f"report: {files[0]}" + (f", beside it {len(files) - 1} files of results" if len(files) > 1 else ""))
