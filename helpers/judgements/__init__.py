"""Make relevance judgements, and see how far to trust them: pools, sheets for assessors, agreement, what is unjudged.

In the order in which a test collection comes about: `pool` says which passages to judge, `write_sheet` puts them into a
table for a spreadsheet, `collect` reads the grades back, `agreement` compares two assessors. Of a finished collection
`unjudged` says what a system retrieves that nobody looked at, `condense` leaves that out, and `leave_one_out` says
how much a system loses that was not there when the passages were pooled. `python -m helpers.judgements` does the
round trip through the spreadsheet from the command line.
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
