"""Execute lessons and compare their outputs with the recorded ones."""

from __future__ import annotations

import multiprocessing
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from importlib import metadata
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

from . import kernels
from .compare import Difference, compare
from .execute import OFFLINE, execute_lesson
from .notebooks import NotebookError, dumps, lesson_path, read, relative, write_files

REPORT = "build/differences.md"
AT_ONCE = 4  # lessons side by side, where there are as many cores; each takes up to two gigabytes of memory
# The shortest shows at once that all is well; then the longest first, so that none runs alone at the end.
ORDER = ("02", "06", "05", "07", "08")
SILENCE = 10  # seconds after which a line says where each lesson is
_told: Queue[tuple[str, int, int]]


def report(root: Path, language: str, name: str, differences: list[Difference]) -> str:
    """Return the failure message of one lesson: every difference, and how to record again."""
    lines = [f"{relative(root, lesson_path(root, language, name))} differs from its record:"]
    lines += map(str, differences)
    lines.append(
        f"If the change is meant: `python -m notebooks.kit record {name}` (or `make record`), then read the git diff."
    )
    return "\n".join(lines)


def machine() -> dict[str, str]:
    """Return the facts that decide the last digits of a number: processor, instruction set, threads, versions."""
    import torch

    names = ("numpy", "torch", "faiss-cpu", "FlagEmbedding", "transformers", "scikit-learn", "scipy", "matplotlib")
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return {
        "system": platform.platform(),
        "processor": model or platform.processor() or platform.machine(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "threads": str(torch.get_num_threads()),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in names},
    }


def write_report(root: Path, differences: dict[str, list[Difference]]) -> str:
    """Write a report for the project's issues below build/ and return its path: the machine, cells and both values."""
    lines = ["# Lessons that differ from their record", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in machine().items()]
    for name, unlike in differences.items():
        lines += ["", f"## {name}", "", "```text", *map(str, unlike), "```"]
    path = root / REPORT
    path.parent.mkdir(exist_ok=True)
    write_files({path: "\n".join(lines) + "\n"})
    return REPORT


def run_lesson(root: Path, language: str, name: str, **options: Any) -> list[Difference]:
    """Execute one lesson into build/, and return how it differs from the recorded one.

    Raises NotebookError if it cannot be read or executed.
    """
    path = lesson_path(root, language, name)
    recorded = read(path, root)
    fresh = execute_lesson(root, path, **options)
    target = root / "build" / "notebooks" / language / f"{name}.ipynb"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_files({target: dumps(fresh)})
    return compare(recorded, fresh)


def run_lessons(
    root: Path, language: str, names: Sequence[str], limit: int | None, say: Callable[[str], None]
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
    told: Queue[tuple[str, int, int]] = context.Queue()
    with ProcessPoolExecutor(workers, context, initializer=_hear, initargs=(told,)) as pool:
        ordered = sorted(names, key=lambda name: rank.get(name[:2], len(rank)))
        tasks: dict[Future[Any], str] = {pool.submit(_task, root, language, name, limit): name for name in ordered}
        at: dict[str, str] = {}
        spoken = time.monotonic()
        while tasks:
            done, _ = wait(tasks, timeout=0.5, return_when=FIRST_COMPLETED)
            while not told.empty():
                name, cell, cells = told.get()
                if name not in at:
                    say(f"{name}: started")
                    spoken = time.monotonic()
                at[name] = f"{name} in cell {cell} of {cells}"
            for task in done:
                name = tasks.pop(task)
                at.pop(name, None)
                yield (name, *task.result())
                spoken = time.monotonic()
            if at and time.monotonic() - spoken > SILENCE:
                say("  " + ", ".join(at.values()))
                spoken = time.monotonic()


def _hear(queue: Queue[tuple[str, int, int]]) -> None:
    """Give this process of the pool the queue on which it tells where it is."""
    global _told
    _told = queue


def _task(root: Path, language: str, name: str, limit: int | None) -> tuple[list[Difference] | NotebookError, float]:
    """Run one lesson in a process of the pool; return how it differs or why it stopped, and the seconds it took."""
    start = time.perf_counter()
    try:
        progress = lambda cell, cells: _told.put((name, cell, cells))  # noqa: E731
        found: list[Difference] | NotebookError = run_lesson(root, language, name, limit=limit, progress=progress)
    except NotebookError as error:
        found = error
    return found, time.perf_counter() - start
