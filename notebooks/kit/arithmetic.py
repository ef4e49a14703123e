"""Evaluate the claims of a text: small expressions over recorded figures, and formulas worked out in the prose.

An expression has comparisons, `and`, `or`, `not`, `+ - * / **`, `abs`, `min`, `max`, `sqrt`, `log2`, numbers, and names
of recorded figures in quotes: `'pocket/BM25/mrr@10' < 'pocket/MiniLM, mean/mrr@10'`. A name with a star is a column or
row of figures, for `falls` (none is above the one before), `rises`, `first`, `last` and `sum`:
`falls('growth/*/mrr@10')`. Nothing else is run.

A worked formula is a chain of `=` whose parts are numbers, fractions, `+ - * /` and brackets, in prose or between `$`
(there also `\\frac{a}{b}`, `\\cdot`, `\\times`, `\\log_2 n`, powers). Neighbouring parts must agree: whole numbers and
fractions exactly, decimals as far as their digits reach, those of one digit that are worked with exactly. Parts with
letters are passed over.
"""

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

Number = Fraction | float
Lookup = Callable[[str], list[Fraction]]

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "sqrt": math.sqrt, "log2": math.log2}
_SERIES: dict[str, Callable[[list[Fraction]], Number | bool]] = {
    "falls": lambda values: all(a >= b for a, b in itertools.pairwise(values)),
    "rises": lambda values: all(a <= b for a, b in itertools.pairwise(values)),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "sum": sum,
}
ALLOWED = (
    "an expression has comparisons, and/or/not, + - * / **, abs, min, max, sqrt, log2, falls, rises, first, last, sum, "
    "numbers, 'figure names'"
)


class ExpressionError(Exception):
    """An expression that cannot be read; the message lists the allowed parts."""


def evaluate(text: str, lookup: Lookup) -> Number | bool:
    """Return the value of an expression; lookup gives the number of a figure, or those of a name with a star.

    Raises ExpressionError if it does not parse; errors of lookup pass through.
    """
    try:
        return _value(ast.parse(text, mode="eval").body, lookup)
    except (SyntaxError, ZeroDivisionError, OverflowError, TypeError, ValueError) as error:
        raise ExpressionError(f"'{text}' cannot be evaluated ({error}): {ALLOWED}") from error


def _value(node: ast.expr, lookup: Lookup) -> Number | bool:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str() as star)], keywords=[]) if (
            name in _SERIES and "*" in star
        ):
            return _SERIES[name](lookup(star))
        case ast.Constant(value=str() as name) if "*" not in name:
            return lookup(name)[0]
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, lookup)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, lookup)
        case ast.BoolOp(op=op, values=values):
            truths = [bool(_value(value, lookup)) for value in values]
            return all(truths) if isinstance(op, ast.And) else any(truths)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            result: Number = _BINARY[type(op)](_value(left, lookup), _value(right, lookup))
            return result
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARE for op in ops):
            sides = [_value(side, lookup) for side in (left, *others)]
            pairs = zip(ops, itertools.pairwise(sides), strict=True)
            return all(_COMPARE[type(op)](a, b) for op, (a, b) in pairs)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            outcome: Number = _FUNCTIONS[name](*(_value(arg, lookup) for arg in args))
            return outcome
    raise ExpressionError(f"'{ast.unparse(node)}' is not allowed: {ALLOWED}")


_DECIMAL = re.compile(r"(\d+\.\d+)")
_SIDE = r"[\d.+*/()×− -]*\d[\d.+*/()×− -]*"
_CHAIN = re.compile(rf"(?<![\w$@^_.+*/()×−-]){_SIDE}(?:={_SIDE})+(?!\w)", re.A)
_MATH = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)\$", re.S)
_LATEX = [
    (re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}"), r"((\1)/(\2))"),
    (re.compile(r"\\log_2\s*(\d+)"), r"log2(\1)"),
    (re.compile(r"\\log_2\s*\("), "log2("),
    (re.compile(r"\\cdot|\\times"), "*"),
    (re.compile(r"\\[,;! ]|\\q?quad|\\left|\\right|[{}]"), " "),
    (re.compile(r"\^"), "**"),
]


def _python(part: str) -> str:
    """Return a part of a formula as Python, empty if it holds more than numbers, operators and brackets."""
    part = part.replace("×", "*").replace("−", "-").strip()
    for _ in range(2):  # a fraction in a fraction
        part = _LATEX[0][0].sub(_LATEX[0][1], part)
    for pattern, plain in _LATEX[1:]:
        part = pattern.sub(plain, part)
    part = part.strip(" .,;，。；")
    return part if re.search(r"\d", part) and not re.search(r"[^\d.+*/() -]", part.replace("log2", "")) else ""


def _range(part: str) -> tuple[float, float] | None:
    """Return between which values a part lies, its decimals being rounded; None if it cannot be read.

    A decimal of one digit that something is done with (0.8 ** 10) is exact: it was chosen, not measured.
    """
    shown = [text for text in dict.fromkeys(_DECIMAL.findall(part)) if text == part or not text[:-1].endswith(".")][:8]
    halves = [0.5 * 10.0 ** -len(text.partition(".")[2]) for text in shown]
    values = []
    for signs in itertools.product((-1, 1), repeat=len(shown)):
        exact = {text: repr(float(text) + s * half) for text, s, half in zip(shown, signs, halves, strict=True)}
        written = "".join(exact.get(piece, piece) for piece in _DECIMAL.split(part))
        try:
            values.append(float(evaluate(written, lambda name: [Fraction(0)])))
        except ExpressionError:
            return None
    return min(values), max(values)


def formulas(text: str) -> Iterator[list[str]]:
    """Yield the parts, as Python, of each chain of equations between `$` or in prose that has two or more to compare.

    text is Markdown without code; parts that hold letters are empty.
    """
    bodies = [match[1] or match[2] for match in _MATH.finditer(text)]
    bodies += [match[0] for match in _CHAIN.finditer(_MATH.sub(" x ", text))]
    for body in bodies:
        for equation in re.split(r"\\qquad|\\\\", body):
            parts = [_python(part) for part in re.split(r"(?<![<>!\\])=", equation)]
            if sum(map(bool, parts)) > 1:
                yield parts


def wrong_formulas(text: str) -> Iterator[str]:
    """Yield each equation of a text, as Python, whose sides differ; text is Markdown without code."""
    for parts in formulas(text):
        for left, right in itertools.pairwise(part for part in parts if part):
            a, b = _range(left), _range(right)
            if a and b:
                slack = 1e-9 * max(map(abs, (*a, *b)))
                if a[0] > b[1] + slack or b[0] > a[1] + slack:
                    yield f"{left} = {right}"
