"""Where the judged rows stand in the rankings.

A pair of query and row is judged or not. Nearly all pairs retrieved are not, so each is first looked up in a table of
marks, at a place that is the pair's but may be another's too; those that meet a mark are searched for among the pairs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from helpers.metrics.qrels import Judgements, Ranked

BLOCK = 1 << 17  # numbers looked at together: few enough that they stay in the processor's cache
MARKS = 1 << 24  # at most, a byte each
APART = 0x9E3779B1  # between the places of one row for two queries: odd, so that these spread


def match_rows(ids: np.ndarray, judgements: Judgements) -> Ranked:
    """Find every judged row in the ranking of its query, best rank first; `ids` is (q, k), -1 is padding."""
    rows, pairs, grades = judgements.pairs
    marks = np.zeros(min(MARKS, 1 << (64 * len(pairs)).bit_length()), bool)
    marks[(judgements.rows + judgements.query.astype(np.int64) * APART) & (len(marks) - 1)] = True
    parts = [(np.empty(0, np.intp), np.empty(0, np.intp), grades[:0])]
    for queries in row_blocks(*ids.shape):
        block = ids[queries].astype(np.int64)
        _check_rows(block, queries.start)
        first = np.arange(queries.start, queries.stop, dtype=np.int64)[:, None]
        marked = np.flatnonzero(marks[(block + first * APART) & (len(marks) - 1)])
        row = block.ravel()[marked]
        number = np.minimum(rows.searchsorted(row), len(rows) - 1)
        known = np.flatnonzero(rows[number] == row)  # judged for some query
        query, column = np.divmod(marked[known], ids.shape[1])
        pair = (query + queries.start) * len(rows) + number[known]
        place = np.minimum(pairs.searchsorted(pair), len(pairs) - 1)
        hit = np.flatnonzero(pairs[place] == pair)
        parts.append((query[hit] + queries.start, column[hit] + 1, grades[place[hit]]))
    return Ranked.best_first(*map(np.concatenate, zip(*parts, strict=True)))


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices of rows that hold about `BLOCK` numbers each."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def check_padding(ids: np.ndarray, first: int) -> None:
    """Raise if an id follows padding. `first` is the number of the first ranking."""
    broken = np.flatnonzero(((ids[:, :-1] < 0) & (ids[:, 1:] >= 0)).any(axis=1))
    if broken.size:
        raise ValueError(f"The ranking of query {first + broken[0]} has padding (-1) before an id: move it to the end.")


def _check_rows(ids: np.ndarray, first: int) -> None:
    """Raise if an id follows padding, or is repeated within a ranking. `first` is the number of the first ranking."""
    ordered = np.sort(ids, axis=1)
    if (ordered[:, :1] < 0).any():
        check_padding(ids, first)
    repeats = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
    for row in repeats[:1].tolist():
        check_unique([doc for doc in ids[row].tolist() if doc >= 0], first + row)


def check_unique(docs: list[Any], query: Hashable) -> None:
    """Raise if a document is listed twice in a ranking."""
    if len(set(docs)) != len(docs):
        repeated = next(doc for position, doc in enumerate(docs) if doc in docs[:position])
        raise ValueError(f"The ranking of query {query!r} holds {repeated!r} twice. Remove the repetition.")
