"""Find out what a source is, and load it as a collection."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from helpers._files import nearest, require_inside
from helpers._hub import is_hub_id
from helpers.data import bundled, by_id, docstrings, hub
from helpers.data.columns import DEFAULT_SPLIT, Table, parse_columns, texts_of
from helpers.data.dataset import RetrievalDataset, check_count, require_answers
from helpers.data.formats import kind_of, read_table
from helpers.data.gaps import Gaps
from helpers.data.rows import corpus_texts, from_rows

OFFLINE_DEFAULT = "pocket-en"
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
            ``"query=question, positive=answer"``. Keys: those of ``helpers.data.columns.NAMES``.
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
    chosen = {"on_blank": on_blank, "on_missing": on_missing, "unanswered": unanswered, "equal": equal}
    for option, value in chosen.items():
        if value not in CHOICES[option]:
            raise ValueError(f"{option}={value!r}: expected {' or '.join(map(repr, CHOICES[option]))}.")
    gaps, name = Gaps(on_blank, on_missing), str(source)
    if "/" not in name and name in (*bundled.names(), docstrings.NAME):
        refused = any(option is not None for option in (qrels, columns, config)) or equal == "keep"
        data = _load_bundled(name, split, queries, corpus, refused=refused)
    else:
        place, named = _find(source), parse_columns(columns)
        files = _files_by_id(place, queries, corpus, qrels) if queries or qrels else None
        beir = by_id.is_beir(place)
        name = _shown_name(place)
        if config is not None and (files or beir or (isinstance(place, Path) and place.is_file())):
            raise ValueError(f"{name!r} is read from files, which have no configurations; leave out config={config!r}.")
        if files is not None:
            data = by_id.read_files(*files, named, name, gaps, equal)
        elif isinstance(place, Path) and beir and corpus is None:
            data = by_id.read_beir(place, split, named, name, gaps, equal)
        else:
            data = _load_tables(place, config, split, corpus, qrels, named, gaps, equal)
    if relevance_level is not None:
        check_count("relevance_level", relevance_level)
        data = replace(data, relevance_level=relevance_level)
    require_answers(data)
    if unanswered == "skip":
        data = data.without_unanswered()
    return data if max_queries is corpus_queries is None else _cut(data, max_queries, corpus_queries)


def _cut(data: RetrievalDataset, max_queries: int | None, corpus_queries: int | None) -> RetrievalDataset:
    """Keep the first queries, and the passages relevant to the first queries."""
    check_count("corpus_queries", corpus_queries)
    small = data.first(max_queries)
    if corpus_queries is None:
        return small
    return small.subset(data.relevant_rows(max(corpus_queries, len(small.queries))))


def _load_bundled(name: str, split: str, queries: str | None, corpus: str | None, *, refused: bool) -> RetrievalDataset:
    """Load a collection of the package; ``refused``: an option was given that it does not take."""
    if refused:
        raise ValueError(
            f"The bundled collection {name!r} has its own judgements and columns, no equal passages and no "
            "configurations. To load other files name their folder as the source."
        )
    if name != docstrings.NAME:
        return replace(bundled.load(name, split, queries, corpus), split=split)
    if queries is not None or corpus is not None:
        raise ValueError(f"The collection {name!r} has its own queries and corpus, made from installed libraries.")
    return docstrings.load()


def _load_tables(
    place: Path | str,
    config: str | None,
    split: str,
    corpus: str | None,
    qrels: str | None,
    named: Mapping[str, str],
    gaps: Gaps,
    equal: str,
) -> RetrievalDataset:
    """Load a file, or a folder or data set in the hub's layout: texts and judgements by id, or rows of both."""
    name = _shown_name(place)
    if corpus is None and not (isinstance(place, Path) and place.is_file()):
        data = _load_configurations(place, config, split, qrels, named, gaps, equal)
        if data is not None:
            return data
    if equal == "keep":
        raise ValueError(
            f"{name!r}: equal='keep' needs passages with ids, in tables of queries, passages and judgements; in rows "
            "of a query and its passages a text is its own id."
        )
    rows = _read_table(place, config, split, named)
    if corpus is None:
        return replace(from_rows(rows, None, named, name, gaps), split=rows.split)
    elsewhere = "/" in corpus or Path(corpus).exists()
    corpus_place = _find(corpus) if elsewhere else place
    shown = f"corpus {Path(corpus).name if isinstance(corpus_place, Path) and elsewhere else corpus}"
    table = _read_table(corpus_place, None if elsewhere else corpus, None, named)
    texts, titled = texts_of(table, "passage", named, shown)
    data = from_rows(rows, corpus_texts(texts, shown, gaps), named, name, gaps)
    return replace(data, split=rows.split, titled=titled)


