"""Command line of the maintainers' tools: `python -m tests.tools COMMAND`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from .notebooks import LANGUAGES, ROOT, NotebookError, lesson_names


def _record(args: argparse.Namespace) -> int:
    from .record import record

    for name in lesson_names(args.root, args.lessons):
        start = time.perf_counter()
        changed = record(args.root, name, force=args.force, limit=args.limit)
        print(f"{name}: {'recorded anew' if changed else 'unchanged'} ({time.perf_counter() - start:.0f} s)")
        print("".join(f"  {line}\n" for line in changed), end="")
    return 0


def _run(args: argparse.Namespace) -> int:
    from .run import figures_table, run_lesson, unlike

    failed, rows = 0, []
    for name in lesson_names(args.root, args.lessons):
        start = time.perf_counter()
        try:
            fresh, gaps = run_lesson(args.root, args.language, name, limit=args.limit)
        except NotebookError as error:
            failed += 1
            print(f"error: {error}", file=sys.stderr)
            continue
        rows += figures_table(args.root, args.language, name, fresh)
        verdict = "every output as recorded" if not gaps else f"{len(gaps)} outputs unlike those recorded"
        print(f"{name}: {verdict} ({time.perf_counter() - start:.0f} s)", flush=True)
        print("".join(f"  {line}\n" for gap in gaps for line in str(gap).split("\n")), end="")
    print("\n" + unlike(rows))
    print(f"executed copies: build/notebooks/{args.language}/")
    return int(bool(failed))


def _check(args: argparse.Namespace) -> int:
    from .check import check

    problems = check(args.root, args.lessons)
    print("".join(f"{problem}\n" for problem in problems), end="")
    print(f"{len(problems)} problems" if problems else "lessons, README and pages: no problem")
    return int(bool(problems))


def _sync(args: argparse.Namespace) -> int:
    from .record import sync

    for name in lesson_names(args.root, args.lessons):
        changed = sync(args.root, name)
        print(f"{name}: {', '.join(changed) + ' written' if changed else 'in step'}")
    return 0


def _status(args: argparse.Namespace) -> int:
    from .status import status

    print(status(args.root, args.lessons))
    return 0


def _todo(args: argparse.Namespace) -> int:
    from .status import todo

    for name in lesson_names(args.root, [args.lesson]):
        print(todo(args.root, name))
    return 0


def _accept(args: argparse.Namespace) -> int:
    from .translation import accept_cell, accept_page

    if args.what.endswith(".md"):
        if args.cell:
            raise NotebookError("a page is accepted as a whole: accept PAGE")
        mark = accept_page(args.root, args.root / args.what)
    elif not args.cell:
        raise NotebookError("say which cell: accept LESSON CELL (one at a time, after reading both languages)")
    else:
        names = lesson_names(args.root, [args.what])
        mark = accept_cell(args.root, names[0], args.cell)
    print(f"{args.what} {args.cell or ''} accepted as a translation of {mark}")
    return 0


def _robust(args: argparse.Namespace) -> int:
    from .robust import robust

    found = [robust(args.root, name) for name in lesson_names(args.root, args.lessons)]
    print("\n\n".join(found))
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(prog="python -m tests.tools", description=__doc__)
    top.add_argument("--root", type=Path, default=ROOT, help="the checkout to work on (this one)")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made = {}
    for name, action, text in (
        ("run", _run, "execute lessons into build/ and show the figures got beside those recorded"),
        ("record", _record, "execute lessons and keep their outputs, in both languages"),
        ("check", _check, "check lessons, README and pages without executing anything"),
        ("sync", _sync, "carry cells, code and outputs from English to Chinese"),
        ("status", _status, "show what is left to translate"),
        ("robust", _robust, "execute lessons under other threads, instructions, batches and caches"),
    ):
        made[name] = commands.add_parser(name, help=text)
        made[name].add_argument("lessons", nargs="*", help="name or number of a lesson (all)")
        made[name].set_defaults(action=action)
    for name in ("run", "record"):
        made[name].add_argument("--limit", type=int, default=240, help="seconds that one cell may take (240)")
    made["run"].add_argument("--language", choices=LANGUAGES, default="en", help="the edition to execute (en)")
    made["record"].add_argument("--force", action="store_true", help="also where versions differ from constraints.txt")
    todo = commands.add_parser("todo", help="show English and Chinese of each cell that needs a translator")
    todo.add_argument("lesson", help="name or number of a lesson")
    todo.set_defaults(action=_todo)
    accept = commands.add_parser("accept", help="mark one cell or page as a current translation")
    accept.add_argument("what", help="lesson, or path of a Chinese page (README_zh.md)")
    accept.add_argument("cell", nargs="?", help="id of a markdown cell of the lesson")
    accept.set_defaults(action=_accept)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one command and return the exit status: 0 well, 1 something found or failed, 2 wrong usage."""
    args = parser().parse_args(argv)
    try:
        return int(args.action(args))
    except NotebookError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
