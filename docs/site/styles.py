"""Style sheets without the rules that no page of the site can use: the theme's is mostly for what other sites show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_NAME = re.compile(r"[A-Za-z_][\w-]*")
_CLASS = re.compile(r"\.((?:[A-Za-z_-]|\\.)(?:[\w-]|\\.)*)")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_ASKED = re.compile(r"(?:var\(\s*|[\"'`])(--[\w-]+)")
_SET = re.compile(r"""(?<=[{;])(--[\w-]+):(?:"[^"]*"|'[^']*'|[^;{}"'])*;?""")
_INSIDE = re.compile(r":[a-z-]+\([^()]*\)")


def names(folder: Path) -> set[str]:
    """Return every word of the pages and scripts below a folder: what is none of these is the class of nothing."""
    paths = (path for kind in ("html", "js") for path in folder.rglob(f"*.{kind}"))
    return {name for path in paths for name in _NAME.findall(path.read_text(encoding="utf-8"))}


def custom_properties(folder: Path) -> set[str]:
    """Return the custom properties that a page, script or style sheet below a folder asks for; `--x-` is all such."""
    paths = (path for kind in ("html", "js", "css") for path in folder.rglob(f"*.{kind}"))
    return {name for path in paths for name in _ASKED.findall(path.read_text(encoding="utf-8"))}


def needed(css: str, used: set[str], properties: set[str]) -> str:
    """Return a style sheet without selectors that ask for a class not used, properties nobody asks for, white space."""
    tight = re.sub(r"\s*([{};])\s*", r"\1", "".join(_needed(_COMMENT.sub("", css), used)))
    begun = tuple(name for name in properties if name.endswith("-"))
    return _SET.sub(lambda match: match[0] if match[1] in properties or match[1].startswith(begun) else "", tight)


def _needed(css: str, used: set[str]) -> Iterator[str]:
    """Yield what stays, rule by rule; what is inside @media and @supports is looked through like the rest."""
    for head, body in _rules(css):
        if body is None or (head.startswith("@") and not head.startswith(("@media", "@supports"))):
            yield head if body is None else f"{head}{{{body}}}"
        elif head.startswith("@"):
            if inside := "".join(_needed(body, used)):
                yield f"{head}{{{inside}}}"
        elif kept := [part for part in _selectors(head) if used.issuperset(_classes(part))]:
            yield f"{','.join(kept)}{{{body}}}"


def _selectors(head: str) -> Iterator[str]:
    """Yield the selectors before a rule's braces; a comma inside brackets or a string does not part two."""
    part = ""
    for piece in head.split(","):
        part = f"{part},{piece}" if part else piece
        if part.count("(") == part.count(")") and part.count("[") == part.count("]"):
            yield part
            part = ""


def _classes(selector: str) -> list[str]:
    """Return the classes that a selector asks for; those inside :not(), :is() and the like do not count."""
    while (outside := _INSIDE.sub("", selector)) != selector:
        selector = outside
    return [name.replace("\\", "") for name in _CLASS.findall(selector)]


def _rules(css: str) -> Iterator[tuple[str, str | None]]:
    """Yield each rule as what stands before its braces and in them; a statement without braces has None there."""
    at = 0
    end_of_rules = len(css.rstrip())
    while at < end_of_rules:
        brace, end = css.find("{", at), css.find(";", at)
        if 0 <= end < brace or brace < 0:
            close = end + 1 or len(css)
            yield css[at:close].strip(), None
        else:
            close = _closing(css, brace)
            yield css[at:brace].strip(), css[brace + 1 : close - 1]
        at = close


def _closing(css: str, brace: int) -> int:
    """Return the place after the brace that closes the one at a place."""
    depth, at = 1, brace + 1
    while depth:
        depth += {"{": 1, "}": -1}.get(css[at], 0)
        at += 1
    return at
