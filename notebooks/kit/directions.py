"""Whether words point where the numbers do: "falls from 0.8 to 0.9" is found, and so is "above" before a claim of `<`.

A claim is written the way its words say it: `<!--holds: 'pocket/static' < 'pocket/BM25'-->` behind "static stays below
BM25", `rises('recall/*')` behind "never falls". Only the words since the last punctuation mark count. Where they point
both ways or nowhere, or the claim does, nothing is compared: most words of a claim are bound to no figure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction

_FALL = r"\b(?:falls?|fell|drops?|dropped|sinks?|decreases?)\b"
_RISE = r"\b(?:rises?|rose|climbs?|climbed|increases?|raises?|lifts?)\b"
_WORDS = {
    "<": re.compile(
        rf"{_FALL}|\b(?:below|behind|lower|worse|(?:less|fewer|smaller) than)\b"
        r"|低于|更低|还低|不如|落后|更差|变差|更糟|更小|还小|下降|降到|降低",
        re.I,
    ),
    ">": re.compile(
        rf"{_RISE}|\b(?:above|ahead|higher|better|beats?|(?:more|greater|larger) than)\b"
        r"|高于|更高|还高|胜过|强于|好于|优于|(?<!的)领先|更好|变好|更大|还大|上升|升到|提高",
        re.I,
    ),
}
_NOT = re.compile(r"\b(?:never|not?|none|nor|neither|cannot)\b|不(?!如|过|相关|同)|没有|从未|并非", re.I)
_END = re.compile(r"[,;:!?()，。；：！？（）|\n]|\.(?=\s|$)")
_NUMBER = r"(?<![\d./])([-\u2212]?\d[\d,]*(?:\.\d+|/\d+)?)[ \u00a0]?[%％]?"
_MOVES = {
    "<": (rf"{_FALL}[^.;:\n]{{0,60}}? from {_NUMBER}[^.;:\n]{{0,30}}? to {_NUMBER}",
          rf"从[^。；\n]{{0,30}}?{_NUMBER}[^。；\d\n]{{0,6}}?[降跌减][^。；，\d\n]{{0,3}}?[到至](?:\d+的)?{_NUMBER}"),
    ">": (rf"{_RISE}[^.;:\n]{{0,60}}? from {_NUMBER}[^.;:\n]{{0,30}}? to {_NUMBER}",
          rf"从[^。；\n]{{0,30}}?{_NUMBER}[^。；\d\n]{{0,6}}?[升涨增提][^。；，\d\n]{{0,3}}?[到至](?:\d+的)?{_NUMBER}"),
}  # fmt: skip


def wrong_moves(text: str) -> Iterator[str]:
    """Yield each piece of a text that lets a number rise or fall where it does the other; text has no markers."""
    for sign, patterns in _MOVES.items():
        for match in (found for pattern in patterns for found in re.finditer(pattern, text, re.I)):
            first, last = (Fraction(number.replace(",", "").replace("\u2212", "-")) for number in match.groups())
            if first != last and (last < first) != (sign == "<"):
                yield " ".join(match[0].split())


def _said(words: str) -> str:
    """Return `<` or `>`, what the words since the last punctuation mark say; empty if both or neither."""
    clause = _END.split(words.rstrip(" .。*_“”\"'"))[-1]
    found = [(sign, match.start()) for sign, pattern in _WORDS.items() for match in pattern.finditer(clause)]
    if len({sign for sign, _ in found}) != 1:
        return ""
    sign, start = found[0]
    return sign if not _NOT.search(clause[:start]) else "<>".replace(sign, "")


def _claimed(expression: str) -> str:
    """Return `<` or `>`, the sign of every comparison of a claim; empty if it has others, or both."""
    signs: set[str] = set()
    for node in ast.walk(ast.parse(expression, mode="eval")):
        match node:
            case ast.Call(func=ast.Name(id="falls")):
                signs.add("<")
            case ast.Call(func=ast.Name(id="rises")):
                signs.add(">")
            case ast.Compare(ops=[ast.Lt()]):
                signs.add("<")
            case ast.Compare(ops=[ast.Gt()]):
                signs.add(">")
            case ast.Compare():
                return ""
    return signs.pop() if len(signs) == 1 else ""


def contradicts(words: str, expression: str) -> bool:
    """Tell whether the words before a claim, without markers, point the other way; expression is known to parse."""
    said, claimed = _said(words), _claimed(expression)
    return bool(said and claimed) and said != claimed
