"""Command line of the maintainers' tools: `python -m notebooks.kit COMMAND`."""

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from textwrap import indent

from .notebooks import HINT, LANGUAGES, ROOT, NotebookError, lesson_names


def _run(args: argparse.Namespace) -> int:
    """execute lessons into build/ and compare with the record; status 1 if something differs"""
    from .run import report, run_lessons, write_report

    failed, unlike = 0, {}
    names, say = lesson_names(args.root, args.lessons), partial(print, flush=True)
    for name, found, seconds in run_lessons(args.root, args.language, names, say):
        if isinstance(found, NotebookError):
            failed = 1
            print(f"error: {found}", file=sys.stderr)
        elif found:
            unlike[name] = found
            say(f"{name}: {len(found)} outputs differ from the record ({seconds:.0f} s)")
            print(indent(report(args.root, args.language, name, found), "  "))
        else:
            say(f"{name}: every output as recorded ({seconds:.0f} s)")
    if unlike:
        path = write_report(args.root, unlike)
        print(
            f"{len(unlike)} lessons differ from their record; {path} has all that a report needs: please open an issue"
        )
    lab = "make lab" + ("" if args.language == "en" else f" LANGUAGE={args.language}")
    print(f"executed copies: build/notebooks/{args.language}/; to work with the lessons: {lab}")
    return 1 if unlike else failed


def _record(args: argparse.Namespace) -> None:
    """execute lessons and record their outputs, the Chinese of those that run on Chinese data too"""
    from . import kernels
    from .execute import OFFLINE
    from .listed import editions
    from .record import record

    kernels.start(OFFLINE)

    for name in lesson_names(args.root, args.lessons):
        for language in editions(args.root, name):
            if args.language not in (None, language):
                continue
            start = time.perf_counter()
            changed = record(args.root, name, language)
            seconds = time.perf_counter() - start
            print(f"{language}/{name}: {'recorded anew' if changed else 'unchanged'} ({seconds:.0f} s)")
            print(indent("".join(f"{line}\n" for line in changed), "  "), end="")


def _check(args: argparse.Namespace) -> int:
    """check lessons, README and pages without executing anything"""
    from .check import check

    found = check(args.root, args.lessons)
    print("".join(f"{problem}\n" for problem in found), end="")
    problems = sum(problem.rule != HINT for problem in found)
    print(f"{problems} problems" if problems else "lessons, README and pages: no problem")
    return 1 if problems else 0


def _sync(args: argparse.Namespace) -> None:
    """carry cells, code and outputs from English to Chinese"""
    from .record import sync

    for name in lesson_names(args.root, args.lessons):
        changed = sync(args.root, name)
        print(f"{name}: {', '.join(changed) + ' written' if changed else 'in step'}")


def _accept(args: argparse.Namespace) -> None:
    """mark one cell or page as a current translation"""
    from .translation import accept_cell, accept_page

    if args.text.endswith(".md") == bool(args.cell):
        raise NotebookError("accept one cell (LESSON CELL) or one page (PATH) at a time, after reading both languages")
    if args.cell:
        chosen = lesson_names(args.root, [args.text])
        if len(chosen) > 1:
            raise NotebookError(f"'{args.text}' may be {', '.join(chosen)}: say which lesson")
        accept_cell(args.root, chosen[0], args.cell)
    else:
        accept_page(args.root, args.root / args.text)
    print(f"{args.text} {args.cell or ''} accepted as a translation")


def _matrix(args: argparse.Namespace) -> int:
    """execute lessons under every condition that must not change them; status 1 if one does"""
    from .conditions import matrix

    details = matrix(args.root, lesson_names(args.root, args.lessons), args.only)
    print("\n".join(details))
    return 1 if details else 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(prog="python -m notebooks.kit", description=__doc__)
    top.add_argument("--root", type=Path, default=ROOT, help="the checkout to work on (this one)")
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands = {}
    for action in (_run, _record, _check, _sync, _accept, _matrix):
        name = action.__name__.lstrip("_")
        commands[name] = subparsers.add_parser(name, help=action.__doc__)
        commands[name].set_defaults(action=action)
        if action is not _accept:
            commands[name].add_argument("lessons", nargs="*", help="name or number of a lesson (all)")
    commands["run"].add_argument("--language", choices=LANGUAGES, default="en", help="the edition to execute (en)")
    commands["record"].add_argument("--language", choices=LANGUAGES, help="the edition to record (both)")
    commands["matrix"].add_argument("--only", nargs="+", help="the conditions whose name has one of these texts (all)")
    commands["accept"].add_argument("text", help="lesson, or path of a Chinese page (README_zh.md)")
    commands["accept"].add_argument("cell", nargs="?", help="id of a markdown cell of the lesson")
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one command and return the exit status: 0 well, 1 something failed or is wrong, 2 wrong usage."""
    args = parser().parse_args(argv)
    try:
        return int(args.action(args) or 0)
    except NotebookError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
