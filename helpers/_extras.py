"""What the base of the package leaves out: it needs numpy alone, and an extra brings the rest."""

from __future__ import annotations

import importlib
from types import ModuleType


def missing(error: ImportError, extra: str) -> ImportError:
    """The error to raise where a package that an extra brings is missing: it names the command."""
    command = f"python -m pip install 'retrieval-evaluation-tutorial[{extra}]'"
    return ImportError(f"{error.name} is not installed, and this needs it: run {command}", name=error.name)


class Later(ModuleType):
    """A package of an extra that is imported when something of it is first used, so that what needs none of it runs."""

    def __init__(self, name: str, extra: str) -> None:
        """Name the package, and the extra that brings it."""
        super().__init__(name)
        self._extra = extra

    def __getattr__(self, name: str) -> object:
        """Take a name from the package. Raises ImportError with the command that installs it where it is missing."""
        try:
            package = importlib.import_module(self.__name__)
        except ImportError as error:
            raise missing(error, self._extra) from None
        return getattr(package, name)
