"""What the base of the package leaves out: it needs numpy alone, and an extra brings the rest."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from types import ModuleType


@contextlib.contextmanager
def from_extra(extra: str) -> Iterator[None]:
    """Import in this block what an extra brings; where it is missing, the ImportError names the extra and a command."""
    try:
        yield
    except ImportError as error:
        raise type(error)(
            f"{error.name} is not installed, and this needs it: install the extra [{extra}], in a checkout by "
            f'python -m pip install --editable ".[{extra}]"',
            name=error.name,
        ) from None


class Later(ModuleType):
    """A package of an extra that is imported when something of it is first used, so that what needs none of it runs."""

    def __init__(self, name: str, extra: str) -> None:
        """Name the package, and the extra that brings it."""
        super().__init__(name)
        self._extra = extra

    def __getattr__(self, name: str) -> object:
        """Take a name from the package. Raises ImportError with a command that installs it where it is missing."""
        with from_extra(self._extra):
            package = importlib.import_module(self.__name__)
        return getattr(package, name)
