"""Does the acid test notice a fault? Small faults are put into its own reference; a case must catch each."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from helpers.metrics.acid import Case, Verdict, read_cases, read_json, run_cases
from tests.acid import reference
from tests.mutants import _holes, mutants, rewritten

REFERENCE = Path(reference.__file__)
END = inspect.getsourcelines(reference.written)[1]  # from there on the values are written as text
EVALUATE = "\n\ndef evaluate(run, qrels, metric):\n    return exact(run, qrels, metric)[1]\n"
EQUAL = {"0  →  -1"}  # the place in a tuple of one, and a grade of no gain
OTHERS = {ast.Div: ast.FloorDiv, ast.Mult: ast.Add, ast.Add: ast.Mult, ast.Sub: ast.FloorDiv}
NEGATED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
NAMES = {"sum": "max", "enumerate": "sorted", "docs": "grades", "rank": "k", "k": "rank", "number": "rank",
         "relevant": "k", "ideal": "found"}  # fmt: skip


def further(node: ast.AST) -> Iterator[ast.AST]:
    """Faults beside those of `tests.mutants.changes`: another name, another operator, another constant."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield ast.Constant(value - 1)
        case ast.Compare(left, [operator], right) if type(operator) in NEGATED:
            yield ast.Compare(left, [NEGATED[type(operator)]()], right)
        case ast.BinOp(left, operator, right) if type(operator) in OTHERS:
            yield ast.BinOp(left, OTHERS[type(operator)](), right)
            yield left
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield ast.Name(NAMES[name], ast.Load())
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(1))
            yield ast.Return(ast.Constant(0))


def caught(source: str, cases: list[Case]) -> list[Case]:
    """The cases that do not agree with an implementation."""
    namespace: dict = {}
    try:
        exec(source + EVALUATE, namespace)
    except Exception:
        return cases[:1]
    return [r.case for r in run_cases(namespace["evaluate"], cases) if r.verdict is not Verdict.AGREES]


def faults() -> dict[str, str]:
    """Every fault of the part that computes: the whole source, and what was changed."""
    text = REFERENCE.read_text(encoding="utf-8")
    made = {mutant.source: f"{mutant.before}  →  {mutant.after}" for mutant in mutants(REFERENCE) if mutant.line < END}
    for hole in [hole for hole in _holes(ast.parse(text)) if getattr(hole.node, "lineno", END) < END]:
        for new in further(hole.node):
            made.setdefault(rewritten(text, hole, new), f"{ast.unparse(hole.node)}  →  {ast.unparse(new)}")
    return made


def test_every_fault_is_caught_and_every_family_catches_some():
    """A fault would pass the whole suite, or a family would be there for nothing."""
    cases, families = read_cases(), Counter()
    assert caught(REFERENCE.read_text(encoding="utf-8"), cases) == []
    made, survivors = faults(), set()
    assert len(made) > 100
    for source, label in made.items():
        failed = caught(source, cases)
        families.update({case.family for case in failed})
        survivors |= set() if failed else {label}
    assert survivors == EQUAL
    assert set(families) == set(read_json("suite")["families"])
