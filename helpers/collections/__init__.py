"""Collections that ship with the package, read without a network and without any third-party library."""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "zh")
NAMES = ("pocket-en", "pocket-zh", "pocket")


@dataclass(frozen=True)
class Files:
    """What the files of a collection hold: records in file order, judgements as (query, passage, grade)."""

    queries: list[dict[str, str]]
    corpus: list[dict[str, str]]
    qrels: list[tuple[str, str, int]]


def read(name: str, query_language: str, corpus_language: str, folder: Path = FOLDER) -> Files:
    """Read a collection.

    Args:
        name: the collection's folder, ``pocket``.
        query_language, corpus_language: ``en`` or ``zh``; ids are parallel, so any pair shares the judgements.
        folder: where the collections lie.

    Raises:
        ValueError: an unknown language, or a file that is missing or damaged (the message names it).
    """
    for language in (query_language, corpus_language):
        if language not in LANGUAGES:
            raise ValueError(f"{name} has no language {language!r}; it has {', '.join(LANGUAGES)}.")
    place = folder / name
    queries = _read_jsonl(place / f"queries.{query_language}.jsonl", ("id", "text"))
    corpus = _read_jsonl(place / f"corpus.{corpus_language}.jsonl", ("id", "title", "text"))
    qrels = _read_qrels(place / "qrels.tsv", {q["id"] for q in queries}, {p["id"] for p in corpus})
    return Files(queries, corpus, qrels)


def _read_jsonl(path: Path, fields: tuple[str, ...]) -> list[dict[str, str]]:
    """Read one JSON object a line and see that each has the fields, as text, and an id of its own."""
    records, seen = [], set()
    for number, line in enumerate(_lines(path), 1):
        try:
            record = json.loads(line)
            texts = [record[field] for field in fields]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise _damaged(path, number, f"expected a JSON object with {', '.join(fields)}") from error
        if not all(isinstance(text, str) and text for text in texts):
            raise _damaged(path, number, f"{', '.join(fields)} must be text and not empty")
        if record["id"] in seen:
            raise _damaged(path, number, f"the id {record['id']!r} stands twice")
        seen.add(record["id"])
        records.append(record)
    return records


def _read_qrels(path: Path, queries: set[str], passages: set[str]) -> list[tuple[str, str, int]]:
    """Read TREC judgements (query, 0, passage, grade) and see that each names a known query and passage."""
    judgements = []
    for number, line in enumerate(_lines(path), 1):
        parts = line.split("\t")
        if len(parts) != 4 or parts[3] not in {"0", "1", "2", "3"}:
            raise _damaged(path, number, "expected query, 0, passage and a grade from 0 to 3, tab-separated")
        if parts[0] not in queries or parts[2] not in passages:
            raise _damaged(path, number, f"unknown query {parts[0]!r} or passage {parts[2]!r}")
        judgements.append((parts[0], parts[2], int(parts[3])))
    return judgements


def _lines(path: Path) -> list[str]:
    """Read a file's lines, or say which file is missing or damaged."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = "missing" if isinstance(error, FileNotFoundError) else f"not readable ({error})"
        raise ValueError(f"The bundled file {path.name} is {why}; reinstall the package.") from error
    if not lines:
        raise ValueError(f"The bundled file {path.name} is empty; reinstall the package.")
    return lines


def _damaged(path: Path, number: int, why: str) -> ValueError:
    """Word the error for a damaged bundled file."""
    return ValueError(f"The bundled file {path.name} is damaged at line {number}: {why}; reinstall the package.")
