"""Where the source of a documented name is read: in the repository, at the release that the site describes."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from docs.site.project import addresses


def source_of(root: Path, module: str, name: str) -> str | None:
    """Return the address of the lines of a function or class; None for what has none of its own, a constant.

    Args:
        root: the checkout.
        module: a module that is imported, `helpers.metrics`.
        name: a name in it, with dots: `Evaluation.table`.
    """
    item: object = sys.modules.get(module)
    for part in name.split("."):
        item = getattr(item, part, None)
    item = getattr(item, "fget", item)  # of a property, its function
    try:
        unwrapped = inspect.unwrap(item)  # type: ignore[arg-type]
        file = Path(inspect.getsourcefile(unwrapped) or "")
        lines, first = inspect.getsourcelines(unwrapped)
    except (TypeError, OSError):
        return None
    if not file.is_relative_to(root):
        return None
    return addresses(root).file(f"{file.relative_to(root).as_posix()}#L{first}-L{first + len(lines) - 1}")
