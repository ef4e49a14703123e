"""Small collections as files, in the layouts that the tests of loading read."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[dict[str, object]]


def put(path: Path, text: str | bytes) -> Path:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def jsonl(rows: Rows) -> str:
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


def configured(folder: Path, split: str = "test", **tables: Rows) -> Path:
    """Write a configuration for each table of one split, and the card that names them."""
    card = "---\nconfigs:\n"
    for name, rows in tables.items():
        put(folder / name / "part.jsonl", jsonl(rows))
        own = next((role for role in ("corpus", "queries") if role in name), split)  # the split that mteb gives them
        card += f"- config_name: {name}\n  data_files: [{{split: {own}, path: {name}/part.jsonl}}]\n"
    put(folder / "README.md", card + "---\n")
    return folder


def mteb(folder: Path, form: str = "{}", judged: str = "qrels", **tables: Rows) -> Path:
    """Write a collection as mteb has them on the hub; the names of configurations are formed as said."""
    known: dict[str, Rows] = {
        "corpus": [{"_id": "00", "title": "T", "text": f"uno {form}"}, {"_id": "01", "title": "", "text": "dos"}],
        "queries": [{"_id": f"q{row}", "text": text} for row, text in enumerate(["one", "two", "unasked"])],
        "qrels": [
            {"query-id": "q0", "corpus-id": "00", "score": 2.0},
            {"query-id": "q1", "corpus-id": "01", "score": 1.0},
            {"query-id": "q1", "corpus-id": "00", "score": 0.0},
        ],
    }
    tables = {form.format(judged if role == "qrels" else role): rows for role, rows in (known | tables).items()}
    return configured(folder, **tables)


def pictures(path: str) -> bytes:
    """Return a Parquet table whose column of positives is said to hold pictures, the one of that path."""
    features = {"query": {"dtype": "string", "_type": "Value"}, "positive": {"_type": "Image"}}
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    table = pa.table([pa.array(["one"]), pa.array([{"bytes": None, "path": path}], kind)], [*features])
    file = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})}), file)
    return file.getvalue()
