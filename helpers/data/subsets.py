"""Which configurations of a data set belong together: ``corpus``, ``queries`` and ``qrels``, perhaps of many languages.

``mteb`` names those of a language ``zh-corpus``, ``zh-queries``, ``zh-qrels`` (MIRACLRetrieval, MintakaRetrieval,
MultiLongDocRetrieval and others); the name may stand behind as well, ``corpus-zh``.
"""

import re
from collections.abc import Sequence

from helpers._printable import printable

ROLES = ("corpus", "queries", "qrels")
SHOWN = 20  # names in a message
Subset = dict[str, str]  # the configuration of each role


def subsets(names: Sequence[str]) -> dict[str, Subset]:
    """Group configurations by what stands before or behind their role, "" where nothing does; those with texts alone.

    Judgements may be the configuration ``default``, or missing.
    """
    found: dict[str, Subset] = {}
    for name in names:
        match = re.fullmatch(rf"(?:(.+)[-_])?({'|'.join(ROLES)})(?:[-_](.+))?", name)
        if match and not (match[1] and match[3]):
            found.setdefault(match[1] or match[3] or "", {})[match[2]] = name
    if "" in found and "default" in names:
        found[""].setdefault("qrels", "default")
    return {name: roles for name, roles in found.items() if {"corpus", "queries"} <= set(roles)}


def choose(names: Sequence[str], wanted: str | None, shown: str) -> Subset | None:
    """Return the configurations to put together, None where the one wanted, or the data set, is a table of rows.

    Raises:
        ValueError: there are several and none was named, or none of the name given; the message lists what there is.
    """
    found = subsets(names)
    if wanted is None:
        if "" not in found and found:
            raise ValueError(
                f"{shown} holds {len(found)} collections: {_listed(list(found))}. Choose one: {_how(found)}."
            )
        return found.get("")
    if wanted in found:
        return found[wanted]
    if wanted in names:
        return None
    there = [name for name in found if name] or list(names)
    if not there:
        raise ValueError(f"{shown} has no configurations to choose from; leave out config={wanted!r}.")
    raise ValueError(f"{shown} has no configuration {printable(repr(wanted))}; it has {_listed(there)}.")


def _listed(names: Sequence[str]) -> str:
    """List names, the first of many."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return printable(", ".join(names[:SHOWN])) + more


def _how(found: dict[str, Subset]) -> str:
    """Say how one is chosen."""
    first = printable(next(iter(found)))
    return f"config={first!r}, on the command line --config {first}"
