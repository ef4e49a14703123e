"""Protect CSV cells that a spreadsheet would run as a formula (CWE-1236)."""

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def runs_as_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a cell as a formula."""
    return text.lstrip().startswith(_FORMULA)


def as_cell(text: str) -> str:
    """Return the text of a cell, after an apostrophe if a spreadsheet would run it as a formula."""
    return f"'{text}" if runs_as_formula(text) else text
