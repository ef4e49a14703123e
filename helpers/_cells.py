"""Cells of a CSV file that a spreadsheet would run as a formula."""

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def runs_as_formula(text: str) -> bool:
    """Tell whether a spreadsheet may run a cell as a formula (CWE-1236); an apostrophe before it prevents that."""
    return text.lstrip().startswith(_FORMULA)


def as_cell(text: str) -> str:
    """Return text as a cell that no spreadsheet runs."""
    return f"'{text}" if runs_as_formula(text) else text
