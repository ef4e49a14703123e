"""Read tables from JSONL, JSON, CSV, TSV or Parquet files, and find columns by role."""

import csv
import itertools
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers._files import PACKED, UTF8, open_binary, open_text
from helpers.data.dataset import is_blank

READERS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
NAMES = {  # role of a column: its usual names
    "query": ("query", "text", "question"),
    "query_id": ("_id", "id", "query_id", "query-id", "qid"),
    "passage": ("text", "content", "passage", "contents"),
    "passage_id": ("_id", "id", "passage_id", "docid", "doc_id", "corpus_id", "corpus-id", "pid"),
    "title": ("title",),
    "positive": ("positive",),
    "negative": ("negative",),
    "instruction": ("instruction",),
    "grade": ("grade", "score", "relevance", "label"),
}
SHEETS = (".xlsx", ".xls", ".ods")
DEFAULT_SPLIT = "dev"
DEV = ("dev", "validation", "val", "valid")  # synonyms of one split
Cell = object  # a text, a number, a list, None or any other value


@dataclass(frozen=True)
class Table:
    """Columns of equal length by name; the file or configuration they are from; its split, "" for a file."""

    columns: Mapping[str, list[Cell]]
    source: str
    split: str = ""

    @property
    def listed(self) -> str:
        """The names of the columns, for a message."""
        return ", ".join(map(repr, self.columns))


def parse_columns(columns: Mapping[str, str] | str) -> dict[str, str]:
    """Return column names by role, from a mapping or text such as ``"query=question, positive=answer"``."""
    if isinstance(columns, str):
        pairs = [part.split("=") for part in columns.split(",") if part.strip()]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"columns={columns!r}: expected role=column, separated by commas.")
        columns = {role.strip(): name.strip() for role, name in pairs}
    if unknown := set(columns) - set(NAMES):
        raise ValueError(f"columns names {', '.join(sorted(unknown))}; it may name {', '.join(NAMES)}.")
    return dict(columns)


def column_of(table: Table, role: str, columns: Mapping[str, str]) -> list[Cell]:
    """Return the column of a role, by its name in ``columns``, else by its usual names."""
    names = (columns[role],) if role in columns else NAMES[role]
    for name in names:
        if name in table.columns:
            return table.columns[name]
    raise ValueError(
        f"{table.source!r}: no column {' or '.join(map(repr, names))}; it has {table.listed}. Name the column that "
        f'holds the {role}: columns="{role}=…".'
    )


def texts_of(table: Table, role: str, columns: Mapping[str, str]) -> tuple[list[Cell], int]:
    """Return the texts of a table of queries or passages (``role``), joined with titles or instructions.

    The title of a passage precedes its text on its own line; the ``instruction`` of a query follows its text, as in
    ``mteb``.

    Returns:
        The cells, one per row, and the number of texts with a title.
    """
    texts = column_of(table, role, columns)
    if role == "query" and ("instruction" in columns or "instruction" in table.columns):
        instructions = column_of(table, "instruction", columns)
        pairs = zip(texts, instructions, strict=True)
        return [
            text if is_blank(text) or is_blank(instruction) else f"{text} {instruction}" for text, instruction in pairs
        ], 0
    if role != "passage" or ("title" not in columns and "title" not in table.columns):
        return texts, 0
    joined, titled = list(texts), 0
    for row, title in enumerate(column_of(table, "title", columns)):
        if is_blank(title):
            continue
        if is_blank(texts[row]):
            joined[row] = title
        elif isinstance(texts[row], str):
            joined[row], titled = f"{title}\n{texts[row]}", titled + 1
    return joined, titled


def choose_split(splits: Sequence[str], wanted: str | None, *, or_only: bool = False) -> str:
    """Return the name of a split, under any of its synonyms; the first split if ``wanted`` is None.

    With ``or_only``, or if ``wanted`` is the default, ``dev``, the only split is returned instead of a missing one.
    """
    if wanted is None:
        return splits[0]
    for name in (wanted, *DEV) if wanted in DEV else (wanted,):
        if name in splits:
            return name
    if (or_only or wanted == DEFAULT_SPLIT) and len(splits) == 1:
        return splits[0]
    raise ValueError(f"no split {wanted!r}; it has {', '.join(map(repr, splits)) or 'none'}.")


