"""A comparison as files that other programs read: results.json, per_query.csv, runs and judgements in TREC's format."""

import csv
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from helpers._atomic import write_file
from helpers.data.trec import as_qrels, as_run, write_qrels, write_run
from helpers.provenance import provenance
from helpers.systems.causes import causes
from helpers.systems.results import Compared, Result

SCHEMA = 1  # of results.json; it grows when a key changes its meaning or goes


def save(comparison: Compared, folder: Path) -> list[Path]:
    """Write all files, each whole or not at all; blanks in ids become %20, which TREC's format cannot hold.

    Returns:
        The files: ``results.json``, ``per_query.csv``, ``qrels.trec``, ``run.trec`` of a single system or
        ``run.NAME.trec`` of each of several.

    Raises:
        OSError: the folder cannot be written; the message names file and folder.
    """
    data = comparison.data
    query_ids, doc_ids = ([_token(name) for name in ids] for ids in (data.query_ids, data.doc_ids))
    files: dict[str, Callable[[Path], object]] = {
        "results.json": lambda path: path.write_bytes(_json(comparison).encode()),
        "per_query.csv": lambda path: path.write_bytes(_per_query(comparison).encode()),
        "qrels.trec": lambda path: write_qrels(path, as_qrels(data.qrels, query_ids, doc_ids)),
    }
    for name, file in run_names(comparison).items():
        files[file] = _run_writer(comparison.results[name], query_ids)
    for name, write in files.items():
        write_file(folder, name, write)
    return [folder / name for name in files]


def run_names(comparison: Compared) -> dict[str, str]:
    """Return the file of each system's run: ``run.trec``, or of several ``run.NAME.trec`` with a plain name."""
    names = list(comparison.scored)
    if len(comparison.results) == 1:
        return dict.fromkeys(names, "run.trec")
    files: dict[str, str] = {}
    for name in comparison.results:
        plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "system"
        taken = sum(file.startswith(f"run.{plain}.") for file in files.values())
        files[name] = f"run.{plain}.{taken + 1}.trec" if taken else f"run.{plain}.trec"
    return {name: files[name] for name in names}


def as_record(comparison: Compared) -> dict[str, Any]:
    """Return what ``results.json`` holds; docs/en/own_model.md documents every key."""
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


def _system(comparison: Compared, result: Result) -> dict[str, Any]:
    """Return the record of one system."""
    record: dict[str, Any] = {
        "name": result.name, **result.what, "error": result.error, "notes": list(result.notes),
        "failure": result.failure, "failed_in": result.cost.failed_in,
        "seconds": result.cost.seconds, "index_bytes": result.cost.index_bytes,
    }  # fmt: skip
    if result.evaluation is None:
        return record
    own = comparison.intervals[result.name]
    record["scores"] = {
        metric: {"mean": mean, "low": found.low if found else None, "high": found.high if found else None}
        for metric, mean in result.evaluation.mean.items()
        for found in [own[metric]]
    }
    for key in ("queries", "no_relevant", "missing", "tied"):
        record[key] = getattr(result.evaluation, key)
    record["run"] = run_names(comparison)[result.name]
    record["growth"] = [{"passages": size, comparison.main: value} for size, value in result.growth.items()]
    return record


def _tests(comparison: Compared) -> list[dict[str, Any]]:
    """Return the paired tests of the best system against the others."""
    if len(comparison.scored) < 2 or len(comparison.data.queries) < 2:
        return []
    best = next(iter(comparison.scored))
    rows = comparison.paired().to_dict("index")
    return [{"metric": comparison.main, "reference": best, "system": name, **{
        key.replace(" ", "_"): value for key, value in row.items()}} for name, row in rows.items()]  # fmt: skip


def _json(comparison: Compared) -> str:
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


def _per_query(comparison: Compared) -> str:
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
    """Keep a spreadsheet from taking a text for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "@", "\t") or (text[:1] == "-" and not text[1:].isdigit()) else text


def _run_writer(result: Result, query_ids: list[str]) -> Callable[[Path], None]:
    """Return what writes the run of a system."""

    def write(path: Path) -> None:
        assert result.ranking is not None
        names = [_token(name) for name in result.doc_ids]
        tag = re.sub(r"\s+", "_", result.name) or "run"
        write_run(path, as_run(result.ranking.ids, result.ranking.scores, query_ids, names), tag)

    return write


def _token(name: str) -> str:
    """Write an id without blanks."""
    return re.sub(r"\s", lambda blank: quote(blank[0]), name) or "%"
