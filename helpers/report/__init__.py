"""Compare any systems on any data and write one page: `retrieval-report --help`, or `python -m helpers.report`.

What was given is read and checked first, then the data are loaded, then systems rank; a page, results for machines,
runs and an exit status come of it. Exit status: 0 well, 1 an error or a system that failed, 2 a command line that
cannot be read, 3 a gate (`--fail-under`, `--fail-if-worse-than`) that was not passed, 130 stopped by Ctrl-C.
"""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from helpers.report.options import Request, parser, read

if TYPE_CHECKING:
    from helpers.data import RetrievalDataset
    from helpers.systems import Comparison

__all__ = ["main", "parser"]


def main(argv: Sequence[str] | None = None) -> int:
    """Write a report and return the exit status; an error is told in one line."""
    args = parser().parse_args(argv)
    try:
        return _run(read(args))
    except KeyboardInterrupt:
        from helpers.embeddings import default_cache

        print(
            f"\nstopped: nothing was written to {args.out}; embeddings of finished batches are kept in "
            f"{default_cache()}, the same command goes on from there",
            file=sys.stderr,
        )
        return 130
    except (ValueError, RuntimeError, OSError, ImportError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except MemoryError:
        print("error: out of memory; fewer passages (--corpus), or --index with less memory, help", file=sys.stderr)
        return 1


def _run(request: Request) -> int:
    """Load, compare, write, and judge the gates."""
    data = request.load()
    cutoffs = request.cutoffs_for(data)
    gates = request.gates()
    print(f"{data!r}; {len(request.systems)} system(s)", file=sys.stderr)
    _tell_data(data)
    from helpers.systems import compare

    comparison = compare(
        request.systems, data, max(cutoffs), metrics=request.metrics_for(cutoffs), growth=request.growth,
        progress=request.progress,
    )  # fmt: skip
    from helpers.show.page import write_report

    page = request.out / "report.html"
    with _naming_the_option():
        files = comparison.save(request.out) if comparison.scored else []
    verdicts, slices = [gate.verdict(comparison) for gate in gates], request.slices(data)
    with _naming_the_option():
        write_report(comparison, page, language=request.language, slices=slices, verdicts=verdicts)
    _tell(comparison, [page, *files], verdicts)
    if any(not verdict.passed for verdict in verdicts):
        return 3
    return 1 if comparison.failed else 0


def _tell_data(data: "RetrievalDataset") -> None:
    """Print how the data differ from their source: what changes a number that others publish."""
    from helpers.show.messages import SKIPPED

    notes = [f"left out: {SKIPPED[kind][0]}: {count}" for kind, count in data.skipped.items()]
    if data.skipped.get("missing_passages"):
        notes.append("relevant passages were left out, so recall and ideal DCG are not the official ones; "
                     "--on-missing keep counts them")  # fmt: skip
    if data.ids_without_text:
        notes.append(f"judged documents without a text, which keep their judgements: {len(data.ids_without_text)}")
    if data.merged:
        notes.append(f"equal passages were merged into one: {data.merged}; --equal keep leaves each under its id")
    for note in notes:
        print(f"note: data: {note}", file=sys.stderr)


@contextlib.contextmanager
def _naming_the_option() -> Iterator[None]:
    """Say by which option to choose another folder where one cannot be written."""
    try:
        yield
    except OSError as error:
        raise OSError(f"{error} The option is --out.") from None


def _tell(comparison: "Comparison", files: Sequence[object], verdicts: Sequence[object]) -> None:
    """Print what came out: means, failures, gates, files."""
    for name, result in comparison.results.items():
        for note in result.notes:
            print(f"note: {name}: {note}", file=sys.stderr)
    for name, evaluation in comparison.scored.items():
        print(f"{name}: " + ", ".join(f"{metric} {evaluation.mean[metric]:.4f}" for metric in comparison.metrics))
    for name, error in comparison.failed.items():
        print(f"error: {name}: {error}", file=sys.stderr)
    for verdict in verdicts:
        print(f"gate: {verdict}")
    print(f"report: {files[0]}" + (f", beside it {len(files) - 1} files of results" if len(files) > 1 else ""))
