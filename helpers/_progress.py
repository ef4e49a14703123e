"""A progress bar that stays out of recorded outputs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from helpers._extras import from_extra

if TYPE_CHECKING:
    from tqdm.auto import tqdm


def progress_bar(total: int | None, description: str, unit: str, *, show: bool) -> tqdm:
    """Open a bar, a context manager with ``update(n)``; silent if not ``show`` or if ``TQDM_DISABLE`` is set.

    The variable has to be read here: tqdm's bars for notebooks ignore it (seen with tqdm 4.70).
    """
    with from_extra("report"):
        from tqdm.auto import tqdm
    disabled = not show or os.environ.get("TQDM_DISABLE", "0").lower() not in ("", "0", "false")
    return tqdm(total=total, desc=description, unit=unit, disable=disabled)
