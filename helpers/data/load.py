"""Load a collection: find the three tables of a source, and build it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from helpers._hub import is_hub_id
from helpers._io import nearest, require_inside
from helpers.data import bundled, docstrings, hub
from helpers.data.build import OBJECTS, Reading, Tables, build, from_objects, from_rows, read_files, texts_by_id
from helpers.data.dataset import RetrievalDataset, check_count, require_answers
from helpers.data.formats import DEFAULT_SPLIT, IDS, choose_split, column_of, find_file, find_name, kind_of
from helpers.data.hub import OFFLINE_DATA, Place, shown_name
from helpers.data.trec import grades_of

JUDGEMENTS = (".tsv", ".csv", ".txt", ".qrels", ".trec", ".jsonl", ".json", ".parquet")  # preferred first


class Rules(TypedDict, total=False):
    """How :func:`load_dataset` and :func:`load_files` read tables.

    Attributes:
        columns: unusual column names by role: ``{"query": "question"}`` or ``"query=question, positive=answer"``. The
            roles are the keys of ``helpers.data.formats.NAMES``.
        on_missing: ``"raise"`` for a judged query or a relevant passage without a text, blank or not there at all, or
            ``"skip"`` it and its judgements. With ``"keep"`` such a passage counts as relevant, as in the official
            figures of a collection, though only a run can retrieve it. A passage judged not relevant always keeps its
            judgement.
        equal: ``"merge"`` passages of equal texts into one, or ``"keep"`` each under its own id, as trec_eval does;
            ``"keep"`` needs passages with ids.
        encoding: of CSV, TSV and JSON files, UTF-8 by default: ``"gb18030"`` (which includes GBK), ``"big5"``,
            ``"utf-16"``. TREC files are always UTF-8.
    """

    columns: Mapping[str, str] | str | None
    on_missing: str
    equal: str
    encoding: str


def load_dataset(
    source: str | Path = OFFLINE_DATA,
    split: str = DEFAULT_SPLIT,
    *,
    config: str | None = None,
    queries: str | None = None,
    corpus: str | None = None,
    qrels: str | None = None,
    relevance_level: int | None = None,
    max_queries: int | None = None,
    corpus_queries: int | None = None,
    **rules: Unpack[Rules],
) -> RetrievalDataset:
    """Load a test collection.

    Args:
        source: a bundled name, ``pocket-en``, ``pocket-zh`` or, for Chinese queries and English passages,
            ``pocket-zh-en``; ``docstrings``, nearly 30,000 short texts of the installed libraries, see
            :mod:`helpers.data.docstrings`; the id of a data set on the Hugging Face hub; a folder in the layout of the
            hub or of BEIR; or a JSONL, CSV, TSV or Parquet file, optionally in ``.gz``. A table of rows has the columns
            ``query``, ``positive`` and optionally ``negative``, as in ``namespace-Pt/msmarco``, or ``grade``. If no
            cell is a list, rows with equal queries are one query. Configurations ``corpus``, ``queries`` and ``qrels``
            (or ``default``), as in ``mteb``, are one collection.
        split: the split of the queries. ``dev``, the default, also matches ``validation``, or the only split of the
            source; the attribute ``split`` of the result has its name. A file has no splits.
        config: the configuration of a folder or data set with several: the name of a table, or the prefix of a
            collection, ``"zh"`` for ``zh-corpus``, ``zh-queries`` and ``zh-qrels``.
        queries: with ``corpus`` and ``qrels``, three files in the folder ``source``: see :func:`load_files`.
        corpus: the passages to search, where the source is rows: another hub id, a folder or a file (column ``text`` or
            ``content``, and optionally ``title``), or a configuration of the source. By default all passages of the
            rows.
        qrels: the judgements, where the source has queries and passages alone: a file or another hub id.
        relevance_level: the lowest grade that counts as relevant; by default that of a bundled collection, else 1.
        max_queries: evaluate only this many queries, from the first. The whole is read first: it saves no time to load.
        corpus_queries: search only the passages relevant to this many queries, from the first (at least those of the
            evaluated queries), as the upstream tutorial does: easy, because every passage answers a query.
        rules: ``columns``, ``on_missing``, ``equal`` and ``encoding``, see :class:`helpers.data.Rules`.

    Returns:
        A :class:`helpers.data.RetrievalDataset`; judgements refer to rows, never to texts.

    Raises:
        ValueError: the name, split or column is unknown; there are no rows; a text is missing or not a string; ids do
            not match; a pair has two grades; no passage is relevant; a file has another encoding; a folder names or
            links to files outside it.
        FileNotFoundError: the file or folder does not exist.
        ConnectionError: the hub cannot be reached and the data set was not downloaded before.
    """
    name = str(source)
    if "/" not in name and name in (*bundled.LANGUAGES, docstrings.NAME):
        if any(option is not None for option in (config, queries, corpus, qrels, *rules.values())):
            raise ValueError(
                f"The collection {name!r} has its own judgements and columns, no equal passages and no configurations. "
                "To load other files name their folder as the source."
            )
        data = docstrings.load() if name == docstrings.NAME else bundled.load(name, split)
    elif queries is not None:
        if corpus is None or qrels is None or not (folder := Path(source).expanduser()).is_dir():
            raise ValueError(f"queries={queries!r} goes with corpus= and qrels=, three files in a folder, the source.")
        data = load_files(*(_beside(folder, file) for file in (queries, corpus, qrels)), **rules)
        data = replace(data, name=shown_name(folder))
    else:
        reading, place = Reading(**rules), _find(source)  # type: ignore[arg-type]
        data = build(shown_name(place), _tables(place, split, config, corpus, qrels, reading), reading)
    return _chosen(data, relevance_level, max_queries, corpus_queries)


def load_files(
    queries: str | Path,
    corpus: str | Path,
    qrels: str | Path,
    *,
    relevance_level: int | None = None,
    **rules: Unpack[Rules],
) -> RetrievalDataset:
    """Load a test collection from three files by id.

    Args:
        queries, corpus: tables of ids and texts, JSONL, CSV, TSV or Parquet.
        qrels: judgements in the format of TREC or BEIR, or as a table.
        relevance_level: the lowest grade that counts as relevant, 1 by default.
        rules: as for :func:`load_dataset`, with its errors.
    """
    files = [Path(file).expanduser() for file in (queries, corpus, qrels)]
    if missing := [file for file in files if not file.is_file()]:
        raise FileNotFoundError(f"No file {str(missing[0])!r}. Check the path.")
    reading = Reading(**rules)  # type: ignore[arg-type]
    data = build(files[0].resolve().parent.name, read_files(files[0], files[1], files[2], reading), reading)
    return _chosen(data, relevance_level)


def _chosen(
    data: RetrievalDataset, level: int | None, max_queries: int | None = None, corpus_queries: int | None = None
) -> RetrievalDataset:
    """Return the part of a collection that was asked for. Raises ValueError if it has no relevant passage."""
    if level is not None:
        check_count("relevance_level", level)
        data = replace(data, relevance_level=level)
    require_answers(data)
    whole, data = data, data if max_queries is None else data.first(max_queries)
    if corpus_queries is None:
        return data
    check_count("corpus_queries", corpus_queries)
    return data.subset(whole.relevant_rows(max(corpus_queries, len(data.queries))))


def _tables(
    place: Place, split: str, config: str | None, corpus: str | None, qrels: str | None, reading: Reading
) -> Tables:
    name, is_file = shown_name(place), isinstance(place, Path) and place.is_file()
    files = _files(place, split, qrels) if isinstance(place, Path) and corpus is None and not is_file else None
    if config is not None and (files or is_file):
        raise ValueError(f"{name!r} is read from files, which have no configurations; leave out config={config!r}.")
    if files:
        return read_files(*files[0], reading, files[1])
    if corpus is None and not is_file and (tables := _configurations(place, config, split, qrels, reading)):
        return tables
    rows, passages = hub.read(place, config, split, reading), None
    if set(OBJECTS) <= rows.columns.keys():
        return from_objects(rows, reading)
    if reading.equal == "keep":
        raise ValueError(
            f"{name!r}: equal='keep' needs passages with ids, in tables of queries, passages and judgements; in rows "
            "of a query and its passages a text is its own id."
        )
    if corpus is not None:
        other = "/" in corpus or Path(corpus).exists()
        passages = hub.read(_find(corpus) if other else place, None if other else corpus, None, reading)
    return from_rows(rows, passages, reading)


def _configurations(place: Place, config: str | None, split: str, qrels: str | None, reading: Reading) -> Tables | None:
    name, settings = shown_name(place), hub.read_settings(place)
    roles = hub.choose_roles(list(settings), config, place)
    if roles is None:
        if not settings and isinstance(place, Path) and all(find_file(place, r) for r in ("queries", "corpus")):
            raise ValueError(
                f'{name!r} has passages and queries but no folder qrels. Name the file of judgements: qrels="…".'
            )
        return None
    if qrels is None and "qrels" not in roles:
        raise ValueError(
            f"{name!r} has passages and queries ({', '.join(map(repr, settings))}) but no judgements; name the data "
            'set or file that holds them: qrels="…".'
        )
    judgements = hub.read(_find(qrels) if qrels else place, None if qrels else roles["qrels"], split, reading)
    if any(find_name(judgements.columns, IDS[role]) is None for role in ("query_id", "passage_id")):
        reading.tables.pop()
        return None  # a table of rows, to be read as such
    queries = hub.read(place, roles["queries"], judgements.split, reading, or_only=True)
    if "instruction" in roles:
        table = hub.read(place, roles["instruction"], judgements.split, reading)
        ids, texts = column_of(table, "query_id", reading.columns), column_of(table, "instruction", {})
        instruction_of = dict(zip(ids, texts, strict=True))
        asked = column_of(queries, "query_id", reading.columns)
        queries.columns["instruction"] = [instruction_of.get(query) for query in asked]
    passages = hub.read(place, roles["corpus"], judgements.split, reading, or_only=True)
    judged = grades_of(judgements, reading.columns)
    texts_of = [texts_by_id(table, role, reading) for table, role in ((queries, "query"), (passages, "passage"))]
    return Tables(texts_of[0], texts_of[1], judged, "qrels", judgements.split)


def _files(folder: Path, split: str, qrels: str | None) -> tuple[tuple[Path, Path, Path], str] | None:
    """Return a folder's files of queries, corpus and judgements, those of BEIR's layout, and the split; else None."""
    queries, corpus, inside = find_file(folder, "queries"), find_file(folder, "corpus"), folder / "qrels"
    if queries is None or corpus is None or not (qrels or inside.is_dir()):
        return None
    if qrels:
        return (queries, corpus, _beside(folder, qrels)), ""
    stems = {file.name.partition(".")[0] for file in inside.iterdir()}
    files = {stem: file for stem in sorted(stems) if (file := find_file(inside, stem, JUDGEMENTS))}
    try:
        taken = choose_split(list(files), split)
    except ValueError as error:
        raise ValueError(f"{folder.name!r}, folder qrels: {error}") from None
    for file in (queries, corpus, files[taken]):
        require_inside(folder, file)
    return (queries, corpus, files[taken]), taken


def _beside(folder: Path, file: str) -> Path:
    """Return the path of a file, relative to a folder (and then inside it) or to the working directory."""
    path = Path(file).expanduser()
    inside = folder / path
    if not path.is_absolute() and ".." not in path.parts and (inside.exists() or inside.is_symlink()):
        require_inside(folder, inside)
    for candidate in (inside, path):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"No file {file!r}, neither in the folder {shown_name(folder)!r} nor as a path of its own.")


def _find(source: str | Path) -> Place:
    """Return a source as an existing path or a hub id; raise an error with a suggestion for other names."""
    path = Path(source).expanduser()
    if path.exists():
        return path
    if is_hub_id(source):
        return str(source)
    if isinstance(source, Path) or {"/", "\\"} & set(source) or kind_of(path):
        near = nearest(path)
        advice = f"Did you mean {near!r}?" if near else "Check the path, or name a data set of the hub: owner/name."
        raise FileNotFoundError(f"No file or folder {str(source)!r}. {advice}")
    known = ", ".join([*bundled.LANGUAGES, docstrings.NAME])
    raise ValueError(
        f"Unknown collection {source!r}. Bundled: {known}; a hub data set is written owner/name, a folder by its path."
    )
