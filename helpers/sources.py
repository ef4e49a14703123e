"""Read somebody's own files: tables of any format and any column names, folders as BEIR has them, TREC judgements."""

import contextlib
import csv
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.trec import read_qrels

TEXT_COLUMNS = ("text", "content", "passage", "contents")
NAMES = {  # what a column holds: the names under which it is looked for
    "query": ("query", "text", "question"),
    "query_id": ("_id", "id", "query_id", "qid"),
    "passage": TEXT_COLUMNS,
    "passage_id": ("_id", "id", "passage_id", "docid", "doc_id", "pid"),
    "title": ("title",),
    "positive": ("positive",),
    "negative": ("negative",),
}
READERS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}


class Judged(NamedTuple):
    """Texts by id, and ``{query id: {passage id: grade}}``."""

    queries: dict[str, str]
    corpus: dict[str, str]
    qrels: dict[str, dict[str, int]]


def parse_columns(columns: Mapping[str, str] | str | None) -> dict[str, str]:
    """Read which column holds what: a mapping, or text such as ``"query=question, positive=answer"``.

    Raises:
        ValueError: something other than the keys of ``NAMES`` is named, or the text has another form.
    """
    if isinstance(columns, str):
        pairs = [part.split("=") for part in columns.split(",") if part.strip()]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"columns={columns!r}: expected role=column, separated by commas.")
        columns = {role.strip(): name.strip() for role, name in pairs}
    unknown = set(columns or {}) - set(NAMES)
    if unknown:
        raise ValueError(f"columns names {', '.join(sorted(unknown))}; it may name {', '.join(NAMES)}.")
    return dict(columns or {})


def find_column(table, role: str, columns: Mapping[str, str], where: str, *, required: bool = True) -> str | None:
    """Name the column of a table that holds ``role``: the one that ``columns`` gives, else a usual name.

    Raises:
        ValueError: there is none, or not the one given; the message lists what the table has.
    """
    given = columns.get(role)
    name = next((name for name in ([given] if given else NAMES[role]) if name in table.column_names), None)
    if name is None and (required or given):
        looked = f"no column {given!r}" if given else f"no column {' or '.join(NAMES[role])}"
        raise ValueError(
            f"{where}: {looked}; it has {', '.join(table.column_names)}. "
            f'Name the column that holds the {role}: columns="{role}=…".'
        )
    return name


@contextlib.contextmanager
def no_bars() -> Iterator[None]:
    """Keep the progress bars of ``datasets`` out of the lessons."""
    import datasets

    was_enabled = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if was_enabled:
            datasets.enable_progress_bars()


def load_local(path: str, config: str | None = None, split: str | None = None, **options: object):
    """Read files through Hugging Face ``datasets``, anew each time; every split if ``split`` is None.

    The shared cache of ``datasets`` knows a folder by its name and would give an earlier version of it, or another
    folder of that name (seen with datasets 5.2); so each reading gets a cache of its own.

    Raises:
        ValueError: a folder whose path holds ``*``, ``?`` or ``[``, which ``datasets`` takes for a pattern.
    """
    import datasets

    with no_bars(), tempfile.TemporaryDirectory() as cache:
        if "data_files" not in options and (found := re.search(r"[*?\[]", str(Path(path).resolve()))):
            raise ValueError(
                f"the path of the folder holds {found[0]!r}, which stands for a pattern there; rename the folder, "
                "or name the file in it."
            )
        options |= {"cache_dir": cache, "keep_in_memory": True}
        try:
            return datasets.load_dataset(path, config, split=split, **options)
        except ValueError as error:
            if split not in ("dev", "val", "valid") or "Unknown split" not in str(error):
                raise
            return datasets.load_dataset(path, config, split="validation", **options)  # its name for dev.jsonl


