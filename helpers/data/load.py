"""Load a collection from a bundled name, a file, a folder or the hub."""

import difflib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from helpers._files import UTF8, nearest, require_inside
from helpers._hub import is_hub_id
from helpers.data import bundled, by_id, docstrings, hub
from helpers.data.by_id import Options
from helpers.data.dataset import RetrievalDataset, check_count, require_answers
from helpers.data.formats import DEFAULT_SPLIT, IDS, column_of, find_name, kind_of, parse_columns
from helpers.data.hub import OFFLINE_DEFAULT, Place, shown_name
from helpers.data.trec import grades_of

CHOICES = {
    "on_blank": ("raise", "skip"),
    "on_missing": ("raise", "skip", "keep"),
    "unanswered": ("zero", "skip"),
    "equal": ("merge", "keep"),
}


def load_dataset(
    source: str | Path = OFFLINE_DEFAULT,
    split: str = DEFAULT_SPLIT,
    *,
    config: str | None = None,
    queries: str | None = None,
    corpus: str | None = None,
    qrels: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    relevance_level: int | None = None,
    max_queries: int | None = None,
    corpus_queries: int | None = None,
    on_blank: str = "raise",
    on_missing: str = "raise",
    unanswered: str = "zero",
    equal: str = "merge",
    encoding: str = UTF8,
) -> RetrievalDataset:
    """Load a test collection.

    Args:
        source: a bundled name (``pocket-en``, ``pocket-zh``); ``docstrings``, some ten thousand short texts of the
            installed libraries, see :mod:`helpers.data.docstrings`; the id of a data set on the Hugging Face hub,
            which Hugging Face ``datasets`` loads; a folder in the layout of the hub or of BEIR; or a JSONL, CSV, TSV or
            Parquet file, optionally in ``.gz``. A table of rows has the columns ``query``, ``positive`` and
            optionally ``negative``, as in ``namespace-Pt/msmarco``, or ``grade``. If no cell is a list, rows with
            equal queries are one query. Configurations ``corpus``, ``queries`` and ``qrels`` (or ``default``), as in
            ``mteb``, are one collection.
        config: the configuration of a folder or data set with several: the name of a table, or the prefix of a
            collection, ``"zh"`` for ``zh-corpus``, ``zh-queries`` and ``zh-qrels``.
        split: the split of the queries. ``dev``, the default, also matches ``validation``, or the only split of the
            source; the attribute ``split`` of the result has its name. A file has no splits.
        queries, corpus: for ``source="pocket"`` the languages of queries and corpus (``"zh"``, ``"en"``: cross-lingual
            retrieval). With ``qrels`` two files of ids and texts, by default those called ``queries`` and ``corpus``.
            Otherwise ``corpus`` is the passages to search, as a configuration of the same source, another hub id, a
            folder or a file (column ``text`` or ``content``, and optionally ``title``); by default the corpus is all
            passages in the rows.
        qrels: a file of judgements by id, in the format of TREC or BEIR or as a table. This file and those of
            ``queries`` and ``corpus`` are names in the folder ``source``, or paths. For a source with the
            configurations ``corpus`` and ``queries`` it may be a hub id.
        columns: unusual column names by role: ``{"query": "question"}`` or ``"query=question, positive=answer"``. The
            roles are the keys of ``helpers.data.formats.NAMES``.
        relevance_level: the lowest grade that counts as relevant; by default that of a bundled collection, else 1.
        max_queries: evaluate only this many queries, from the first. The whole is read first: it saves no time to load.
        corpus_queries: search only the passages relevant to this many queries, from the first (at least those of the
            evaluated queries). The upstream tutorial builds its small corpus in this way; it makes retrieval easy,
            because every passage answers a query.
        on_blank: ``"raise"`` for a query or passage without a text, or ``"skip"`` it and its judgements.
        on_missing: ``"raise"`` for a judged query or a relevant passage that does not exist, or ``"skip"`` the
            judgement. With ``"keep"`` such a passage counts as relevant, as in the official figures of a collection,
            though only a run can retrieve it. A passage judged not relevant always keeps its judgement.
        unanswered: ``"zero"`` keeps a query without a relevant passage, which scores 0; ``"skip"`` leaves it out.
            ``RetrievalDataset.unanswered`` lists those that were kept.
        equal: ``"merge"`` passages of equal texts into one, or ``"keep"`` each under its own id, as trec_eval does;
            ``"keep"`` needs passages with ids.
        encoding: encoding of CSV, TSV and JSON files, UTF-8 by default: ``"gb18030"`` (which includes GBK),
            ``"big5"``, ``"utf-16"``. TREC files are always UTF-8.

    Returns:
        A :class:`helpers.data.RetrievalDataset`; judgements refer to rows, never to texts.

    Raises:
        ValueError: the name, split or column is unknown; there are no rows; a text is missing or not a string; ids do
            not match; a pair has two grades; no passage is relevant; a file has another encoding; a folder names or
            links to files outside it.
        FileNotFoundError: the file or folder does not exist.
        ConnectionError: the hub cannot be reached and the data set was not downloaded before.
    """
    choices = {"on_blank": on_blank, "on_missing": on_missing, "unanswered": unanswered, "equal": equal}
    for option, value in choices.items():
        if value not in CHOICES[option]:
            raise ValueError(f"{option}={value!r}: expected {' or '.join(map(repr, CHOICES[option]))}.")
    name = str(source)
    if "/" not in name and name in (*bundled.names(), docstrings.NAME):
        sides = (queries, corpus) if name == docstrings.NAME else ()
        if any(option is not None for option in (qrels, columns, config, *sides)) or equal == "keep":
            raise ValueError(
                f"The collection {name!r} has its own judgements and columns, no equal passages and no configurations. "
                "To load other files name their folder as the source."
            )
        data = docstrings.load() if name == docstrings.NAME else bundled.load(name, split, queries, corpus)
    else:
        options = Options(parse_columns(columns) if columns else {}, on_blank, on_missing, equal, encoding)
        data = _load(_find(source), split, config, queries, corpus, qrels, options)
        data = replace(data, unused=options.unused())
    if relevance_level is not None:
        check_count("relevance_level", relevance_level)
        data = replace(data, relevance_level=relevance_level)
    require_answers(data)
    if unanswered == "skip":
        data = data.without_unanswered()
    whole = data
    if max_queries is not None:
        data = data.first(max_queries)
    if corpus_queries is not None:
        check_count("corpus_queries", corpus_queries)
        data = data.subset(whole.relevant_rows(max(corpus_queries, len(data.queries))))
    return data