def kind_of(path: Path) -> str | None:
    """Return the reader for a file's suffix, ignoring ``.gz``: ``json``, ``csv`` or ``parquet``; None if unknown."""
    return READERS.get(Path(path.name.lower().removesuffix(PACKED)).suffix)


def read_table(path: Path, named: Collection[str] = (), encoding: str = UTF8) -> Table:
    """Read a JSONL, JSON, CSV, TSV or Parquet file, optionally in ``.gz``.

    The delimiter of a CSV file (``,`` ``;`` ``|`` or tab) is detected in its first line, or read from Excel's ``sep=;``
    above it. Every cell is text: an id ``007`` keeps its zeros, and a passage ``NA`` is not a missing value. A TSV file
    of two columns without a known column name (a usual one, or one of ``named``) has no header and contains ids and
    texts, as in MS MARCO.

    Raises:
        ValueError: the kind of file is not supported; there are no rows; the encoding is wrong; a line has a wrong
            number of fields or is not JSON; two columns have the same name.
    """
    kind = kind_of(path)
    if kind is None:
        suffix = repr(path.suffix) if path.suffix else "a file without suffix"
        advice = ' Save the sheet as "CSV UTF-8".' if path.suffix.lower() in SHEETS else ""
        raise ValueError(f"{path.name!r}: cannot read {suffix}; give {', '.join(READERS)}, or one of them .gz.{advice}")
    if kind == "parquet":
        columns = _read_parquet(path)
    else:
        columns = _read_json(path, encoding) if kind == "json" else _read_csv(path, named, encoding)
    table = Table(columns, path.name)
    if not any(columns.values()):
        raise ValueError(
            f"{path.name!r}: no rows, " + (f"only the columns {table.listed}." if columns else "the file is empty.")
        )
    return table


def _read_parquet(path: Path) -> dict[str, list[Cell]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_binary(path) as file:
        try:
            columns: dict[str, list[Cell]] = pq.read_table(file).to_pydict()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path.name!r} is no Parquet file that can be read ({error}).") from None
    return columns


def _read_json(path: Path, encoding: str) -> dict[str, list[Cell]]:
    """Read a JSON list of objects, or one object per line; missing keys become None."""
    rows: list[dict[str, Cell]] = []
    with open_text(path, encoding=encoding) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if not rows and line.lstrip().startswith("["):
                line += lines.read()
            try:
                value = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path.name!r}, line {number} is not JSON ({error}): {line.strip()[:60]!r}") from None
            values = value if isinstance(value, list) else [value]
            if not all(isinstance(row, dict) for row in values):
                raise ValueError(f"{path.name!r}, line {number}: expected an object, not {line.strip()[:60]!r}.")
            rows += values
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}


def _read_csv(path: Path, named: Collection[str], encoding: str) -> dict[str, list[Cell]]:
    csv.field_size_limit(2**31 - 1)  # the default of 131,072 characters per field is too small for texts
    with open_text(path, newline="", encoding=encoding) as file:
        first, above = file.readline(), 0
        if stated := re.fullmatch(r'"?sep=(.)"?\s*', first):
            first, above, delimiter = file.readline(), 1, stated[1]
        else:
            is_tsv = path.name.lower().removesuffix(PACKED).endswith(".tsv")
            delimiter = "\t" if is_tsv else max(",;\t|", key=first.count)
        header = next(csv.reader([first], delimiter=delimiter), [])
        usual = {name for names in NAMES.values() for name in names}.union(named)
        bare = delimiter == "\t" and len(header) == 2 and not usual & set(header)
        lines = itertools.chain([first], file)
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE if bare else csv.QUOTE_MINIMAL)
        rows: list[list[str]] = []
        for row in filter(None, reader):
            if rows and len(row) != len(rows[0]):
                raise ValueError(
                    f"{path.name!r}, line {reader.line_num + above}: {len(row)} of {len(rows[0])} fields "
                    f"({', '.join(map(repr, rows[0]))}). Is {delimiter!r} the delimiter? A blank field needs its "
                    "delimiter too, and a text that holds one needs quotes."
                )
            rows.append(row)
    header = ["id", "text"] if bare else rows.pop(0) if rows else []
    if twice := [name for name, count in Counter(header).items() if count > 1]:
        raise ValueError(f"{path.name!r} names {len(twice)} column(s) twice, first {twice[0]!r}; rename the second.")
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return {name: list(column) for name, column in zip(header, columns, strict=True)}
