"""Read filled sheets: report faults by line, list conflicts between two assessors, return judgements."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from helpers._io import UTF8
from helpers.judgements.sheets import Pair, PathLike, Sheet, SheetRow, pair_ids, read_sheet, same_text

Labels = dict[str, dict[str, int]]
MOST_FAULTS = 20  # named in one message


class Collected(NamedTuple):
    """The content of filled sheets.

    `qrels` are the judgements, `{query: {passage: grade}}`, earlier ones first, without the unsettled pairs in
    `conflicts`, `{(query id, passage id): (grade, grade)}`; `labels` the grades of each assessor; `ungraded` the number
    of pairs of the sheet without a grade.
    """

    qrels: Labels
    labels: list[Labels]
    conflicts: dict[Pair, tuple[int, int]]
    ungraded: int


def collect(
    sheet: PathLike,
    filled: Sequence[PathLike],
    *,
    settled: PathLike | None = None,
    judged: Mapping[str, Mapping[str, int]] | None = None,
    partial: bool = False,
    encoding: str = UTF8,
) -> Collected:
    """Return the judgements of one or two filled sheets; write no file.

    If two assessors gave a pair the same grade, or only one graded it, that is its grade. If they differ, the grade is
    that in `settled`; without one the pair is a conflict and not in the judgements.

    Args:
        sheet: the empty sheet as it was written, to compare the filled ones with.
        filled: one or two filled copies, with rows in any order; further columns are ignored.
        settled: the sheet of conflicts, filled in.
        judged: earlier judgements, to which the new ones are added; they are not changed.
        partial: allow pairs without a grade or a row, as not yet judged; by default they are an error.
        encoding: of the filled sheets, such as gb18030, in which Excel saves CSV on Chinese systems.

    Raises:
        ValueError: a row is unknown or missing, a text was changed, a pair occurs twice, a grade is unknown, missing or
            another than in `judged`. A line for each fault, at most twenty: file, line, ids and remedy.
    """
    if not 1 <= len(filled) <= 2:
        raise ValueError(f"Give one or two filled sheets, not {len(filled)}: conflicts are settled between two.")
    empty, faults = read_sheet(sheet), list[str]()
    pairs = empty.by_pair()
    grades = [_grades(read_sheet(path, encoding), empty, pairs, faults, partial=partial) for path in filled]
    differ = {
        pair: row for pair, row in pairs.items() if len({labels[pair] for labels in grades if pair in labels}) > 1
    }
    agreed = {pair: labels[pair] for labels in grades for pair in labels if pair not in differ}
    if settled is not None:
        agreed |= _grades(read_sheet(settled, encoding), empty, differ, faults, partial=True)
    qrels = {query: dict(docs) for query, docs in (judged or {}).items()}
    for pair, grade in agreed.items():
        earlier = qrels.setdefault(pair[0], {}).setdefault(pair[1], grade)
        if earlier != grade:
            where = f"{empty.name}:{pairs[pair].line}: {pair_ids(pair)}"
            faults.append(f"{where} was judged {earlier} before, now {grade}: settle which, and leave it out here.")
    if len(faults) > MOST_FAULTS:
        faults[MOST_FAULTS:] = [f"… and {len(faults) - MOST_FAULTS} more."]
    if faults:
        raise ValueError("\n".join(faults))
    conflicts = {pair: (grades[0][pair], grades[1][pair]) for pair in differ if pair not in agreed}
    ungraded = len(pairs) - len(agreed) - len(conflicts)
    return Collected(qrels, [_by_query(labels) for labels in grades], conflicts, ungraded)


def _grades(
    filled: Sheet, empty: Sheet, wanted: Mapping[Pair, SheetRow], faults: list[str], *, partial: bool
) -> dict[Pair, int]:
    """Return the grades of a filled sheet, in the order of the wanted pairs; append what is wrong to `faults`."""
    known = {_bare(pair): pair for pair in wanted}
    lines, grades = dict[Pair, int](), dict[Pair, int]()
    if filled.grades != empty.grades:
        faults.append(f"{filled.name}:1: its grades are not those of {empty.name}: put the header back as it was.")
    for row in filled.rows:
        ids = row.query_id, row.passage_id
        pair = known.get(_bare(ids), ids)
        where = f"{filled.name}:{row.line}: {pair_ids(pair)}"
        if pair not in wanted:
            faults.append(f"{where} is not asked for: put the ids back as they were, or remove the row.")
            continue
        if pair in lines:
            faults.append(f"{where} is here twice, first in line {lines[pair]}: keep one row and one grade.")
            continue
        lines[pair], original = row.line, wanted[pair]
        for side, cell, text in (("query", row.query, original.query), ("passage", row.passage, original.passage)):
            if not same_text(cell, text):
                faults.append(
                    f"{where}: the {side}'s text was changed: copy it from line {original.line} of {empty.name}."
                )
        cell = unicodedata.normalize("NFKC", row.grade).strip().removeprefix("'")  # full-width digits
        if cell in map(str, empty.grades):
            grades[pair] = int(cell)
        elif cell or not partial:
            fault = f"has the grade {cell[:20]!r}" if cell else "has no grade"
            faults.append(f"{where} {fault}: write one of {', '.join(map(str, empty.grades))}.")
    faults += [
        f"{filled.name}: no row for {pair_ids(pair)}: copy it from line {row.line} of {empty.name} and judge it."
        for pair, row in wanted.items() if pair not in lines and not partial
    ]  # fmt: skip
    return {pair: grades[pair] for pair in wanted if pair in grades}


def _bare(pair: Pair) -> Pair:
    """Return a pair without leading apostrophes, to match rows whose guarding apostrophes a spreadsheet dropped."""
    return pair[0].lstrip("'"), pair[1].lstrip("'")


def _by_query(grades: Mapping[Pair, int]) -> Labels:
    labels: Labels = {}
    for (query, passage), grade in grades.items():
        labels.setdefault(query, {})[passage] = grade
    return labels
