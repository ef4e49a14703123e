"""A test collection, and what its texts and counts must be."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

Qrels = list[dict[int, int]]
LARGEST_GRADE = 2**31 - 1


@dataclass(frozen=True)
class RetrievalDataset:
    """A test collection: queries, a corpus, and which passage is relevant to which query.

    Attributes:
        name: where it came from.
        queries: q texts.
        corpus: n passage texts, no two equal unless ``equal="keep"`` was chosen.
        qrels: one dict per query, in the order of ``queries``: ``{row: grade}``. Rows below n are passages of
            ``corpus``; rows from n on are judged documents without a text, see ``ids_without_text``. A grade of 0 is
            a passage somebody looked at and found not relevant; a passage that is absent was not judged.
        query_ids, corpus_ids: the identifiers of the source, for TREC files. Rows do the work in between.
        ids_without_text: the identifiers of rows n, n + 1 … of ``qrels``: documents that are judged and have no text.
            A run may retrieve them; a system that searches texts cannot.
        relevance_level: the lowest grade that counts as relevant for the binary metrics (``-l`` of trec_eval).
        merged: how many repeated passages were merged into their first occurrence.
        same_as: the ids of those that had one, and the id under which each is in ``corpus_ids``.
        skipped: what the source has and the collection has not, how many of each kind; a kind that is absent is none.
            ``blank_queries``, ``blank_passages``: without a text. ``missing_queries``, ``missing_passages``: ids
            that are judged (passages: relevant) and have no text. ``judgements``: pairs of a query and a passage
            that went with these. ``unjudged_queries``: of which the split judges no passage.
            ``unanswered_queries``: judged, and no passage is relevant.
        split: the split that was taken, "" where the source has none.
        titled: how many passages of the source had a title, which was put on a line before the text.
        all_queries, all_passages: how many there were before ``first`` or ``subset`` kept a part; 0 where all are here.
    """

    name: str
    queries: list[str]
    corpus: list[str]
    qrels: Qrels
    query_ids: list[str] = field(repr=False)
    corpus_ids: list[str] = field(repr=False)
    relevance_level: int = 1
    merged: int = 0
    same_as: Mapping[str, str] = field(default_factory=dict, repr=False)
    ids_without_text: Sequence[str] = field(default=(), repr=False)
    skipped: Mapping[str, int] = field(default_factory=dict)
    split: str = ""
    titled: int = 0
    all_queries: int = 0
    all_passages: int = 0

    def __post_init__(self) -> None:
        """Refuse a collection that would give silently wrong scores."""
        check_texts("query", self.queries)
        check_texts("passage", self.corpus)
        for side, ids, texts in (("query", self.query_ids, self.queries), ("corpus", self.corpus_ids, self.corpus)):
            if len(ids) != len(texts):
                raise ValueError(f"{self.name}: {len(ids)} {side} ids for {len(texts)} texts; they must match.")
        if len(self.qrels) != len(self.queries):
            raise ValueError(
                f"{self.name}: judgements for {len(self.qrels)} queries, but {len(self.queries)} queries; "
                "give one dict per query, an empty one where nothing was judged."
            )
        for row, judged in enumerate(self.qrels):
            self._check_judgements(row, judged)

    def _check_judgements(self, row: int, judged: Mapping[int, int]) -> None:
        """Raise unless the judgements of a query name rows of documents, with grades that fit 32 bits."""
        documents = len(self.corpus) + len(self.ids_without_text)
        unknown = [passage for passage in judged if not 0 <= passage < documents]
        if unknown:
            raise ValueError(
                f"{self.name}: the judgements of query {row} name passage rows {unknown[:3]}, "
                f"but the corpus has rows 0 to {documents - 1}."
            )
        for passage, grade in judged.items():
            if not -LARGEST_GRADE <= grade <= LARGEST_GRADE:
                raise ValueError(
                    f"{self.name}: the grade of passage {passage} for query {row} is out of range; "
                    f"grades run from {-LARGEST_GRADE} to {LARGEST_GRADE}."
                )

    def __repr__(self) -> str:
        """Say how big it is rather than print it, and which split it is if not the usual one."""
        size = f"{len(self.queries)} queries, {len(self.corpus)} passages"
        split = f", split {self.split!r}" if self.split not in ("", "dev") else ""
        return f"RetrievalDataset({self.name!r}: {size}{split})"

    @cached_property
    def sha256(self) -> str:
        """SHA-256 over every text, id and judgement: two equal values mean the same collection."""
        parts = [self.queries, self.corpus, self.query_ids, self.corpus_ids, [sorted(q.items()) for q in self.qrels]]
        if self.ids_without_text:
            parts.append(list(self.ids_without_text))
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()

    @property
    def doc_ids(self) -> list[str]:
        """The identifier of each row that ``qrels`` may name: the passages, then the documents without a text."""
        return [*self.corpus_ids, *self.ids_without_text]

    def relevant(self, row: int) -> list[int]:
        """Return the rows that count as relevant to query ``row``, the highest grade first."""
        judged = self.qrels[row]
        relevant = [passage for passage, grade in judged.items() if grade >= self.relevance_level]
        return sorted(relevant, key=lambda passage: (-judged[passage], passage))

    def unanswered(self) -> list[int]:
        """Return the queries to which no passage is relevant: their rows, ascending. They score 0 with any model."""
        return [row for row, judged in enumerate(self.qrels) if max(judged.values(), default=0) < self.relevance_level]

    def relevant_rows(self, max_queries: int | None = None) -> list[int]:
        """Return the passages relevant to any of the first ``max_queries`` queries (all), in order, each once."""
        check_count("max_queries", max_queries)
        rows = range(len(self.queries))[:max_queries]
        relevant = dict.fromkeys(passage for row in rows for passage in self.relevant(row))
        return [passage for passage in relevant if passage < len(self.corpus)]

    def subset(self, rows: Sequence[int]) -> Self:
        """Keep the passages at ``rows``, in that order; judgements of the other passages are dropped.

        ``embeddings[rows]`` are then the embeddings of the subset's corpus.

        Raises:
            ValueError: a row that stands twice, or that the corpus does not have.
        """
        if len(set(rows)) < len(rows) or not all(0 <= row < len(self.corpus) for row in rows):
            raise ValueError(f"rows: expected rows of the corpus, 0 to {len(self.corpus) - 1}, each once.")
        without_text = range(len(self.corpus), len(self.corpus) + len(self.ids_without_text))
        new_row = {int(passage): row for row, passage in enumerate([*rows, *without_text])}
        return replace(
            self,
            all_passages=_more_than(len(rows), self.all_passages or len(self.corpus)),
            corpus=[self.corpus[passage] for passage in rows],
            corpus_ids=[self.corpus_ids[passage] for passage in rows],
            qrels=[{new_row[p]: grade for p, grade in judged.items() if p in new_row} for judged in self.qrels],
        )

    def without_unanswered(self) -> Self:
        """Leave out the queries to which no passage is relevant, counted in ``skipped``; every passage stays."""
        gone = set(self.unanswered())
        kept = [row for row in range(len(self.queries)) if row not in gone]
        count = {"unanswered_queries": len(gone)} if gone else {}
        return replace(
            self,
            queries=[self.queries[row] for row in kept],
            query_ids=[self.query_ids[row] for row in kept],
            qrels=[self.qrels[row] for row in kept],
            skipped={**self.skipped, **count},
        )

    def first(self, max_queries: int | None = None) -> Self:
        """Keep the first ``max_queries`` queries, and every passage."""
        check_count("max_queries", max_queries)
        return replace(
            self,
            all_queries=_more_than(max_queries, self.all_queries or len(self.queries)),
            queries=self.queries[:max_queries],
            query_ids=self.query_ids[:max_queries],
            qrels=self.qrels[:max_queries],
        )


def _more_than(kept: int | None, all_: int) -> int:
    """Return how many there were if fewer are kept, else 0."""
    return all_ if kept is not None and kept < all_ else 0


def require_answers(data: RetrievalDataset) -> None:
    """Raise where no query has a relevant passage: every score of every model would be 0."""
    if len(data.unanswered()) < len(data.queries):
        return
    grades = [grade for judged in data.qrels for grade in judged.values()]
    highest = f"the highest of {len(grades)} grades is {max(grades)}" if grades else "there is no judgement"
    raise ValueError(
        f"{data.name}: no query has a relevant passage: {highest}, and grades count as relevant from "
        f"{data.relevance_level} on. Correct the judgements, or set another relevance_level."
    )


def check_texts(role: str, texts: Iterable[object]) -> None:
    """Raise unless there is at least one text and each is a string with something in it."""
    if isinstance(texts, str):
        raise ValueError(f"Expected a list of texts, not the one {role} text {texts[:60]!r}; write [text].")
    empty = True
    for row, text in enumerate(texts):
        empty = False
        if fault := text_fault(text):
            raise ValueError(f"{role} {row} {fault}")
    if empty:
        raise ValueError(f"No {role} at all; a collection needs at least one.")


def is_missing(text: object) -> bool:
    """Tell a cell without a value: ``None``, or NaN, pandas' word for it."""
    return text is None or (isinstance(text, float) and math.isnan(text))


def is_blank(text: object) -> bool:
    """Tell a cell that is missing, or a text of nothing but white space."""
    return is_missing(text) or (isinstance(text, str) and not text.strip())


def text_fault(text: object) -> str:
    """Say why something cannot stand as a text: missing, of another type, blank, half a character; "" if it can."""
    if is_missing(text):
        return f"is missing ({text}); drop the row or fill it in."
    if not isinstance(text, str):
        return f"is of type {type(text).__name__}, {text!r}; expected text."
    if not text.strip():
        return "is blank; drop the row or fill it in."
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return f"holds half a character, {text[error.start]!a} (surrogates not allowed in UTF-8); correct the text."
    return ""


def check_count(name: str, value: int | None) -> None:
    """Raise unless a limit is None or a whole number of at least one."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ValueError(f"{name}={value!r}: expected a whole number of at least 1, or None for all.")
