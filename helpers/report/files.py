"""A comparison as files that other programs read: results.json, per_query.csv, runs and judgements in TREC's format."""

import csv
import hashlib
import io
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast
from urllib.parse import quote

from helpers._io import as_cell
from helpers.data import RetrievalDataset
from helpers.data.runs import RunTable
from helpers.data.trec import as_qrels, write_qrels, write_run
from helpers.provenance import provenance
from helpers.report.causes import causes
from helpers.report.results import Result, Results
from helpers.report.spec import Record

SCHEMA = 3  # of results.json; it grows when a key changes its meaning or goes


class Comparison(Results):
    """The results of :func:`helpers.report.compare`, which can be saved."""

    def save(self, folder: str | Path, pages: Mapping[str, str] | None = None) -> list[Path]:
        """Write a report into a folder in place of an earlier one, which stays until all of the new one is written.

        Blanks in ids become %20, which TREC's format cannot hold; % becomes %25 where an id has a blank. A run that a
        file holds is not written again. Returned are the files: those of ``pages``, text by name, ``results.json``,
        ``per_query.csv``, ``qrels.trec``, and ``run.trec`` of a single system or ``run.NAME.trec`` of each of several.
        """
        data, runs, folder = self.data, run_names(self), Path(folder)
        record = json.dumps(as_record(self), ensure_ascii=False, indent=1, allow_nan=False)
        texts = {**(pages or {}), "results.json": f"{record}\n", "per_query.csv": _per_query(self)}
        files = [*texts, "qrels.trec", *runs.values()]
        blanks = r"[\s%]" if any(re.search(r"\s", name) for name in (*data.query_ids, *data.doc_ids)) else r"\s"
        query_ids, doc_ids = _quoted(data.query_ids, blanks), _quoted(data.doc_ids, blanks)
        name = "a temporary folder"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".report.", dir=folder) as part:
                for name, text in texts.items():
                    Path(part, name).write_bytes(text.encode())
                name = "qrels.trec"
                write_qrels(Path(part, name), as_qrels(data.qrels, query_ids, doc_ids))
                for system, name in runs.items():
                    result = self.results[system]
                    if result.ranking is not None:
                        names = _quoted(cast(Sequence[str], result.doc_ids), blanks) if result.is_run else doc_ids
                        run = RunTable.of_rows(result.ranking.ids, result.ranking.scores, query_ids, names)
                        write_run(Path(part, name), run, re.sub(r"\s+", "_", system) or "run")
                for name in reversed(files):  # the page last: by it people see that there is a report
                    Path(part, name).replace(folder / name)
        except OSError as error:
            raise OSError(
                f"Cannot write {name} into the folder {str(folder)!r} ({error.strerror or error}): free some space "
                "there or choose another folder."
            ) from None
        return [folder / name for name in files]


def run_names(comparison: Results) -> dict[str, str]:
    """Return the file of the run that each system gets: ``run.trec``, or of several ``run.NAME.trec``, a plain name."""
    own = [name for name in comparison.scored if comparison.results[name].metadata["kind"] != "run"]
    if len(comparison.results) == 1:
        return dict.fromkeys(own, "run.trec")
    files: dict[str, str] = {}
    for name in comparison.results:
        bare = re.sub(r"^run\.|(\.(trec|run|txt|gz))+$", "", name)
        plain = re.sub(r"[^\w.-]+", "-", bare).strip("-.")[:80] or "system"
        taken = sum(file.startswith(f"run.{plain}.") for file in files.values())
        files[name] = f"run.{plain}.{taken + 1}.trec" if taken else f"run.{plain}.trec"
    return {name: files[name] for name in own}


def data_digests(data: RetrievalDataset) -> dict[str, str]:
    """Return the digest that must be equal in two reports: of the data, or of judgements without texts."""
    if not data.judged_alone:
        return {"sha256": data.sha256}
    judged, doc_ids = zip(data.query_ids, data.qrels, strict=True), data.doc_ids
    lines = sorted((q, sorted((doc_ids[row], grade) for row, grade in grades.items())) for q, grades in judged)
    return {"qrels_sha256": hashlib.sha256(json.dumps(lines, ensure_ascii=False).encode()).hexdigest()}


def as_record(comparison: Results) -> Record:
    """Return the content of ``results.json``; docs/site/_root/tasks.md documents every key."""
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
        "level": 0.95,
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
    }  # fmt: skip
    if result.evaluation is None:
        return record
    record["scores"] = {}
    for metric, mean in result.evaluation.mean.items():
        spread = comparison.intervals[result.name][metric]
        record["scores"][metric] = {"mean": mean, "low": spread.low, "high": spread.high}
    for key in ("queries", "no_relevant", "missing", "tied"):
        record[key] = getattr(result.evaluation, key)
    record["run"] = run_names(comparison).get(result.name)
    if result.stages:
        record["stages"] = asdict(result.stages)
    return record


def _per_query(comparison: Results) -> str:
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
