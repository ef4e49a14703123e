"""Load queries, passages and relevance judgements into one plain structure."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from helpers import collections, sources

OFFLINE_DEFAULT = "pocket-en"
Qrels = list[dict[int, int]]


@dataclass(frozen=True)
class RetrievalDataset:
    """A test collection: queries, a corpus, and which passage is relevant to which query.

    Attributes:
        name: where it came from.
        queries: q texts.
        corpus: n passage texts, no two equal.
        qrels: one dict per query, in the order of ``queries``: ``{row in corpus: grade}``. A grade of 0 is a
            passage somebody looked at and found not relevant; a passage that is absent was not judged.
        query_ids, corpus_ids: the identifiers of the source, for TREC files. Rows do the work in between.
        relevance_level: the lowest grade that counts as relevant for the binary metrics (``-l`` of trec_eval).
        merged: how many repeated passages were merged into their first occurrence.
    """

    name: str
    queries: list[str]
    corpus: list[str]
    qrels: Qrels
    query_ids: list[str] = field(repr=False)
    corpus_ids: list[str] = field(repr=False)
    relevance_level: int = 1
    merged: int = 0

    def __post_init__(self) -> None:
        """Refuse a collection that would give silently wrong scores."""
        _check_texts("query", self.queries)
        _check_texts("passage", self.corpus)
        for what, ids, texts in (("query", self.query_ids, self.queries), ("corpus", self.corpus_ids, self.corpus)):
            if len(ids) != len(texts):
                raise ValueError(f"{self.name}: {len(ids)} {what} ids for {len(texts)} texts; they must match.")
        if len(self.qrels) != len(self.queries):
            raise ValueError(
                f"{self.name}: judgements for {len(self.qrels)} queries, but {len(self.queries)} queries; "
                "give one dict per query, an empty one where nothing was judged."
            )
        for row, judged in enumerate(self.qrels):
            unknown = [passage for passage in judged if not 0 <= passage < len(self.corpus)]
            if unknown:
                raise ValueError(
                    f"{self.name}: the judgements of query {row} name passage rows {unknown[:3]}, "
                    f"but the corpus has rows 0 to {len(self.corpus) - 1}."
                )

    def __repr__(self) -> str:
        """Say how big it is rather than print it."""
        return f"RetrievalDataset({self.name!r}: {len(self.queries)} queries, {len(self.corpus)} passages)"

    @cached_property
    def sha256(self) -> str:
        """SHA-256 over every text, id and judgement: two equal values mean the same collection."""
        parts = [self.queries, self.corpus, self.query_ids, self.corpus_ids, [sorted(q.items()) for q in self.qrels]]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()

    def relevant(self, row: int) -> list[int]:
        """Return the passages that count as relevant to query ``row``, the highest grade first."""
        judged = self.qrels[row]
        hits = [passage for passage, grade in judged.items() if grade >= self.relevance_level]
        return sorted(hits, key=lambda passage: (-judged[passage], passage))

    def rows(self) -> list[dict]:
        """Give the collection in the columns of ``namespace-Pt/msmarco``: query, positive, negative.

        ``positive`` holds the relevant passages, ``negative`` those judged and found wanting.
        """
        rows = []
        for row, query in enumerate(self.queries):
            positive = self.relevant(row)
            negative = [passage for passage in self.qrels[row] if passage not in positive]
            texts = ([self.corpus[passage] for passage in passages] for passages in (positive, negative))
            rows.append({"query": query, **dict(zip(("positive", "negative"), texts, strict=True))})
        return rows

    def relevant_rows(self, max_queries: int | None = None) -> list[int]:
        """Return the passages relevant to any of the first ``max_queries`` queries (all), in order, each once."""
        _check_count("max_queries", max_queries)
        rows = range(len(self.queries))[:max_queries]
        return list(dict.fromkeys(passage for row in rows for passage in self.relevant(row)))

    def subset(self, rows: Sequence[int]) -> "RetrievalDataset":
        """Keep the passages at ``rows``, in that order; judgements of the others are dropped.

        ``embeddings[rows]`` are then the embeddings of the subset's corpus.
        """
        place = {int(passage): row for row, passage in enumerate(rows)}
        return replace(
            self,
            corpus=[self.corpus[passage] for passage in place],
            corpus_ids=[self.corpus_ids[passage] for passage in place],
            qrels=[{place[p]: grade for p, grade in judged.items() if p in place} for judged in self.qrels],
        )

    def first(self, max_queries: int | None = None) -> "RetrievalDataset":
        """Keep the first ``max_queries`` queries, and every passage."""
        _check_count("max_queries", max_queries)
        kept = {name: getattr(self, name)[:max_queries] for name in ("queries", "query_ids", "qrels")}
        return replace(self, **kept)


def load_dataset(
    source: str | Path = OFFLINE_DEFAULT,
    split: str = "dev",
    *,
    queries: str | None = None,
    corpus: str | None = None,
    qrels: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    relevance_level: int | None = None,
    max_queries: int | None = None,
    corpus_queries: int | None = None,
) -> RetrievalDataset:
    """Load a test collection.

    Args:
        source: a bundled name (``pocket-en``, ``pocket-zh``), the id of a data set on the Hugging Face hub, a folder
            in the hub's layout or in BEIR's, or a file: JSONL, CSV, TSV or Parquet. Tables are read by Hugging
            Face ``datasets`` and have the columns ``query``, ``positive`` and perhaps ``negative``, as
            ``namespace-Pt/msmarco`` has. Where a cell holds one text, the rows of equal queries are one query.
        split: which split holds the queries; bundled collections have ``dev`` alone, a file has none.
        queries, corpus: for ``source="pocket"`` the language of each side (``"zh"``, ``"en"``: cross-lingual
            retrieval). With ``qrels`` two files of ids and texts. Elsewhere ``corpus`` names a configuration of the
            same source, another hub id, a folder or a file that holds the passages to search (column ``text`` or
            ``content``); without it the corpus is every passage that the rows name.
        qrels: a file of judgements by id, in TREC's columns or BEIR's. The three files lie in the folder
            ``source``, or are paths of their own.
        columns: what the columns are called, where not as above: ``{"query": "question"}`` or
            ``"query=question, positive=answer"``. Keys: those of ``helpers.sources.NAMES``.
        relevance_level: the lowest grade that counts as relevant; 1 unless the collection says otherwise.
        max_queries: evaluate the first so many queries.
        corpus_queries: search only the passages relevant to the first so many queries (at least those of the
            queries that are evaluated). The upstream tutorial's way to a small corpus; it makes retrieval easy,
            because every passage left answers some query.

    Returns:
        A :class:`RetrievalDataset`; equal passages are merged, and relevance is by row, never by text.

    Raises:
        ValueError: unknown name, split or column, no rows, a text that is missing or not a string, ids that do not
            match, a file that is not UTF-8.
        FileNotFoundError: the file or folder does not exist.
        ConnectionError: a hub id, no network, and no earlier download.
    """
    if str(source) in collections.NAMES:
        if qrels is not None or columns is not None:
            raise ValueError(f"The bundled collection {str(source)!r} has its own judgements and columns.")
        data = _load_bundled(str(source), split, queries, corpus)
    else:
        data = _load_elsewhere(source, split, {"queries": queries, "corpus": corpus, "qrels": qrels}, columns)
    if relevance_level is not None:
        _check_count("relevance_level", relevance_level)
        data = replace(data, relevance_level=relevance_level)
    _check_count("corpus_queries", corpus_queries)
    small = data.first(max_queries)
    if corpus_queries is None:
        return small
    return small.subset(data.relevant_rows(max(corpus_queries, len(small.queries))))


def _load_elsewhere(
    source: str | Path, split: str, files: Mapping[str, str | None], columns: Mapping[str, str] | str | None
) -> RetrievalDataset:
    """Load what is not bundled: judgements by id, or a table of queries and their passages."""
    where, on_hub = _resolve(source)
    named = sources.parse_columns(columns)
    if files["qrels"] is not None:
        missing = [name for name, file in files.items() if file is None]
        if missing or not Path(where).is_dir():
            raise ValueError(
                f"Judgements by id need queries=, corpus= and qrels=, in a folder; {', '.join(missing) or where} "
                f"{'is missing' if missing else 'is no folder'}."
            )
        judged = sources.read_judged(*(_beside(Path(where), file) for file in files.values()), named)
    elif files["queries"] is not None:
        raise ValueError(
            f"queries={files['queries']!r} goes with qrels=, or with the bundled collection, not with {str(source)!r}."
        )
    elif not on_hub and files["corpus"] is None and sources.is_beir(Path(where)):
        judged = sources.read_beir(Path(where), split, named)
    else:
        rows = _read_table(source, None, split)
        return _from_rows(_shown_name(source), rows, _read_corpus(source, files["corpus"], named), named)
    return from_ids(_shown_name(source), *judged)


def from_ids(
    name: str, queries: Mapping[str, str], corpus: Mapping[str, str], qrels: Mapping[str, Mapping[str, int]]
) -> RetrievalDataset:
    """Build a collection from texts by id and judgements ``{query id: {passage id: grade}}``.

    Equal passages are merged into the first of them, which gets the highest of their grades. A judgement of a
    passage that the corpus lacks is left out.
    """
    kept: dict[str, str] = {}
    for passage, text in corpus.items():
        kept.setdefault(text, passage)
    row_of_text = {text: row for row, text in enumerate(kept)}
    place = {passage: row_of_text[text] for passage, text in corpus.items()}
    rows: Qrels = []
    for query in queries:
        judged: dict[int, int] = {}
        for passage, grade in qrels.get(query, {}).items():
            if passage in place:
                judged[place[passage]] = max(grade, judged.get(place[passage], grade))
        rows.append(judged)
    texts = (list(queries.values()), list(kept), rows, list(queries), list(kept.values()))
    return RetrievalDataset(name, *texts, merged=len(corpus) - len(kept))


def from_columns(
    name: str,
    queries: Sequence[str],
    positives: Sequence,
    negatives: Sequence | None = None,
    corpus_texts: Sequence[str] | None = None,
) -> RetrievalDataset:
    """Build a collection from parallel columns of texts.

    Args:
        name: what to call it.
        queries: q texts.
        positives, negatives: for each query a text or a list of texts, graded 1 and 0.
        corpus_texts: the passages to search; by default all that the columns name, in order of appearance.

    Raises:
        ValueError: no rows, a text that is missing or not a string, a positive that the corpus does not hold.
    """
    if not len(queries):
        raise ValueError(f"{name}: no rows. A collection needs at least one query.")
    graded = [(1, [_as_list(cell) for cell in positives]), (0, [_as_list(cell) for cell in negatives or []])]
    for _, column in graded:
        _check_texts("passage", [text for cell in column for text in cell], may_be_empty=True)
    named = (text for row in range(len(queries)) for _, column in graded if column for text in column[row])
    texts = list(corpus_texts) if corpus_texts is not None else list(named)
    _check_texts("passage", texts)
    place: dict[str, int] = {}
    for text in texts:
        place.setdefault(text, len(place))
    qrels: Qrels = [{} for _ in queries]
    for grade, column in graded:
        for row, cell in enumerate(column):
            _require_known(name, cell, place, row, grade)
            for text in cell:
                if text in place:
                    qrels[row].setdefault(place[text], grade)
    merged = len(texts) - len(place) if corpus_texts is not None else 0
    query_ids, corpus_ids = ([str(row) for row in range(len(items))] for items in (queries, place))
    return RetrievalDataset(name, list(queries), list(place), qrels, query_ids, corpus_ids, merged=merged)


def _from_rows(name: str, rows, corpus_texts: Sequence[str] | None, columns: Mapping[str, str]) -> RetrievalDataset:
    """Build a collection from a table of queries, their positives and perhaps their negatives."""
    wanted = {role: columns.get(role, role) for role in ("query", "positive", "negative")}
    missing = {wanted["query"], wanted["positive"], columns.get("negative", wanted["query"])} - set(rows.column_names)
    if missing:
        raise ValueError(
            f"{name}: no column {' and no column '.join(sorted(missing))}; it has {', '.join(rows.column_names)}. "
            'Say which column is which (columns="query=…, positive=…"), or choose another split or configuration.'
        )
    negatives = list(rows[wanted["negative"]]) if wanted["negative"] in rows.column_names else None
    cells = _grouped(list(rows[wanted["query"]]), list(rows[wanted["positive"]]), negatives)
    return from_columns(name, *cells, corpus_texts)


def _grouped(queries: list, positives: list, negatives: list | None) -> tuple[list, list, list | None]:
    """Join the rows of equal queries where each row names one passage; a blank negative is none."""
    negatives = negatives and [None if isinstance(cell, str) and not cell.strip() else cell for cell in negatives]
    if not all(isinstance(cell, str) for cell in positives):
        return queries, positives, negatives
    joined: dict = {}
    for row, query in enumerate(queries):
        cells = joined.setdefault(query, ([], []))
        cells[0].append(positives[row])
        cells[1].extend(_as_list(negatives[row]) if negatives else [])
    return list(joined), [cell[0] for cell in joined.values()], negatives and [cell[1] for cell in joined.values()]


def _read_corpus(source: str | Path, corpus: str | None, columns: Mapping[str, str]) -> list[str] | None:
    """Read the passages of a configuration of ``source``, of another hub data set, of a folder or a file."""
    if corpus is None:
        return None
    elsewhere = "/" in corpus or Path(corpus).exists()
    table = _read_table(corpus if elsewhere else source, None if elsewhere else corpus, None)
    return list(table[sources.find_column(table, "passage", columns, f"corpus {corpus!r}")])


def _beside(folder: Path, file: str) -> Path:
    """Find a file in a folder, else as a path of its own."""
    for path in (folder / file, Path(file).expanduser()):
        if path.is_file():
            return path
    raise FileNotFoundError(f"No file {file!r}, neither in the folder {folder.name} nor as a path of its own.")


def _read_table(source: str | Path, config: str | None, split: str | None):
    """Read a file, or one split of a hub data set or a folder through ``datasets``; the only split if None."""
    import datasets

    from helpers.hub import hub_or_local_cache

    path, on_hub = _resolve(source)
    if not on_hub and Path(path).is_file():
        return sources.read_table(Path(path))
    shown = f"the data set {_shown_name(source)!r}"
    try:
        if on_hub:
            with sources.no_bars(), hub_or_local_cache(shown, OFFLINE_DEFAULT):
                found = datasets.load_dataset(path, config, split=split)
        else:
            found = sources.load_local(path, config, split)
    except (ValueError, FileNotFoundError, datasets.exceptions.DatasetsError) as error:
        raise ValueError(f"Cannot read {shown}: {error}") from error
    return found if split is not None else next(iter(found.values()))


def _shown_name(source: str | Path) -> str:
    """Name a folder by its last part, so that no output repeats where it lies on somebody's machine."""
    path, on_hub = _resolve(source)
    return path if on_hub else Path(path).resolve().name


