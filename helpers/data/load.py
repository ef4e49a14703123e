"""Find out what a source is, and load it as a collection."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from helpers._files import UTF8, nearest, require_inside
from helpers._hub import is_hub_id
from helpers.data import bundled, by_id, docstrings, hub
from helpers.data.by_id import Options
from helpers.data.dataset import RetrievalDataset, check_count, require_answers
from helpers.data.formats import DEFAULT_SPLIT, column_of, kind_of, parse_columns
from helpers.data.hub import OFFLINE_DEFAULT, Place, shown_name

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
            installed libraries, see :mod:`helpers.data.docstrings`; the id of a data set on the Hugging Face hub, a
            folder in the hub's layout or in BEIR's, or a file: JSONL, CSV, TSV or Parquet, packed (``.gz``) or not.
            A data set of the hub is loaded by Hugging Face ``datasets``. Tables have the columns ``query``,
            ``positive`` and perhaps ``negative``, as ``namespace-Pt/msmarco`` has, or ``grade``. Where a cell holds
            one text, the rows of equal queries are one query. Configurations ``corpus``, ``queries`` and ``qrels``
            (or ``default``), as ``mteb`` has them, are put together.
        config: which configuration of a folder or data set to read, where it has several: the name of a table, or
            the language whose ``zh-corpus``, ``zh-queries`` and ``zh-qrels`` are put together (``"zh"``).
        split: which split holds the queries. ``dev``, the default, stands for ``validation`` too, and for the only
            split where there is one alone; ``split`` of the result says which was taken. A file has none.
        queries, corpus: for ``source="pocket"`` the language of each side (``"zh"``, ``"en"``: cross-lingual
            retrieval). With ``qrels`` two files of ids and texts, by default those called ``queries`` and ``corpus``.
            Elsewhere ``corpus`` names a configuration of the same source, another hub id, a folder or a file that
            holds the passages to search (column ``text`` or ``content``, after ``title`` where there is one); without
            it the corpus is every passage that the rows name.
        qrels: a file of judgements by id, in TREC's columns or BEIR's, or a table of them. The three files lie in the
            folder ``source``, or are paths of their own. Beside a source of the configurations ``corpus`` and
            ``queries`` a hub id too.
        columns: what the columns are called, where not as above: ``{"query": "question"}`` or
            ``"query=question, positive=answer"``. Keys: those of ``helpers.data.formats.NAMES``.
        relevance_level: the lowest grade that counts as relevant; 1 unless the collection says otherwise.
        max_queries: evaluate the first so many queries.
        corpus_queries: search only the passages relevant to the first so many queries (at least those of the
            queries that are evaluated). The upstream tutorial's way to a small corpus; it makes retrieval easy,
            because every passage left answers some query.
        on_blank: ``"raise"`` where a query or passage has no text, or ``"skip"`` it and what judges it.
        on_missing: ``"raise"`` where a query is judged, or a passage relevant, that has no text, or ``"skip"`` the
            judgement. With ``"keep"`` such a passage counts as relevant, as in the official figures of a collection,
            though only a run can retrieve it. A passage judged not relevant keeps its judgement in any case.
        unanswered: what becomes of a query to which no passage is relevant: ``"zero"`` keeps it, and it scores 0;
            ``"skip"`` leaves it out. ``RetrievalDataset.unanswered`` lists those that were kept.
        equal: ``"merge"`` passages of equal texts into one, or ``"keep"`` each under its own id, as trec_eval does;
            that needs passages with ids.
        encoding: that of CSV, TSV and JSON files, UTF-8 unless you say otherwise: ``"gb18030"`` (which includes GBK),
            ``"big5"``, ``"utf-16"``. TREC's files are UTF-8.

    Returns:
        A :class:`helpers.data.RetrievalDataset`; relevance is by row, never by text, ``merged`` counts the passages
        that were merged and ``skipped`` what was left out.

    Raises:
        ValueError: unknown name, split or column, no rows, a text that is missing or not a string, ids that do not
            match, a pair judged twice, no relevant passage at all, a file that is not UTF-8, a folder that names or
            links to files elsewhere.
        FileNotFoundError: the file or folder does not exist.
        ConnectionError: a hub id, no network, and no earlier download.
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
    """Load files of texts and judgements by id, or a table of rows, or a folder or data set in the hub's layout."""
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
    if options.equal == "keep":
        raise ValueError(
            f"{name!r}: equal='keep' needs passages with ids, in tables of queries, passages and judgements; in rows "
            "of a query and its passages a text is its own id."
        )
    rows, passages = hub.read(place, config, split, options), None
    if corpus is not None and ("/" in corpus or Path(corpus).exists()):
        passages = hub.read(_find(corpus), None, None, options)
    elif corpus is not None:
        passages = hub.read(place, corpus, None, options)
    return replace(by_id.from_rows(name, rows, passages, options), split=rows.split)


