"""Relevance judgements of many queries as flat arrays, and documents listed by rank."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

Entry = Mapping[Any, int] | Iterable[Hashable]  # the judgements of one query: {doc: grade}, or the relevant documents


@dataclass(eq=False)  # not frozen, which would double the time that making one takes
class Ranked:
    """Documents of many queries, best rank first: arrays of shape (n,).

    `query` counts the queries from 0, `rank` starts at 1, `grade` is the judged grade. Because ranks ascend, the
    documents of all top k are a prefix, and `np.bincount` adds up each query's values in rank order, as trec_eval does.
    """

    query: np.ndarray
    rank: np.ndarray
    grade: np.ndarray

    @classmethod
    def best_first(cls, query: np.ndarray, rank: np.ndarray, grade: np.ndarray) -> Ranked:
        """Put documents in the order of their ranks; numpy sorts 16-bit integers by radix, in linear time."""
        fits = rank.size == 0 or rank.max() < 1 << 16
        order = np.argsort(rank.astype(np.uint16) if fits else rank, kind="stable")
        return cls(query[order], rank[order], grade[order])

    def __len__(self) -> int:
        """How many documents are listed."""
        return len(self.rank)

    def top(self, k: int) -> Ranked:
        """The documents at rank k or better."""
        end = int(self.rank.searchsorted(k, side="right"))
        if end == len(self):
            return self
        return Ranked(self.query[:end], self.rank[:end], self.grade[:end])

    def at_least(self, level: int) -> Ranked:
        """The documents with a grade of `level` or more."""
        return self.only(self.grade >= level)

    def only(self, wanted: np.ndarray) -> Ranked:
        """The documents for which `wanted`, (n,) bool, is true."""
        keep = np.flatnonzero(wanted)
        return Ranked(self.query[keep], self.rank[keep], self.grade[keep])

    def ranks(self) -> Iterable[tuple[int, slice]]:
        """Every rank from 1 to the deepest, and where its documents are; each query has one of them at most."""
        deepest = int(self.rank[-1]) if len(self) else 0
        ends = self.rank.searchsorted(np.arange(deepest + 1), side="right").tolist()
        return ((rank, slice(ends[rank - 1], ends[rank])) for rank in range(1, deepest + 1))

    @cached_property
    def so_far(self) -> np.ndarray:
        """For each document, how many of its query are listed at its rank or better, itself included. (n,) int64."""
        listed = np.zeros(self.query.max(initial=-1) + 1, np.int64)
        so_far = np.empty(len(self), np.int64)
        for _, documents in self.ranks():
            query = self.query[documents]
            listed[query] += 1
            so_far[documents] = listed[query]
        return so_far


@dataclass(frozen=True, eq=False)
class Judgements:
    """Relevance judgements of q queries, flattened; n documents were judged in all.

    Build it with `Judgements.of(qrels)`. Every metric does so itself; do it once yourself to save time when many
    rankings are scored against the same judgements.
    """

    query_ids: Sequence[Hashable]  # (q,) keys of a mapping, else 0 … q-1
    docs: list[Any]  # (n,) the judged documents, query by query
    query: np.ndarray  # (n,) intp, as numpy counts and indexes: the query each of them belongs to
    grade: np.ndarray  # (n,) int64
    aligned: bool  # whether the queries are the rows of an array rather than names
    relevance_level: int  # the lowest grade that counts as relevant
    # Values that metrics computed from the judgements alone, for the next ranking scored against them.
    computed: dict[Hashable, np.ndarray] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, qrels: Qrels | None, relevance_level: int | None = None) -> Judgements:
        """Read `{query: {doc: grade}}`, `[{doc: grade}, …]`, `{query: [doc, …]}` or `[[doc, …], …]`.

        In the forms without grades every listed document has grade 1. A negative grade is never
        relevant; `judged` counts it, while trec_eval takes it for unjudged.
        """
        if qrels is None:
            raise TypeError("A ranking alone cannot be scored: give the judgements (qrels) as the second argument.")
        if isinstance(qrels, Judgements):
            return qrels if relevance_level is None else replace(qrels, relevance_level=_level(relevance_level))
        level = 1 if relevance_level is None else _level(relevance_level)
        entries = list(qrels.values() if isinstance(qrels, Mapping) else qrels)
        query_ids = list(qrels) if isinstance(qrels, Mapping) else range(len(entries))
        if not entries:
            raise ValueError("qrels is empty: there is no query to score. Give at least one query's judgements.")
        graded, lists = _uniform(entries)
        docs = list(chain.from_iterable(graded or lists))
        counts = np.fromiter(map(len, graded or lists), np.intp, len(entries))
        grade = np.ones(len(docs), np.int64)
        if graded:
            grade = _whole_numbers(list(chain.from_iterable(entry.values() for entry in graded)))
        query = np.repeat(np.arange(len(entries), dtype=np.intp), counts)
        return cls(query_ids, docs, query, grade, aligned=not isinstance(qrels, Mapping), relevance_level=level)

    @property
    def n_queries(self) -> int:
        """How many queries were judged, q."""
        return len(self.query_ids)

    @cached_property
    def n_judged(self) -> np.ndarray:
        """How many documents of each query were judged, (q,) intp."""
        return np.bincount(self.query, minlength=self.n_queries)

    @cached_property
    def n_relevant(self) -> np.ndarray:
        """R, the number of relevant documents of each query, (q,) intp."""
        return np.bincount(self.query[self.grade >= self.relevance_level], minlength=self.n_queries)

    @cached_property
    def n_nonrelevant(self) -> np.ndarray:
        """How many documents of each query have a grade of 0 or more but below `relevance_level`, (q,) intp."""
        nonrelevant = (self.grade >= 0) & (self.grade < self.relevance_level)
        return np.bincount(self.query[nonrelevant], minlength=self.n_queries)

    @cached_property
    def ideal(self) -> Ranked:
        """The best possible ranking, of every document of a query with a gain, highest grade first."""
        gains = self.grade > 0
        query, grade = self.query[gains], self.grade[gains]
        if grade.size and grade.min() != grade.max():
            grade = grade[np.lexsort((-grade, query))]
        counts = np.bincount(query, minlength=self.n_queries)
        starts = np.cumsum(counts) - counts
        return Ranked.best_first(query, np.arange(1, len(query) + 1) - starts[query], grade)

    @cached_property
    def rows(self) -> np.ndarray:
        """The judged documents as integers, (n,) int64, for comparison with rows of an array."""
        try:
            rows = np.array(array("q", self.docs), dtype=np.int64)
        except TypeError:
            text = next(doc for doc in self.docs if not isinstance(doc, Integral))
            raise TypeError(
                f"qrels names the document {text!r} ({type(text).__name__}) but the ranking holds integer rows. "
                "Use the same ids in both: map the judged ids to rows, or give the ranking as ids of that type."
            ) from None
        if rows.size and rows.min() < 0:
            raise ValueError(f"qrels names the document {rows.min()}; rows start at 0 and -1 means padding.")
        return rows


Qrels = Judgements | Mapping[Any, Entry] | Sequence[Entry] | np.ndarray


def _level(level: object) -> int:
    """A relevance level of at least 1: at 0 every judged document would be relevant."""
    if isinstance(level, bool) or not isinstance(level, (int, np.integer)) or level < 1:
        raise ValueError(f"relevance_level must be a whole number of at least 1, not {level!r}.")
    return int(level)


def _uniform(entries: list[Any]) -> tuple[list[Mapping[Any, int]], list[list[Hashable]]]:
    """Entries of qrels as mappings, or else as lists without repetitions; the other list is empty."""
    kinds = set(map(type, entries))
    if all(issubclass(kind, Mapping) for kind in kinds):
        return entries, []
    for kind in kinds:
        if issubclass(kind, (str, bytes, Mapping)) or not issubclass(kind, Iterable):
            raise TypeError(
                "Each query of qrels needs a dict {doc: grade} or a list of ids, all of one form; "
                f"found {kind.__name__}."
            )
    lists = [entry.tolist() if isinstance(entry, np.ndarray) else list(entry) for entry in entries]
    for number, docs in enumerate(lists):
        if len(set(docs)) != len(docs):
            raise ValueError(f"qrels lists a document twice for query number {number}: {docs}. List each once.")
    return [], lists


def _whole_numbers(grades: list[Any]) -> np.ndarray:
    """Grades as (n,) int64, or an error that names the first that is no whole number."""
    try:
        return np.array(array("q", grades), dtype=np.int64)
    except (TypeError, OverflowError):
        pass
    for grade in grades:
        is_number = isinstance(grade, (int, float, np.number))
        if not is_number or not -(1 << 31) <= grade <= 1 << 31 or not float(grade).is_integer():
            shown = repr(grade)[:40]
            raise ValueError(f"A grade must be a whole number, not {shown}: 0 is not relevant, 1 and above are.")
    return np.array([int(grade) for grade in grades], dtype=np.int64)
