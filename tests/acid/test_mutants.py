"""Does the acid test notice a fault? Small faults are put into a plain implementation; a case must catch each."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from helpers.metrics.acid import Case, Verdict, judge, read_cases, read_json
from tests.mutants import _holes, mutants, rewritten

PLAIN = Path(__file__).with_name("plain.py")
SEED, NUMBER = 33, 100
OTHERS = {ast.Div: ast.FloorDiv, ast.Mult: ast.Add, ast.Add: ast.Mult, ast.Sub: ast.FloorDiv}
NEGATED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
NAMES = {"max": "min", "sum": "max", "enumerate": "sorted", "recall": "precision", "precision": "recall",
         "reciprocal_rank": "success", "average_precision": "recall", "ndcg": "success", "success": "recall",
         "docs": "grades", "rank": "k", "k": "rank", "number": "rank", "gain": "rank", "grade": "1"}  # fmt: skip


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
        exec(source, namespace)
    except Exception:
        return cases[:1]
    return [case for case in cases if judge(namespace["evaluate"], case)[0] is not Verdict.AGREES]


@cache
def seeded() -> list[tuple[str, str]]:
    """A hundred faults, the same ones for the same seed: what was changed where, and the whole source."""
    text = PLAIN.read_text(encoding="utf-8")
    made = {mutant.source: str(mutant) for mutant in mutants(PLAIN)}
    for hole in list(_holes(ast.parse(text))):
        for new in further(hole.node):
            label = f"{hole.node.lineno}: {ast.unparse(hole.node)}  →  {ast.unparse(new)}"
            made.setdefault(rewritten(text, hole, new), label)
    every = [(label, source) for source, label in made.items()]
    return random.Random(SEED).sample(every, NUMBER)


def test_the_plain_implementation_agrees():
    """The faults would be put into something that is wrong already."""
    assert caught(PLAIN.read_text(encoding="utf-8"), read_cases()) == []


def test_every_seeded_fault_is_caught_and_every_family_catches_some():
    """A fault would pass the whole suite, or a family would be there for nothing."""
    cases, families = read_cases(), Counter()
    assert len(seeded()) == NUMBER
    survivors = []
    for label, source in seeded():
        failed = caught(source, cases)
        families.update({case.family for case in failed})
        if not failed:
            survivors.append(label)
    assert survivors == []
    assert set(families) == set(read_json("suite")["families"])
