"""Execute lessons and compare their outputs with the recorded ones."""

from __future__ import annotations

import multiprocessing
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from importlib import metadata
from multiprocessing.managers import DictProxy
from pathlib import Path
from typing import Any

from helpers._io import write_text

from . import kernels
from .compare import Difference, compare
from .execute import OFFLINE, execute
from .notebooks import NotebookError, dumps, lesson_path, read, relative

REPORT = "build/differences.md"
AT_ONCE = 4  # lessons side by side, where there are as many cores; each takes up to two gigabytes of memory
# The shortest shows at once that all is well; then the longest first, so that none runs alone at the end.
ORDER = ("02", "06", "05", "07", "08")
SILENCE = 10  # seconds after which a line says where each lesson is


def report(root: Path, language: str, name: str, differences: list[Difference]) -> str:
    """Return the failure message of one lesson: every difference, and how to record again."""
    head = f"{relative(root, lesson_path(root, language, name))} differs from its record:"
    meant = f"If the change is meant: `make record NB={name}`, then read the git diff."
    return "\n".join([head, *map(str, differences), meant])


def write_report(root: Path, differences: dict[str, list[Difference]]) -> str:
    """Write a report for the project's issues below build/ and return its path: the machine, cells and both values.

    Processor, instruction set, threads and versions decide the last digits of a number.
    """
    import torch

    cpuinfo = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.*)", cpuinfo.read_text(encoding="utf-8")) if cpuinfo.exists() else []
    names = ("numpy", "torch", "faiss-cpu", "FlagEmbedding", "transformers", "scikit-learn", "scipy", "matplotlib")
    facts = {
        "system": platform.platform(),
        "processor": models[0] if models else platform.processor() or platform.machine(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in names},
    }
    lines = ["# Lessons that differ from their record", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in facts.items()]
    for name, unlike in differences.items():
        lines += ["", f"## {name}", "", "```text", *map(str, unlike), "```"]
    (root / REPORT).parent.mkdir(exist_ok=True)
    write_text(root / REPORT, "\n".join(lines) + "\n")
    return REPORT


def run_lessons(
    root: Path, language: str, names: Sequence[str], say: Callable[[str], None]
) -> Iterator[tuple[str, list[Difference] | NotebookError, float]]:
    """Execute lessons side by side; yield the name of each as it ends, how it differs, and the seconds it took.

    Each has its share of the cores. say is called with a line when a lesson starts, and with where each of them is
    when nothing was said for SILENCE seconds.
    """
    workers = min(AT_ONCE, os.cpu_count() or 1, len(names))
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
    say(f"{len(names)} lessons, {workers} at a time; the libraries are imported first")
    kernels.start(OFFLINE)
    rank = {number: at for at, number in enumerate(ORDER)}
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(workers, context) as pool:
        at, started = manager.dict(), set[str]()
        ordered = sorted(names, key=lambda name: rank.get(name[:2], len(rank)))
        tasks: dict[Future[Any], str] = {pool.submit(_run, root, language, name, at): name for name in ordered}
        spoken = time.monotonic()
        while tasks:
            done, _ = wait(tasks, timeout=0.5, return_when=FIRST_COMPLETED)
            places = dict(at)
            for name in places.keys() - started:
                say(f"{name}: started")
                spoken = time.monotonic()
            started |= places.keys()
            for task in done:
                yield (tasks.pop(task), *task.result())
                spoken = time.monotonic()
            running = [place for name, place in places.items() if name in tasks.values()]
            if running and time.monotonic() - spoken > SILENCE:
                say("  " + ", ".join(running))
                spoken = time.monotonic()


def _run(
    root: Path, language: str, name: str, at: DictProxy[str, str]
) -> tuple[list[Difference] | NotebookError, float]:
    """Execute one lesson into build/, in a process of the pool; return how it differs or why it stopped, and seconds.

    at tells the other processes in which cell each lesson is.
    """
    start = time.perf_counter()

    def progress(cell: int, cells: int) -> None:
        at[name] = f"{name} in cell {cell} of {cells}"

    try:
        path = lesson_path(root, language, name)
        recorded = read(path, root)
        fresh = execute(recorded, relative(root, path), root=root, limit=None, progress=progress)
        target = root / "build" / "notebooks" / language / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, dumps(fresh))
        found: list[Difference] | NotebookError = compare(recorded, fresh)
    except NotebookError as error:
        found = error
    return found, time.perf_counter() - start
