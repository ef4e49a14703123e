"""Read the files of the pocket collection as they lie on the disk, for the tests."""

import csv
import json

from helpers.data import bundled

FOLDER = bundled.FOLDER / "pocket"
Pair = tuple[str, str]  # id of the query, id of the passage


def records(name: str) -> list[dict]:
    """Read one of the collection's JSONL files."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def grades(name: str) -> dict[Pair, int]:
    """Return the grade of each pair of ``qrels.tsv``; a pair may not come twice."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        rows = [(query, passage, int(grade)) for query, _, passage, grade in csv.reader(file, delimiter="\t")]
    by_pair = {(query, passage): grade for query, passage, grade in rows}
    assert len(by_pair) == len(rows), f"{name} judges a pair twice"
    return by_pair


def card() -> str:
    """Return the text of the data card."""
    return (FOLDER / "README.md").read_text(encoding="utf-8")
