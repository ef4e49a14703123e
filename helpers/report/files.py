"""A comparison as files that other programs read: results.json, per_query.csv, runs and judgements in TREC's format."""

import csv
import io
import json
import math
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from helpers._cells import runs_as_formula
from helpers.data.trec import as_qrels, as_run, write_qrels, write_run
from helpers.provenance import provenance
from helpers.report.causes import causes
from helpers.report.results import Result, Results

SCHEMA = 1  # of results.json; it grows when a key changes its meaning or goes
FIXED = ("report.html", "results.json", "per_query.csv", "qrels.trec")  # names of files that every report has


def save(comparison: Results, folder: Path, pages: Mapping[str, str] | None = None) -> list[Path]:
    """Write all files, or none; the files that an earlier report left in the folder go.

    Blanks in ids become %20, which TREC's format cannot hold.

    Args:
        comparison: with one system that was scored at least, or only ``pages`` are written.
        folder: made if it does not exist.
        pages: further files, text by name.

    Returns:
        The files: those of ``pages``, ``results.json``, ``per_query.csv``, ``qrels.trec``, ``run.trec`` of a single
        system or ``run.NAME.trec`` of each of several.

    Raises:
        OSError: the folder cannot be written; the message names file and folder.
    """
    data = comparison.data
    query_ids, doc_ids = ([_token(name) for name in ids] for ids in (data.query_ids, data.doc_ids))
    files: dict[str, Callable[[Path], object]] = {
        name: partial(_write_text, text=text) for name, text in (pages or {}).items()
    }
    if comparison.scored:
        files |= {
            "results.json": partial(_write_text, text=_json(comparison)),
            "per_query.csv": partial(_write_text, text=_per_query(comparison)),
            "qrels.trec": lambda path: write_qrels(path, as_qrels(data.qrels, query_ids, doc_ids)),
        }
    for name, file in run_names(comparison).items():
        files[file] = partial(_write_run, result=comparison.results[name], query_ids=query_ids)
    name = "a temporary folder"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".report.", dir=folder) as part:
            for name, write in files.items():
                write(Path(part, name))
            remove_earlier(folder)
            for name in files:
                Path(part, name).replace(folder / name)
    except OSError as error:
        raise OSError(
            f"Cannot write {name} into the folder {str(folder)!r} ({error.strerror or error}): free some space there "
            "or choose another folder."
        ) from None
    return [folder / name for name in files]


def earlier_files(folder: Path) -> list[Path]:
    """List the files that an earlier report wrote into a folder: those that its results.json names, and the page."""
    try:
        record = json.loads((folder / "results.json").read_bytes())
        runs = [system.get("run") for system in record["systems"]] if record["schema"] == SCHEMA else []
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    names = [
        *FIXED,
        *(name for name in runs if isinstance(name, str) and re.fullmatch(r"run\.(?:[\w.-]+\.)?trec", name)),
    ]
    return [folder / name for name in names if (folder / name).is_file()]


def remove_earlier(folder: Path) -> None:
    """Remove what an earlier report wrote, the page first, and no file of anybody else's."""
    for path in earlier_files(folder):
        path.unlink()


def run_names(comparison: Results) -> dict[str, str]:
    """Return the file of each system's run: ``run.trec``, or of several ``run.NAME.trec`` with a plain name."""
    names = list(comparison.scored)
    if len(comparison.results) == 1:
        return dict.fromkeys(names, "run.trec")
    files: dict[str, str] = {}
    for name in comparison.results:
        plain = (
            re.sub(r"[^\w.-]+", "-", re.sub(r"^run\.|(\.(trec|run|txt|gz))+$", "", name)).strip("-.")[:80] or "system"
        )
        taken = sum(file.startswith(f"run.{plain}.") for file in files.values())
        files[name] = f"run.{plain}.{taken + 1}.trec" if taken else f"run.{plain}.trec"
    return {name: files[name] for name in names}


def as_record(comparison: Results) -> dict[str, Any]:
    """Return the content of ``results.json``; docs/en/own_model.md documents every key."""
    data = comparison.data
    return {
        "schema": SCHEMA,
        "data": {
            "name": data.name, "sha256": data.sha256, "split": data.split,
            "queries": len(data.queries), "passages": len(data.corpus), "merged": data.merged,
            "all_queries": data.all_queries or len(data.queries), "all_passages": data.all_passages or len(data.corpus),
            "titled": data.titled, "skipped": dict(data.skipped), "relevance_level": data.relevance_level,
            "judgements": sum(map(len, data.qrels)), "without_text": len(data.ids_without_text),
        },
        "metrics": list(comparison.metrics),
        "main": comparison.main,
        "level": comparison.level,
        "systems": [_system(comparison, result) for result in comparison.results.values()],
        "tests": _tests(comparison),
        "causes": [asdict(cause) for cause in causes(comparison)],
        "made_with": provenance(),
    }  # fmt: skip


def _system(comparison: Results, result: Result) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": result.name, **result.metadata, "error": result.error, "notes": [note.text for note in result.notes],
        "failure": result.failure, "failed_in": result.cost.failed_in,
        "seconds": result.cost.seconds, "index_bytes": result.cost.index_bytes,
    }  # fmt: skip
    if result.evaluation is None:
        return record
    intervals = comparison.intervals[result.name]
    record["scores"] = {
        metric: {"mean": mean, "low": spread.low if spread else None, "high": spread.high if spread else None}
        for metric, mean in result.evaluation.mean.items()
        for spread in [intervals[metric]]
    }
    for key in ("queries", "no_relevant", "missing", "tied"):
        record[key] = getattr(result.evaluation, key)
    record["run"] = run_names(comparison)[result.name]
    record["growth"] = [{"passages": size, comparison.main: value} for size, value in result.growth.items()]
    return record


def _tests(comparison: Results) -> list[dict[str, Any]]:
    if not comparison.scored:
        return []
    best = next(iter(comparison.scored))
    rows = comparison.paired().to_dict("index")
    return [{"metric": comparison.main, "reference": best, "system": name, **{
        key.replace(" ", "_"): value for key, value in row.items()}} for name, row in rows.items()]  # fmt: skip


def _json(comparison: Results) -> str:
    """Write the record as JSON, which knows no NaN."""
    return json.dumps(_plain(as_record(comparison)), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Turn numbers of numpy into Python's, and what is not finite into null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _per_query(comparison: Results) -> str:
    """Write a line for each system and query: the id, and a column for each metric at full precision."""
    table = io.StringIO()
    lines = csv.writer(table, lineterminator="\n")
    lines.writerow(["system", "query", *comparison.metrics])
    for name, evaluation in comparison.scored.items():
        columns = [evaluation.per_query[metric].tolist() for metric in comparison.metrics]
        for query, *values in zip(comparison.data.query_ids, *columns, strict=True):
            lines.writerow([_cell(name), _cell(query), *map(repr, values)])
    return table.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if runs_as_formula(text) else text


def _write_text(path: Path, text: str) -> None:
    path.write_bytes(text.encode())


def _write_run(path: Path, result: Result, query_ids: list[str]) -> None:
    if result.ranking is not None:
        names = [_token(name) for name in result.doc_ids]
        tag = re.sub(r"\s+", "_", result.name) or "run"
        write_run(path, as_run(result.ranking.ids, result.ranking.scores, query_ids, names), tag)


def _token(name: str) -> str:
    """Write an id without blanks."""
    return re.sub(r"\s", lambda blank: quote(blank[0]), name) or "%"
