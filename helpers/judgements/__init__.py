"""Make relevance judgements, and see how far to trust them: pools, sheets for assessors, agreement, what is unjudged.

In the order in which a test collection is built: `pool` selects the passages to judge, `write_sheet` writes them as a
table for a spreadsheet, `collect` reads the grades back, `agreement` compares two assessors. Of a finished collection
`unjudged` lists the passages that a system retrieves and nobody judged, `condense` leaves them out, and
`leave_one_out` measures how much a system loses that was absent when the passages were pooled.
`python -m helpers.judgements` does the round trip through the spreadsheet from the command line.
"""

from helpers.judgements.assessors import Agreement, agreement
from helpers.judgements.collecting import Collected, Conflict, collect
from helpers.judgements.pooling import LeaveOneOut, LeftOut, Unjudged, condense, leave_one_out, pool, unjudged
from helpers.judgements.sheets import Sheet, SheetRow, read_sheet, write_conflicts, write_sheet

__all__ = [
    "Agreement",
    "Collected",
    "Conflict",
    "LeaveOneOut",
    "LeftOut",
    "Sheet",
    "SheetRow",
    "Unjudged",
    "agreement",
    "collect",
    "condense",
    "leave_one_out",
    "pool",
    "read_sheet",
    "unjudged",
    "write_conflicts",
    "write_sheet",
]
