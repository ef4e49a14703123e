"""What the base of the package leaves out: it needs numpy alone, and an extra brings the rest."""

from __future__ import annotations


def missing(error: ImportError, extra: str) -> ImportError:
    """The error to raise where a package that an extra brings is missing: it names the command."""
    command = f"python -m pip install 'retrieval-evaluation-tutorial[{extra}]'"
    return ImportError(f"{error.name} is not installed, and this needs it: run {command}", name=error.name)
