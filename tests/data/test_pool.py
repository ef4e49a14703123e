"""The pool of the second edition: complete, and fair to systems that had no part in it. `make test-slow`."""

import numpy as np
import pytest

from helpers.judgements import leave_one_out, unjudged
from tests.data.pocket import card
from tests.data.pool import DEPTH, DIRECTIONS, SHALLOW, direction, family, held_back, pooled
from tests.data.test_data_card import rows

pytestmark = pytest.mark.slow


def test_the_depths_are_those_of_the_card():
    """A shallower pool would be called deep."""
    assert f"The pool depth is {DEPTH}; it is {SHALLOW} where" in card()


@pytest.mark.parametrize(("queries", "corpus"), DIRECTIONS)
def test_a_system_left_out_of_the_pool_is_scored_as_before(queries, corpus):
    """Whoever evaluates a model that was not pooled would be scored too low."""
    data, rankings = direction(queries, corpus), pooled(queries, corpus)
    for name, ids in rankings.items():
        for judged, row in zip(data.qrels, ids, strict=True):
            assert {int(passage) for passage in row if passage >= 0} <= set(judged), name
    families = {name: family(name) for name in rankings}
    cells = []
    for kinds in ({name: name for name in rankings}, families):
        found = leave_one_out(
            rankings, data.qrels, DEPTH, "ndcg@10", families=kinds, relevance_level=data.relevance_level
        )
        move = max(abs(system.without - system.full) for system in found.systems.values())
        cells += [str(len(set(kinds.values()))), f"{move:.4f}", f"{found.tau:.3f}"]
        assert move <= 0.02 or (kinds is families and queries != corpus)  # one network alone reads both languages
        assert found.tau >= 0.94
    assert rows(card())[f"{queries}, {corpus}"] == cells


@pytest.mark.parametrize("language", ["en", "zh"])
def test_systems_held_back_find_little_that_nobody_judged(language):
    """A system of another kind would meet holes after all."""
    data, stated = direction(language, language), rows(card())
    for name, ids in held_back(language).items():
        share = unjudged(np.asarray(ids), data.qrels, 10).mean
        assert share <= 0.03, name
        assert stated[f"{name}, {language}"] == [f"{share:.4f}"]
