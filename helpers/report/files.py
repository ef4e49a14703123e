"""A comparison as files that other programs read: results.json, per_query.csv, runs and judgements in TREC's format."""

import csv
import io
import json
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from urllib.parse import quote

import numpy as np

from helpers._cells import as_cell
from helpers.data.trec import as_qrels, as_run, write_qrels, write_run
from helpers.provenance import provenance
from helpers.report.causes import causes
from helpers.report.gates import SCHEMA, data_digests
from helpers.report.results import Result, Results
from helpers.report.spec import Record
from helpers.systems.latency import percentiles

FIXED = ("report.html", "results.json", "per_query.csv", "qrels.trec")  # names of files that every report has
OWN = re.compile(r"run\.(?:[\w.-]+\.)?trec|mteb/results(?:/[\w.-]+){3}")  # of those that its results.json names


class Comparison(Results):
    """The results of :func:`helpers.report.compare`, which can be saved."""

    def save(self, folder: str | Path, pages: Mapping[str, str] | None = None) -> list[Path]:
        """Write all files, or none; those of an earlier report in the folder are removed.

        Blanks in ids become %20, which TREC's format cannot hold; % becomes %25 where an id has a blank.

        Args:
            folder: created if it does not exist.
            pages: further files, text by name.

        Returns:
            The files: those of ``pages`` and, where a system was scored, ``results.json``, ``per_query.csv``,
            ``qrels.trec``, ``run.trec`` of a single system or ``run.NAME.trec`` of each of several.

        Raises:
            OSError: the folder cannot be written; the message names file and folder.
        """
        data, texts, runs = self.data, dict(pages or {}), run_names(self)
        folder = Path(folder)
        if self.scored:
            written = as_record(self) | {"exported": sorted(name for name in texts if "/" in name)}
            record = json.dumps(written, ensure_ascii=False, indent=1, allow_nan=False)
            texts |= {"results.json": f"{record}\n", "per_query.csv": _per_query(self)}
        blanks = r"[\s%]" if any(re.search(r"\s", name) for name in (*data.query_ids, *data.doc_ids)) else r"\s"
        query_ids = _quoted(data.query_ids, blanks)
        name = "a temporary folder"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".report.", dir=folder) as part:
                for name, text in texts.items():
                    Path(part, name).parent.mkdir(parents=True, exist_ok=True)
                    Path(part, name).write_bytes(text.encode())
                if self.scored:
                    name = "qrels.trec"
                    write_qrels(Path(part, name), as_qrels(data.qrels, query_ids, _quoted(data.doc_ids, blanks)))
                for system, name in runs.items():
                    doc_ids, ranking = _quoted(self.results[system].doc_ids, blanks), self.results[system].ranking
                    if ranking is not None:
                        run = as_run(ranking.ids, ranking.scores, query_ids, doc_ids)
                        write_run(Path(part, name), run, re.sub(r"\s+", "_", system) or "run")
                remove_earlier(folder)
                names = [*texts, *(["qrels.trec"] if self.scored else []), *runs.values()]
                for name in names:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    Path(part, name).replace(folder / name)
        except OSError as error:
            raise OSError(
                f"Cannot write {name} into the folder {str(folder)!r} ({error.strerror or error}): free some space "
                "there or choose another folder."
            ) from None
        return [folder / name for name in names]


def earlier_files(folder: Path) -> list[Path]:
    """List the files that an earlier report wrote into a folder: those that its results.json names, and the page."""
    try:
        record = json.loads((folder / "results.json").read_bytes())
        if record["schema"] != SCHEMA:
            return []
        names = [*(system.get("run") for system in record["systems"]), *record.get("exported", [])]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    own = [name for name in names if isinstance(name, str) and OWN.fullmatch(name) and ".." not in name]
    return [folder / name for name in (*FIXED, *own) if (folder / name).is_file()]


def remove_earlier(folder: Path) -> None:
    """Remove the files of an earlier report, the page first, and no others."""
    for path in earlier_files(folder):
        path.unlink()


