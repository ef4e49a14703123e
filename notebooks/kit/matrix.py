"""Execute lessons under every condition, and keep which of them gave the recorded outputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from .conditions import conditions, differences
from .notebooks import NotebookError, lesson_path, read, relative, write_files
from .run import machine

RECORDS = Path("docs", "benchmarks", "records.json")
Results = dict[str, dict[str, str]]


def matrix(root: Path, names: Sequence[str], only: Sequence[str] | None = None) -> tuple[Results, list[str]]:
    """Return the verdict of each lesson and condition, and a line for each difference; prints a line as each ends."""
    results: Results = {}
    details = []
    for name in names:
        notebook = read(lesson_path(root, "en", name), root)
        for label, condition in conditions(notebook).items():
            if only and not any(text in label for text in only):
                continue
            try:
                unlike = [str(one) for one in differences(notebook, name, condition, root=root)]
            except NotebookError as error:
                unlike = [str(error)]
            verdict = f"{len(unlike)} differ" if unlike else "as recorded"
            results.setdefault(label, {})[name] = verdict
            details += [f"{name}, {label}: {line}" for line in unlike]
            print(f"{name}, {label}: {verdict}", flush=True)
    return results, details


def write(root: Path, results: Results) -> str:
    """Merge results into the table of docs/benchmarks, with the machine, and return its path."""
    path = root / RECORDS
    table = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"conditions": {}}
    for label, verdicts in results.items():
        table["conditions"].setdefault(label, {}).update(verdicts)
    table["machine"] = machine()
    write_files({path: json.dumps(table, indent=1, sort_keys=True) + "\n"})
    return relative(root, path)