def read_table(path: Path):
    """Read a JSONL, JSON, CSV, TSV or Parquet file.

    Of a CSV file the delimiter (``,`` ``;`` ``|`` or tab) is read off its first line, and every cell is text: an id
    ``007`` keeps its noughts and a passage ``NA`` is not a missing value. A TSV file of two columns without a
    header that names one is taken as id and text, as MS MARCO has it.

    Raises:
        ValueError: another kind of file, no rows, not UTF-8, a line with too many fields or that is not JSON.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(
            f"{path.name}: cannot read {path.suffix or 'a file without suffix'}; give {', '.join(READERS)}."
        )
    if reader != "parquet":
        _require_utf8(path)
    options = _csv_options(path) if reader == "csv" else {}
    import datasets

    try:
        table = load_local(reader, split="train", data_files=_literal(path), **options)
        if any("timestamp" in str(kind) for kind in table.features.values()) and reader == "json":
            table = datasets.Dataset.from_list(_json_rows(path))  # "2026-01-31" was taken for a point in time
    except (ValueError, datasets.exceptions.DatasetsError) as error:
        why = _broken_line(path) if path.suffix.lower() == ".jsonl" else None
        raise ValueError(f"{path.name}: {why or error.__cause__ or error}") from error
    if not len(table):
        raise ValueError(f"{path.name}: no rows, only the columns {', '.join(table.column_names)}.")
    return table


def is_beir(folder: Path) -> bool:
    """Tell a folder in the layout of BEIR: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/``."""
    return all((folder / name).exists() for name in ("corpus.jsonl", "queries.jsonl", "qrels"))


def read_beir(folder: Path, split: str, columns: Mapping[str, str]) -> Judged:
    """Read a folder in the layout of BEIR, the judgements of one split."""
    splits = sorted(path.stem for path in (folder / "qrels").glob("*.tsv"))
    if split not in splits:
        raise ValueError(f"{folder.name}: no qrels/{split}.tsv; the splits are {', '.join(splits) or 'none'}.")
    files = ("queries.jsonl", "corpus.jsonl", f"qrels/{split}.tsv")
    return read_judged(*(folder / name for name in files), columns)


def read_judged(queries: Path, corpus: Path, qrels: Path, columns: Mapping[str, str]) -> Judged:
    """Read two tables of ids and texts, and judgements in TREC's four columns or BEIR's three.

    Queries that nobody judged are left out (BEIR keeps those of all splits in one file).

    Raises:
        ValueError: an id stands twice, or a judgement names an id that its table lacks; how many, the first three.
    """
    texts = {}
    for role, path in (("query", queries), ("passage", corpus)):
        table = read_table(path)
        ids = [str(value) for value in table[find_column(table, f"{role}_id", columns, path.name)]]
        texts[role] = dict(zip(ids, _texts(table, role, columns, path.name), strict=True))
        _require_none(f"{path.name}: {{}} id(s) stand twice", _repeated(ids))
    judged = _read_judgements(qrels)
    relevant = dict.fromkeys(doc for docs in judged.values() for doc, grade in docs.items() if grade > 0)
    for role, path, named in (("query", queries, judged), ("passage", corpus, relevant)):
        missing = [name for name in named if name not in texts[role]]
        has = f"{path.name} has ids such as {', '.join(map(repr, list(texts[role])[:3]))}"
        _require_none(f"{qrels.name} judges {{}} of {len(named)} {role} ids that {path.name} lacks; {has}", missing)
    asked = {name: text for name, text in texts["query"].items() if name in judged}
    return Judged(asked, texts["passage"], judged)


def read_texts(path: Path, role: str) -> list[str]:
    """Read the texts of a table of queries or passages (``role``), in order; a title goes on a line before its text."""
    return _texts(read_table(path), role, {}, path.name)


def _texts(table, role: str, columns: Mapping[str, str], where: str) -> list[str]:
    """Take the texts of a table, a passage's title put before it."""
    column = list(table[find_column(table, role, columns, where)])
    title = find_column(table, "title", columns, where, required=False) if role == "passage" else None
    return [f"{t}\n{text}" if t else text for t, text in zip(table[title], column, strict=True)] if title else column


