"""Read a table from one file: JSONL, JSON, CSV, TSV or Parquet, every text as it stands."""

import contextlib
import csv
import itertools
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from helpers._printable import one_line, printable
from helpers.data import columns, hub, packed, safety
from helpers.data.columns import Table

READERS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}
_HALF = re.compile(  # an escape of half a character without its other half; of two backslashes neither escapes
    rb"(?<!\\)(?:\\\\)*(\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2})",
    re.I,
)


def kind_of(path: Path) -> str | None:
    """Name the reader of a file by its suffix, before ``.gz`` if it is packed: ``json``, ``csv`` or ``parquet``."""
    return READERS.get(Path(packed.plain_name(path)).suffix.lower())


def read_table(path: Path, named: Collection[str] = ()) -> Table:
    """Read a JSONL, JSON, CSV, TSV or Parquet file, packed (``.gz``) or not.

    Of a CSV file the delimiter (``,`` ``;`` ``|`` or tab) is read off its first line, or off Excel's ``sep=;`` above
    it, and every cell is text: an id ``007`` keeps its noughts and a passage ``NA`` is not a missing value. A TSV file
    of two columns without a header that names one, as usual or as in ``named``, is taken as id and text, as MS MARCO
    has it.

    Raises:
        ValueError: another kind of file, no rows, not UTF-8, a line with too many fields or that is not JSON, a
            column of something else than text, two columns of one name, half a character.
    """
    if kind_of(path) is None:
        suffix = printable(path.suffix) or "a file without suffix"
        raise ValueError(
            f"{printable(path.name)}: cannot read {suffix}; give {', '.join(READERS)}, or one of them .gz."
        )
    safety.require_regular(path)
    with packed.unpacked(path) as plain:
        return _read_plain(plain, str(kind_of(path)), named)


def _read_plain(path: Path, reader: str, named: Collection[str]) -> Table:
    """Read a file that is not packed."""
    import pyarrow.compute as pc

    name = printable(path.name)
    if reader != "parquet":
        _require_utf8(path, reader)
    safety.require_plain_file(path, reader)
    options = _csv_options(path, named) if reader == "csv" else {}
    try:
        table = hub.read_file(path, reader, **options)
        if reader == "json" and any("timestamp" in str(kind) for kind in table.features.values()):
            table = _read_json(path)  # "2026-01-31" was taken for a point in time
    except Exception as error:  # of many libraries
        broken = _broken_line(path) if path.suffix.lower() == ".jsonl" else None
        raise ValueError(f"{name}: {broken or one_line(error.__cause__ or error)}") from None
    if reader == "csv" and pc.any(pc.equal(table.data.column(table.column_names[-1]), "")).as_py():
        _require_full_lines(path, options)
    if not len(table):
        raise ValueError(f"{name}: no rows, only the columns {columns.column_list(table)}.")
    return table


def read_texts(path: Path, role: str) -> list[str]:
    """Read the texts of a table of queries or passages (``role``), in order; a title goes on a line before its text."""
    return columns.texts_of(read_table(path), role, {}, path.name)


def _csv_options(path: Path, named: Collection[str]) -> dict[str, Any]:
    """Find out how a CSV file is written, and ask for every cell as text."""
    from datasets import Features, Value

    with path.open(encoding="utf-8-sig", newline="") as file, _fields_of_any_length():
        first, skipped = file.readline(), 0
        if stated := re.fullmatch(r'"?sep=(.)"?\s*', first):
            first, skipped = file.readline(), 1
        delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=first.count)
        delimiter = stated[1] if stated else delimiter
        file.seek(0)
        rows = csv.reader(file, delimiter=delimiter)
        header, row = next(itertools.islice(rows, skipped, None), []), next(rows, None)
    options: dict[str, Any] = {"sep": delimiter, "encoding": "utf-8-sig", "keep_default_na": False}
    options |= {"skiprows": skipped} if skipped else {}
    usual = {name for names in columns.NAMES.values() for name in names}.union(named)
    if delimiter == "\t" and len(header) == 2 and not usual & set(header):
        header = ["id", "text"]
        options |= {"column_names": header, "quoting": csv.QUOTE_NONE}
    else:
        _require_header(path, header, row, delimiter)
    return options | {"features": Features({name: Value("string") for name in header})}


def _require_full_lines(path: Path, options: Mapping[str, Any]) -> None:
    """Raise where a line of a CSV file has fewer fields than the header: pandas takes what it lacks for blank."""
    with path.open(encoding="utf-8-sig", newline="") as file, _fields_of_any_length():
        rows = csv.reader(file, delimiter=options["sep"], quoting=options.get("quoting", csv.QUOTE_MINIMAL))
        for row in itertools.islice(rows, options.get("skiprows", 0), None):
            if row and len(row) < len(options["features"]):
                raise ValueError(
                    f"{printable(path.name)}, line {rows.line_num}: {len(row)} of {len(options['features'])} fields; "
                    "a blank one still needs its delimiter."
                )


def _require_header(path: Path, header: Sequence[str], row: Sequence[str] | None, delimiter: str) -> None:
    """Raise where the header of a CSV file does not fit the row below it, or names two columns alike."""
    shown = printable(", ".join(header))
    if row is None:
        raise ValueError(f"{printable(path.name)}: no rows, only the columns {shown}.")
    if len(row) != len(header):
        raise ValueError(
            f"{printable(path.name)}: {len(header)} columns in the header ({shown}) but {len(row)} in the row "
            f"below it. Is {delimiter!r} the delimiter? Put quotes around texts that hold it."
        )
    if twice := [name for name, count in Counter(header).items() if count > 1]:
        raise ValueError(
            f"{printable(path.name)}: the header ({shown}) names {len(twice)} column(s) twice, first "
            f"{printable(repr(twice[0]))}; give each column a name of its own."
        )


@contextlib.contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Lift the limit of the module ``csv``, 131,072 characters a field, for the length of a block."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _require_utf8(path: Path, reader: str) -> None:
    """Raise where a text file is empty, not UTF-8, or JSON with half a character, saying at which line."""
    empty = True
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            empty = empty and not line.strip()
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{printable(path.name)}, line {number}: not UTF-8 (byte 0x{line[error.start]:02x}). Save the "
                    'file as UTF-8 (in Excel "CSV UTF-8"), or convert it: iconv -f GB18030 -t UTF-8, with its own '
                    "encoding after -f."
                ) from None
            may_be_half = reader == "json" and (b"\\ud" in line or b"\\uD" in line)  # the search is slow
            if may_be_half and (half := _HALF.search(line)):
                raise ValueError(
                    f"{printable(path.name)}, line {number}: half a character, {half[1].decode()} (surrogates not "
                    "allowed in UTF-8); correct the text."
                )
    if empty:
        raise ValueError(f"{printable(path.name)}: no rows, the file is empty.")


def _read_json(path: Path) -> Any:
    """Read a JSON list of objects, or an object a line, every text as it stands."""
    import datasets

    text = path.read_text(encoding="utf-8-sig")
    if text.lstrip().startswith("["):
        return datasets.Dataset.from_list(json.loads(text))
    return datasets.Dataset.from_list([json.loads(line) for line in text.split("\n") if line.strip()])


def _broken_line(path: Path) -> str | None:
    """Say which line of a JSONL file is not JSON, None if each is."""
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            try:
                json.loads(line or "null")
            except ValueError as error:
                if line.strip():
                    reason = error.msg if isinstance(error, json.JSONDecodeError) else error
                    return f"line {number} is not JSON ({reason}): {line.strip()[:60]!r}"
    return None
