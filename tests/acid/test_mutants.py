"""Does the acid test notice a fault? Small faults are put into its own reference; a case must catch each."""

import inspect
from collections import Counter
from pathlib import Path

from helpers.metrics.acid import Case, Verdict, read_cases, read_json, run_cases
from tests.acid import reference
from tests.mutants import mutants

REFERENCE = Path(reference.__file__)
END = inspect.getsourcelines(reference.written)[1]  # from there on the values are written as text
EVALUATE = "\n\ndef evaluate(run, qrels, metric):\n    return exact(run, qrels, metric)[1]\n"


def caught(source: str, cases: list[Case]) -> list[Case]:
    """The cases that do not agree with an implementation."""
    namespace: dict = {}
    try:
        exec(source + EVALUATE, namespace)
    except Exception:
        return cases[:1]
    return [r.case for r in run_cases(namespace["evaluate"], cases) if r.verdict is not Verdict.AGREES]


def test_every_fault_is_caught_and_every_family_catches_some():
    """A fault would pass the whole suite, or a family would be there for nothing."""
    cases, families = read_cases(), Counter()
    assert caught(REFERENCE.read_text(encoding="utf-8"), cases) == []
    made = [mutant for mutant in mutants(REFERENCE) if mutant.line < END]
    assert len(made) > 40
    for mutant in made:
        failed = caught(mutant.source, cases)
        assert failed, mutant
        families.update({case.family for case in failed})
    assert set(families) == set(read_json("suite")["families"])
