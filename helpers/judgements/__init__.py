"""Make relevance judgements and assess their quality: pools, assessors' sheets, agreement, unjudged passages.

In the order in which a test collection is built: `pool` selects the passages to judge, `write_sheet` writes them as a
table for a spreadsheet, `collect` reads the grades back, `agreement` compares two assessors. For a finished collection,
`unjudged` lists the unjudged passages that a system retrieves, `condense` removes them from its ranking, and
`leave_one_out` measures the loss of a system that did not contribute to the pool.
`retrieval-judge` runs the steps with a spreadsheet from the command line.
"""

from helpers.judgements.assessors import Agreement, agreement
from helpers.judgements.pooling import LeaveOneOut, LeftOut, Unjudged, condense, leave_one_out, pool, unjudged
from helpers.judgements.sheets import Collected, Sheet, SheetRow, collect, read_sheet, write_conflicts, write_sheet

__all__ = [
    "Agreement", "Collected", "LeaveOneOut", "LeftOut", "Sheet", "SheetRow", "Unjudged", "agreement",
    "collect", "condense", "leave_one_out", "pool", "read_sheet", "unjudged", "write_conflicts", "write_sheet",
]  # fmt: skip
