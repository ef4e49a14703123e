"""Import the dependencies of optional extras; the base package needs numpy alone."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from types import ModuleType


@contextlib.contextmanager
def from_extra(extra: str) -> Iterator[None]:
    """Add the name of the extra and its install command to an ImportError raised in this block."""
    try:
        yield
    except ImportError as error:
        raise type(error)(
            f"{error.name} is not installed, and this needs it: install the extra [{extra}], in a checkout by "
            f'python -m pip install --editable ".[{extra}]"'
        ) from None


class Later(ModuleType):
    """A package of an extra that is imported when one of its attributes is first used."""

    def __init__(self, name: str, extra: str) -> None:
        """Initialize with the names of the package and its extra."""
        super().__init__(name)
        self._extra = extra

    def __getattr__(self, name: str) -> object:
        """Return an attribute of the package; raise ImportError with the install command if it is missing."""
        with from_extra(self._extra):
            package = importlib.import_module(self.__name__)
        return getattr(package, name)
