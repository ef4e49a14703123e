"""An earlier report as the baseline of this one: the same data, the same queries, other scores."""

import csv
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from helpers._cells import as_cell
from helpers.data import RetrievalDataset

SCHEMA = 1  # of results.json; it grows when a key changes its meaning or goes


class NotComparableError(ValueError):
    """The scores of an earlier report are of other data, queries or metrics: any difference would mean nothing."""


@dataclass(frozen=True)
class Baseline:
    """A system of an earlier report.

    Attributes:
        name: of the system.
        date: of the report.
        scores: by metric, one for each query, in the order of the data, (q,).
    """

    name: str
    date: str
    scores: dict[str, np.ndarray]


def data_digests(data: RetrievalDataset) -> dict[str, str]:
    """Return what must be equal in two reports: the digest of the data; where they have no texts, of the judgements.

    A collection from judgements and runs alone has the documents of these runs, which other runs need not retrieve.
    """
    if data.corpus != data.corpus_ids:
        return {"sha256": data.sha256}
    ids = data.doc_ids
    judged = zip(data.query_ids, data.qrels, strict=True)
    lines = sorted((query, sorted((ids[row], grade) for row, grade in grades.items())) for query, grades in judged)
    return {"qrels_sha256": hashlib.sha256(json.dumps(lines, ensure_ascii=False).encode()).hexdigest()}


def read_baseline(place: Path, data: RetrievalDataset, system: str, metrics: list[str]) -> Baseline:
    """Read the scores of a system, or of the only one, from an earlier report.

    Args:
        place: its folder, or ``results.json`` in it; ``per_query.csv`` lies beside that.
        data: what both reports must have evaluated.
        system: the name to look for.
        metrics: which scores.

    Raises:
        FileNotFoundError: no report there.
        ValueError: files that are no report's; several systems and none of that name.
        NotComparableError: other data, another lowest relevant grade, metrics that were not computed.
    """
    path = place / "results.json" if place.is_dir() else place
    table = path.with_name("per_query.csv")
    for file in (path, table):
        if not file.is_file():
            raise FileNotFoundError(f"No file {str(file)!r}; --baseline takes the folder of an earlier report.")
    try:
        record = json.loads(path.read_bytes())
        schema, theirs = record["schema"], record["data"]
        names = [one["name"] for one in record["systems"] if "scores" in one]
        date, level = record["made_with"]["date"], theirs["relevance_level"]
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(
            f"{path.name} is no result of a report ({error!r}): give the folder of an earlier one."
        ) from None
    if schema != SCHEMA:
        raise NotComparableError(f"{path.name} has schema {schema}, this report {SCHEMA}: write the baseline again.")
    for key, digest in data_digests(data).items():
        if theirs.get(key) != digest:
            raise NotComparableError(
                f"not comparable: {path.name} evaluated other data ({theirs['name']!r}, {key} "
                f"{str(theirs.get(key))[:12]}, here {digest[:12]}). Write the baseline again on these data."
            )
    if level != data.relevance_level:
        raise NotComparableError(
            f"not comparable: passages counted as relevant from grade {level} on, here from {data.relevance_level}."
        )
    if missing := [metric for metric in metrics if metric not in record["metrics"]]:
        raise NotComparableError(
            f"not comparable: {path.name} has no {missing[0]}, only {', '.join(record['metrics'])}: "
            "write the baseline again with that metric."
        )
    if system not in names and len(names) != 1:
        raise ValueError(f"{path.name} has no system {system!r} but {', '.join(names)}: name this one alike, ?name=….")
    chosen = system if system in names else names[0]
    with table.open(encoding="utf-8", newline="") as lines:
        rows = {line["query"]: line for line in csv.DictReader(lines) if line["system"] == as_cell(chosen)}
    try:
        wanted = [rows[as_cell(query)] for query in data.query_ids]
        scores = {metric: np.array([float(row[metric]) for row in wanted]) for metric in metrics}
    except (LookupError, ValueError) as error:
        raise ValueError(f"{table.name} does not fit {path.name} ({error!r}): write the baseline again.") from None
    return Baseline(chosen, date, scores)
