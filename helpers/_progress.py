"""Progress: a bar that ``TQDM_DISABLE`` switches off, or a line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from helpers._extras import from_extra

if TYPE_CHECKING:
    from tqdm.auto import tqdm


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
