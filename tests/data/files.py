"""Small collections as files, in the layouts that the tests of loading read."""

import json
from pathlib import Path


def put(path: Path, text: str | bytes) -> Path:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def jsonl(rows: list[dict[str, object]]) -> str:
    """Write rows as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def beir(folder: Path, **files: str) -> Path:
    """Write a small collection in BEIR's layout; files replace those of the same name."""
    contents = {
        "queries.jsonl": jsonl([{"_id": f"q{i}", "text": text} for i, text in enumerate(["one", "two", "unasked"])]),
        "corpus.jsonl": jsonl(
            [{"_id": f"0{i}", "title": "T" * (i == 0), "text": t} for i, t in enumerate(["uno", "dos", "tres", "dos"])]
        ),
        "qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq0\t00\t2\nq1\t03\t1\nq1\t01\t3\nq1\t02\t0\n",
    } | files
    for name, text in contents.items():
        put(folder / name, text)
    return folder
