"""The list of mutants that no test kills, without running any."""

import ast

import pytest

from tests.mutants import ROOT, faults, is_known, listed, mutants, own_tests, sample


@pytest.mark.parametrize("known", listed("survivor"), ids=lambda known: f"{known['module']} {known['before'][:20]}")
def test_every_reason_belongs_to_one_mutant(known):
    """A reason would outlive the code it is about, or excuse a fault elsewhere in the module."""
    assert set(known) == {"module", "before", "after", "within", "why"}
    made = mutants(
        ROOT / known["module"],
        lambda every: [change for change in every if ast.unparse(change[0]).startswith(known["before"])],
    )
    assert len([mutant for mutant in made if is_known(mutant, known)]) == 1
    assert known["why"].endswith(".")


def test_every_module_has_tests_of_its_own():
    """Without any, pytest runs all there are, and whatever fails there would count as a kill."""
    for module in sorted((ROOT / "helpers").rglob("*.py")):
        assert own_tests(module.relative_to(ROOT).as_posix()), module


def test_every_fault_is_still_in_its_module():
    """A fault that tests once missed would no longer be tried, since its module was rewritten."""
    made = faults(["helpers"])
    assert len({mutant.digest for mutant in made}) == len(made) > 0
    for mutant in made:
        compile(mutant.source, mutant.module, "exec")


def test_the_sample_is_the_same_for_a_seed_and_takes_some_of_every_module():
    """A score could not be had again, or whole modules would never be tried."""
    drawn = sample(["helpers/embeddings"], 0.04, 16)
    assert drawn == sample(["helpers/embeddings"], 0.04, 16)
    assert drawn != sample(["helpers/embeddings"], 0.04, 17)
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "helpers" / "embeddings").glob("*.py")}
    assert modules == {mutant.module for mutant in drawn}