def _load(
    place: Place,
    split: str,
    config: str | None,
    queries: str | None,
    corpus: str | None,
    qrels: str | None,
    options: Options,
) -> RetrievalDataset:
    """Load tables of texts and judgements by id, or a table of rows, from a file, folder or hub id."""
    name = shown_name(place)
    is_file = isinstance(place, Path) and place.is_file()
    files, taken = None, ""
    if queries or qrels:
        files = _files_by_id(place, queries, corpus, qrels)
    elif corpus is None and isinstance(place, Path) and not is_file:
        files, taken = by_id.find_beir(place, split) or (None, "")
    if config is not None and (files or is_file):
        raise ValueError(f"{name!r} is read from files, which have no configurations; leave out config={config!r}.")
    if files:
        return replace(by_id.read_files(name, *files, options), split=taken)
    if corpus is None and not is_file and (data := _load_configurations(place, config, split, qrels, options)):
        return data
    rows, passages = hub.read(place, config, split, options), None
    if set(by_id.OBJECTS) <= rows.columns.keys():
        return by_id.from_objects(name, rows, options)
    if options.equal == "keep":
        raise ValueError(
            f"{name!r}: equal='keep' needs passages with ids, in tables of queries, passages and judgements; in rows "
            "of a query and its passages a text is its own id."
        )
    if corpus is not None and ("/" in corpus or Path(corpus).exists()):
        passages = hub.read(_find(corpus), None, None, options)
    elif corpus is not None:
        passages = hub.read(place, corpus, None, options)
    return replace(by_id.from_rows(name, rows, passages, options), split=rows.split)


