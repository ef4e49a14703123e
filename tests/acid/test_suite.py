"""The cases of the acid test: what the reference, trec_eval and helpers.metrics say to them."""

from __future__ import annotations

import json
import math
from collections import Counter

import jsonschema
import pytest
import pytrec_eval

from helpers.metrics import evaluate
from helpers.metrics.acid import Case, read_cases, read_json
from tests.acid.generate import CASES, files
from tests.acid.reference import order

TREC_NAMES = {"recall": "recall_", "precision": "P_", "map": "map_cut_", "ndcg": "ndcg_cut_", "success": "success_"}


def test_files_are_those_of_the_generator():
    """A case could be changed by hand, away from the reference or from the digest of its version."""
    assert {path.name: path.read_text(encoding="utf-8") for path in CASES.glob("*.json")} == files() | {
        "schema.json": (CASES / "schema.json").read_text(encoding="utf-8")
    }


def test_files_follow_the_schema():
    """Somebody's reader in another language could meet a file of another form, or NaN as a number."""
    schema = read_json("schema")
    jsonschema.Draft202012Validator.check_schema(schema)
    for family in read_json("suite")["families"]:
        text = (CASES / f"{family}.json").read_text(encoding="utf-8")
        jsonschema.validate(json.loads(text, parse_constant=pytest.fail), schema)


def test_suite_is_as_large_as_it_says():
    """The suite would have fewer cases or families than the pages say, or two of the same name."""
    cases = read_cases()
    families = Counter(case.family for case in cases)
    assert len(cases) == len({case.name for case in cases}) == 738
    assert len(families) == 12
    assert min(families.values()) >= 40


def test_closed_form_is_the_double():
    """A reader who works out the closed form would get another number than the one beside it."""
    for case in read_cases():
        if case.exact:
            assert eval(case.exact, {"log2": math.log2}) == pytest.approx(case.double, rel=0, abs=1e-15), case.name


def trec_eval(case: Case) -> float:
    """The mean over the judged queries as trec_eval's C code gives it; reciprocal rank on the top k alone."""
    name, _, k = case.metric.partition("@")
    measure = "recip_rank" if name == "mrr" else f"{TREC_NAMES[name]}{k}"
    run = {query: docs for query, docs in case.run.items() if docs}
    for query, docs in run.items():
        if name == "mrr" or isinstance(docs, list):
            top = order(docs)[: int(k)] if name == "mrr" else docs
            run[query] = {doc: -float(rank) for rank, doc in enumerate(top)}
    wanted = measure if name == "mrr" else f"{TREC_NAMES[name].rstrip('_')}.{k}"
    values = pytrec_eval.RelevanceEvaluator(case.qrels, {wanted}).evaluate(run) if run else {}
    return sum(values[query][measure] for query in case.qrels if query in values) / len(case.qrels)


def test_trec_eval_agrees():
    """trec_eval itself would give another value for a case that is said to follow its convention."""
    asked = [case for case in read_cases() if case.answer == "value"]
    for case in asked:
        assert trec_eval(case) == pytest.approx(case.double, rel=0, abs=1e-15), case.name
    assert len(asked) == 738 - 48 - 12


@pytest.mark.filterwarnings("ignore:No document of the run occurs")
def test_helpers_agree():
    """helpers.metrics would fail its own acid test, at fifteen places and not at five."""
    for case in read_cases():
        if case.answer == "value":
            assert evaluate(case.run, case.qrels, case.metric).mean[case.metric] == pytest.approx(
                case.double, rel=0, abs=1e-15
            ), case.name
        else:
            with pytest.raises(ValueError, match=r"NaN|twice"):
                evaluate(case.run, case.qrels, case.metric)
