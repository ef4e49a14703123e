"""Read tables from JSONL, JSON, CSV, TSV or Parquet files, and find columns by role."""

import csv
import itertools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers._io import PACKED, Fields, open_binary, open_text, what_is
from helpers.data.dataset import is_blank

READERS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
NAMES = {  # role of a column: its usual names, in any case and with blanks, hyphens or underscores
    "query": ("query", "question", "anchor", "问题", "查询"),
    "query_id": ("_id", "id", "query_id", "qid"),
    "passage": ("text", "content", "passage", "contents"),
    "passage_id": ("_id", "id", "passage_id", "doc_id", "corpus_id", "pid"),
    "title": ("title",),
    "positive": ("positive", "positives", "pos", "answer", "answers", "答案", "回答"),
    "negative": ("negative", "negatives", "neg"),
    "instruction": ("instruction",),
    "grade": ("grade", "score", "relevance", "label"),
}
IDS = {  # role of a column in a table of judgements: its usual names
    "query_id": ("query_id", "qid", "query", "topic", "topic_id"),
    "passage_id": ("corpus_id", "doc_id", "docno", "document", "document_id", "doc", "passage_id", "pid"),
    "grade": (*NAMES["grade"], "judgement", "judgment"),
}
DEFAULT_SPLIT = "dev"
DEV = ("dev", "validation", "val", "valid")  # synonyms of one split
Cell = object  # a text, a number, a list, None or any other value


@dataclass(frozen=True)
class Table:
    """Columns of equal length by name; the file or configuration they are from; its split, "" for a file."""

    columns: Fields
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


def find_name(names: Iterable[str], usual: Sequence[str]) -> str | None:
    """Return the first usual name that is among ``names``, as it is written there: ``Query ID`` is ``query_id``."""
    plain = {_plain(name): name for name in reversed(list(names))} | {name: name for name in names}
    return next((plain[form] for name in usual for form in (name, _plain(name)) if form in plain), None)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", unicodedata.normalize("NFKC", name)).casefold()


def column_of(table: Table, role: str, columns: Mapping[str, str], *, optional: bool = False) -> list[Cell]:
    """Return the column of a role, by its name in ``columns``, else by its usual names; empty if it may be missing."""
    names = (columns[role],) if role in columns else NAMES[role]
    if (found := find_name(table.columns, names)) is not None:
        column: list[Cell] = table.columns[found]
        return column
    if optional and role not in columns:
        return []
    raise ValueError(
        f"{table.source!r}: no column {' or '.join(map(repr, names))}; it has {table.listed}. Name the column that "
        f'holds the {role}, columns="{role}=…", or call it {names[0]!r} in the file.'
    )


def texts_of(table: Table, role: str, columns: Mapping[str, str]) -> tuple[list[Cell], int]:
    """Return the texts of a table of queries or passages (``role``), and how many of them have a title.

    The title of a passage precedes its text on its own line; the ``instruction`` of a query follows its text, as in
    ``mteb``.
    """
    named = find_name(table.columns, ("query", "text")) if role == "query" and role not in columns else None
    texts = column_of(table, role, {role: named} if named else columns)
    others = column_of(table, "title" if role == "passage" else "instruction", columns, optional=True)
    joined, titled = list(texts), 0
    for row, (text, other) in enumerate(zip(texts, others, strict=False)):
        if is_blank(other):
            continue
        if role == "query":
            joined[row] = text if is_blank(text) else f"{text} {other}"
        elif is_blank(text):
            joined[row] = other
        elif isinstance(text, str):
            joined[row], titled = f"{other}\n{text}", titled + 1
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


def find_file(folder: Path, stem: str, kinds: Sequence[str] = tuple(READERS)) -> Path | None:
    """Return the table called ``stem`` in a folder, with one of the suffixes and optionally ``.gz``, or None."""
    names = [f"{stem}{kind}{packed}" for kind in kinds for packed in ("", PACKED)]
    return next((folder / name for name in names if (folder / name).exists() or (folder / name).is_symlink()), None)


def read_table(path: Path, named: Collection[str] = (), encoding: str = "", kind: str | None = None) -> Table:
    """Read a JSONL, JSON, CSV, TSV or Parquet file, optionally in ``.gz``; without a ``kind`` its suffix tells.

    The delimiter of a CSV file (``,`` ``;`` ``|`` or tab) is detected in its first line, or read from Excel's ``sep=;``
    above it. Every cell is text: an id ``007`` keeps its zeros, and a passage ``NA`` is not a missing value. A TSV file
    of two columns without a known column name (a usual one, or one of ``named``) has no header and contains ids and
    texts, as in MS MARCO.
    """
    kind = kind or kind_of(path)
    if kind is None:
        with path.open("rb") as file:
            seen = what_is(file.read(64))
        suffix, seen = repr(path.suffix) if path.suffix else "a file without suffix", seen and f" It is {seen}."
        raise ValueError(f"{path.name!r}: cannot read {suffix}; give {', '.join(READERS)}, or one of them .gz.{seen}")
    columns: dict[str, list[Cell]]
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        with open_binary(path) as file:
            try:
                columns = pq.read_table(file).to_pydict()
            except (pa.ArrowException, OSError) as error:
                file.seek(0)
                reason = what_is(file.read(64)) or f"no Parquet file that can be read ({error})"
                raise ValueError(f"{path.name!r} is {reason}.") from None
    else:
        columns = _read_json(path, encoding) if kind == "json" else _read_csv(path, named, encoding)
    table = Table(Fields(columns), path.name)
    if not any(columns.values()):
        raise ValueError(
            f"{path.name!r}: no rows, " + (f"only the columns {table.listed}." if columns else "the file is empty.")
        )
    return table


