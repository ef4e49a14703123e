"""Evaluate the claims of a text: small expressions over recorded figures.

An expression has comparisons, `and`, `+ - * / **`, `abs`, `min`, `max`, `sqrt`, `log2`, numbers, and names
of recorded figures in quotes: `'pocket/BM25/mrr@10' < 'pocket/MiniLM, mean/mrr@10'`. A name with a star is a column or
row of figures, for `falls` (none is above the one before), `rises`, `first` and `last`:
`falls('growth/*/mrr@10')`. Nothing else is run.
"""

import ast
import itertools
import math
import operator
from collections.abc import Callable
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
}
ALLOWED = (
    "an expression has comparisons, and, + - * / **, abs, min, max, sqrt, log2, falls, rises, first, last, "
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
        case ast.BoolOp(op=ast.And(), values=values):
            return all([_value(value, lookup) for value in values])
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
