"""Execute lessons under every condition, and keep which of them gave the recorded outputs."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from .conditions import conditions, differences, temporary_cache
from .notebooks import NotebookError, lesson_path, read, relative, write_files
from .run import machine

AS_RECORDED = "as recorded"
RECORDS = Path("docs", "benchmarks", "records.json")
Results = dict[str, dict[str, str]]


def matrix(root: Path, names: Sequence[str], only: Sequence[str] | None = None) -> tuple[Results, list[str]]:
    """Return the verdict of each condition and lesson, and a line for each difference; prints a line as each ends.

    The lessons share a cache under each condition, so that it computes a vector once.
    """
    results: Results = {}
    details = []
    books = {name: read(lesson_path(root, "en", name), root) for name in names}
    labels = dict.fromkeys(label for book in books.values() for label in conditions(book))
    for label in [label for label in labels if not only or any(text in label for text in only)]:
        chosen = {name: settings[label] for name, book in books.items() if label in (settings := conditions(book))}
        with temporary_cache(root, next(iter(chosen.values())).seed) as cache:
            for name, condition in chosen.items():
                try:
                    unlike = [str(one) for one in differences(books[name], name, condition, cache, root=root)]
                except NotebookError as error:
                    unlike = [str(error)]
                verdict = f"{len(unlike)} differ" if unlike else AS_RECORDED
                results.setdefault(label, {})[name] = verdict
                details += [f"{name}, {label}: {line}" for line in unlike]
                print(f"{name}, {label}: {verdict}", flush=True)
    return results, details


def write(root: Path, results: Results) -> str:
    """Merge results into the table of docs/benchmarks, with the machine, and return its path."""
    path = root / RECORDS
    path.parent.mkdir(parents=True, exist_ok=True)
    table = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"conditions": {}}
    for label, verdicts in results.items():
        table["conditions"].setdefault(label, {}).update(verdicts)
    table["machine"] = machine()
    text = json.dumps(table, indent=1, sort_keys=True) + "\n"
    sums = path.with_name("SHA256SUMS")  # by which `check` notices a record that was edited
    others = sums.read_text(encoding="utf-8").splitlines() if sums.exists() else []
    lines = [line for line in others if not line.endswith(f"  {path.name}")]
    lines.append(f"{hashlib.sha256(text.encode()).hexdigest()}  {path.name}")
    write_files({path: text, sums: "\n".join(sorted(lines, key=lambda line: line.split()[1])) + "\n"})
    return relative(root, path)
