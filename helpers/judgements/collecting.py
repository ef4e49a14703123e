"""Read filled sheets back: every fault with its line, every conflict of two assessors, and then the judgements."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from helpers._printable import printable
from helpers.judgements.cells import PathLike, same_text
from helpers.judgements.sheets import Pair, Sheet, SheetRow, both_forms, read_sheet, shown

Labels = dict[str, dict[str, int]]
MOST_FAULTS = 20  # named in one message


class Conflict(NamedTuple):
    """A pair that two assessors graded differently."""

    query_id: str
    passage_id: str
    grades: tuple[int, int]


class Collected(NamedTuple):
    """What filled sheets hold.

    `qrels` are the judgements, `{query: {passage: grade}}`, earlier ones first, without the pairs in `conflicts`, which
    are still to be settled; `labels` what each assessor gave; `ungraded` how many pairs of the sheet nobody graded.
    """

    qrels: Labels
    labels: list[Labels]
    conflicts: list[Conflict]
    ungraded: int


def collect(
    sheet: PathLike,
    filled: Sequence[PathLike],
    *,
    settled: PathLike | None = None,
    judged: Mapping[str, Mapping[str, int]] | None = None,
    partial: bool = False,
) -> Collected:
    """Make judgements of one or two filled sheets.

    Where two assessors gave a pair the same grade, or only one graded it, that is its grade. Where they differ, the
    grade is the one in `settled`; without one the pair is a conflict and not in the judgements. No file is written.

    Args:
        sheet: the empty sheet as it was written: what the filled ones are compared with.
        filled: one or two copies, filled in; rows may be in any order, and further columns do no harm.
        settled: the sheet of conflicts, filled in.
        judged: judgements already made, to which the new ones are added; none of them is changed.
        partial: take a pair without a grade for not yet judged. Otherwise it is an error.

    Raises:
        ValueError: a row that the sheet lacks or that is missing, a changed text, a pair twice, an unknown grade or
            none, a pair that has another grade in `judged` already, a settled pair that is no conflict. The message
            names each fault, twenty at most, on a line of its own: file, line, ids and remedy.
    """
    if not 1 <= len(filled) <= 2:
        raise ValueError(f"Give one or two filled sheets, not {len(filled)}: conflicts are settled between two.")
    given, faults = read_sheet(sheet), list[str]()
    pairs = given.by_pair()
    grades = [_grades(read_sheet(path), given, pairs, faults, partial=partial) for path in filled]
    differ = {pair: row for pair, row in pairs.items() if len({some[pair] for some in grades if pair in some}) > 1}
    agreed = {pair: some[pair] for some in grades for pair in some if pair not in differ}
    if settled is not None:
        agreed |= _settled(read_sheet(settled), given, differ, faults)
    qrels = {query: dict(docs) for query, docs in (judged or {}).items()}
    for pair, grade in agreed.items():
        earlier = qrels.setdefault(pair[0], {}).setdefault(pair[1], grade)
        if earlier != grade:
            where = f"{given.name}:{pairs[pair].line}: {shown(pair)}"
            faults.append(f"{where} was judged {earlier} before, now {grade}: settle which, and leave it out here.")
    _raise(faults)
    conflicts = [Conflict(*pair, (grades[0][pair], grades[1][pair])) for pair in differ if pair not in agreed]
    return Collected(qrels, [_by_query(some) for some in grades], conflicts, len(pairs) - len(agreed) - len(conflicts))


def _grades(
    filled: Sheet, given: Sheet, pairs: Mapping[Pair, SheetRow], faults: list[str], *, partial: bool
) -> dict[Pair, int]:
    """The grades of a filled sheet by pair, in the order of the sheet; whatever is wrong goes to `faults`."""
    seen, found = _rows(filled, given, pairs, faults), dict[Pair, int]()
    for pair, row in pairs.items():
        if pair not in seen:
            faults.append(
                f"{filled.name}: no row for {shown(pair)}: copy it from line {row.line} of {given.name} and judge it."
            )
            continue
        where, cell = f"{filled.name}:{seen[pair].line}: {shown(pair)}", _plain_grade(seen[pair].grade)
        if cell in map(str, given.grades):
            found[pair] = int(cell)
        elif cell or not partial:
            what = f"has the grade {printable(cell[:20])!r}" if cell else "has no grade"
            faults.append(f"{where} {what}: write one of {', '.join(map(str, given.grades))}.")
    return found


def _rows(filled: Sheet, given: Sheet, pairs: Mapping[Pair, SheetRow], faults: list[str]) -> dict[Pair, SheetRow]:
    """The rows of a filled sheet by pair; those that are not the sheet's, changed or double go to `faults`."""
    forms, seen = both_forms(pairs), dict[Pair, SheetRow]()
    if filled.grades != given.grades:
        faults.append(f"{filled.name}:1: its grades are not those of {given.name}: put the header back as it was.")
    for row in filled.rows:
        pair = forms.get((row.query_id, row.passage_id))
        if pair is None:
            ids = shown((row.query_id, row.passage_id))
            faults.append(
                f"{filled.name}:{row.line}: {ids} is no pair of {given.name}: put the ids back, or remove it."
            )
            continue
        where = f"{filled.name}:{row.line}: {shown(pair)}"
        if pair in seen:
            faults.append(f"{where} stands here twice, first in line {seen[pair].line}: keep one row and one grade.")
            continue
        seen[pair] = row
        sent = pairs[pair]
        for what, cell, text in (("query", row.query, sent.query), ("passage", row.passage, sent.passage)):
            if not same_text(cell, text):
                faults.append(f"{where}: the {what}'s text was changed: copy it from line {sent.line} of {given.name}.")
    return seen


def _settled(settled: Sheet, given: Sheet, conflicts: Mapping[Pair, SheetRow], faults: list[str]) -> dict[Pair, int]:
    """The grades that settle conflicts; a conflict without a row stays one."""
    forms, known = both_forms(conflicts), dict[Pair, list[SheetRow]]()
    for row in settled.rows:
        pair = forms.get((row.query_id, row.passage_id))
        if pair is None:
            ids = shown((row.query_id, row.passage_id))
            faults.append(f"{settled.name}:{row.line}: {ids} is no conflict of these sheets: remove the row.")
        else:
            known.setdefault(pair, []).append(row)
    rows = Sheet(settled.name, settled.grades, [row for some in known.values() for row in some])
    return _grades(rows, given, {pair: conflicts[pair] for pair in known}, faults, partial=True)


def _plain_grade(cell: str) -> str:
    """A grade as it was meant: without blanks or an apostrophe, and full-width digits as plain ones."""
    return unicodedata.normalize("NFKC", cell).strip().removeprefix("'")


def _by_query(grades: Mapping[Pair, int]) -> Labels:
    """Grades by query and passage."""
    labels: Labels = {}
    for (query, passage), grade in grades.items():
        labels.setdefault(query, {})[passage] = grade
    return labels


def _raise(faults: Sequence[str]) -> None:
    """Raise one error for all faults, if there are any."""
    if len(faults) > MOST_FAULTS:
        faults = [*faults[:MOST_FAULTS], f"… and {len(faults) - MOST_FAULTS} more."]
    if faults:
        raise ValueError("\n".join(faults))
