"""Measure speed and memory, and write docs/benchmarks/NAME.json: `python -m tests.bench`, or `… million search`."""

import argparse
import importlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"
BENCHES = {
    "encode": "embedding beside FlagEmbedding and sentence-transformers",
    "metrics": "metrics beside pytrec_eval and ranx",
    "streaming": "memory of encoding a stream",
    "million": "indexes over a million vectors: ten minutes, 8 GB of memory",
    "ranks": "what leaderboards and small sets of queries decide; needs --results",
    "search": "the search of the built site",
}
QUICK = ("encode", "metrics", "streaming")


def head(name: str, packages: Sequence[str], rounds: int) -> dict[str, Any]:
    """Say by which command, when, where and with which versions a report is measured."""
    versions = {package: version(package).split("+")[0] for package in packages}
    return {
        "command": f"python -m tests.bench {name}",
        "date": date.today().isoformat(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version(), **versions},
        "rounds": rounds,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benches that are named, and write and print their reports."""
    shown = "\n".join(f"  {name:10} {text}" for name, text in BENCHES.items())
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=f"{__doc__}\n\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benches; without any, {', '.join(QUICK)}")
    parser.add_argument("--results", type=Path, help="for ranks: a clone of embeddings-benchmark/results")
    args = parser.parse_args(arguments)
    if unknown := set(args.names) - BENCHES.keys():
        parser.error(f"no bench {min(unknown)!r}; there are {', '.join(BENCHES)}")
    if "ranks" in args.names and args.results is None:
        parser.error("ranks needs --results, a clone of https://github.com/embeddings-benchmark/results")
    for name in args.names or QUICK:
        bench = importlib.import_module(f"tests.bench.bench_{name}")
        found = bench.report(args.results) if name == "ranks" else bench.report()
        text = json.dumps(head(name, bench.PACKAGES, bench.ROUNDS) | found, indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