def run_names(comparison: Results) -> dict[str, str]:
    """Return the file of each system's run: ``run.trec``, or of several ``run.NAME.trec`` with a plain name."""
    if len(comparison.results) == 1:
        return dict.fromkeys(comparison.scored, "run.trec")
    files: dict[str, str] = {}
    for name in comparison.results:
        bare = re.sub(r"^run\.|(\.(trec|run|txt|gz))+$", "", name)
        plain = re.sub(r"[^\w.-]+", "-", bare).strip("-.")[:80] or "system"
        taken = sum(file.startswith(f"run.{plain}.") for file in files.values())
        files[name] = f"run.{plain}.{taken + 1}.trec" if taken else f"run.{plain}.trec"
    return {name: files[name] for name in comparison.scored}


def as_record(comparison: Results) -> Record:
    """Return the content of ``results.json``; docs/en/own_reference.md documents every key."""
    data = comparison.data
    return {
        "schema": SCHEMA,
        "data": {
            "name": data.name, "sha256": data.sha256, **data_digests(data), "split": data.split,
            "queries": len(data.queries), "passages": len(data.corpus), "merged": data.merged,
            "all_queries": data.all_queries or len(data.queries), "all_passages": data.all_passages or len(data.corpus),
            "titled": data.titled, "skipped": dict(data.skipped), "relevance_level": data.relevance_level,
            "judgements": sum(map(len, data.qrels)), "without_text": len(data.ids_without_text),
            "unused": dict(data.unused),
        },
        "metrics": list(comparison.metrics),
        "main": comparison.main,
        "level": comparison.level,
        "systems": [_system(comparison, result) for result in comparison.results.values()],
        "tests": [
            {"metric": comparison.main, "reference": next(iter(comparison.scored)), "system": name}
            | {key.replace(" ", "_"): value for key, value in row.items()}
            for name, row in (comparison.tests() if comparison.scored else {}).items()
        ],
        "causes": [asdict(cause) for cause in causes(comparison)],
        "made_with": provenance(),
    }  # fmt: skip


def _system(comparison: Results, result: Result) -> Record:
    record: Record = {
        "name": result.name, **result.metadata, "error": result.error, "notes": [note.text for note in result.notes],
        "failure": result.failure, "failed_in": result.cost.failed_in,
        "seconds": result.cost.seconds, "index_bytes": result.cost.index_bytes,
    }  # fmt: skip
    if result.evaluation is None:
        return record
    record["scores"] = {}
    for metric, mean in result.evaluation.mean.items():
        spread = comparison.intervals[result.name][metric]
        low, high = (spread.low, spread.high) if spread else (None, None)
        record["scores"][metric] = {"mean": mean, "low": low, "high": high}
    for key in ("queries", "no_relevant", "missing", "tied"):
        record[key] = getattr(result.evaluation, key)
    record["run"] = run_names(comparison)[result.name]
    if result.name in comparison.evidence:
        means = comparison.mean_evidence(result.name)
        record["evidence"] = {"budget": comparison.budget}
        record["evidence"] |= {k: None if math.isnan(v) else v for k, v in means.items()}
    if result.stages:
        record["stages"] = asdict(result.stages)
    if result.latency:
        total = np.sum(list(result.latency.values()), axis=0)
        record["latency"] = {"queries": len(total), "total": percentiles(total), "batch": result.batch}
        record["latency"] |= {"stages": {name: percentiles(values) for name, values in result.latency.items()}}
    record["growth"] = [{"passages": size, comparison.main: value} for size, value in result.growth.items()]
    return record


def _per_query(comparison: Results) -> str:
    """Write a line for each system and query: the id, and a column for each metric at full precision."""
    table = io.StringIO()
    lines = csv.writer(table, lineterminator="\n")
    lines.writerow(["system", "query", *comparison.metrics])
    for name, evaluation in comparison.scored.items():
        columns = [evaluation.per_query[metric].tolist() for metric in comparison.metrics]
        for query, *values in zip(comparison.data.query_ids, *columns, strict=True):
            lines.writerow([as_cell(name), as_cell(query), *map(repr, values)])
    return table.getvalue()


def _quoted(names: Sequence[str], signs: str) -> list[str]:
    """Write ids with some signs as % and their code; an empty one, which TREC's format cannot hold either, as %."""
    return [re.sub(signs, lambda sign: quote(sign[0]), name) or "%" for name in names]
