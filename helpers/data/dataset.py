"""RetrievalDataset, a test collection, and checks of its texts and counts."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

Qrels = list[dict[int, int]]
LARGEST_GRADE = 2**31 - 1
HALF_SIGN = re.compile("[\ud800-\udfff]")  # a surrogate, which no encoding can write


@dataclass(frozen=True)
class RetrievalDataset:
    """A test collection: queries, a corpus, and relevance judgements.

    Attributes:
        name: name of the source.
        queries: q texts.
        corpus: n passage texts, without duplicates unless loaded with ``equal="keep"``.
        qrels: one dict per query, in the order of ``queries``: ``{row: grade}``. Rows below n are passages of
            ``corpus``; rows from n on are judged documents without a text, see ``ids_without_text``. Grade 0 means
            judged not relevant; a passage that is absent was not judged.
        query_ids, corpus_ids: the ids of the source, for TREC files; everything else uses row numbers.
        ids_without_text: the ids of rows n, n + 1 … of ``qrels``: judged documents without a text, which a run may
            retrieve, but not a system that searches texts.
        relevance_level: the lowest grade that counts as relevant for the binary metrics (``-l`` of trec_eval).
        merged: number of duplicate passages merged into their first occurrence.
        same_as: for each merged passage with an id, the id in ``corpus_ids`` of the passage it equals.
        skipped: number of items of the source that were skipped, by reason; a missing reason counts 0:
            ``blank_queries``, ``blank_passages``, ``missing_queries``, ``missing_passages`` (judged, but not there),
            ``judgements``, ``unjudged_queries``, ``unanswered_queries``.
        unused: by file, the columns and keys that were not read.
        numbered: whether the ids are numbers that the loader gave, since the source has none.
        split: the split that was loaded, "" if the source has none.
        titled: number of passages with a title, which precedes the text on its own line.
        all_queries, all_passages: the numbers before ``first`` or ``subset`` selected a part; 0 if none was selected.
    """

    name: str
    queries: list[str]
    corpus: list[str]
    qrels: Qrels
    query_ids: list[str]
    corpus_ids: list[str]
    relevance_level: int = 1
    merged: int = 0
    same_as: Mapping[str, str] = field(default_factory=dict)
    ids_without_text: Sequence[str] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    unused: Mapping[str, Sequence[str]] = field(default_factory=dict)
    numbered: bool = False
    split: str = ""
    titled: int = 0
    all_queries: int = 0
    all_passages: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for a collection that would silently give wrong scores."""
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
        documents = len(self.corpus) + len(self.ids_without_text)
        for row, judged in enumerate(self.qrels):
            if unknown := [passage for passage in judged if not 0 <= passage < documents]:
                raise ValueError(
                    f"{self.name}: the judgements of query {row} name passage rows {unknown[:3]}, "
                    f"but the corpus has rows 0 to {documents - 1}."
                )

    def __repr__(self) -> str:
        """Return name and size without the texts, and the split unless it is ``dev``."""
        size = f"{len(self.queries)} queries, {len(self.corpus)} passages"
        split = f", split {self.split!r}" if self.split not in ("", "dev") else ""
        return f"RetrievalDataset({self.name!r}: {size}{split})"

    @cached_property
    def sha256(self) -> str:
        """SHA-256 over all texts, ids and judgements."""
        parts = [self.queries, self.corpus, self.query_ids, self.corpus_ids, [sorted(q.items()) for q in self.qrels]]
        if self.ids_without_text:
            parts.append(list(self.ids_without_text))
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()

    @cached_property
    def doc_ids(self) -> list[str]:
        """The ids of the rows in ``qrels``, first the passages, then the documents without a text."""
        return [*self.corpus_ids, *self.ids_without_text]

    @cached_property
    def judged_alone(self) -> bool:
        """Whether there are judgements but no texts, so that an id stands where a text would."""
        return self.corpus == self.corpus_ids

    def relevant(self, row: int) -> list[int]:
        """Return the rows of the relevant documents of query ``row``, the highest grade first."""
        judged = self.qrels[row]
        relevant = [passage for passage, grade in judged.items() if grade >= self.relevance_level]
        return sorted(relevant, key=lambda passage: (-judged[passage], passage))

    def unanswered(self) -> list[int]:
        """Return the rows of the queries without a relevant passage, ascending; they score 0 with any model."""
        return [row for row, judged in enumerate(self.qrels) if max(judged.values(), default=0) < self.relevance_level]

    def relevant_rows(self, max_queries: int | None = None) -> list[int]:
        """Return the rows of the passages relevant to the first ``max_queries`` queries, in order, each once."""
        check_count("max_queries", max_queries)
        rows = range(len(self.queries))[:max_queries]
        relevant = dict.fromkeys(passage for row in rows for passage in self.relevant(row))
        return [passage for passage in relevant if passage < len(self.corpus)]

    def subset(self, rows: Sequence[int]) -> Self:
        """Return the collection with the passages at ``rows`` only, each once, in that order, and their judgements.

        The embeddings of the new corpus are ``embeddings[rows]``.
        """
        if len(set(rows)) < len(rows) or not all(0 <= row < len(self.corpus) for row in rows):
            raise ValueError(f"rows: expected rows of the corpus, 0 to {len(self.corpus) - 1}, each once.")
        without_text = range(len(self.corpus), len(self.corpus) + len(self.ids_without_text))
        total = self.all_passages or len(self.corpus)
        new_row = {int(passage): row for row, passage in enumerate([*rows, *without_text])}
        return replace(
            self,
            all_passages=total if len(rows) < total else 0,
            corpus=[self.corpus[passage] for passage in rows],
            corpus_ids=[self.corpus_ids[passage] for passage in rows],
            qrels=[{new_row[p]: grade for p, grade in judged.items() if p in new_row} for judged in self.qrels],
        )

    def without_unanswered(self) -> Self:
        """Return the collection without the queries that have no relevant passage, which ``skipped`` counts."""
        unanswered = self.unanswered()
        answered = self._of_queries(sorted(set(range(len(self.queries))).difference(unanswered)))
        skipped = {"unanswered_queries": len(unanswered)} if unanswered else {}
        return replace(answered, skipped={**self.skipped, **skipped})

    def first(self, max_queries: int | None = None) -> Self:
        """Return the collection with the first ``max_queries`` queries only, and all passages."""
        check_count("max_queries", max_queries)
        total = self.all_queries or len(self.queries)
        part = self._of_queries(range(len(self.queries))[:max_queries])
        return replace(part, all_queries=total if len(part.queries) < total else 0)

    def _of_queries(self, rows: Sequence[int]) -> Self:
        queries, ids = [self.queries[row] for row in rows], [self.query_ids[row] for row in rows]
        return replace(self, queries=queries, query_ids=ids, qrels=[self.qrels[row] for row in rows])


