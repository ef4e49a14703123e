"""Read the files of the pocket collection as they lie on the disk, for the tests."""

import csv
import json
from functools import cache

import numpy as np

from helpers.data import bundled

FOLDER = bundled.FOLDER / "pocket"
Pair = tuple[str, str]  # id of the query, id of the passage


def records(name: str) -> list[dict]:
    """Read one of the collection's JSONL files."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def query_types() -> np.ndarray:
    """Return the type of each query, in the order of the queries: (q,) text."""
    lines = (FOLDER / "query_types.tsv").read_text(encoding="utf-8").splitlines()
    return np.array([line.split("\t")[1] for line in lines])


def grades(name: str) -> dict[Pair, int]:
    """Return the grade of each pair of ``qrels.tsv``; a pair may not come twice."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        rows = [(query, passage, int(grade)) for query, _, passage, grade in csv.reader(file, delimiter="\t")]
    by_pair = {(query, passage): grade for query, passage, grade in rows}
    assert len(by_pair) == len(rows), f"{name} judges a pair twice"
    return by_pair


@cache
def labels() -> dict[Pair, dict[str, int]]:
    """Return who gave which grade to each pair of ``labels.tsv``: {assessor: grade}."""
    with (FOLDER / "labels.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    who = [name for name in rows[0] if name not in ("query", "passage")]
    given = {(row["query"], row["passage"]): {n: int(row[n]) for n in who if row[n] != "-"} for row in rows}
    assert len(given) == len(rows), "labels.tsv has a pair twice"
    return given


def by_query(assessor: str) -> dict[str, dict[str, int]]:
    """Return the grades of one assessor by query, in a fixed order."""
    found: dict[str, dict[str, int]] = {}
    for (query, passage), given in sorted(labels().items()):
        if assessor in given:
            found.setdefault(query, {})[passage] = given[assessor]
    return found


def card() -> str:
    """Return the text of the data card."""
    return (FOLDER / "README.md").read_text(encoding="utf-8")
