"""Which convention gave a number: real figures, figures drawn, figures made up, words and bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.metrics import evaluate, explain
from helpers.metrics.explain import Table, read_figure
from helpers.metrics.variants import FAMILIES, WHOLE, Lists, conventions, variants
from tests.acid.runners import beir_, ir_measures_, ranx_, trec
from tests.metrics.plainly import DEFAULTS, case, figure, figures, sample
from tests.metrics.samples import RELEVANT, RETRIEVED
from tests.metrics.test_variants import LIBRARIES

REAL = json.loads(Path(__file__).with_name("explain_cases.json").read_text(encoding="utf-8"))
PUBLISHED = {  # what the tutorial printed, and why, in words
    "recall": (["0.666667", "0.805556", "0.916667"], ["min(k, R)"], ["min(k, R)"]),
    "ndcg": (["0.0", "0.3298163165186628", "0.5955665344840209"],
             ["the document ids were taken for scores", "only the documents of the retrieved list"],
             ["文档id被当成了得分", "只用检索到的文档"]),
    "recall, labelled so": (["0.666667", "0.666667", "0.366667"], ["it is precision"], ["其实是精确率"]),
    "precision": (["0.666667", "0.666667", "0.366667"], ["1. trec_eval's convention"], ["1. trec_eval的约定"]),
    "mrr": (["0.666667", "0.833333", "0.833333"], ["1. trec_eval's convention"], ["1. trec_eval的约定"]),
    "map": (["0.666667", "0.862963", "0.807407"], ["divided by the hits found"], ["除以找到的相关文档数"]),
}  # fmt: skip


def as_text(seed: int) -> tuple[dict, dict]:
    """A sample run and its judgements with ids of text."""
    run, qrels = sample(np.random.default_rng(seed))
    return tuple({q: {str(doc): v for doc, v in docs.items()} for q, docs in each.items()} for each in (run, qrels))


def place(found: Any, cause: dict) -> int:
    """Where the candidate stands that a cause belongs to, from 1; 0 if none."""
    for number, candidate in enumerate(found.candidates, 1):
        for settings in (candidate.settings, *candidate.agreeing):
            if all(cause.get(axis, DEFAULTS.get(axis, "given")) == option for axis, option in settings.items()):
                return number
    return 0


def test_real_figures_are_explained():
    """A figure that a library, a tutorial or a thread really gives would be explained by something else."""
    assert len(REAL) >= 40
    places = []
    for real in REAL:
        run, qrels = as_text(real["sample"]) if "sample" in real else (real["run"], real["qrels"])
        places.append(place(explain(run, qrels, real["figures"]), real["cause"]))
    assert sum(at == 1 for at in places) >= 0.95 * len(REAL)
    assert all(1 <= at <= 3 for at in places)


def test_drawn_figures_are_explained():
    """A convention that departs on one or two axes would not be found by what it gives."""
    places = []
    for seed in range(80):
        run, qrels, told, how = case(seed)
        places.append(place(explain(run, qrels, told), how))
    assert sum(at == 1 for at in places) >= 0.95 * len(places)
    assert all(1 <= at <= 3 for at in places)


def filled(names: list[str], seed: int) -> Table:
    """A table of all conventions on a sample run, before any figure is told."""
    run, qrels = sample(np.random.default_rng(seed))
    from helpers.metrics import Judgements

    judgements = Judgements.of(qrels)
    lists = Lists(run, judgements, None, None)
    table = Table([read_figure(name, "0.5") for name in names], judgements, True, None)
    for settings, hits in variants(iter(lists), judgements, {WHOLE, 1, 5, 10}):
        table.add([{"view": "given", **setting} for setting in settings], hits)
    table.blocks = [np.array(block) for block in table.blocks]
    return table


def test_made_up_figures_are_rarely_explained_without_a_warning():
    """Whatever one is told would be explained, and nobody warned that so many conventions fit something."""
    rng, unwarned, total = np.random.default_rng(5), 0, 0
    for number, family in enumerate(FAMILIES):
        for names, digits in (([10], 3), ([10], 4), ([1, 5, 10], 3)):
            table = filled([f"{family}@{k}" for k in names], number)
            told = table.figures
            for _ in range(56):
                drawn = [f"{rng.uniform(*np.quantile(block, (0.05, 0.95))):.{digits}f}" for block in table.blocks]
                table.figures = [
                    replace(f, told=text, value=float(text), places=digits) for f, text in zip(told, drawn, strict=True)
                ]
                found = table.explain().candidates
                unwarned += bool(found) and not found[0].coincidence
                total += 1
    assert total > 1000
    print(unwarned, total)
    assert unwarned <= 0.05 * total