def from_ids(
    name: str,
    queries: Mapping[str, str],
    corpus: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    equal: str = "merge",
) -> RetrievalDataset:
    """Build a collection from texts and judgements by id, ``{query id: {passage id: grade}}``.

    A judged document that is not in the corpus keeps its judgement, see ``RetrievalDataset.ids_without_text``. Passages
    of equal texts are merged into the first, with the highest of their grades, or with ``equal="keep"`` kept.
    """
    same_as: dict[str, str] = {}
    if equal == "merge":
        first_id: dict[str, str] = {}
        firsts = ((passage, first_id.setdefault(text, passage)) for passage, text in corpus.items())
        same_as = {passage: first for passage, first in firsts if first != passage}
    corpus_ids = [passage for passage in corpus if passage not in same_as]
    judged_ids = dict.fromkeys(passage for query in queries for passage in qrels.get(query, {}))
    without_text = [passage for passage in judged_ids if passage not in corpus]
    row_of_id = {passage: row for row, passage in enumerate([*corpus_ids, *without_text])}
    rows: Qrels = []
    for query in queries:
        judged: dict[int, int] = {}
        for passage, grade in qrels.get(query, {}).items():
            row = row_of_id[same_as.get(passage, passage)]
            judged[row] = max(grade, judged.get(row, grade))
        rows.append(judged)
    return RetrievalDataset(
        name=name,
        queries=list(queries.values()),
        corpus=[corpus[passage] for passage in corpus_ids],
        qrels=rows,
        query_ids=list(queries),
        corpus_ids=corpus_ids,
        merged=len(same_as),
        same_as=same_as,
        ids_without_text=without_text,
    )


def require_answers(data: RetrievalDataset) -> None:
    """Raise ValueError if no query has a relevant passage, so that all scores would be 0."""
    grades = [grade for judged in data.qrels for grade in judged.values()]
    if max(grades, default=-LARGEST_GRADE) < data.relevance_level:
        highest = f"the highest of {len(grades)} grades is {max(grades)}" if grades else "there is no judgement"
        raise ValueError(
            f"{data.name}: no query has a relevant passage: {highest}, and grades count as relevant from "
            f"{data.relevance_level} on. Correct the judgements, or set another relevance_level."
        )


def check_texts(role: str, texts: Sequence[object]) -> None:
    """Raise ValueError unless there is at least one text and each is a string that is not blank."""
    if isinstance(texts, str):
        raise ValueError(f"Expected a list of texts, not the one {role} text {texts[:60]!r}; write [text].")
    if not texts:
        raise ValueError(f"No {role} at all; a collection needs at least one.")
    for row, text in enumerate(texts):
        if fault := text_fault(text):
            raise ValueError(f"{role} {row} {fault}")


def is_blank(text: object) -> bool:
    """Return whether a cell has no value (``None`` or NaN) or is a text of white space only."""
    if isinstance(text, str):
        return not text.strip()
    return text is None or (isinstance(text, float) and math.isnan(text))


def text_fault(text: object) -> str:
    """Return why a value is not a valid text: missing, another type, blank or no Unicode; "" if it is valid."""
    if not isinstance(text, str) and is_blank(text):
        return f"is missing ({text}); drop the row or fill it in."
    if not isinstance(text, str):
        return f"is of type {type(text).__name__}, {text!r}; expected text."
    if not text.isascii() and (half := HALF_SIGN.search(text)):
        return (
            f"has half a sign at character {half.start()} ({half[0]!a}), as a program leaves it that cuts an emoji "
            "in two; remove it, or cut the text elsewhere."
        )
    return "" if text.strip() else "is blank; drop the row or fill it in."


def check_count(name: str, value: int | None) -> None:
    """Raise ValueError unless a limit is None or a whole number of at least 1."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ValueError(f"{name}={value!r}: expected a whole number of at least 1, or None for all.")
