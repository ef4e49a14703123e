"""Where the judged documents stand in the rankings: the one clever file, because most of the time is spent here.

`match_rows` compares arrays of integers. Rankings go through it in blocks that fit the processor's cache, in 32 bits
where those hold the ids, which halves the work. Short rankings are compared with every judged row, which costs their
product (`match_by_comparing`); long ones are sorted together with the judged rows (`match_by_sorting`).
`match_names` looks names up in dictionaries.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from helpers.metrics.qrels import Judgements, Ranked

BLOCK = 1 << 17  # numbers looked at together: few enough that they stay in the processor's cache
SHORT = 32  # a ranking and the judgements of its query, together this many at most, are compared one by one


def match_names(names: Sequence[list[Any]], judgements: Judgements) -> Ranked:
    """Find every judged document in the ranking of its query, best rank first."""
    ranks_by_query = [{doc: rank for rank, doc in enumerate(docs, 1)} for docs in names]
    pairs = zip(judgements.query.tolist(), judgements.docs, strict=True)
    ranks = np.array([ranks_by_query[query].get(doc, 0) for query, doc in pairs], dtype=np.int64)
    retrieved = np.flatnonzero(ranks)
    return Ranked.best_first(judgements.query[retrieved], ranks[retrieved], judgements.grade[retrieved])


def match_rows(ids: np.ndarray, judgements: Judgements) -> Ranked:
    """Find every judged row in the ranking of its query, best rank first; `ids` is (q, k), -1 is padding.

    Raises:
        ValueError: an id repeated within a ranking, or after padding.
    """
    width = ids.shape[1] + int(judgements.n_judged.max(initial=0))
    if width <= SHORT:
        codes = np.zeros(ids.shape[::-1], np.min_scalar_type(len(judgements.grades)))
        for queries in row_blocks(len(ids), width + 1):
            codes[:, queries] = match_by_comparing(ids, judgements, queries)
        return hits_by_rank(codes, judgements.grades)
    parts = [match_by_sorting(ids, judgements, queries) for queries in row_blocks(len(ids), width + 1)]
    query, rank, grade = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Ranked.best_first(query, rank, grade)


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices of rows that hold about `BLOCK` numbers each."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def match_by_comparing(ids: np.ndarray, judgements: Judgements, queries: slice) -> np.ndarray:
    """At each rank of some queries, (k, queries): 1 + the grade code of the row retrieved, or 0 if it is not judged.

    Rankings stand upright, because numpy compares long rows of numbers fastest.
    """
    block, highest = _as_block(ids, queries)
    dtype = np.int32 if max(highest, judgements.highest_row) < 1 << 31 else np.int64
    columns = block.T.astype(dtype, order="C")
    if any((columns[gap:] == columns[:-gap]).any() for gap in range(1, len(columns))):
        _check_rows(block, queries.start)
    rows, grade_codes = judgements.table(queries)
    codes = (grade_codes + 1).T.astype(np.min_scalar_type(len(judgements.grades)), order="C")
    matched, same = np.zeros(columns.shape, codes.dtype), np.empty(columns.shape, bool)
    for row, code in zip(rows.T.astype(dtype, order="C"), codes, strict=True):
        np.equal(columns, row, out=same)
        matched += same.view(np.uint8) * code  # ids do not repeat: at most one addition at each rank
    return matched


def hits_by_rank(codes: np.ndarray, grades: np.ndarray) -> Ranked:
    """List the matches of `match_by_comparing`, best rank first."""
    nothing = np.empty(0, np.intp)
    query = [np.flatnonzero(row != 0) for row in codes]  # among booleans numpy finds the true ones fastest
    rank = np.repeat(np.arange(1, len(codes) + 1), list(map(len, query)))
    grade = [grades[row[matched] - 1] for row, matched in zip(codes, query, strict=True)]
    return Ranked(np.hstack([nothing, *query]), rank, np.hstack([nothing, *grade]))


def match_by_sorting(
    ids: np.ndarray, judgements: Judgements, queries: slice
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, rank and grade of the judged rows in the rankings of some queries.

    Each ranking is sorted with the rows judged for its query; equal neighbours are a judged row and the rank at
    which it was retrieved. Some bits below the id say more: those of a judged row hold its grade code, those of a
    retrieved row its position in the ranking, counted on from the last code. For example, with the grades 1 and 2
    (codes 0 and 1; positions are counted from 2) and three bits, a ranking 9, 3, 7, judged 3 with grade 2 and 7 with
    grade 1:

        retrieved  9 · 8 + 2 = 74    3 · 8 + 3 = 27    7 · 8 + 4 = 60
        judged                       3 · 8 + 1 = 25    7 · 8 + 0 = 56
        sorted     25 27 56 60 74

    25 and 27 agree but for their last three bits, which say: code 1, position 3. So row 3 has grade 2 and rank
    3 - (2 - 1) = 2. Likewise 56 and 60: row 7 has grade 1 and rank 4 - 1 = 3. Row 9 has no partner: not judged.
    """
    block, highest = _as_block(ids, queries)
    rows, codes = judgements.table(queries)
    n_judged, n_codes = rows.shape[1], len(judgements.grades)
    bits = (n_codes + block.shape[1]).bit_length()
    highest = max(highest, judgements.highest_row, n_judged) + 1
    if highest >> (63 - bits):
        rows, retrieved = renumber_ids(rows, block)
    else:
        retrieved = block.astype(np.int64 if highest >> (31 - bits) else np.int32)
    keys = np.empty((len(block), n_judged + block.shape[1] + 1), retrieved.dtype)
    keys[:, :n_judged] = (rows << bits) + codes
    retrieved <<= bits
    positions = np.arange(n_codes, n_codes + block.shape[1], dtype=retrieved.dtype)
    np.add(retrieved, positions, out=keys[:, n_judged:-1])
    keys[:, -1] = np.iinfo(keys.dtype).max  # no number's neighbour: keeps a query from the next
    keys.sort(axis=1)
    flat = keys.ravel()
    pairs = np.flatnonzero((flat[1:] ^ flat[:-1]).view(f"u{flat.itemsize}") < 1 << bits)
    pairs = pairs[flat[pairs] >= 0]  # padding
    code, position = flat[pairs] & ((1 << bits) - 1), flat[pairs + 1] & ((1 << bits) - 1)
    if (code >= n_codes).any():
        _check_rows(block, queries.start)
    return pairs // keys.shape[1] + queries.start, position - (n_codes - 1), judgements.grades[code]


