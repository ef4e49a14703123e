"""Read a table from one file: JSONL, JSON, CSV, TSV or Parquet, packed or not, every text as it stands."""

import csv
import itertools
import json
import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from helpers._files import PACKED, open_binary, open_text
from helpers.data.columns import NAMES, Cell, Table, texts_of

READERS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}


def kind_of(path: Path) -> str | None:
    """Name the reader of a file by its suffix, before ``.gz`` if it is packed: ``json``, ``csv`` or ``parquet``."""
    return READERS.get(Path(path.name.lower().removesuffix(PACKED)).suffix)


def read_table(path: Path, named: Collection[str] = ()) -> Table:
    """Read a JSONL, JSON, CSV, TSV or Parquet file, packed (``.gz``) or not.

    Of a CSV file the delimiter (``,`` ``;`` ``|`` or tab) is read off its first line, or off Excel's ``sep=;`` above
    it, and every cell is text: an id ``007`` keeps its noughts and a passage ``NA`` is not a missing value. A TSV file
    of two columns without a header that names one, as usual or as in ``named``, is taken as id and text, as MS MARCO
    has it.

    Raises:
        ValueError: another kind of file, no rows, not UTF-8, a line with too many or too few fields or that is not
            JSON, two columns of one name.
    """
    kind = kind_of(path)
    if kind is None:
        suffix = repr(path.suffix) if path.suffix else "a file without suffix"
        raise ValueError(f"{path.name!r}: cannot read {suffix}; give {', '.join(READERS)}, or one of them .gz.")
    if kind == "parquet":
        columns = _read_parquet(path)
    else:
        columns = _read_json(path) if kind == "json" else _read_csv(path, named)
    table = Table(columns)
    if not table.rows:
        raise ValueError(
            f"{path.name!r}: no rows" + (f", only the columns {table.listed}." if columns else ", the file is empty.")
        )
    return table


def read_texts(path: Path, role: str) -> list[str]:
    """Read the texts of a table of queries or passages (``role``), in order; "" where a row has none.

    A title goes on a line before its text.
    """
    texts, _ = texts_of(read_table(path), role, {}, path.name)
    return [text if isinstance(text, str) else "" for text in texts]


def _read_parquet(path: Path) -> dict[str, list[Cell]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_binary(path) as file:
        try:
            columns: dict[str, list[Cell]] = pq.read_table(file).to_pydict()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path.name!r} is no Parquet file that can be read ({error}).") from None
    return columns


def _read_json(path: Path) -> dict[str, list[Cell]]:
    """Read a JSON list of objects, or an object a line; a row without a key has None there."""
    rows: list[dict[str, Cell]] = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if not rows and line.lstrip().startswith("["):
                line += lines.read()
            try:
                value = json.loads(line.rstrip())
            except (ValueError, RecursionError) as error:
                at = number + error.lineno - 1 if isinstance(error, json.JSONDecodeError) else number
                reason = error.msg if isinstance(error, json.JSONDecodeError) else error
                raise ValueError(f"{path.name!r}, line {at} is not JSON ({reason}): {line.strip()[:60]!r}") from None
            values = value if isinstance(value, list) else [value]
            rows += values
            if not all(isinstance(row, dict) for row in values):
                raise ValueError(f"{path.name!r}, line {number}: expected an object, not {line.strip()[:60]!r}.")
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}


def _read_csv(path: Path, named: Collection[str]) -> dict[str, list[Cell]]:
    csv.field_size_limit(2**31 - 1)  # the limit of 131,072 characters a field is too small for texts
    with open_text(path, newline="") as file:
        first = file.readline()
        stated = re.fullmatch(r'"?sep=(.)"?\s*', first)
        first, above = (file.readline(), 1) if stated else (first, 0)
        delimiter = "\t" if path.name.lower().removesuffix(PACKED).endswith(".tsv") else max(",;\t|", key=first.count)
        delimiter = stated[1] if stated else delimiter
        header = next(csv.reader([first], delimiter=delimiter), [])
        usual = {name for names in NAMES.values() for name in names}.union(named)
        bare = delimiter == "\t" and len(header) == 2 and not usual & set(header)
        rest = csv.reader(
            itertools.chain([first], file), delimiter=delimiter, quoting=csv.QUOTE_NONE if bare else csv.QUOTE_MINIMAL
        )
        rows: list[list[str]] = []
        for row in rest:
            if row and rows and len(row) != len(rows[0]):
                raise ValueError(
                    f"{path.name!r}, line {rest.line_num + above}: {len(row)} of {len(rows[0])} fields "
                    f"({', '.join(map(repr, rows[0]))}). Is {delimiter!r} the delimiter? A blank field needs its "
                    "delimiter too, and a text that holds one needs quotes."
                )
            if row:
                rows.append(row)
    header = ["id", "text"] if bare else rows.pop(0) if rows else []
    if twice := [name for name, count in Counter(header).items() if count > 1]:
        raise ValueError(
            f"{path.name!r}: the header ({', '.join(map(repr, header))}) names {len(twice)} column(s) twice, first "
            f"{twice[0]!r}; give each column a name of its own."
        )
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return {name: list(column) for name, column in zip(header, columns, strict=True)}