def _read_judgements(path: Path) -> dict[str, dict[str, int]]:
    """Read judgements: TREC's ``query 0 document grade``, or BEIR's ``query document grade`` below a header."""
    _require_utf8(path)
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    if not any(line.strip() for line in lines):
        raise ValueError(f"{path.name}: no judgements, the file is empty.")
    if len(lines[0].split()) != 3:
        return read_qrels(path)
    qrels: dict[str, dict[str, int]] = {}
    header = re.fullmatch(r"[+-]?\d+", lines[0].split()[2]) is None
    for number, line in enumerate(lines[header:], 1 + header):
        parts = line.split("\t") if "\t" in line else line.split()
        if len(parts) != 3 or not re.fullmatch(r"[+-]?\d+", parts[2].strip()):
            raise ValueError(f"{path.name}, line {number}: expected query, document and a whole grade, not {line!r}.")
        qrels.setdefault(parts[0], {})[parts[1]] = int(parts[2])
    if not qrels:
        raise ValueError(f"{path.name}: no judgements below the header {lines[0]!r}.")
    return qrels


def _csv_options(path: Path) -> dict:
    """Find out how a CSV file is written, and ask for every cell as text."""
    from datasets import Features, Value

    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=first.count)
        file.seek(0)
        rows = csv.reader(file, delimiter=delimiter)
        header, row = next(rows), next(rows, None)
    options: dict = {"sep": delimiter, "encoding": "utf-8-sig", "keep_default_na": False}
    usual = {name for names in NAMES.values() for name in names}
    if delimiter == "\t" and len(header) == 2 and not usual & set(header):
        header = ["id", "text"]
        options |= {"column_names": header, "quoting": csv.QUOTE_NONE}
    elif row is None:
        raise ValueError(f"{path.name}: no rows, only the columns {', '.join(header)}.")
    elif len(row) != len(header):
        raise ValueError(
            f"{path.name}: {len(header)} columns in the header ({', '.join(header)}) but {len(row)} in the row "
            f"below it. Is {delimiter!r} the delimiter? Put quotes around texts that hold it."
        )
    return options | {"features": Features({name: Value("string") for name in header})}


def _require_utf8(path: Path) -> None:
    """Raise where a text file is empty or not UTF-8, saying at which line."""
    empty = True
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            empty = empty and not line.strip()
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{path.name}, line {number}: not UTF-8 (byte 0x{line[error.start]:02x}). Save the file as UTF-8 "
                    f'(in Excel "CSV UTF-8"), or convert it: iconv -f GB18030 -t UTF-8, with its own encoding after -f.'
                ) from None
    if empty:
        raise ValueError(f"{path.name}: no rows, the file is empty.")


def _json_rows(path: Path) -> list[dict]:
    """Read a JSON list of objects, or an object a line, every text as it stands."""
    text = path.read_text(encoding="utf-8-sig")
    return json.loads(text) if text.lstrip().startswith("[") else [json.loads(x) for x in text.split("\n") if x.strip()]


def _broken_line(path: Path) -> str | None:
    """Say which line of a JSONL file is not JSON, None if each is."""
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            try:
                json.loads(line or "null")
            except json.JSONDecodeError as error:
                if line.strip():
                    return f"line {number} is not JSON ({error.msg}): {line.strip()[:60]!r}"
    return None


def _literal(path: Path) -> str:
    """Write a path so that ``datasets`` takes none of its characters for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path.resolve()))


def _repeated(ids: Sequence[str]) -> list[str]:
    """Return the ids that stand more than once, each once."""
    seen: set[str] = set()
    return list(dict.fromkeys(name for name in ids if name in seen or seen.add(name)))


def _require_none(message: str, ids: Iterable[str]) -> None:
    """Raise if there are any ids: the message with their number, and the first three."""
    ids = list(ids)
    if ids:
        raise ValueError(f"{message.format(len(ids))}. The first: {', '.join(map(repr, ids[:3]))}.")