def _load_configurations(
    place: Place, config: str | None, split: str, qrels: str | None, options: Options
) -> RetrievalDataset | None:
    """Load the configurations ``corpus``, ``queries`` and judgements; None for a table of rows."""
    name, settings = shown_name(place), hub.read_settings(place)
    roles = hub.choose_roles(list(settings), config, place)
    if roles is None:
        if not settings and isinstance(place, Path) and all(by_id.find_file(place, r) for r in ("queries", "corpus")):
            raise ValueError(
                f'{name!r} has passages and queries but no folder qrels. Name the file of judgements: qrels="…".'
            )
        return None
    if qrels is None and "qrels" not in roles:
        raise ValueError(
            f"{name!r} has passages and queries ({', '.join(map(repr, settings))}) but no judgements; name the data "
            'set or file that holds them: qrels="…".'
        )
    judgements = hub.read(_find(qrels) if qrels else place, None if qrels else roles["qrels"], split, options)
    if any(find_name(judgements.columns, IDS[role]) is None for role in ("query_id", "passage_id")):
        return None  # a table of rows
    queries = hub.read(place, roles["queries"], judgements.split, options, or_only=True)
    if "instruction" in roles:
        table = hub.read(place, roles["instruction"], judgements.split, options)
        ids, texts = column_of(table, "query_id", options.columns), column_of(table, "instruction", {})
        instruction_of = dict(zip(ids, texts, strict=True))
        column = [instruction_of.get(query) for query in column_of(queries, "query_id", options.columns)]
        queries.columns["instruction"] = column
    passages = hub.read(place, roles["corpus"], judgements.split, options, or_only=True)
    judged = grades_of(judgements, options.columns)
    query_texts = by_id.texts_by_id(queries, "query", options)
    passage_texts = by_id.texts_by_id(passages, "passage", options)
    data = by_id.collect(name, query_texts, passage_texts, judged, "qrels", options)
    return replace(data, split=judgements.split)


def _files_by_id(
    place: Place, queries: str | None, corpus: str | None, qrels: str | None
) -> tuple[Path, Path, Path] | None:
    """Return the files of queries, corpus and judgements, from names in the folder ``place`` or paths."""
    if qrels is None:
        raise ValueError(
            f"queries={queries!r} goes with qrels=, or with the bundled collection, not with {str(place)!r}."
        )
    folder = place if isinstance(place, Path) and place.is_dir() else None
    if queries is None and corpus is None:
        tables = [by_id.find_file(folder, role) for role in ("queries", "corpus")] if folder else [None]
        if None in tables:
            return None
        queries, corpus = [table.name for table in tables if table]
    if folder is None or queries is None or corpus is None:
        missing = "queries" if queries is None else "corpus"
        fault = f"{missing} is missing" if folder else f"{str(place)!r} is no folder"
        raise ValueError(f"Judgements by id need queries=, corpus= and qrels=, in a folder; {fault}.")
    return _beside(folder, queries), _beside(folder, corpus), _beside(folder, qrels)


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
        if not near and path.parent.is_dir() and str(source).count("/") == 1:
            advice += f" (There is a folder {str(path.parent)!r}; for the hub's data set of that name start elsewhere.)"
        raise FileNotFoundError(f"No file or folder {str(source)!r}. {advice}")
    names = [*bundled.names(), docstrings.NAME, *(file.name for file in Path().iterdir())]
    similar = difflib.get_close_matches(source, names, n=1)
    raise ValueError(
        f"Unknown collection {source!r}. {f'Did you mean {similar[0]!r}? ' if similar else ''}"
        f"Bundled: {', '.join(bundled.names())}; a hub data set is written owner/name, a folder by its path."
    )