def _load_configurations(
    place: Place, config: str | None, split: str, qrels: str | None, options: Options
) -> RetrievalDataset | None:
    """Load the configurations ``corpus``, ``queries`` and judgements; None where there are none."""
    name, settings = shown_name(place), hub.read_settings(place)
    roles = hub.choose_roles(list(settings), config, place)
    if roles is None:
        if not settings and isinstance(place, Path) and all(by_id.find_file(place, r) for r in ("queries", "corpus")):
            raise ValueError(
                f'{name!r} has passages and queries but no folder qrels. Name the file of judgements: qrels="…", on '
                "the command line --qrels."
            )
        return None
    if qrels is None and "qrels" not in roles:
        raise ValueError(
            f"{name!r} has passages and queries ({', '.join(map(repr, settings))}) but no judgements; name the data "
            'set or file that holds them: qrels="…".'
        )
    judgements = hub.read(_find(qrels) if qrels else place, None if qrels else roles["qrels"], split, options)
    if any(judgements.columns.keys().isdisjoint(by_id.IDS[role]) for role in ("query_id", "passage_id")):
        return None  # a table of rows
    queries = hub.read(place, roles["queries"], judgements.split, options, or_only=True)
    if "instruction" in roles:
        told = hub.read(place, roles["instruction"], judgements.split, options)
        ids, texts = column_of(told, "query_id", options.columns), column_of(told, "instruction", {})
        by_query = dict(zip(ids, texts, strict=True))
        column = [by_query.get(query) for query in column_of(queries, "query_id", options.columns)]
        queries = replace(queries, columns={**queries.columns, "instruction": column})
    passages = hub.read(place, roles["corpus"], judgements.split, options, or_only=True)
    judged = by_id.grades_of(judgements, options.columns)
    query_texts = by_id.texts_by_id(queries, "query", options)
    passage_texts = by_id.texts_by_id(passages, "passage", options)
    data = by_id.collect(name, query_texts, passage_texts, judged, "qrels", options)
    return replace(data, split=judgements.split)


def _files_by_id(
    place: Place, queries: str | None, corpus: str | None, qrels: str | None
) -> tuple[Path, Path, Path] | None:
    """Find the three files of a collection by id, in the folder ``place`` or as paths of their own; None for no such.

    Without ``queries`` and ``corpus`` they are the tables of these names in the folder.
    """
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
    """Find a file in a folder, which must be the folder's own, else as a path of its own, which may be anywhere."""
    path = Path(file).expanduser()
    inside = folder / path
    if not path.is_absolute() and ".." not in path.parts and (inside.exists() or inside.is_symlink()):
        require_inside(folder, inside)
    for candidate in (inside, path):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"No file {file!r}, neither in the folder {shown_name(folder)!r} nor as a path of its own.")


def _find(source: str | Path) -> Place:
    """Return the path of a file or folder, or a hub id, and explain a name that is neither."""
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
    raise ValueError(
        f"Unknown collection {source!r}. Bundled: {', '.join(bundled.names())}; "
        "a hub data set is written owner/name, a folder by its path."
    )