def renumber_ids(rows: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Small numbers that compare as those of two arrays do, where these leave no bits free; negative ones stay so."""
    values, numbers = np.unique(np.hstack([rows, block]), return_inverse=True)
    numbers = numbers.reshape(len(block), -1).astype(np.int64, copy=False) - values.searchsorted(0)
    return numbers[:, : rows.shape[1]], numbers[:, rows.shape[1] :]


def _as_block(ids: np.ndarray, queries: slice) -> tuple[np.ndarray, int]:
    """The rankings of some queries as int64 in which only -1 is negative, and their highest id."""
    block = np.ascontiguousarray(ids[queries], np.int64)
    highest = int(block.view(np.uint64).max(initial=0))  # as such, negative numbers are the highest
    if highest < 1 << 63:
        return block, highest
    check_padding(block, queries.start)
    return np.maximum(block, -1), int(block.max())


def check_padding(ids: np.ndarray, first: int) -> None:
    """Raise if an id follows padding. `first` is the number of the first ranking."""
    broken = np.flatnonzero(((ids[:, :-1] < 0) & (ids[:, 1:] >= 0)).any(axis=1))
    if broken.size:
        raise ValueError(f"The ranking of query {first + broken[0]} has padding (-1) before an id: move it to the end.")


def _check_rows(ids: np.ndarray, first: int) -> None:
    """Raise if an id is repeated within a ranking. `first` is the number of the first ranking."""
    ordered = np.sort(ids, axis=1)
    repeats = np.flatnonzero(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
    for row in repeats[:1].tolist():
        check_unique([doc for doc in ids[row].tolist() if doc >= 0], first + row)


def check_unique(docs: list[Any], query: Hashable) -> None:
    """Raise if a document is listed twice in a ranking."""
    if len(set(docs)) != len(docs):
        repeated = next(doc for position, doc in enumerate(docs) if doc in docs[:position])
        raise ValueError(f"The ranking of query {query!r} holds {repeated!r} twice. Remove the repetition.")
