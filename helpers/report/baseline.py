"""An earlier report as the baseline of this one: the same data, the same queries, other scores."""

import csv
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from helpers._cells import as_cell
from helpers.data import RetrievalDataset
from helpers.report.spec import Record

SCHEMA = 1  # of results.json; it grows when a key changes its meaning or goes


class NotComparableError(ValueError):
    """The scores of an earlier report are of other data, queries or metrics: any difference would mean nothing."""


@dataclass(frozen=True)
class Baseline:
    """A system of an earlier report.

    Attributes:
        date: of the report.
        scores: by metric, one for each query, in the order of the data, (q,).
    """

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


def read_saved(place: Path, metrics: Sequence[str]) -> tuple[Record, dict[str, dict[str, list[float]]]]:
    """Read what a report wrote.

    Args:
        place: its folder, or ``results.json`` in it; ``per_query.csv`` lies beside that.
        metrics: which scores; none for the one that decides.

    Returns:
        The content of ``results.json``, and the scores: system to query to values, one a metric. Systems and queries
        are called as in the table, see :func:`helpers._cells.as_cell`.

    Raises:
        FileNotFoundError: no report there.
        ValueError: files that are no report's, or do not belong together.
        NotComparableError: another schema, metrics that were not computed.
    """
    path = place / "results.json" if place.is_dir() else place
    table = path.with_name("per_query.csv")
    for file in (path, table):
        if not file.is_file():
            raise FileNotFoundError(f"No file {str(file)!r}: expected the folder of a report.")
    try:
        record = json.loads(path.read_bytes())
        names = {as_cell(one["name"]) for one in record["systems"] if "scores" in one}
        size, schema, metrics, known = (
            record["data"]["queries"],
            record["schema"],
            metrics or [record["main"]],
            record["metrics"],
        )
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{str(path)!r} is no result of a report ({error!r}): give the folder of one.") from None
    if schema != SCHEMA:
        raise NotComparableError(f"{path.name} has schema {schema}, this report {SCHEMA}: write that report again.")
    if missing := [metric for metric in metrics if metric not in known]:
        raise NotComparableError(
            f"not comparable: {str(path)!r} has no {missing[0]}, only {', '.join(known)}: write it again with that one."
        )
    scores: dict[str, dict[str, list[float]]] = {}
    try:
        with table.open(encoding="utf-8", newline="") as lines:
            for line in csv.DictReader(lines):
                values = [float(line[metric]) for metric in metrics]
                scores.setdefault(line["system"], {})[line["query"]] = values
        if scores.keys() != names or any(len(rows) != size for rows in scores.values()):
            raise ValueError("other systems or queries")
    except (LookupError, ValueError, TypeError) as error:
        raise ValueError(f"{str(table)!r} does not fit {path.name} ({error}): write that report again.") from None
    return record, scores


def read_baseline(place: Path, data: RetrievalDataset, system: str, metrics: Sequence[str]) -> Baseline:
    """Read the scores of a system, or of the only one, from an earlier report.

    Args:
        place, metrics: as for :func:`read_saved`.
        data: what both reports must have evaluated.
        system: the name to look for.

    Raises:
        ValueError: several systems and none of that name; as :func:`read_saved`.
        NotComparableError: other data, another lowest relevant grade; as :func:`read_saved`.
    """
    record, scores = read_saved(place, metrics)
    theirs = record["data"]
    for key, digest in data_digests(data).items():
        if theirs.get(key) != digest:
            raise NotComparableError(
                f"not comparable: the baseline evaluated other data ({theirs['name']!r}, {key} "
                f"{str(theirs.get(key))[:12]}, here {digest[:12]}). Write it again on these data."
            )
    if (level := theirs["relevance_level"]) != data.relevance_level:
        raise NotComparableError(
            f"not comparable: passages counted as relevant from grade {level} on, here from {data.relevance_level}."
        )
    rows = scores.get(as_cell(system)) or (next(iter(scores.values())) if len(scores) == 1 else None)
    if rows is None:
        raise ValueError(
            f"The baseline has no system {system!r} but {', '.join(scores)}: name this one alike, ?name=…."
        )
    columns = np.array([rows[as_cell(query)] for query in data.query_ids]).T
    return Baseline(record["made_with"]["date"], dict(zip(metrics, columns, strict=True)))