def _load_configurations(
    place: Path | str,
    config: str | None,
    split: str,
    qrels: str | None,
    named: Mapping[str, str],
    gaps: Gaps,
    equal: str,
) -> RetrievalDataset | None:
    """Load the configurations ``corpus``, ``queries`` and judgements; None where there are none."""
    name = _shown_name(place)
    with _naming(place):
        settings = hub.folder_settings(place) if isinstance(place, Path) else hub.hub_settings(place, OFFLINE_DEFAULT)
    roles = hub.choose_roles(list(settings), config, name)
    if roles is None:
        tables = [by_id.find_file(place, role) for role in ("queries", "corpus")] if isinstance(place, Path) else [None]
        if all(tables) and not settings:
            names = sorted(file.name for file in Path(place).iterdir())
            raise ValueError(
                f"{name!r} has passages and queries but no folder qrels; it holds {', '.join(map(repr, names[:8]))}. "
                'Name the file of judgements: qrels="…", on the command line --qrels.'
            )
        return None
    if qrels is None and "qrels" not in roles:
        raise ValueError(
            f"{name!r} has passages and queries ({', '.join(map(repr, settings))}) but no judgements; name the data "
            'set or file that holds them: qrels="…".'
        )
    judgements = _read_table(_find(qrels), None, split) if qrels else _read_table(place, roles["qrels"], split)
    if not by_id.is_judgements(judgements):
        return None
    judged = by_id.grades_of(judgements, named, "qrels")
    queries, passages = (
        by_id.texts_by_id(
            _read_table(place, roles[kind], judgements.split, or_only=True), role, named, roles[kind], gaps
        )
        for kind, role in (("queries", "query"), ("corpus", "passage"))
    )
    return replace(by_id.collect(name, queries, passages, judged, "qrels", gaps, equal), split=judgements.split)


def _files_by_id(
    place: Path | str, queries: str | None, corpus: str | None, qrels: str | None
) -> tuple[Path, Path, Path] | None:
    """Find the three files of a collection by id, in the folder ``place`` or as paths of their own; None for no such.

    Without ``queries`` and ``corpus`` they are the tables of these names in the folder.
    """
    folder = place if isinstance(place, Path) and place.is_dir() else None
    if qrels is None:
        if queries is not None:
            raise ValueError(
                f"queries={queries!r} goes with qrels=, or with the bundled collection, not with {str(place)!r}."
            )
        return None
    if queries is None and corpus is None:
        tables = [by_id.find_file(folder, role) for role in ("queries", "corpus")] if folder else [None]
        names = [table.name for table in tables if table is not None]
        if len(names) < 2:
            return None
        queries, corpus = names
    missing = [role for role, file in (("queries", queries), ("corpus", corpus)) if file is None]
    if folder is None or queries is None or corpus is None:
        fault = f"{', '.join(missing)} is missing" if folder else f"{str(place)!r} is no folder"
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
    raise FileNotFoundError(
        f"No file {file!r}, neither in the folder {_shown_name(folder)!r} nor as a path of its own."
    )


def _read_table(
    place: Path | str,
    config: str | None,
    split: str | None,
    named: Mapping[str, str] | None = None,
    *,
    or_only: bool | None = None,
) -> Table:
    """Read a file, or one split of a folder or a data set of the hub; the first split if None."""
    columns = set((named or {}).values())
    if isinstance(place, Path) and place.is_file():
        return read_table(place, columns)
    with _naming(place):
        if isinstance(place, Path):
            return hub.read_folder(place, config, split, columns, or_only=or_only)
        return hub.read_hub(place, config, split, OFFLINE_DEFAULT, or_only=or_only)


@contextlib.contextmanager
def _naming(place: Path | str) -> Iterator[None]:
    """Name the source in whatever goes wrong when many libraries read what a stranger wrote."""
    try:
        yield
    except ConnectionError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"Cannot read the data set {_shown_name(place)!r}: {reason}") from None


def _shown_name(place: Path | str) -> str:
    """Name a folder by its last part, so that no output repeats where it is on somebody's machine."""
    name = str(place) if isinstance(place, str) else place.resolve().name
    return name if name.isprintable() else name.encode("unicode_escape").decode()


def _find(source: str | Path) -> Path | str:
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
