"""Judge a collection of your own in a spreadsheet: retrieval-judge sheet, then collect.

`sheet` pools the results of systems and writes the pairs to judge as CSV files; `collect` reads the grades back,
lists conflicts between two assessors, and writes the judgements as TREC qrels. Neither overwrites a file.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from helpers._io import UTF8
from helpers.data import RetrievalDataset, from_ids
from helpers.data.build import Reading, texts_by_id
from helpers.data.formats import read_table
from helpers.data.runs import read_run_table
from helpers.data.trec import read_qrels, require_field, write_qrels
from helpers.judgements import Collected, agreement, collect, pool, read_sheet, write_conflicts, write_sheet
from helpers.judgements.sheets import GRADES, pair_ids, require_new

SCHEMA = 1  # of what --json prints; grows when a key changes its meaning or disappears
DEPTHS = (1, 2, 5, 10, 20, 50, 100)


def rank_run(path: Path, data: RetrievalDataset, depth: int) -> np.ndarray:
    """Return the rows of the corpus in a TREC run, (q, depth), in trec_eval's order."""
    from helpers.systems import Run

    run = Run(read_run_table(path))
    passages, queries = {*data.corpus_ids, *data.same_as}, set(data.query_ids)
    for role, ids, known in (("passage", run.table.documents, passages), ("query", run.table.queries, queries)):
        if foreign := set(ids) - known:
            raise ValueError(f"{path.name}: {role} {min(foreign)!r} is not in the data: give the run of these texts.")
    return run.rank(data, depth).ids


def rank_system(name: str, data: RetrievalDataset, depth: int) -> np.ndarray:
    """Return the rows of the corpus ranked by BM25, TF-IDF or a model, (q, depth)."""
    from helpers.models import load_model
    from helpers.systems import rank

    words = {"bm25": "BM25", "tfidf": "TF-IDF", "tf-idf": "TF-IDF"}
    return rank(words.get(name.lower()) or load_model(name), data, depth).ids


def sheet(args: argparse.Namespace) -> int:
    """Write the sheet, and a copy for each assessor in a different random order."""
    targets = [args.out / f"{name}.csv" for name in ("sheet", *args.assessors)]
    if len(set(targets)) < len(targets):
        raise ValueError(f"Assessors need different names, other than 'sheet', not {', '.join(args.assessors)}.")
    for target in targets:
        require_new(target)
    queries, passages = (
        texts_by_id(read_table(args.data / file), role, Reading()).by_id
        for role, file in (("query", args.queries), ("passage", args.corpus))
    )
    data = from_ids(args.data.name, queries, passages, {})
    for name in (*queries, *passages):
        require_field(name)  # fail before the grading, not after
    most = min(args.depth, len(data.corpus))
    rankings = {str(path): rank_run(path, data, most) for path in args.runs}
    rankings |= {name: rank_system(name, data, most) for name in args.systems}
    if not rankings:
        raise ValueError("Nothing to pool: name --systems (BM25, TF-IDF, a model) or --runs (TREC run files).")
    judged = read_qrels(args.judged) if args.judged else {}
    rows = {name: row for row, name in enumerate(data.corpus_ids)}
    rows |= {name: rows[same] for name, same in data.same_as.items()}
    judged_rows = [{rows[doc] for doc in judged.get(query, {}) if doc in rows} for query in data.query_ids]
    counts = {}
    for depth in sorted({*(d for d in DEPTHS if d < most), most}):
        pooled = pool(rankings, depth)
        pairs = [sorted(set(docs) - seen) for docs, seen in zip(pooled, judged_rows, strict=True)]
        counts[depth] = sum(map(len, pairs))
    args.out.mkdir(parents=True, exist_ok=True)
    for number, target in enumerate(targets):
        count = write_sheet(target, data, pairs, grades=args.grades, seed=number)
    asked = sum(map(bool, pairs))
    lines = [
        f"{count} pairs of {asked} queries to judge, pooled to depth {most}.",
        "Pairs by depth of the pool: " + ", ".join(f"{depth}: {n}" for depth, n in counts.items()) + ".",
        f"Fill in {', '.join(target.name for target in targets[1:])}; keep {targets[0].name} as it is.",
    ]
    tell(args, lines, {"pairs": count, "queries": asked, "by_depth": counts, "files": [*map(str, targets)]})
    return 0


def tell(args: argparse.Namespace, lines: list[str], record: dict[str, Any]) -> None:
    """Print what was done: lines for a person, or an object for programs."""
    print(json.dumps({"schema": SCHEMA, **record}, ensure_ascii=False, indent=1) if args.json else "\n".join(lines))


def _kappa(collected: Collected) -> tuple[str, dict[str, Any] | None]:
    try:
        result = agreement(collected.labels[0], collected.labels[1])
    except ValueError as error:
        return f"kappa: {error}", None
    low, high = result.interval
    text = f"kappa {result.kappa:.3f} ({low:.3f} to {high:.3f}) on {result.pairs} pairs"
    return f"{text}; {result.observed:.1%} got equal grades.", {
        "kappa": result.kappa, "low": low, "high": high, "pairs": result.pairs, "equal": result.observed,
    }  # fmt: skip