def _resolve(source: str | Path) -> tuple[str, bool]:
    """Tell a folder from a hub id, and explain a name that is neither."""
    text = str(source)
    path = Path(text).expanduser()
    if path.exists():
        return str(path), False
    if isinstance(source, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", text) and not text.startswith("."):
        return text, True
    if isinstance(source, Path) or "/" in text or "\\" in text:
        raise FileNotFoundError(f"No file or folder {text!r}. Check the path, or name a data set of the hub.")
    raise ValueError(
        f"Unknown collection {text!r}. Bundled: {', '.join(collections.NAMES)}; "
        "a hub data set is written owner/name, a folder by its path."
    )


def _load_bundled(name: str, split: str, queries: str | None, corpus: str | None) -> RetrievalDataset:
    """Read a bundled collection, in one language or in one for each side."""
    if split != "dev":
        raise ValueError(f"The bundled collection {name!r} has no split {split!r}; it has dev.")
    if name == "pocket":
        if queries is None or corpus is None:
            raise ValueError('"pocket" needs a language for each side, say queries="zh", corpus="en".')
    else:
        if queries is not None or corpus is not None:
            raise ValueError(f'{name!r} fixes both languages; for others write "pocket" with queries= and corpus=.')
        queries = corpus = name.removeprefix("pocket-")
    files = collections.read("pocket", queries, corpus)
    query_row = {q["id"]: row for row, q in enumerate(files.queries)}
    passage_row = {p["id"]: row for row, p in enumerate(files.corpus)}
    qrels: Qrels = [{} for _ in files.queries]
    for query, passage, grade in files.qrels:
        qrels[query_row[query]][passage_row[passage]] = grade
    return RetrievalDataset(
        name if queries == corpus else f"pocket-{queries}-{corpus}",
        [q["text"] for q in files.queries],
        [f"{p['title']}\n{p['text']}" for p in files.corpus],
        qrels,
        list(query_row),
        list(passage_row),
        relevance_level=2,
    )


def _check_texts(what: str, texts: Iterable, *, may_be_empty: bool = False) -> None:
    """Raise unless there is at least one text and each is a string with something in it."""
    empty = True
    for row, text in enumerate(texts):
        empty = False
        if text is None or (isinstance(text, float) and math.isnan(text)):
            raise ValueError(f"{what} {row} is missing ({text}); drop the row or fill it in.")
        if not isinstance(text, str):
            raise ValueError(f"{what} {row} is of type {type(text).__name__}, {text!r}; expected text.")
        if not text.strip():
            raise ValueError(f"{what} {row} is blank; drop the row or fill it in.")
    if empty and not may_be_empty:
        raise ValueError(f"No {what} at all; a collection needs at least one.")


def _check_count(name: str, value: int | None) -> None:
    """Raise unless a limit is None or a whole number of at least one."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ValueError(f"{name}={value!r}: expected a whole number of at least 1, or None for all.")


def _require_known(name: str, texts: list[str], place: dict[str, int], row: int, grade: int) -> None:
    """Raise where a relevant passage is not among those to be searched; an unsearched negative does no harm."""
    unknown = [text for text in texts if text not in place]
    if grade and unknown:
        raise ValueError(
            f"{name}: {len(unknown)} relevant passage(s) of query {row} are not in the corpus, "
            f"the first starting {unknown[0][:60]!r}. Search a corpus that holds them."
        )


def _as_list(cell) -> list:
    """Take a cell that holds one text, several, or none (``None``) as a list."""
    if cell is None:
        return []
    return [cell] if isinstance(cell, str) or not isinstance(cell, Sequence) else list(cell)
