"""Command line of the maintainers' tools: `python -m tests.tools COMMAND`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .notebooks import ROOT, NotebookError, lesson_names


def _record(args: argparse.Namespace) -> int:
    from .record import record

    for name in lesson_names(args.root, args.lessons):
        start = time.perf_counter()
        changed = record(args.root, name, force=args.force, limit=args.limit)
        print(f"{name}: {'recorded anew' if changed else 'unchanged'} ({time.perf_counter() - start:.0f} s)")
        print("".join(f"  {line}\n" for line in changed), end="")
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(prog="python -m tests.tools", description=__doc__)
    top.add_argument("--root", type=Path, default=ROOT, help="the checkout to work on (this one)")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    record = commands.add_parser("record", help="execute lessons and keep their outputs, in both languages")
    record.add_argument("lessons", nargs="*", help="name or number of a lesson (all)")
    record.add_argument("--force", action="store_true", help="also where versions differ from constraints.txt")
    record.add_argument("--limit", type=int, default=240, help="seconds that one cell may take (240)")
    record.set_defaults(action=_record)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one command and return the exit status: 0 well, 1 something found or failed, 2 wrong usage."""
    args = parser().parse_args(argv)
    try:
        return int(args.action(args))
    except NotebookError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
