"""What may be missing or unseen: dependencies of extras, progress, and warnings that the report can translate."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tqdm.auto import tqdm


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


def progress_bar(total: int | None, description: str, unit: str, *, show: bool) -> tqdm:
    """Return a progress bar, a context manager with ``update(n)``; hidden if not ``show`` or with ``TQDM_DISABLE``.

    The variable is read here because tqdm's notebook bars ignore it (seen with tqdm 4.70).
    """
    with from_extra("report"):
        from tqdm.auto import tqdm
    disabled = not show or os.environ.get("TQDM_DISABLE", "0").lower() not in ("", "0", "false")
    return tqdm(total=total, desc=description, unit=unit, disable=disabled)


def say(text: str, *, show: bool) -> None:
    """Write a line to the error stream before work that may take seconds."""
    if show:
        print(text, file=sys.stderr, flush=True)


class Note(UserWarning):
    """A warning as a sentence with blanks, by which the report finds its translation, and the values for them."""

    def __init__(self, template: str, **values: object) -> None:
        self.template, self.values = template, values
        self.text = template.format_map(values) if values else template
        super().__init__(self.text)
