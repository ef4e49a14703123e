"""Find out what a source is, and load it as a collection."""

import contextlib
import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from helpers._printable import one_line, printable
from helpers.data import bundled, by_id, columns, docstrings, hub, layouts, packed, safety, subsets
from helpers.data.dataset import RetrievalDataset, check_count, require_answers
from helpers.data.formats import READERS, read_table
from helpers.data.leave_out import LeftOut, check_choice
from helpers.data.splits import DEFAULT

OFFLINE_DEFAULT = "pocket-en"
Named = Mapping[str, str]  # which column holds what


def load_dataset(
    source: str | Path = OFFLINE_DEFAULT,
    split: str = DEFAULT,
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
            Tables are read by Hugging Face ``datasets`` and have the columns ``query``, ``positive`` and perhaps
            ``negative``, as ``namespace-Pt/msmarco`` has, or ``grade``. Where a cell holds one text, the rows of equal
            queries are one query. Configurations ``corpus``, ``queries`` and ``qrels`` (or ``default``), as ``mteb``
            has them, are put together.
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
    check_choice("unanswered", unanswered, ("zero", "skip"))
    check_choice("equal", equal, ("merge", "keep"))
    left_out = LeftOut(on_blank, on_missing)
    if str(source) in bundled.names():
        if qrels is not None or columns is not None or config is not None:
            raise ValueError(
                f"The bundled collection {str(source)!r} has its own judgements and columns, and no configurations."
            )
        data = replace(bundled.load(str(source), split, queries, corpus), split=split)
    elif source == docstrings.NAME:
        if any(given is not None for given in (queries, corpus, qrels, columns, config)):
            raise ValueError(
                f"The collection {source!r} is made from installed libraries: it has its own queries, corpus, "
                "judgements and columns, and no configurations. To load other files name their folder as the source."
            )
        data = docstrings.load()
    else:
        files = {"queries": queries, "corpus": corpus, "qrels": qrels}
        data = _load_elsewhere(_find(source), config, split, files, columns, left_out, equal)
    if relevance_level is not None:
        check_count("relevance_level", relevance_level)
        data = replace(data, relevance_level=relevance_level)
    require_answers(data)
    return _cut(data.without_unanswered() if unanswered == "skip" else data, max_queries, corpus_queries)


def _cut(data: RetrievalDataset, max_queries: int | None, corpus_queries: int | None) -> RetrievalDataset:
    """Keep the first queries, and the passages relevant to the first queries."""
    check_count("corpus_queries", corpus_queries)
    small = data.first(max_queries)
    if corpus_queries is None:
        return small
    return small.subset(data.relevant_rows(max(corpus_queries, len(small.queries))))


def _load_elsewhere(
    source: Path | str,
    config: str | None,
    split: str,
    files: Mapping[str, str | None],
    given: Named | str | None,
    left_out: LeftOut,
    equal: str,
) -> RetrievalDataset:
    """Load what is not bundled: judgements by id, or a table of queries and their passages."""
    name, named = _shown_name(source), columns.parse_columns(given)
    if files["queries"] is not None and files["qrels"] is None:
        raise ValueError(
            f"queries={files['queries']!r} goes with qrels=, or with the bundled collection, not with {str(source)!r}."
        )
    _require_configurations(source, config, files)
    if files["qrels"] is not None and _in_files(source, files):
        return by_id.read_files(*_three_files(source, files), named, name, left_out, equal)
    if isinstance(source, Path) and files["qrels"] is None and files["corpus"] is None and by_id.is_beir(source):
        return by_id.read_beir(source, split, named, name, left_out, equal)
    if files["corpus"] is None:
        made = _load_configurations(source, config, split, files["qrels"], named, left_out, equal)
        if made is not None:
            return made
    if equal == "keep":
        raise ValueError(
            f"{name}: equal='keep' needs passages with ids, in tables of queries, passages and judgements; in rows of "
            "a query and its passages a text is its own id."
        )
    rows = _read_table(source, config, split, set(named.values()))
    taken = "" if isinstance(source, Path) and not source.is_dir() else str(rows.split)
    if files["corpus"] is None:
        return replace(layouts.from_rows(rows, None, named, name, left_out), split=taken)
    texts, titled = _read_corpus(source, files["corpus"], named, left_out)
    return replace(layouts.from_rows(rows, texts, named, name, left_out), split=taken, titled=titled)


def _require_configurations(source: Path | str, config: str | None, files: Mapping[str, str | None]) -> None:
    """Raise where a configuration is named, and the collection is read from files."""
    in_files = files["qrels"] is not None and _in_files(source, files)
    in_files = in_files or (isinstance(source, Path) and (not source.is_dir() or by_id.is_beir(source)))
    if config is not None and in_files:
        shown = _shown_name(source)
        raise ValueError(f"{shown} is read from files, which have no configurations; leave out config={config!r}.")


def _load_configurations(
    source: Path | str, config: str | None, split: str, qrels: str | None, named: Named, left_out: LeftOut, equal: str
) -> RetrievalDataset | None:
    """Load a data set of the configurations ``corpus``, ``queries`` and judgements; None if it is none."""
    if isinstance(source, Path) and not source.is_dir():
        return None
    with _cannot_read(source):
        names = hub.configurations(source, OFFLINE_DEFAULT)
    roles = subsets.choose(names, config, _shown_name(source))
    if roles is None:
        return None
    if qrels is not None:
        judgements = _read_table(_find(qrels), None, split)
    elif "qrels" in roles:
        judgements = _read_table(source, roles["qrels"], split)
    else:
        raise ValueError(
            f"{_shown_name(source)} has passages and queries ({', '.join(names)}) but no judgements; name the data set "
            'or file that holds them: qrels="…".'
        )
    if not by_id.is_judgements(judgements):
        return None
    judged = by_id.grades_of(judgements, named, "qrels")
    taken = str(judgements.split)
    asked, passages = (
        by_id.texts_by_id(_read_table(source, roles[kind], taken, or_only=True), role, named, roles[kind], left_out)
        for kind, role in (("queries", "query"), ("corpus", "passage"))
    )
    return replace(by_id.collect(_shown_name(source), asked, passages, judged, "qrels", left_out, equal), split=taken)


def _in_files(source: Path | str, files: Mapping[str, str | None]) -> bool:
    """Tell whether judgements by id are to be read from three files, rather than beside configurations."""
    if files["queries"] is not None or files["corpus"] is not None:
        return True
    return isinstance(source, Path) and bool(by_id.find_file(source, "queries") and by_id.find_file(source, "corpus"))


def _three_files(source: Path | str, files: Mapping[str, str | None]) -> tuple[Path, Path, Path]:
    """Find the files of judgements by id, in the folder ``source`` or as paths of their own."""
    if not isinstance(source, Path) or not source.is_dir():
        raise ValueError(f"Judgements by id need queries=, corpus= and qrels=, in a folder; {source} is no folder.")
    if files["queries"] is None and files["corpus"] is None:
        usual = {name: by_id.find_file(source, name) for name in ("queries", "corpus")}
        files = {**files, **{name: file.name for name, file in usual.items() if file is not None}}
    missing = [name for name, file in files.items() if file is None]
    if missing:
        raise ValueError(f"Judgements by id need queries=, corpus= and qrels=; {', '.join(missing)} is missing.")
    queries, corpus, qrels = (_beside(source, str(files[name])) for name in ("queries", "corpus", "qrels"))
    return queries, corpus, qrels


def _beside(folder: Path, file: str) -> Path:
    """Find a file in a folder, which must be the folder's own, else as a path of its own, which may lie anywhere."""
    given = Path(file).expanduser()
    inside = folder / given
    if not given.is_absolute() and ".." not in given.parts and (inside.exists() or inside.is_symlink()):
        safety.require_own_file(folder, inside)
    for path in (inside, given):
        if path.is_file():
            return path
    raise FileNotFoundError(f"No file {file!r}, neither in the folder {_shown_name(folder)} nor as a path of its own.")


def _read_corpus(source: Path | str, corpus: str, named: Named, left_out: LeftOut) -> tuple[list[str], int]:
    """Read the passages of a configuration of ``source``, of another hub data set, of a folder or a file.

    Returns:
        The texts, and how many have a title joined to them.
    """
    elsewhere = "/" in corpus or Path(corpus).exists()
    found, config = (_find(corpus), None) if elsewhere else (source, corpus)
    table = _read_table(found, config, None, set(named.values()))
    shown = Path(corpus).name if isinstance(found, Path) and config is None else corpus
    texts = columns.texts_of(table, "passage", named, f"corpus {shown!r}")
    return layouts.corpus_texts(texts, f"corpus {shown!r}", left_out), columns.count_titles(table, named)


def _read_table(
    source: Path | str,
    config: str | None,
    split: str | None,
    named: Collection[str] = (),
    *,
    or_only: bool | None = None,
) -> Any:
    """Read a file, or one split of a hub data set or a folder; the first split if None."""
    if isinstance(source, Path) and not source.is_dir():
        return read_table(source, named)
    with _cannot_read(source):
        if isinstance(source, Path):
            read_csv = partial(read_table, named=named)
            return hub.read_folder(source, config, split, or_only=or_only, read_csv=read_csv)
        return hub.read_hub(source, config, split, OFFLINE_DEFAULT, or_only=or_only)


@contextlib.contextmanager
def _cannot_read(source: Path | str) -> Iterator[None]:
    """Name the source in whatever goes wrong when many libraries read what a stranger wrote."""
    try:
        yield
    except ConnectionError:
        raise
    except Exception as error:
        reason = one_line(error) or type(error).__name__
        if missing := re.search(r"Config name is missing.*?available configs: \[(.*?)\]", reason):  # datasets' words
            reason = (
                f"it has several configurations ({missing[1]}); choose one: config=…, on the command line --config."
            )
        raise ValueError(f"Cannot read the data set {_shown_name(source)!r}: {reason}") from None


def _shown_name(source: Path | str) -> str:
    """Name a folder by its last part, so that no output repeats where it lies on somebody's machine."""
    return source if isinstance(source, str) else printable(source.resolve().name)


def _find(source: str | Path) -> Path | str:
    """Return the path of a file or folder, or a hub id as text, and explain a name that is neither."""
    text = str(source)
    path = Path(text).expanduser()
    if path.exists():
        return path
    if isinstance(source, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", text) and not _looks_like_a_path(path):
        return text
    if isinstance(source, Path) or "/" in text or "\\" in text or _is_table(path):
        raise FileNotFoundError(f"No file or folder {text!r}. {_advice(path)}")
    raise ValueError(
        f"Unknown collection {text!r}. Bundled: {', '.join(bundled.names())}; "
        "a hub data set is written owner/name, a folder by its path."
    )


def _looks_like_a_path(path: Path) -> bool:
    """Tell a mistyped path from a hub id: it starts with a dot, lies in a folder that exists, or ends like a table."""
    return str(path).startswith(".") or path.parent.is_dir() or _is_table(path)


def _is_table(path: Path) -> bool:
    """Tell whether a name ends like that of a table."""
    return Path(packed.plain_name(path)).suffix.lower() in READERS


def _advice(path: Path) -> str:
    """Say what to do about a path that does not exist: take the name that is almost so, or another folder."""
    folder = path.parent
    names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=1)
    if near:
        return f"Did you mean {printable(repr(near[0]))}?"
    if folder.is_dir() and re.fullmatch(r"[\w-]+/[\w.-]+", str(path)):
        shown = printable(repr(str(folder)))
        return f"Check the path. (There is a folder {shown} here; for the hub's data set of that name start elsewhere.)"
    return "Check the path, or name a data set of the hub: owner/name."