def _read_json(path: Path, encoding: str) -> dict[str, list[Cell]]:
    """Read a JSON list of objects, one object over several lines, or one per line; missing keys become None."""
    rows: list[dict[str, Cell]] = []
    with open_text(path, encoding=encoding) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if not rows and (line.strip() == "{" or line.lstrip().startswith("[")):
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
        lines = list(file)
    if stated := re.fullmatch(r'"?sep=(.)"?\s*', lines[0] if lines else ""):
        delimiter, lines[0] = stated[1], "\n"
    else:
        first = next((line for line in lines if line.strip()), "")
        is_tsv = "\t" in first and path.name.lower().removesuffix(PACKED).endswith(".tsv")
        delimiter = "\t" if is_tsv else max(",;\t|", key=first.count)
    rows = _choose_rows(path.name, lines, delimiter)
    header = rows[0] if rows else []
    usual = [*itertools.chain(*NAMES.values()), *named]
    if delimiter == "\t" and len(header) == 2 and find_name(header, usual) is None:
        header = ["id", "text"]
    else:
        rows = rows[1:]
    if twice := [name for name, count in Counter(filter(None, header)).items() if count > 1]:
        raise ValueError(f"{path.name!r} names {len(twice)} column(s) twice, first {twice[0]!r}; rename the second.")
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return {name: list(column) for name, column in zip(header, columns, strict=True)}


def _choose_rows(name: str, lines: list[str], delimiter: str) -> list[list[str]]:
    """Read rows whose quotes enclose texts, as ``csv`` and Excel write them, or are signs of the texts themselves."""
    is_tsv, plain = delimiter == "\t", _rows(name, lines, delimiter, quoting=csv.QUOTE_NONE)
    if isinstance(plain, list) and not any(cell.startswith('"') for row in plain for cell in row):
        return plain
    chosen = quoted = _rows(name, lines, delimiter)
    if isinstance(plain, ValueError) or isinstance(quoted, ValueError):
        if is_tsv and (isinstance(plain, list) or isinstance(quoted, ValueError)):
            chosen = plain
    elif not all(cell.startswith('"') for cell in plain[0]):
        both = list(zip(plain, quoted, strict=False))
        cells = [(raw, text) for rows in both for raw, text in zip(*rows, strict=True) if raw != text]
        needed = {'"' in text or delimiter in text for _, text in cells}
        if len(plain) != len(quoted) or (is_tsv and len(needed) == 2):
            raise _doubt(name, lines, cells[0][0])
        chosen = plain if is_tsv and needed == {False} else quoted
    if isinstance(chosen, ValueError):
        raise chosen
    has_escapes = any('\\"' in cell for row in chosen for cell in row)
    if has_escapes and isinstance(_rows(name, lines, delimiter, escapechar="\\"), list):
        raise _doubt(name, lines, '\\"')
    return chosen


def _rows(name: str, lines: list[str], delimiter: str, **quotes: Any) -> list[list[str]] | ValueError:
    """Read all rows with these options of ``csv``, or return the error of the line where one of them is broken."""
    rows: list[list[str]] = []
    reader = csv.reader(lines, delimiter=delimiter, strict=True, **quotes)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error:
            return ValueError(
                f"{name!r}, line {line}: a text that begins with a quote is not closed by one, or goes on behind it. A "
                'quote inside a quoted text is written twice (""), not \\".'
            )
        if row is None:
            return rows
        if row and rows and len(row) != len(rows[0]):
            return ValueError(
                f"{name!r}, line {reader.line_num}: {len(row)} of {len(rows[0])} fields "
                f"({', '.join(map(repr, rows[0]))}). Is {delimiter!r} the delimiter? A blank field needs its delimiter "
                "too, and a text that holds one needs quotes."
            )
        rows += [row] if row else []


def _doubt(name: str, lines: list[str], mark: str) -> ValueError:
    """Return the error of quotes that can be read in two ways, as in the first line that contains ``mark``."""
    number = next(number for number, line in enumerate(lines, 1) if mark in line)
    return ValueError(
        f"{name!r}, line {number}: a quote may enclose a text or be part of it, and the rows are others then: "
        f'{mark[:60]!r}. Enclose every text in quotes and write those inside twice (""), or give JSONL.'
    )
