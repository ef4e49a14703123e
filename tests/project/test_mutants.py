"""The list of mutants that no test kills, without running any."""

import pytest

from tests.mutants import ROOT, is_known, mutants, own_tests, survivors_known


@pytest.mark.parametrize("known", survivors_known(), ids=lambda known: f"{known['module']} {known['before'][:20]}")
def test_every_reason_belongs_to_one_mutant(known):
    """A reason would outlive the code it is about, or excuse a fault elsewhere in the module."""
    assert set(known) == {"module", "before", "after", "within", "why"}
    assert len([mutant for mutant in mutants(ROOT / known["module"]) if is_known(mutant, known)]) == 1
    assert known["why"].endswith(".")


def test_every_module_has_tests_of_its_own():
    """Without any, pytest runs all there are, and whatever fails there would count as a kill."""
    for module in sorted((ROOT / "helpers").rglob("*.py")):
        assert own_tests(module.relative_to(ROOT).as_posix()), module