def gather(args: argparse.Namespace) -> int:
    """Write the judgements of filled sheets, or a sheet of their conflicts."""
    require_new(args.out)
    judged = read_qrels(args.judged) if args.judged else None
    collected = collect(
        args.sheet, args.filled, settled=args.settled, judged=judged, partial=args.partial, encoding=args.encoding
    )
    record: dict[str, Any] = {"agreement": None, "ungraded": collected.ungraded, "judgements": 0, "queries": 0}
    lines = []
    if len(args.filled) == 2:
        text, record["agreement"] = _kappa(collected)
        lines.append(text)
    record["conflicts"] = [{"query": q, "passage": p, "grades": both} for (q, p), both in collected.conflicts.items()]
    if collected.conflicts:
        names = [path.stem for path in args.filled]
        for pair, both in collected.conflicts.items():
            grades = ", ".join(f"{name} {grade}" for name, grade in zip(names, both, strict=True))
            lines.append(f"conflict: {pair_ids(pair)}: {grades}")
        place = args.settled or args.sheet.with_name("conflicts.csv")
        tell(args, lines, record | {"file": str(place)})
        if not args.settled:
            require_new(place, f"fill it in and give it, --settled {place}")
            write_conflicts(place, read_sheet(args.sheet), collected.conflicts)
        print(
            f"Conflicts without a grade: {len(collected.conflicts)}, so no judgements are written. Fill in the column "
            f"'grade', not 'given', of {place}, then run the command again with --settled {place}.",
            file=sys.stderr,
        )
        return 1
    if not any(collected.qrels.values()):
        raise ValueError("No pair has a grade yet: fill in the last column of the sheet.")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    write_qrels(args.out, collected.qrels)
    total, queries = sum(map(len, collected.qrels.values())), len(collected.qrels)
    lines.append(f"{total} judgements of {queries} queries in {args.out}; {collected.ungraded} pairs without a grade.")
    tell(args, lines, record | {"file": str(args.out), "judgements": total, "queries": queries})
    return 0


SHEET = {  # options of the commands, and what argparse takes of each
    "data": {"type": Path, "help": "folder with the texts of queries and passages, each with an id"},
    "--queries": {"default": "queries.jsonl", "help": "its file of queries (queries.jsonl)"},
    "--corpus": {"default": "corpus.jsonl", "help": "its file of passages (corpus.jsonl)"},
    "--systems": {"nargs": "+", "default": [], "help": "BM25, TF-IDF, or a model: hub id or folder"},
    "--runs": {"nargs": "+", "default": [], "type": Path, "help": "TREC run files of further systems"},
    "--depth": {"type": int, "default": 10, "help": "how many ranks of each system are judged (10)"},
    "--judged": {"type": Path, "help": "earlier qrels, whose pairs are left out"},
    "--grades": {"nargs": "+", "type": int, "default": GRADES, "help": "the scale of your guidelines (0 1 2 3)"},
    "--assessors": {"nargs": "+", "default": ["first"], "help": "a copy for each, by name (first)"},
    "--out": {"type": Path, "default": Path("judging"), "help": "folder for the sheets (judging)"},
}
COLLECT = {
    "sheet": {"type": Path, "help": "the sheet as it was written, not filled in"},
    "filled": {"nargs": "+", "type": Path, "help": "one or two filled copies of it"},
    "--settled": {"type": Path, "help": "the sheet of conflicts, filled in"},
    "--judged": {"type": Path, "help": "earlier qrels, to which the new ones are added"},
    "--encoding": {"default": UTF8, "help": "of filled sheets that are not UTF-8: gb18030"},
    "--partial": {"action": "store_true", "help": "treat pairs without a grade as not yet judged"},
    "--out": {"type": Path, "default": Path("qrels.txt"), "help": "the qrels, a new file (qrels.txt)"},
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="retrieval-judge", description=__doc__.split(":")[0] + ".")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for name, run, options, text in (
        ("sheet", sheet, SHEET, "write the pairs to judge as CSV files for a spreadsheet"),
        ("collect", gather, COLLECT, "read filled sheets, list conflicts, write qrels"),
    ):
        command = commands.add_parser(name, help=text)
        command.set_defaults(run=run)
        command.add_argument("--json", action="store_true", help="print a JSON object for programs")
        for option, settings in options.items():
            command.add_argument(option, **settings)  # type: ignore[arg-type]
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status: 0 on success, 1 after an error or conflicts."""
    args = parser().parse_args(argv)
    try:
        return int(args.run(args))
    except (ValueError, RuntimeError, OSError, ImportError) as error:
        missing = error.filename if isinstance(error, FileNotFoundError) else None
        text = str(error).replace(', or leave them out: on_missing="skip"', "")  # an option of load_dataset alone
        print(f"error: No file {missing!r}: check the path." if missing else f"error: {text}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
